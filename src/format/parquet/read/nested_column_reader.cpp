#include "format/parquet/read/nested_column_reader.h"

#include <chrono>
#include <cstring>

#include "format/parquet/decode/convert.h"
#include "format/parquet/decode/expand.h"
#include "format/parquet/variant/variant_json.h"

namespace loom::parquet {

using base::ErrorKind;
using column::BytesView;
using column::ColumnView;

namespace {

// Bytes of the texts of one call: small variants can stand for enormous texts.
constexpr uint64_t kMaxVariantBytes = uint64_t{1} << 30;

}  // namespace

NestedColumnReader::NestedColumnReader(FileStatePtr file, int64_t row_group, int column,
                                       const format::ReadOptions& options)
    : file_(std::move(file)),
      row_group_(row_group),
      column_(column),
      root_(file_->footer.schema().columns[static_cast<size_t>(column)]),
      options_(options),
      row_count_(file_->footer.row_groups()[static_cast<size_t>(row_group)].rows),
      first_leaf_(root_.first_leaf),
      buffers_(file_->options.budget) {
    open_leaves(root_);
    batches_.resize(leaves_.size());
}

// Leaves below one node have consecutive ordinals.
void NestedColumnReader::open_leaves(const Node& node) {
    if (node.kind == Node::Kind::kLeaf && node.leaf >= 0)
        leaves_.push_back(std::make_unique<LeafReader>(file_, row_group_, node.leaf, options_));
    for (const Node& child : node.children) open_leaves(child);
}

const LeafBatch& NestedColumnReader::batch(int leaf) const {
    return batches_[static_cast<size_t>(leaf - first_leaf_)];
}

// Lets each leaf collect its records, then builds the view.
template <typename Collect>
ColumnView NestedColumnReader::run(int64_t row, int64_t count, int64_t rows, Collect&& collect) {
    const auto start = std::chrono::steady_clock::now();
    if (row < 0 || count < 0 || count > column::kBatchRows || row > row_count_ - count)
        base::with_where([&] { return file_->where(row_group_, column_); },
                         [&] {
                             base::raise(ErrorKind::kBug, "rows {} to {} of {} were asked for", row,
                                         row + count, row_count_);
                         });
    for (size_t i = 0; i < leaves_.size(); ++i) {
        LeafReader& leaf = *leaves_[i];
        base::with_where([&] { return leaf.where(); },
                         [&] {
                             leaf.begin();
                             if (rows > 0) collect(leaf);
                         });
        batches_[i] = leaf.batch();
    }
    const ColumnView view = base::with_where([&] { return file_->where(row_group_, column_); },
                                             [&] {
                                                 return build(root_, {0, 0, rows}, buffers_);
                                             });
    total_ns_ += static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                           std::chrono::steady_clock::now() - start)
                                           .count());
    return view;
}

ColumnView NestedColumnReader::read(int64_t row, int64_t count) {
    return run(row, count, count, [&](LeafReader& leaf) {
        leaf.seek(row);
        leaf.collect(count);
    });
}

ColumnView NestedColumnReader::gather(int64_t row, int64_t count,
                                      std::span<const uint16_t> selection) {
    const auto wanted = static_cast<int64_t>(selection.size());
    if (wanted > 0 && selection.back() >= count)
        base::raise(ErrorKind::kBug, "a selected row lies outside the batch");
    return run(row, count, wanted, [&](LeafReader& leaf) {
        leaf.seek(row + selection.front());
        for (size_t i = 0; i < selection.size();) {
            size_t end = i + 1;
            while (end < selection.size() && selection[end] == selection[end - 1] + 1) ++end;
            leaf.collect(static_cast<int64_t>(end - i));
            if (end < selection.size()) leaf.discard(selection[end] - selection[end - 1] - 1);
            i = end;
        }
    });
}

void NestedColumnReader::check_rows(int64_t found, int64_t expected) {
    if (found != expected)
        base::corrupt("parts of a nested value disagree: {} and {} values", found, expected);
}

ColumnView NestedColumnReader::build(const Node& node, Place place, NodeBuffers& out) {
    while (out.children.size() < node.children.size())
        out.children.push_back(std::make_unique<NodeBuffers>(file_->options.budget));
    out.child_views.resize(node.children.size());
    switch (node.kind) {
        case Node::Kind::kLeaf:
            return build_leaf(node, place, out);
        case Node::Kind::kStruct:
            return build_struct(node, place, out);
        case Node::Kind::kVariant:
            return build_variant(node, place, out);
        case Node::Kind::kList:
        case Node::Kind::kMap:
            break;
    }
    return build_list(node, place, out);
}

// Writes one validity bit per row of a node: whether the slot's definition level reaches `defined`.
// Returns the number of NULLs.
int64_t NestedColumnReader::mark_valid(const LeafBatch& levels, int defined, Place place,
                                       NodeBuffers& out) {
    // One more bit than rows: the loop writes first and counts then.
    out.validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(levels.slots + 1)));
    uint8_t* bits = out.validity.data();
    int64_t rows = 0;
    int64_t valid_rows = 0;
    for (int64_t i = 0; i < levels.slots; ++i) {
        const int definition = levels.definition[i];
        const bool row = definition >= place.existing &&
                         (levels.repetition == nullptr || levels.repetition[i] <= place.repetition);
        const bool valid = definition >= defined;
        base::put_bit(bits, rows, valid);
        rows += row;
        valid_rows += row && valid;
    }
    check_rows(rows, place.rows);
    return rows - valid_rows;
}

