// The groups of an aggregate: numbers made of codes and values, sums in shared memory or global.

#include <algorithm>

#include "gpu/codegen/tile_writer.h"

namespace loom::gpu {

namespace {

// Groups that sums in shared memory are kept for.
constexpr uint32_t kSharedGroups = 1024;
constexpr uint32_t kRowThreads = 256;

class AggregateWriter final : public TileWriter {
  public:
    AggregateWriter(KernelFile& file, const Pipeline& pipeline, const PipelineData& data,
                    const GroupTable& groups, const KernelChoices& choices)
        : TileWriter(file, pipeline, data, choices), groups_(groups) {}

    void write(const BlockLimits& limits) {
        SharedMemory memory(limits.shared_bytes /
                            static_cast<uint32_t>(choices_.blocks.value_or(1)));
        const size_t sums = groups_.accumulators.size();
        if (grouped()) {
            shared_groups_ = static_cast<uint32_t>(
                std::min<uint64_t>(kSharedGroups, (groups_.most + 3) / 4 * 4));
            groups_at_ = memory.take(shared_groups_ * static_cast<uint32_t>(sums * 8 + 1));
        }
        const uint32_t threads =
            std::min(limits.threads, choices_.threads.value_or(limits.threads));
        plan(memory, threads);
        prepare_groups();
        write_rows();
        finish_groups();
        file_.add_function("group_rows", body_);
        file_.kernel.threads = has_stages() ? threads : std::min(limits.threads, kRowThreads);
        file_.kernel.blocks = blocks();
        file_.kernel.shared_bytes = memory.bytes();
        file_.add_kernel("aggregate", "group_rows(p, block_index(), grid_blocks(), fault);\n",
                         data_.status);
    }

  private:
    bool grouped() const noexcept { return !groups_.parts.empty(); }

    bool sink_reads(int slot) const override {
        const auto reads = [&](const plan::Expr& expr) {
            const std::vector<int> columns = plan::columns_of(expr);
            return std::find(columns.begin(), columns.end(), slot) != columns.end();
        };
        for (const GroupPart& part : groups_.parts)
            if (part.slot == slot) return true;
        return std::any_of(
            groups_.accumulators.begin(), groups_.accumulators.end(), [&](const Accumulator& sum) {
                return reads(sum.argument) || (!sum.filter.empty() && reads(sum.filter[0]));
            });
    }
    bool sink_reads_code(int join) const override {
        return std::any_of(groups_.parts.begin(), groups_.parts.end(),
                           [&](const GroupPart& part) { return part.join == join; });
    }
    void read_early() override {
        for (const Accumulator& sum : groups_.accumulators)
            for (const int slot : plan::columns_of(sum.argument))
                if (pipeline_.slots[static_cast<size_t>(slot)].kind == Slot::Kind::kScan)
                    slots_.slot(slot, body_);
    }

    void prepare_groups() {
        const size_t sums = groups_.accumulators.size();
        if (!grouped()) {
            for (size_t i = 0; i < sums; ++i) body_ += fmt::format("uint64_t sum{} = 0;\n", i);
            body_ += "uint32_t seen_rows = 0;\n";
            return;
        }
        body_ += "uint64_t product = 1;\n";
        for (size_t i = 0; i < groups_.parts.size(); ++i) {
            const GroupPart& part = groups_.parts[i];
            const std::string count =
                part.join >= 0 ? "*bytes_at<uint32_t>(" + word(table(part.join).set_count) + ")"
                               : word32(part.most);
            body_ +=
                fmt::format("const uint32_t count{0} = {1};\nproduct *= count{0};\n", i, count);
        }
        // A number of groups beyond the room means that a set of words has overflowed, or that
        // there are no rows: nothing is added then.
        body_ += fmt::format(
            "const uint32_t groups = product > {0} ? 0 : static_cast<uint32_t>(product);\n"
            "const bool small = groups <= {1};\n"
            "uint32_t* const lows = reinterpret_cast<uint32_t*>(shared_memory() + {2});\n"
            "uint32_t* const highs = lows + {3};\n"
            "uint8_t* const seen = reinterpret_cast<uint8_t*>(highs + {3});\n"
            "clear_shared(lows, {4});\n",
            word(groups_.most), word32(shared_groups_), word32(groups_at_),
            word32(shared_groups_ * sums), word32((shared_groups_ * (sums * 8 + 1) + 3) / 4));
        body_ += "block_sync();\n";
    }

