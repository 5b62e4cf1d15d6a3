#pragma once
// The values of the row that a kernel has in hand.

#include <map>
#include <string>
#include <utility>
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
    void restart() {
        read_.clear();
        places_.clear();
        found_.clear();
    }
    /// The place of the row's key in a join's build side is there already, as `text`.
    void set_place(int join, std::string text) { places_[join] = std::move(text); }
    /// Whether the row has a match in a join's build side; else columns of that are NULL.
    void set_found(int join, std::string text) { found_[join] = std::move(text); }
    /// Returns how a row tells whether it has a match; empty: it has.
    std::string found(int join) const {
        const auto known = found_.find(join);
        return known == found_.end() ? std::string() : known->second;
    }
    /// The offset of a slot's value from its origin is there already, as `text`.
    void carry(int slot, std::string text) { carried_[slot] = std::move(text); }

    /// Returns a slot's offset from its column's origin.
    std::string offset(int slot, std::string& out) {
        if (is_payload(slot)) return number(slot, out);
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

    /// Returns how far the value of a slot of a build side lies above the least: `reach()` for
    /// NULL.
    std::string number(int slot, std::string& out) {
        Read& read = read_[slot];
        if (!read.offset.empty()) return read.offset;
        const Slot& definition = pipeline_.slots[static_cast<size_t>(slot)];
        const PayloadArray* array =
            data_.builds[static_cast<size_t>(definition.join)]->find(definition.index);
        if (array == nullptr) throw NotInKernels{"a column of a build side that is not kept"};
        const std::string at = place(definition.join, out);
        const std::string name = fmt::format("p{}_{}", slot, count_++);
        const int bits = array->bytes * 8;
        const auto found = found_.find(definition.join);
        const uint64_t none = column(slot).has_values() ? column(slot).reach() : 0;
        out += fmt::format(
            "const uint{}_t {} = look_up{}_if(bytes_at<uint{}_t>({}) + {}, {});\n",
            bits == 64 ? 64 : 32, name, bits, bits, words_.add(array->address), at,
            found == found_.end()
                ? "1, 0"
                : fmt::format("{}, {}", found->second,
                              cast(bits == 64 ? "uint64_t" : "uint32_t", words_.add(none))));
        read_[slot].offset = name;
        return name;
    }

    std::string valid(int slot, std::string& out) {
        if (!column(slot).layout.nullable) return "";
        if (is_payload(slot)) {
            const std::string above = number(slot, out);
            Read& read = read_[slot];
            if (read.valid.empty()) {
                read.valid = fmt::format("n{}_{}", slot, count_++);
                const uint64_t none = column(slot).has_values() ? column(slot).reach() : 0;
                out +=
                    fmt::format("const bool {} = {} != {};\n", read.valid, above, words_.add(none));
            }
            return read.valid;
        }
        Read& read = read_[slot];
        if (read.valid.empty()) {
            read.valid = fmt::format("n{}_{}", slot, count_++);
            out += fmt::format("const bool {} = is_valid({}, row);\n", read.valid, view(slot));
        }
        return read.valid;
    }

    TextValue slot(int slot, std::string& out) override {
        const Slot& definition = pipeline_.slots[static_cast<size_t>(slot)];
        Read& read = read_[slot];
        if (read.value.empty() && is_payload(slot)) {
            const std::string above = number(slot, out);
            const std::string type = value_type(definition.type);
            read_[slot].value = fmt::format("v{}_{}", slot, count_++);
            out += fmt::format(
                "const {} {} = {};\n", type, read_[slot].value,
                cast(type,
                     fmt::format("{} + {}", words_.add(static_cast<uint64_t>(column(slot).min)),
                                 above)));
        } else if (read.value.empty()) {
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

    /// Returns the place of a key that is known to be in a join's build side.
    std::string place(int join, std::string& out) {
        const auto known = places_.find(join);
        if (known != places_.end()) return known->second;
        const plan::Expr& key = pipeline_.joins[static_cast<size_t>(join)].keys[0];
        const std::string from = offset(key.index, out);
        const auto shift = static_cast<uint64_t>(column(key.index).origin) -
                           static_cast<uint64_t>(data_.builds[static_cast<size_t>(join)]->origin);
        const std::string name = fmt::format("at{}_{}", join, count_++);
        out += fmt::format("const uint32_t {} = {} + {};\n", name, from,
                           cast("uint32_t", words_.add(static_cast<uint32_t>(shift))));
        places_[join] = name;
        return name;
    }

    void open_block() override { outer_.emplace_back(read_, places_); }
    void close_block() override {
        read_ = std::move(outer_.back().first);
        places_ = std::move(outer_.back().second);
        outer_.pop_back();
    }

    bool is_payload(int slot) const {
        return pipeline_.slots[static_cast<size_t>(slot)].kind == Slot::Kind::kPayload;
    }

    std::string view(int slot) const { return fmt::format("views[{}]", view_index(slot)); }
    int view_index(int slot) const { return pipeline_.slots[static_cast<size_t>(slot)].index; }
    const ScanColumn& column(int slot) const override {
        return data_.columns[static_cast<size_t>(slot)];
    }

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
    std::map<int, std::string> places_;
    std::map<int, std::string> found_;
    std::vector<std::pair<std::map<int, Read>, std::map<int, std::string>>> outer_;
    std::map<int, std::string> carried_;
    int count_ = 0;
};

}  // namespace loom::gpu
