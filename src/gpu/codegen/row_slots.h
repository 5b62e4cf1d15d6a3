#pragma once
// The values of the row that a kernel has in hand.

#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "gpu/codegen/expression_text.h"
#include "gpu/codegen/kernel_text.h"

namespace loom::gpu {

inline std::string cast(std::string_view type, std::string_view value) {
    return fmt::format("static_cast<{}>({})", type, value);
}

/// Reads the slots of one row, each once.
class RowSlots final : public ValueSource {
  public:
    RowSlots(const Pipeline& pipeline, const PipelineData& data, KernelWords& words)
        : pipeline_(pipeline), data_(data), words_(words) {}

    /// Forgets what was read: another row.
    void restart() { read_.clear(); }
    /// The offset of a slot's value from its origin is there already, as `text`.
    void carry(int slot, std::string text) { carried_[slot] = std::move(text); }

    /// Returns a slot's offset from its column's origin.
    std::string offset(int slot, std::string& out) {
        const auto carried = carried_.find(slot);
        if (carried != carried_.end()) return carried->second;
        if (column(slot).layout.encoding == Encoding::kWide)
            throw NotInKernels{"a column of widely spread values as a key"};
        Read& read = read_[slot];
        if (!read.offset.empty()) return read.offset;
        read.offset = fmt::format("o{}_{}", slot, count_++);
        out += fmt::format("const uint32_t {} = {}::get({}, row);\n", read.offset,
                           encoding_name(column(slot).layout), view(slot));
        return read.offset;
    }

    std::string valid(int slot, std::string& out) {
        if (!column(slot).layout.nullable) return "";
        Read& read = read_[slot];
        if (read.valid.empty()) {
            read.valid = fmt::format("n{}_{}", slot, count_++);
            out += fmt::format("const bool {} = is_valid({}, row);\n", read.valid, view(slot));
        }
        return read.valid;
    }

    TextValue slot(int slot, std::string& out) override {
        const Slot& definition = pipeline_.slots[static_cast<size_t>(slot)];
        if (definition.kind != Slot::Kind::kScan)
            throw NotInKernels{"a column of a build side in an expression"};
        Read& read = read_[slot];
        if (read.value.empty()) {
            const std::string type = value_type(definition.type);
            const std::string name = fmt::format("v{}_{}", slot, count_++);
            const ScanColumn& of = column(slot);
            if (of.layout.encoding == Encoding::kWide) {
                out += fmt::format("const {} {} = {};\n", type, name,
                                   cast(type, fmt::format("Wide::get({}, row)", view(slot))));
            } else {
                const std::string from = offset(slot, out);
                const std::string origin = words_.add(static_cast<uint64_t>(of.origin));
                out += fmt::format("const {} {} = {};\n", type, name,
                                   cast(type, fmt::format("{} + {}", origin, from)));
            }
            read_[slot].value = name;
        }
        const std::string known = valid(slot, out);
        return {read_[slot].value, known};
    }

    void open_block() override { outer_.push_back(read_); }
    void close_block() override {
        read_ = std::move(outer_.back());
        outer_.pop_back();
    }

    bool has_dictionary(int slot) const override {
        return pipeline_.slots[static_cast<size_t>(slot)].kind == Slot::Kind::kScan &&
               column(slot).dictionary;
    }

    std::string view(int slot) const { return fmt::format("views[{}]", view_index(slot)); }
    int view_index(int slot) const { return pipeline_.slots[static_cast<size_t>(slot)].index; }
    const ScanColumn& column(int slot) const { return data_.columns[static_cast<size_t>(slot)]; }

  private:
    struct Read {
        std::string offset;
        std::string value;
        std::string valid;
    };

    const Pipeline& pipeline_;
    const PipelineData& data_;
    KernelWords& words_;
    std::map<int, Read> read_;
    std::vector<std::map<int, Read>> outer_;
    std::map<int, std::string> carried_;
    int count_ = 0;
};

}  // namespace loom::gpu
