#include "format/arrow/gather.h"

#include <algorithm>
#include <cstring>

namespace loom::arrow {

using base::Buffer;
using column::BytesView;
using column::Column;
using column::ColumnView;
using column::Encoding;
using column::TypeId;

namespace {

// Child row numbers are handed on in portions of this size, so that they stay in the cache.
constexpr size_t kPortion = 16384;

void append_validity(const ColumnView& in, std::span<const int64_t> rows, Column& out) {
    const int64_t before = out.length;
    const int64_t after = before + static_cast<int64_t>(rows.size());
    out.validity.resize(static_cast<uint64_t>(base::bitmap_bytes(after)));
    uint8_t* bits = out.validity.data();
    int64_t at = before;
    for (int64_t row : rows) {
        const bool valid = row != kNullRow && !in.is_null(row);
        base::put_bit(bits, at++, valid);
        out.null_count += valid ? 0 : 1;
    }
}

template <typename T>
void copy_values(const void* from, std::span<const int64_t> rows, Buffer& to) {
    const size_t before = to.size();
    to.resize(before + rows.size() * sizeof(T));
    auto* target = reinterpret_cast<T*>(to.data() + before);
    const auto* source = static_cast<const T*>(from);
    for (size_t i = 0; i < rows.size(); ++i)
        target[i] = rows[i] == kNullRow ? T{} : source[rows[i]];
}

void copy_wide(const void* from, int64_t width, std::span<const int64_t> rows, Buffer& to) {
    const size_t before = to.size();
    to.resize(before + rows.size() * static_cast<size_t>(width));
    if (width == 0) return;
    uint8_t* target = to.data() + before;
    for (size_t i = 0; i < rows.size(); ++i, target += width) {
        if (rows[i] == kNullRow)
            std::memset(target, 0, static_cast<size_t>(width));
        else
            std::memcpy(target, static_cast<const uint8_t*>(from) + rows[i] * width,
                        static_cast<size_t>(width));
    }
}

void copy_fixed(const void* from, int64_t width, std::span<const int64_t> rows, Buffer& to) {
    switch (width) {
        case 1:
            return copy_values<uint8_t>(from, rows, to);
        case 2:
            return copy_values<uint16_t>(from, rows, to);
        case 4:
            return copy_values<uint32_t>(from, rows, to);
        case 8:
            return copy_values<uint64_t>(from, rows, to);
        default:
            return copy_wide(from, width, rows, to);
    }
}

void copy_bool(const ColumnView& in, std::span<const int64_t> rows, Column& out) {
    out.values.resize(
        static_cast<uint64_t>(base::bitmap_bytes(out.length + static_cast<int64_t>(rows.size()))));
    int64_t at = out.length;
    for (int64_t row : rows)
        base::put_bit(out.values.data(), at++,
                      row != kNullRow && base::bit_at(in.as<uint8_t>(), row));
}

void append_offset(Buffer& offsets, int64_t value) {
    const size_t before = offsets.size();
    offsets.resize(before + sizeof value);
    base::store(offsets.data() + before, value);
}

// Collects child rows and hands them on in portions.
class ChildRows {
  public:
    ChildRows(const ColumnView& in, Column& out) : in_(in), out_(out) {}

    void add(int64_t row) {
        rows_.push_back(row);
        if (rows_.size() == kPortion) flush();
    }
    void flush() {
        if (!rows_.empty()) gather_rows(in_, rows_, out_);
        rows_.clear();
    }
    /// Counts `elements` more against the limit.
    void reserve(int64_t elements) {
        total_ += elements;
        if (total_ > kGatherLimit)
            base::raise(base::ErrorKind::kLimit, "more than {} list elements in one batch",
                        kGatherLimit);
    }

  private:
    const ColumnView& in_;
    Column& out_;
    std::vector<int64_t> rows_;
    int64_t total_ = 0;
};

void copy_lists(const ColumnView& in, std::span<const int64_t> rows, Column& out) {
    ChildRows child(in.children[0], out.children[0]);
    if (out.offsets.size() == 0) append_offset(out.offsets, 0);
    const size_t before = out.offsets.size();
    int64_t end = base::load<int64_t>(out.offsets.data() + before - sizeof end);
    out.offsets.resize(before + rows.size() * sizeof end);
    auto* ends = reinterpret_cast<int64_t*>(out.offsets.data() + before);
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] != kNullRow && !in.is_null(rows[i])) {
            const int64_t first = in.offsets[rows[i]];
            const int64_t last = in.offsets[rows[i] + 1];
            child.reserve(last - first);
            for (int64_t row = first; row < last; ++row) child.add(row);
            end += last - first;
        }
        ends[i] = end;
    }
    child.flush();
}