ColumnView NestedColumnReader::build_leaf(const Node& node, Place place, NodeBuffers& out) {
    ColumnView view;
    view.type = node.type.get();
    view.length = place.rows;
    if (node.leaf < 0 || node.type->id == column::TypeId::kNull) {
        if (node.leaf >= 0) mark_valid(batch(node.leaf), 0, place, out);
        view.null_count = place.rows;
        return view;
    }
    const Leaf& leaf = file_->footer.schema().leaves[static_cast<size_t>(node.leaf)];
    const LeafBatch& levels = batch(node.leaf);
    view.null_count = mark_valid(levels, leaf.max_definition, place, out);
    check_rows(levels.value_count, place.rows - view.null_count);
    view.values = levels.values;
    const int32_t width = SlotDecoder::slot_width(leaf.type);
    if (view.null_count != 0) {
        view.validity = out.validity.data();
        out.values.resize_discarding(static_cast<uint64_t>(place.rows) *
                                     static_cast<uint64_t>(width));
        expand_slots(levels.values, width, view.validity, 0, place.rows, out.values.data());
        view.values = out.values.data();
    }
    if (leaf.type.conversion == Conversion::kBool) {
        out.offsets.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(place.rows)));
        pack_booleans(view.as<uint8_t>(), place.rows, out.offsets.data(), 0);
        view.values = out.offsets.data();
    }
    return view;
}

ColumnView NestedColumnReader::build_struct(const Node& node, Place place, NodeBuffers& out) {
    ColumnView view;
    view.type = node.type.get();
    view.length = place.rows;
    if (node.first_leaf >= 0 && node.nullable) {
        view.null_count = mark_valid(batch(node.first_leaf), node.defined_level, place, out);
        if (view.null_count != 0) view.validity = out.validity.data();
    }
    for (size_t i = 0; i < node.children.size(); ++i)
        out.child_views[i] = build(node.children[i], place, *out.children[i]);
    view.children = out.child_views.data();
    view.child_count = static_cast<int32_t>(out.child_views.size());
    return view;
}

ColumnView NestedColumnReader::build_list(const Node& node, Place place, NodeBuffers& out) {
    ColumnView view;
    view.type = node.type.get();
    view.length = place.rows;
    view.children = out.child_views.data();
    view.child_count = 1;
    const auto offset_bytes = static_cast<uint64_t>(place.rows + 1) * sizeof(int64_t);
    out.offsets.resize_discarding(offset_bytes);
    auto* offsets = out.offsets.as<int64_t>();
    view.offsets = offsets;
    int64_t elements = 0;
    if (node.first_leaf < 0) {  // elements without any leaf: nothing tells how many there are
        std::memset(offsets, 0, offset_bytes);
        out.validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(place.rows)));
        base::fill_bits(out.validity.data(), 0, place.rows, false);
        view.null_count = place.rows;
        view.validity = place.rows != 0 ? out.validity.data() : nullptr;
    } else {
        const LeafBatch& levels = batch(node.first_leaf);
        view.null_count = mark_valid(levels, node.defined_level, place, out);
        if (view.null_count != 0) view.validity = out.validity.data();
        // mark_valid() has found exactly place.rows rows, so that offsets stay within their buffer.
        int64_t row = 0;
        for (int64_t i = 0; i < levels.slots; ++i) {
            const int repetition = levels.repetition[i];
            const int definition = levels.definition[i];
            if (repetition <= place.repetition && definition >= place.existing)
                offsets[row++] = elements;
            elements += repetition <= node.repetition_level && definition >= node.element_level;
        }
        offsets[row] = elements;
    }
    out.child_views[0] = build(
        node.children[0], {node.repetition_level, node.element_level, elements}, *out.children[0]);
    return view;
}

// Turns the group that stores a variant into texts.
ColumnView NestedColumnReader::build_variant(const Node& node, Place place, NodeBuffers& out) {
    ColumnView view;
    view.type = node.type.get();
    view.length = place.rows;
    if (node.nullable) {
        view.null_count = mark_valid(batch(node.first_leaf), node.defined_level, place, out);
        if (view.null_count != 0) view.validity = out.validity.data();
    }
    const ColumnView group = build(node.children[0], place, *out.children[0]);
    out.values.resize_discarding(static_cast<uint64_t>(place.rows) * sizeof(BytesView));
    auto* texts = out.values.as<BytesView>();
    view.values = texts;
    uint64_t bytes = 0;
    for (int64_t row = 0; row < place.rows; ++row) {
        texts[row] = {};
        if (view.is_null(row)) continue;
        base::check_stop(file_->options.stop);
        const std::string text = variant_to_json(group, row);
        if (text.size() > kMaxVariantBytes - bytes)
            base::raise(ErrorKind::kLimit, "a batch of variants of more than {} bytes as text",
                        kMaxVariantBytes);
        out.heap.resize(bytes + text.size());
        std::memcpy(out.heap.data() + bytes, text.data(), text.size());
        texts[row].size = static_cast<int64_t>(text.size());
        bytes += text.size();
    }
    // The heap does not move any more.
    const uint8_t* next = out.heap.data();
    for (int64_t row = 0; row < place.rows; ++row) {
        if (view.is_null(row)) continue;
        texts[row].data = next;
        next += texts[row].size;
    }
    return view;
}

format::ReadProfile NestedColumnReader::profile() const {
    format::ReadProfile total;
    uint64_t io = 0;
    for (const auto& leaf : leaves_) {
        const format::ReadProfile one = leaf->profile();
        total.bytes_read += one.bytes_read;
        total.pages_read += one.pages_read;
        total.pages_skipped += one.pages_skipped;
        io += leaf->io_ns();
    }
    total.decode_ns = total_ns_ > io ? total_ns_ - io : 0;
    return total;
}

}  // namespace loom::parquet