    void write_sink(std::string_view leave) override {
        if (grouped()) {
            body_ += "uint32_t group = 0;\n";
            for (size_t i = 0; i < groups_.parts.size(); ++i)
                body_ += fmt::format("group = group * count{} + {};\n", i, part_number(i));
            body_ += fmt::format("if (groups == 0) {}\n", leave);
            body_ += fmt::format(
                "if (small) mark_seen(seen, group); else mark_seen(room_at<uint8_t>({}), group);\n",
                word(groups_.seen));
        } else {
            body_ += "seen_rows = 1;\n";
        }
        for (size_t i = 0; i < groups_.accumulators.size(); ++i) add_to(i);
    }

    std::string part_number(size_t i) {
        const GroupPart& part = groups_.parts[i];
        if (part.join >= 0) return fmt::format("code{}", part.join);
        const ScanColumn& column = slots_.column(part.slot);
        const std::string above =
            fmt::format("({} - {})", slots_.offset(part.slot, body_),
                        word32(static_cast<uint32_t>(static_cast<uint64_t>(column.min) -
                                                     static_cast<uint64_t>(column.origin))));
        const std::string valid = slots_.valid(part.slot, body_);
        return valid.empty() ? above
                             : fmt::format("({} ? {} : {})", valid, above, word32(part.most - 1));
    }

    void add_to(size_t i) {
        const Accumulator& sum = groups_.accumulators[i];
        const bool wraps = !sum.filter.empty();
        if (wraps) {
            const TextValue condition = expressions_.write(sum.filter[0], body_);
            body_ += fmt::format("if ({} && {}) {{\n", condition.known(), condition.value);
            slots_.open_block();
        }
        std::string value = "1";
        std::string valid;
        if (sum.kind == Accumulator::Kind::kSum || sum.counts_argument) {
            const TextValue argument = expressions_.write(sum.argument, body_);
            valid = argument.valid;
            if (sum.kind == Accumulator::Kind::kSum)
                value = fmt::format("static_cast<uint64_t>(int64_t{{{}}})", argument.value);
        }
        if (!valid.empty()) body_ += fmt::format("if ({}) ", valid);
        if (grouped())
            body_ += fmt::format(
                "{{ if (small) shared_add(lows + {0} + group, highs + {0} + group, {1}); "
                "else atomic_add(room_at<uint64_t>({2}) + group, uint64_t{{{1}}}); }}\n",
                word32(i * shared_groups_), value, word(groups_.sums + i * groups_.most * 8));
        else
            body_ += fmt::format("sum{} += {};\n", i, value);
        if (wraps) {
            slots_.close_block();
            body_ += "}\n";
        }
    }

    void finish_groups() {
        const size_t sums = groups_.accumulators.size();
        if (!grouped()) {
            for (size_t i = 0; i < sums; ++i)
                body_ += fmt::format("warp_add(room_at<uint64_t>({}), sum{});\n",
                                     word(groups_.sums + i * groups_.most * 8), i);
            body_ += fmt::format(
                "if (any_lane(seen_rows != 0) && lane_index() == 0) "
                "mark_seen(room_at<uint8_t>({}), "
                "0);\n",
                word(groups_.seen));
            return;
        }
        body_ +=
            "block_sync();\nif (small) for (uint32_t g = thread_index(); g < groups; g += "
            "block_threads()) if (seen[g] != 0) {\n";
        body_ += fmt::format("room_at<uint8_t>({})[g] = 1;\n", word(groups_.seen));
        for (size_t i = 0; i < sums; ++i)
            body_ += fmt::format(
                "atomic_add(room_at<uint64_t>({0}) + g, uint64_t{{highs[{1} + g]}} << 32 | "
                "lows[{1} + "
                "g]);\n",
                word(groups_.sums + i * groups_.most * 8), word32(i * shared_groups_));
        body_ += "}\n";
    }

    const GroupTable& groups_;
    uint32_t shared_groups_ = 0;
    uint32_t groups_at_ = 0;
};

}  // namespace

KernelText write_aggregate(const Pipeline& pipeline, const PipelineData& data,
                           const GroupTable& groups, const BlockLimits& limits,
                           const KernelChoices& choices) {
    KernelFile file;
    AggregateWriter(file, pipeline, data, groups, choices).write(limits);
    return file.finish();
}

}  // namespace loom::gpu