void copy_fixed_lists(const ColumnView& in, std::span<const int64_t> rows, Column& out) {
    ChildRows child(in.children[0], out.children[0]);
    const int64_t size = in.type->list_size;
    for (int64_t row : rows) {
        child.reserve(size);
        for (int64_t i = 0; i < size; ++i) child.add(row == kNullRow ? kNullRow : row * size + i);
    }
    child.flush();
}

void copy_dense_union(const ColumnView& in, std::span<const int64_t> rows, Column& out) {
    std::vector<std::vector<int64_t>> child_rows(static_cast<size_t>(in.child_count));
    for (int64_t row : rows) {
        const auto index = static_cast<size_t>(row == kNullRow ? 0 : in.as<int8_t>()[row]);
        if (in.child_count == 0) {
            append_offset(out.offsets, 0);
            continue;
        }
        std::vector<int64_t>& wanted = child_rows[index];
        append_offset(out.offsets,
                      out.children[index].length + static_cast<int64_t>(wanted.size()));
        wanted.push_back(row == kNullRow ? kNullRow : in.offsets[row]);
    }
    for (size_t i = 0; i < child_rows.size(); ++i)
        gather_rows(in.children[i], child_rows[i], out.children[i]);
}

void copy_plain(const ColumnView& in, std::span<const int64_t> rows, Column& out) {
    switch (in.type->id) {
        case TypeId::kNull:
            break;
        case TypeId::kBool:
            copy_bool(in, rows, out);
            break;
        case TypeId::kUtf8:
        case TypeId::kBinary:
            copy_values<BytesView>(in.values, rows, out.values);
            break;
        case TypeId::kList:
        case TypeId::kMap:
            copy_lists(in, rows, out);
            break;
        case TypeId::kFixedList:
            copy_fixed_lists(in, rows, out);
            break;
        case TypeId::kSparseUnion:
            copy_values<uint8_t>(in.values, rows, out.values);
            [[fallthrough]];
        case TypeId::kStruct:
            for (int32_t i = 0; i < in.child_count; ++i)
                gather_rows(in.children[i], rows, out.children[static_cast<size_t>(i)]);
            break;
        case TypeId::kDenseUnion:
            copy_values<uint8_t>(in.values, rows, out.values);
            copy_dense_union(in, rows, out);
            break;
        default:
            copy_fixed(in.values, column::byte_width(*in.type), rows, out.values);
            break;
    }
}

}  // namespace

void gather_rows(const ColumnView& in, std::span<const int64_t> rows, Column& out) {
    if (in.encoding == Encoding::kRuns) base::raise(base::ErrorKind::kBug, "gather from runs");
    if (in.encoding == Encoding::kDictionary) {
        out.encoding = Encoding::kDictionary;
        out.code_width = in.code_width;
        out.dictionary = *in.dictionary;
        copy_fixed(in.values, in.code_width, rows, out.values);
    } else {
        copy_plain(in, rows, out);
    }
    append_validity(in, rows, out);
    out.length += static_cast<int64_t>(rows.size());
}

Column new_column(const column::TypePtr& type, base::MemoryBudget* budget) {
    Column column(type);
    column.validity = Buffer(budget);
    column.values = Buffer(budget);
    column.offsets = Buffer(budget);
    for (const column::Field& child : type->children)
        column.children.push_back(new_column(child.type, budget));
    return column;
}

void clear_rows(Column& column) {
    column.length = 0;
    column.null_count = 0;
    column.validity.resize_discarding(0);
    column.values.resize_discarding(0);
    column.offsets.resize_discarding(0);
    for (Column& child : column.children) clear_rows(child);
}

namespace {

// Column::view() knows no "bitmap that says all valid", and a list without rows still has offset 0.
void drop_full_validity(Column& column, ColumnView& view) {
    if (column.null_count == 0 && view.type->id != TypeId::kNull) view.validity = nullptr;
    for (int32_t i = 0; i < view.child_count; ++i)
        drop_full_validity(column.children[static_cast<size_t>(i)],
                           const_cast<ColumnView&>(view.children[i]));
}

void add_first_offset(Column& column) {
    const bool list = column.type->id == TypeId::kList || column.type->id == TypeId::kMap;
    if (list && column.offsets.size() == 0) append_offset(column.offsets, 0);
    for (Column& child : column.children) add_first_offset(child);
}

}  // namespace

ColumnView gathered_view(Column& column) {
    add_first_offset(column);
    ColumnView view = column.view();
    drop_full_validity(column, view);
    return view;
}

}  // namespace loom::arrow
