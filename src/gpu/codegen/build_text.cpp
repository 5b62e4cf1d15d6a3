// What becomes of the rows of build sides: numbers for their groups; bitmaps, codes and values by
// key.

#include <algorithm>

#include "gpu/codegen/tile_writer.h"

namespace loom::gpu {

namespace {

constexpr uint32_t kBuildThreads = 256;

class BuildWriter : public TileWriter {
  public:
    BuildWriter(KernelFile& file, const Pipeline& pipeline, const PipelineData& data,
                const BuildTable& made, size_t number, const KernelChoices& choices)
        : TileWriter(file, pipeline, data, data.rows <= choices.few_rows ? kByRow : kByTile),
          made_(made),
          number_(number) {}

    /// Adds the function that goes through the rows, and returns the shared memory that it takes.
    uint32_t write(const std::string& name, const BlockLimits& limits) {
        SharedMemory memory(limits.shared_bytes);
        plan(memory, std::min(limits.threads, kBuildThreads));
        write_rows();
        file_.add_function(name, body_);
        return memory.bytes();
    }

  protected:
    bool sink_reads_code(int) const override { return false; }

    bool field_reads(int slot) const {
        return std::any_of(made_.fields.begin(), made_.fields.end(), [&](const GroupField& field) {
            return needs(payload(field.payload), slot);
        });
    }
    const plan::Expr& payload(int at) const { return pipeline_.payload[static_cast<size_t>(at)]; }

    void write_set() {
        body_ += fmt::format(
            "const WordSet set{{room_at<uint64_t>({}), room_at<uint32_t>({}), "
            "room_at<uint64_t>({}), room_at<uint32_t>({}), {}}};\n",
            word(made_.set_words), word(made_.set_numbers), word(made_.set_in_order),
            word(made_.set_count), word32(made_.set_slots));
    }

    /// Returns the word that stands for a row's values of the group keys.
    std::string group_word() {
        std::string result;
        for (const GroupField& field : made_.fields) {
            const std::string value = number(payload(field.payload), field.column.min,
                                             field.values(), field.column.layout.nullable);
            result += fmt::format("{}{} << {}", result.empty() ? "" : " | ", value,
                                  word32(static_cast<uint64_t>(field.shift)));
        }
        return result;
    }

    static inline const KernelChoices kByTile = {};
    static inline const KernelChoices kByRow = {.stages = 0};
    const BuildTable& made_;
    const size_t number_;  // of the build side
};

// Gives each combination of group keys a number.
class NumberWriter final : public BuildWriter {
  public:
    using BuildWriter::BuildWriter;

  protected:
    bool sink_reads(int slot) const override { return field_reads(slot); }
    void write_sink(std::string_view) override {
        write_set();
        const std::string value = group_word();
        body_ += fmt::format("set.insert({});\n", value);
    }
};

// Sets the keys' bits, and writes the numbers of their groups.
class KeyWriter final : public BuildWriter {
  public:
    using BuildWriter::BuildWriter;

  protected:
    bool sink_reads(int slot) const override {
        return field_reads(slot) || needs_any(pipeline_.build_keys, slot) ||
               std::any_of(
                   made_.payloads.begin(), made_.payloads.end(),
                   [&](const PayloadArray& array) { return needs(payload(array.payload), slot); });
    }
    void write_sink(std::string_view leave) override {
        made_.hashed.empty() ? write_bit(leave) : write_key(leave);
        if (made_.has_lists())
            body_ += fmt::format(
                "const RowLists lists{{room_at<uint32_t>({}), room_at<uint32_t>({}), "
                "room_at<uint32_t>({}), {}}};\n"
                "const uint32_t at_row = lists.add(x, &room_at<Status>({})->full_sets);\n"
                "if (at_row == RowLists::kNone) {}\n",
                word(made_.first_rows), word(made_.next_rows), word(made_.row_count),
                word32(made_.row_room), word(data_.status), leave);
        for (const PayloadArray& array : made_.payloads) write_payload(array);
        if (made_.fields.empty()) return;
        write_set();
        const char* type = made_.code_bytes == 1 ? "uint8_t" : "uint16_t";
        const std::string value = group_word();
        body_ += fmt::format("room_at<{0}>({1})[x] = static_cast<{0}>(set.find({2}));\n", type,
                             word(made_.codes), value);
    }

