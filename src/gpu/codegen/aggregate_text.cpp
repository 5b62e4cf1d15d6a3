// The groups of an aggregate: numbers made of codes and values, sums in shared memory or global.

#include <algorithm>

#include "gpu/codegen/tile_writer.h"
#include "gpu/runtime/machine.h"

namespace loom::gpu {

namespace {

// Groups that sums in shared memory are kept for.
constexpr uint32_t kSharedGroups = 1024;
// Of few groups with several sums each lane has sums of its own, so that the lanes of a warp, which
// mostly add to the same groups, do not wait for one another.
constexpr uint32_t kCopies = kWarp;
constexpr uint32_t kRowThreads = 256;

class AggregateWriter final : public TileWriter {
  public:
    AggregateWriter(KernelFile& file, const Pipeline& pipeline, const PipelineData& data,
                    const GroupTable& groups, const KernelChoices& choices)
        : TileWriter(file, pipeline, data, choices), groups_(groups) {}

    void write(const BlockLimits& limits) {
        SharedMemory memory(limits.shared_bytes /
                            static_cast<uint32_t>(choices_.blocks.value_or(1)));
        place_accumulators();
        if (grouped() && !hashed()) {
            // Half of the memory at most.
            const uint32_t bytes = narrow_ * 8 + 1 + wide_ * 16 + largest_ * 8;
            shared_groups_ = static_cast<uint32_t>(
                std::min<uint64_t>({kSharedGroups, (groups_.most + 3) / 4 * 4,
                                    limits.shared_bytes / 2 / bytes / 4 * 4}));
            if (groups_.accumulators.size() > 1 && shared_groups_ >= groups_.most &&
                uint64_t{shared_groups_} * kCopies * bytes <= limits.shared_bytes / 2)
                copies_ = kCopies;
            shared_slots_ = shared_groups_ * copies_;
            groups_at_ = memory.take(shared_slots_ * narrow_ * 8 + shared_groups_);
            if (wide_ > 0) wide_at_ = memory.take(shared_slots_ * wide_ * 16);
            if (largest_ > 0) largest_at_ = memory.take(shared_slots_ * largest_ * 8);
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
    bool hashed() const noexcept { return !groups_.hashed.empty(); }
    bool grouped() const noexcept { return !groups_.parts.empty() || hashed(); }

    // Sums of 64 bits, of 128 bits and extremes have memory of their own each.
    void place_accumulators() {
        for (const Accumulator& each : groups_.accumulators)
            shared_index_.push_back(each.kind == Accumulator::Kind::kWideSum   ? wide_++
                                    : each.kind == Accumulator::Kind::kLargest ? largest_++
                                                                               : narrow_++);
    }

    bool sink_reads(int slot) const override {
        for (const GroupPart& part : groups_.parts)
            if (part.slot == slot || (part.computed && needs(part.computed->value, slot)))
                return true;
        for (const GroupKey& key : groups_.hashed)
            if (key.join >= 0 ? needs_any(pipeline_.joins[static_cast<size_t>(key.join)].keys, slot)
                              : needs(key.value, slot))
                return true;
        for (const GroupKey& key : groups_.carried)
            if (needs(key.value, slot)) return true;
        return std::any_of(groups_.accumulators.begin(), groups_.accumulators.end(),
                           [&](const Accumulator& sum) {
                               return needs(sum.argument, slot) ||
                                      (!sum.filter.empty() && needs(sum.filter[0], slot));
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
            for (size_t i = 0; i < sums; ++i)
                body_ += fmt::format("{} sum{} = 0;\n",
                                     groups_.accumulators[i].kind == Accumulator::Kind::kWideSum
                                         ? "Int128"
                                         : "uint64_t",
                                     i);
            body_ += "uint32_t seen_rows = 0;\n";
            return;
        }
        if (hashed()) {
            body_ += fmt::format(
                "const NumberedSet set{{room_at<uint64_t>({}), room_at<uint32_t>({}), "
                "room_at<uint64_t>({}), room_at<uint32_t>({}), {}, {}}};\n",
                word(groups_.set_words), word(groups_.set_numbers), word(groups_.set_in_order),
                word(groups_.set_count), word32(groups_.set_slots), word32(groups_.most));
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
            word32(shared_slots_ * narrow_),
            word32((shared_slots_ * narrow_ * 8 + shared_groups_ + 3) / 4));
        if (wide_ > 0)
            body_ += fmt::format(
                "uint32_t* const wides = reinterpret_cast<uint32_t*>(shared_memory() + {});\n"
                "const uint32_t stride = {};\nclear_shared(wides, {});\n",
                word32(wide_at_), word32(shared_slots_), word32(shared_slots_ * wide_ * 4));
        if (largest_ > 0)
            body_ += fmt::format(
                "uint64_t* const largest = reinterpret_cast<uint64_t*>(shared_memory() + {});\n"
                "clear_shared(reinterpret_cast<uint32_t*>(largest), {});\n",
                word32(largest_at_), word32(shared_slots_ * largest_ * 2));
        body_ += "block_sync();\n";
    }

    void write_sink(std::string_view leave) override {
        if (hashed()) {
            std::string key;
            for (const GroupKey& each : groups_.hashed) {
                const std::string above = key_number(each);
                key += fmt::format("{}{} << {}", key.empty() ? "" : " | ", above,
                                   word32(static_cast<uint64_t>(each.shift)));
            }
            body_ += fmt::format(
                "const uint32_t group = set.number({});\nif (group == NumberedSet::kFull) {}\n",
                key, leave);
            for (const GroupKey& each : groups_.carried) {
                const std::string above = key_number(each);
                body_ += fmt::format("put_same(room_at<uint64_t>({}) + group, {});\n",
                                     word(groups_.word(each.word)), above);
            }
        } else if (grouped()) {
            std::vector<std::string> numbers;
            for (size_t i = 0; i < groups_.parts.size(); ++i) numbers.push_back(part_value(i));
            body_ += "uint32_t group = 0;\n";
            for (size_t i = 0; i < groups_.parts.size(); ++i)
                body_ += fmt::format("group = group * count{} + {};\n", i,
                                     numbers[i].empty() ? part_number(i) : numbers[i]);
            body_ += fmt::format("if (groups == 0) {}\n", leave);
            body_ += fmt::format(
                "if (small) mark_seen(seen, group); else mark_seen(room_at<uint8_t>({}), group);\n",
                word(groups_.seen));
            if (copies_ > 1)
                body_ += fmt::format("const uint32_t own = group * {} + lane_index();\n", copies_);
        } else {
            body_ += "seen_rows = 1;\n";
        }
        for (size_t i = 0; i < groups_.accumulators.size(); ++i) add_to(i);
    }

    std::string key_number(const GroupKey& key) {
        if (key.texts != nullptr)
            return fmt::format(
                "uint64_t{{{}}}",
                expressions_.text_number(plan::columns_of(key.value)[0], key.texts, body_));
        if (key.row_bits)
            return fmt::format("(uint64_t{{span.block}} << {} | row)",
                               word32(static_cast<uint64_t>(*key.row_bits)));
        if (key.join < 0) return number(key.value, key.least, key.values, key.nullable);
        const std::string place = fmt::format("uint64_t{{{}}}", slots_.place(key.join, body_));
        const std::string found = slots_.found(key.join);
        return found.empty() ? place
                             : fmt::format("({} ? {} : {})", found, place, word(key.values));
    }

    // A key that is computed may fault, and so before anything is added.
    std::string part_value(size_t i) {
        const GroupPart& part = groups_.parts[i];
        if (!part.computed) return {};
        const std::string name = fmt::format("key{}", i);
        const std::string above = key_number(*part.computed);
        // What faults may be anything.
        body_ +=
            fmt::format("uint32_t {0} = static_cast<uint32_t>({1});\nif ({0} >= {2}) {0} = 0;\n",
                        name, above, word32(part.most));
        return name;
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
        if (sum.kind != Accumulator::Kind::kRows || sum.counts_argument) {
            const TextValue argument = expressions_.write(sum.argument, body_);
            valid = argument.valid;
            value = value_of(sum, argument);
        }
        if (!valid.empty()) body_ += fmt::format("if ({}) ", valid);
        add_value(i, value);
        if (wraps) {
            slots_.close_block();
            body_ += "}\n";
        }
    }

    static std::string value_of(const Accumulator& sum, const TextValue& argument) {
        switch (sum.kind) {
            case Accumulator::Kind::kSum:
                return argument.wide
                           ? fmt::format("static_cast<uint64_t>({})", argument.value)
                           : fmt::format("static_cast<uint64_t>(int64_t{{{}}})", argument.value);
            case Accumulator::Kind::kWideSum:
                return fmt::format("static_cast<Int128>({})", argument.value);
            case Accumulator::Kind::kLargest:
                return fmt::format("order_word<{}>(static_cast<int64_t>({}))", sum.least,
                                   argument.value);
            default:
                return "1";
        }
    }

    // Appends what adds a value to the group's accumulator.
    void add_value(size_t i, const std::string& value) {
        const Accumulator& sum = groups_.accumulators[i];
        const uint32_t index = shared_index_[i];
        if (sum.kind == Accumulator::Kind::kWideSum) {
            if (!grouped()) {
                body_ += fmt::format("sum{} += {};\n", i, value);
                return;
            }
            const std::string global = fmt::format(
                "global_add(room_at<uint64_t>({}) + group, room_at<uint64_t>({}) + "
                "group, {})",
                word(groups_.word(sum.word)), word(groups_.word(sum.word + 1)), value);
            body_ += hashed() ? global + ";\n"
                              : fmt::format(
                                    "{{ if (small) shared_add(wides + {} + {}, stride, "
                                    "{}); else {}; }}\n",
                                    word32(index * 4 * shared_slots_), own(), value, global);
            return;
        }
        if (sum.kind == Accumulator::Kind::kLargest) {
            if (!grouped()) {
                body_ += fmt::format("sum{0} = {1} > sum{0} ? {1} : sum{0};\n", i, value);
                return;
            }
            const std::string global =
                fmt::format("keep_largest(room_at<uint64_t>({}) + group, {})",
                            word(groups_.word(sum.word)), value);
            body_ += hashed() ? global + ";\n"
                              : fmt::format(
                                    "{{ if (small) keep_largest(largest + {} + {}, {}); else "
                                    "{}; }}\n",
                                    word32(index * shared_slots_), own(), value, global);
            return;
        }
        if (hashed())
            body_ += fmt::format("atomic_add(room_at<uint64_t>({0}) + group, uint64_t{{{1}}});\n",
                                 word(groups_.word(sum.word)), value);
        else if (grouped())
            body_ += fmt::format(
                "{{ if (small) shared_add(lows + {0} + {3}, highs + {0} + {3}, {1}); "
                "else atomic_add(room_at<uint64_t>({2}) + group, uint64_t{{{1}}}); }}\n",
                word32(index * shared_slots_), value, word(groups_.word(sum.word)), own());
        else
            body_ += fmt::format("sum{} += {};\n", i, value);
    }

    void finish_groups() {
        if (hashed()) return;
        const size_t sums = groups_.accumulators.size();
        if (!grouped()) {
            for (size_t i = 0; i < sums; ++i) {
                const Accumulator& sum = groups_.accumulators[i];
                if (sum.kind == Accumulator::Kind::kWideSum)
                    body_ += fmt::format(
                        "warp_add(room_at<uint64_t>({}), room_at<uint64_t>({}), sum{});\n",
                        word(groups_.word(sum.word)), word(groups_.word(sum.word + 1)), i);
                else
                    body_ += fmt::format(
                        "{}(room_at<uint64_t>({}), sum{});\n",
                        sum.kind == Accumulator::Kind::kLargest ? "warp_keep_largest" : "warp_add",
                        word(groups_.word(sum.word)), i);
            }
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
        for (size_t i = 0; i < sums; ++i) finish_shared(i);
        body_ += "}\n";
    }

    // The place of a group's values in shared memory.
    const char* own() const noexcept { return copies_ > 1 ? "own" : "group"; }

    // Appends what brings a group's value from shared memory to global.
    void finish_shared(size_t i) {
        const Accumulator& sum = groups_.accumulators[i];
        const uint32_t index = shared_index_[i];
        if (copies_ > 1) return finish_copies(sum, index);
        switch (sum.kind) {
            case Accumulator::Kind::kWideSum:
                body_ += fmt::format(
                    "global_add(room_at<uint64_t>({}) + g, room_at<uint64_t>({}) + g, "
                    "shared_sum(wides + {} + g, stride));\n",
                    word(groups_.word(sum.word)), word(groups_.word(sum.word + 1)),
                    word32(index * 4 * shared_slots_));
                break;
            case Accumulator::Kind::kLargest:
                body_ += fmt::format("keep_largest(room_at<uint64_t>({}) + g, largest[{} + g]);\n",
                                     word(groups_.word(sum.word)), word32(index * shared_slots_));
                break;
            default:
                body_ += fmt::format(
                    "atomic_add(room_at<uint64_t>({0}) + g, uint64_t{{highs[{1} + g]}} << 32 | "
                    "lows[{1} + "
                    "g]);\n",
                    word(groups_.word(sum.word)), word32(index * shared_slots_));
        }
    }

    // The same of a group's copies.
    void finish_copies(const Accumulator& sum, uint32_t index) {
        const bool wide = sum.kind == Accumulator::Kind::kWideSum;
        body_ += fmt::format(
            "{{ {0} all = 0;\nLOOM_NO_UNROLL for (uint32_t c = g * {1}; c < g * {1} + {1}; ++c) ",
            wide ? "Int128" : "uint64_t", copies_);
        if (wide)
            body_ += fmt::format(
                "all += shared_sum(wides + {} + c, stride);\n"
                "global_add(room_at<uint64_t>({}) + g, room_at<uint64_t>({}) + g, all); }}\n",
                word32(index * 4 * shared_slots_), word(groups_.word(sum.word)),
                word(groups_.word(sum.word + 1)));
        else if (sum.kind == Accumulator::Kind::kLargest)
            body_ += fmt::format(
                "all = largest[{0} + c] > all ? largest[{0} + c] : all;\n"
                "keep_largest(room_at<uint64_t>({1}) + g, all); }}\n",
                word32(index * shared_slots_), word(groups_.word(sum.word)));
        else
            body_ += fmt::format(
                "all += uint64_t{{highs[{0} + c]}} << 32 | lows[{0} + c];\n"
                "atomic_add(room_at<uint64_t>({1}) + g, all); }}\n",
                word32(index * shared_slots_), word(groups_.word(sum.word)));
    }

    const GroupTable& groups_;
    uint32_t shared_groups_ = 0;
    uint32_t copies_ = 1;  // of a group's values
    uint32_t shared_slots_ = 0;
    uint32_t groups_at_ = 0;
    uint32_t wide_at_ = 0;
    uint32_t largest_at_ = 0;
    std::vector<uint32_t> shared_index_;  // of each accumulator among those of its kind of memory
    uint32_t narrow_ = 0;
    uint32_t wide_ = 0;
    uint32_t largest_ = 0;
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
