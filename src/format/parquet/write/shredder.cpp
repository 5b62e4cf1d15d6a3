// A level stream is a list of slots. It starts as one slot per row and gets longer at each list on
// the way down, whose elements take the place of the list; slots that are NULL or empty stay as
// they are.

#include "format/parquet/write/shredder.h"

namespace loom::parquet::write {

using column::ColumnView;
using column::TypeId;

namespace {

using Slots = std::vector<Slot>;

bool is_null(const ColumnView& view, int64_t row) {
    if (view.is_null(row)) return true;
    return view.dictionary != nullptr && view.dictionary->values.is_null(view.code(row));
}

void mark_nulls(const Node& node, const ColumnView& view, Slots& slots) {
    const bool all_null = view.type->id == TypeId::kNull;
    for (Slot& slot : slots) {
        if (slot.row < 0) continue;
        if (!all_null && !is_null(view, slot.row)) {
            slot.definition = static_cast<uint8_t>(slot.definition + (node.nullable ? 1 : 0));
        } else if (node.nullable) {
            slot.row = -1;
        } else {
            base::raise(base::ErrorKind::kTypeMismatch, "a NULL in a column without NULLs");
        }
    }
}

struct ElementRange {
    int64_t begin = 0;
    int64_t end = 0;
};

ElementRange elements_of(const ColumnView& view, int64_t row) {
    if (view.type->id == TypeId::kFixedList)
        return {row * view.type->list_size, (row + 1) * view.type->list_size};
    return {view.offsets[row], view.offsets[row + 1]};
}

Slots expand_lists(const Node& node, const ColumnView& view, const Slots& slots) {
    Slots expanded;
    expanded.reserve(slots.size() * 2);
    for (const Slot& slot : slots) {
        const ElementRange range = slot.row < 0 ? ElementRange{} : elements_of(view, slot.row);
        if (range.begin == range.end) {
            expanded.push_back({-1, slot.definition, slot.repetition});
            continue;
        }
        const auto definition = static_cast<uint8_t>(slot.definition + 1);
        expanded.push_back({range.begin, definition, slot.repetition});
        for (int64_t row = range.begin + 1; row < range.end; ++row)
            expanded.push_back({row, definition, node.repetition});
    }
    return expanded;
}

// Resolves what a leaf can't take: runs, and dictionaries of nested values (an error of to_plain).
ColumnView without_runs(const Node& node, const ColumnView& view, column::Column& scratch) {
    const bool taken = view.encoding == column::Encoding::kPlain ||
                       (view.encoding == column::Encoding::kDictionary && node.leaf >= 0);
    return taken ? view : column::to_plain(view, scratch);
}

void descend(const Node& node, const ColumnView& encoded, Slots slots,
             std::span<LeafBuffer> buffers) {
    column::Column scratch;
    const ColumnView view = without_runs(node, encoded, scratch);
    mark_nulls(node, view, slots);
    if (node.leaf >= 0) return buffers[node.leaf].append_slots(view, slots);
    switch (view.type->id) {
        case TypeId::kList:
        case TypeId::kFixedList:
            return descend(node.children[0], view.children[0], expand_lists(node, view, slots),
                           buffers);
        case TypeId::kMap: {
            // The struct of key and value adds no level of its own.
            const Slots entries = expand_lists(node, view, slots);
            for (int i = 0; i < 2; ++i)
                descend(node.children[0].children[i], view.children[0].children[i], entries,
                        buffers);
            return;
        }
        default:
            for (size_t i = 0; i < node.children.size(); ++i)
                descend(node.children[i], view.children[i], slots, buffers);
    }
}

}  // namespace

void shred(const Node& node, const ColumnView& encoded, int64_t begin, int64_t count,
           std::span<LeafBuffer> buffers) {
    if (node.leaf >= 0) {
        column::Column scratch;
        return buffers[node.leaf].append_rows(without_runs(node, encoded, scratch), begin, count);
    }
    Slots slots(count);
    for (int64_t i = 0; i < count; ++i) slots[i].row = begin + i;
    descend(node, encoded, std::move(slots), buffers);
}

}  // namespace loom::parquet::write