  private:
    void write_bit(std::string_view leave) {
        const plan::Expr& key = pipeline_.build_keys[0];
        if (key.kind == plan::ExprKind::kColumn &&
            slots_.column(key.index).layout.encoding != Encoding::kWide) {
            const std::string valid = slots_.valid(key.index, body_);
            if (!valid.empty()) body_ += fmt::format("if (!{}) {}\n", valid, leave);
            const std::string offset = slots_.offset(key.index, body_);
            body_ += fmt::format("const uint32_t x = {};\n",
                                 place(offset, slots_.column(key.index), made_));
        } else {
            const std::string above = key_above(key, made_.origin, leave);
            body_ += fmt::format("const uint32_t x = static_cast<uint32_t>({});\n", above);
        }
        const std::string set =
            fmt::format("set_bit(room_at<uint32_t>({}), x)", word(made_.bitmap));
        body_ += made_.unique ? fmt::format("if ({}) {}", set, report_duplicate()) : set + ";\n";
    }
    void write_key(std::string_view leave) {
        const std::string key = key_word(pipeline_.build_keys, made_, leave);
        body_ += fmt::format(
            "const KeySet key_set{{room_at<uint64_t>({}), {}}};\nbool again = false;\n"
            "const uint32_t x = key_set.insert({}, &room_at<Status>({})->full_sets, again);\n"
            "if (x == KeySet::kNone) {}\n",
            word(made_.key_words), word32(made_.span), key, word(data_.status), leave);
        if (made_.unique) body_ += "if (again) " + report_duplicate();
    }
    std::string report_duplicate() {
        return fmt::format("atomic_or(&room_at<Status>({})->duplicate_keys, {});\n",
                           word(data_.status), word32(duplicate_bit(number_)));
    }
    void write_payload(const PayloadArray& array) {
        const ScanColumn& column = array.column;
        const std::string above =
            number(payload(array.payload), column.min, column.has_values() ? column.reach() : 0,
                   column.layout.nullable);
        body_ += fmt::format("room_at<uint{0}_t>({1})[{3}] = static_cast<uint{0}_t>({2});\n",
                             array.bytes * 8, word(array.address), above,
                             made_.has_lists() ? "at_row" : "x");
    }
};

// The blocks of threads of one kernel, shared out among the pipelines of a program.
class Dispatch {
  public:
    explicit Dispatch(KernelFile& file) : file_(file) {}

    void add(const std::string& function, uint32_t blocks) {
        body_ += fmt::format("if (at < {0}) {{ {1}(p, at, {0}, fault); break; }}\nat -= {0};\n",
                             file_.word32(blocks), function);
        blocks_ += blocks;
    }
    void finish(const std::string& kernel, uint64_t status) {
        if (blocks_ == 0) return;
        file_.add_kernel(
            kernel, "uint32_t at = block_index();\ndo {\n" + body_ + "} while (false);\n", status);
        file_.kernel.grids.push_back(blocks_);
    }

  private:
    KernelFile& file_;
    std::string body_;
    uint32_t blocks_ = 0;
};

// Some build sides of one level, which probe those of lower levels only; by their numbers.
KernelText write_some(const std::vector<BuildPipeline>& builds, const std::vector<size_t>& some,
                      const BlockLimits& limits, const KernelChoices& choices) {
    KernelFile file;
    file.kernel.threads = std::min(limits.threads, kBuildThreads);
    Dispatch numbers(file);
    Dispatch keys(file);
    uint64_t status = 0;
    for (const size_t i : some) {
        const auto& [pipeline, data, made, of] = builds[i];
        status = data->status;
        const uint32_t blocks = std::min(data->shares, limits.blocks);
        const size_t look_ups = file.kernel.look_ups.size();
        const auto write = [&](auto writer, const std::string& name, Dispatch& dispatch) {
            file.kernel.shared_bytes =
                std::max(file.kernel.shared_bytes, writer.write(name, limits));
            if (blocks > 0) dispatch.add(name, blocks);
        };
        if (!made->fields.empty())
            write(NumberWriter(file, *pipeline, *data, *made, i, choices),
                  fmt::format("number_{}", i), numbers);
        write(KeyWriter(file, *pipeline, *data, *made, i, choices), fmt::format("build_{}", i),
              keys);
        for (size_t k = look_ups; k < file.kernel.look_ups.size(); ++k)
            file.kernel.look_ups[k].pipeline = static_cast<int>(i);
    }
    const int level = builds[some[0]].level;
    const std::string suffix = level == 0 ? "" : fmt::format("_level{}", level);
    numbers.finish("number_groups" + suffix, status);
    keys.finish("build" + suffix, status);
    return file.finish();
}

}  // namespace

std::vector<KernelText> write_builds(const std::vector<BuildPipeline>& builds,
                                     const BlockLimits& limits, const KernelChoices& choices) {
    std::vector<KernelText> texts;
    int levels = 0;
    for (const BuildPipeline& build : builds) levels = std::max(levels, build.level + 1);
    for (int level = 0; level < levels; ++level) {
        std::vector<size_t> small;
        for (size_t i = 0; i < builds.size(); ++i) {
            if (builds[i].level != level) continue;
            if (builds[i].data->rows <= choices.few_rows)
                small.push_back(i);
            else
                texts.push_back(write_some(builds, {i}, limits, choices));
        }
        if (!small.empty()) texts.push_back(write_some(builds, small, limits, choices));
    }
    return texts;
}

}  // namespace loom::gpu
