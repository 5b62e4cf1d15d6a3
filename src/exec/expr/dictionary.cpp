// Expressions of one dictionary column: computed once for each entry, then looked up by code.

#include <cstring>

#include "exec/expr/interpreter.h"
#include "exec/expr/scratch.h"
#include "exec/fault.h"

namespace loom::exec {

using plan::Physical;
using plan::TypeId;

namespace {

// Dictionaries whose results a node keeps.
constexpr size_t kKeep = 4;
// Dictionaries with entries that fault, after which a node's rows are computed.
constexpr int kMostFaults = 2;

// Whether computing all entries costs less than the rows that are likely to come. What the host
// computes may take any time, so it is computed for no more entries than there are rows.
bool pays(const Node& node, int64_t entries, int64_t rows_seen) {
    if (node.asks_host) return rows_seen >= entries;
    return entries <= kBatchRows || rows_seen * 2 > entries;
}

}  // namespace

// Returns the node's values for the dictionary of `input`, or nullptr if the rows have to be
// computed: entries fault, or the dictionary is so large that too few rows have come yet to pay for
// it.
const Interpreter::Derived* Interpreter::derived(const Node& node, const Vector& input) {
    Scratch& memory = scratch(node);
    const Vector& entries = input.dictionary->values;
    Derived* found = nullptr;
    for (const auto& entry : memory.derived)
        if (entry->version == input.dictionary->version && entry->source == entries.values &&
            entry->entries == entries.length)
            found = entry.get();
    if (found == nullptr) {
        if (memory.derived.size() < kKeep) {
            memory.derived.push_back(std::make_unique<Derived>(budget_));
            found = memory.derived.back().get();
        } else {
            memory.next_derived = (memory.next_derived + 1) % kKeep;
            memory.derived[memory.next_derived] = std::make_unique<Derived>(budget_);
            found = memory.derived[memory.next_derived].get();
        }
        found->version = input.dictionary->version;
        found->source = entries.values;
        found->entries = entries.length;
    }
    found->rows_seen += input.length;
    if (!found->ready && !found->faulted && memory.faulted_derivations < kMostFaults &&
        pays(node, entries.length, found->rows_seen)) {
        derive(node, input, found);
        memory.faulted_derivations += found->faulted ? 1 : 0;
    }
    if (found->faulted) return nullptr;
    if (found->null_faulted && input.validity != nullptr) return nullptr;
    return found->ready ? found : nullptr;
}

void Interpreter::derive(const Node& node, const Vector& input, Derived* out) {
    const int column = node.only_column();
    std::vector<Vector> inputs(static_cast<size_t>(column) + 1);
    Vector& slice = inputs.back();
    const Vector& entries = input.dictionary->values;
    const int from_width = plan::width(plan::physical(entries.type));
    const int to_width = plan::width(node.physical);
    out->room.values.resize_discarding(static_cast<uint64_t>(entries.length) * to_width);
    out->room.validity.resize_discarding(
        static_cast<uint64_t>(simd::mask_words(entries.length) + 1) * 8);
    if (node.type.id == TypeId::kBool) {
        out->yes.resize_discarding(out->room.validity.size());
        out->no.resize_discarding(out->room.validity.size());
        std::memset(out->yes.data(), 0, out->yes.size());
        std::memset(out->no.data(), 0, out->no.size());
    }
    try {
        for (int64_t at = 0; at < entries.length; at += kBatchRows) {
            slice = entries;
            slice.length = std::min(kBatchRows, entries.length - at);
            slice.values = entries.as<uint8_t>() + at * from_width;
            if (entries.validity != nullptr) slice.validity = entries.validity + at / 8;
            derive_rows(node, {inputs, slice.length}, at, out);
        }
    } catch (const SqlFault&) {
        out->faulted = true;
    } catch (const Unrepresentable&) {
        out->faulted = true;
    }
    if (out->faulted) return;
    try {
        const ConstantValue null;
        slice = constant_vector(entries.type, null);
        const Vector result = compute(node, {inputs, 1});
        out->null_known = !result.is_null(0);
        if (node.type.id == TypeId::kBool && out->null_known) {
            out->null_yes = result.as<uint8_t>()[0] != 0;
            out->null_no = !out->null_yes;
        }
    } catch (const SqlFault&) {
        out->null_faulted = true;
    } catch (const Unrepresentable&) {
        out->null_faulted = true;
    }
    Vector& values = out->dictionary.values;
    values.type = node.type;
    values.length = entries.length;
    values.values = out->room.values.data();
    values.validity = out->room.validity.data();
    out->dictionary.version = column::next_dictionary_version();
    out->ready = true;
}

// Computes the entries from `at` on and stores them.
void Interpreter::derive_rows(const Node& node, const Frame& frame, int64_t at, Derived* out) {
    auto* known = out->room.validity.as<uint64_t>() + at / 64;
    uint8_t* to = out->room.values.data() + at * plan::width(node.physical);
    if (node.type.id == TypeId::kBool) {
        Truth rows;
        compute_truth(node, frame, true, &rows);
        for (int64_t w = 0; w < simd::mask_words(frame.length); ++w) {
            out->yes.as<uint64_t>()[at / 64 + w] = rows.yes[w];
            out->no.as<uint64_t>()[at / 64 + w] = rows.no[w];
            known[w] = rows.yes[w] | rows.no[w];
        }
        return simd::mask_to_bools(rows.yes, frame.length, to);
    }
    Vector result = compute(node, frame);
    result.length = frame.length;
    result = spread(result, scratch(node).flat);
    known_rows(result, frame.length, known);
    std::memcpy(to, result.values, static_cast<size_t>(frame.length * plan::width(node.physical)));
    if (node.physical != Physical::kBytes) return;
    auto* views = reinterpret_cast<column::BytesView*>(to);
    for (int64_t i = 0; i < frame.length; ++i) {
        column::BytesView& view = views[i];
        if ((known[i >> 6] >> (i & 63) & 1) == 0 || view.size == 0) {
            view = {};
            continue;
        }
        uint8_t* copy = out->heap.allocate(view.size);
        std::memcpy(copy, view.data, static_cast<size_t>(view.size));
        view.data = copy;
    }
}

Vector Interpreter::from_codes(const Node& node, const Vector& input, const Derived& entry) {
    Vector out = input;
    out.type = node.type;
    out.dictionary = &entry.dictionary;
    if (input.validity == nullptr || !entry.null_known) return out;
    // NULL rows have a value. Dictionary entries do not stand for it, so rows are computed.
    Vector plain_input = flatten(input, scratch(node).flat);
    std::vector<Vector> inputs(static_cast<size_t>(node.only_column()) + 1);
    inputs.back() = plain_input;
    return compute(node, {inputs, input.length});
}

void Interpreter::truth_of_codes(const Vector& input, const Derived& entry, int64_t rows,
                                 Truth* out) {
    const int64_t codes = std::max<int64_t>(entry.entries, 1);
    const auto look_up = [&](const base::Buffer& bitmap, uint64_t* mask) {
        const auto* bits = bitmap.as<uint64_t>();
        if (input.code_width == 1)
            simd::codes_to_mask(input.as<uint8_t>(), rows, bits, codes, mask);
        else if (input.code_width == 2)
            simd::codes_to_mask(input.as<uint16_t>(), rows, bits, codes, mask);
        else
            simd::codes_to_mask(input.as<uint32_t>(), rows, bits, codes, mask);
    };
    look_up(entry.yes, out->yes);
    look_up(entry.no, out->no);
    if (input.validity == nullptr) return;
    uint64_t known[kMaskWords];
    known_rows(input, rows, known);
    for (int64_t w = 0; w < simd::mask_words(rows); ++w) {
        const uint64_t unknown = ~known[w] & row_word(rows, w);
        out->yes[w] = (out->yes[w] & known[w]) | (entry.null_yes ? unknown : 0);
        out->no[w] = (out->no[w] & known[w]) | (entry.null_no ? unknown : 0);
    }
}

}  // namespace loom::exec
