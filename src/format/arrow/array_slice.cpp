#include "format/arrow/array_slice.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "format/arrow/dictionary_store.h"
#include "format/arrow/gather.h"

namespace loom::arrow {

using base::corrupt;
using column::BytesView;
using column::ColumnView;
using column::Encoding;

namespace {

// Calls `body` with each NULL row number of bits[0, count).
template <typename Body>
void for_each_null(const uint8_t* validity, int64_t count, Body&& body) {
    if (validity == nullptr) return;
    for (int64_t base_row = 0; base_row < count; base_row += 64) {
        // Reading a whole word at the end is covered by the slack of every bitmap.
        uint64_t nulls = ~base::load<uint64_t>(validity + base_row / 8);
        if (count - base_row < 64) nulls &= (uint64_t{1} << (count - base_row)) - 1;
        for (; nulls != 0; nulls &= nulls - 1) body(base_row + std::countr_zero(nulls));
    }
}

void check_count(int64_t count) {
    if (count > kGatherLimit)
        base::raise(base::ErrorKind::kLimit, "more than {} nested values in one batch",
                    kGatherLimit);
}

}  // namespace

ArraySlice::ArraySlice(const ArrayData& data, SliceOptions options, base::MemoryBudget* budget)
    : data_(&data),
      options_(options),
      validity_(budget),
      values_(budget),
      offsets_(budget),
      run_ends_(budget) {
    // Runs hand their values on, so they may stay coded; members of anything else may not.
    const SliceOptions inner = data.layout->shape == Shape::kRunEnd
                                   ? SliceOptions{options.keep_dictionary, false}
                                   : SliceOptions{};
    children_.reserve(data.children.size());
    for (const ArrayData& child : data.children) children_.emplace_back(child, inner, budget);
    child_views_.resize(data.children.size());
    gathered_ = new_column(data.layout->type, budget);
}

ColumnView ArraySlice::read(int64_t row, int64_t count) {
    ColumnView view;
    view.type = data_->layout->type.get();
    view.length = count;
    if (row < 0 || count < 0 || row > data_->length || count > data_->length - row)
        corrupt("rows {} to {} of {}", row, row + count, data_->length);
    read_validity(row, count, view);
    switch (data_->layout->shape) {
        case Shape::kNull:
            read_null(count, view);
            break;
        case Shape::kBits:
            read_bits(row, count, view);
            break;
        case Shape::kFixed:
            view.values = data_->values.data + row * data_->layout->value_width;
            break;
        case Shape::kBytes32:
            read_bytes<int32_t>(row, count, view);
            break;
        case Shape::kBytes64:
            read_bytes<int64_t>(row, count, view);
            break;
        case Shape::kBytesView:
            read_byte_views(row, count, view);
            break;
        case Shape::kList32:
            read_list<int32_t>(row, count, view);
            break;
        case Shape::kList64:
            read_list<int64_t>(row, count, view);
            break;
        case Shape::kListView32:
            read_list_view<int32_t>(row, count, view);
            break;
        case Shape::kListView64:
            read_list_view<int64_t>(row, count, view);
            break;
        case Shape::kFixedList: {
            const int64_t size = data_->layout->type->list_size;
            read_members(row * size, count * size, view);
            break;
        }
        case Shape::kStruct:
            read_members(row, count, view);
            break;
        case Shape::kSparseUnion:
            read_type_codes(row, count, view);
            read_members(row, count, view);
            break;
        case Shape::kDenseUnion:
            read_dense_union(row, count, view);
            break;
        case Shape::kRunEnd:
            read_runs(row, count, view);
            break;
        case Shape::kDictionary:
            read_codes(row, count, view);
            break;
    }
    return view;
}

void ArraySlice::read_validity(int64_t row, int64_t count, ColumnView& view) {
    view.null_count = 0;
    if (data_->validity.size == 0) return;
    const uint8_t* bits = data_->validity.data;
    if ((row & 7) == 0) {
        view.validity = bits + (row >> 3);
    } else {
        validity_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
        base::copy_bits(bits, row, count, validity_.data(), 0);
        view.validity = validity_.data();
    }
    view.null_count = count - base::count_bits(view.validity, 0, count);
    if (view.null_count == 0) view.validity = nullptr;
}

void ArraySlice::read_null(int64_t count, ColumnView& view) {
    check_count(count);
    const auto bytes = static_cast<uint64_t>(base::bitmap_bytes(count));
    if (validity_.size() < bytes) {
        validity_.resize_discarding(bytes);
        std::memset(validity_.data(), 0, bytes);
    }
    view.validity = validity_.data();
    view.null_count = count;
}

void ArraySlice::read_bits(int64_t row, int64_t count, ColumnView& view) {
    if ((row & 7) == 0) {
        view.values = data_->values.data + (row >> 3);
        return;
    }
    values_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
    base::copy_bits(data_->values.data, row, count, values_.data(), 0);
    view.values = values_.data();
}

template <typename Offset>
void ArraySlice::read_bytes(int64_t row, int64_t count, ColumnView& view) {
    values_.resize_discarding(static_cast<uint64_t>(count) * sizeof(BytesView));
    auto* views = values_.as<BytesView>();
    view.values = views;
    if (count == 0) return;
    const Offset* offsets = data_->offsets.as<Offset>() + row;
    // Each offset is loaded once: the file may change under a mapping between check and use. All is
    // unsigned because offsets may be anything until the end of the loop. `bad` collects sign bits:
    // a negative offset, or a step back, which is negative once both offsets are not.
    const auto bytes = reinterpret_cast<uintptr_t>(data_->values.data);
    auto start = static_cast<uint64_t>(int64_t{offsets[0]});
    uint64_t bad = start;
    for (int64_t i = 0; i < count; ++i) {
        const auto end = static_cast<uint64_t>(int64_t{offsets[i + 1]});
        bad |= end | (end - start);
        views[i] = {reinterpret_cast<const uint8_t*>(bytes + start),
                    static_cast<int64_t>(end - start)};
        start = end;
    }
    if ((bad >> 63) != 0 || start > data_->values.size)
        corrupt("offsets of rows {} to {} step back or leave the {} bytes of values", row,
                row + count, data_->values.size);
    for_each_null(view.validity, count, [&](int64_t i) { views[i] = {}; });
}

void ArraySlice::read_byte_views(int64_t row, int64_t count, ColumnView& view) {
    constexpr int32_t kInline = 12;
    constexpr int64_t kViewBytes = 16;
    values_.resize_discarding(static_cast<uint64_t>(count) * sizeof(BytesView));
    auto* views = values_.as<BytesView>();
    view.values = views;
    const uint8_t* from = data_->values.data + row * kViewBytes;
    for (int64_t i = 0; i < count; ++i, from += kViewBytes) {
        const auto size = base::load<int32_t>(from);
        if (view.is_null(i)) {
            views[i] = {};
            continue;
        }
        if (size < 0) corrupt("row {} has a view of {} bytes", row + i, size);
        if (size <= kInline) {
            views[i] = {from + 4, size};
            continue;
        }
        const auto buffer = base::load<uint32_t>(from + 8);
        const auto offset = base::load<uint32_t>(from + 12);
        if (buffer >= data_->view_buffers.size())
            corrupt("row {} refers to buffer {} of {}", row + i, buffer,
                    data_->view_buffers.size());
        const Bytes& bytes = data_->view_buffers[buffer];
        if (offset > bytes.size || static_cast<uint64_t>(size) > bytes.size - offset)
            corrupt("row {} refers to {} bytes at {} of a buffer of {}", row + i, size, offset,
                    bytes.size);
        views[i] = {bytes.data + offset, size};
    }
}

template <typename Offset>
void ArraySlice::read_list(int64_t row, int64_t count, ColumnView& view) {
    offsets_.resize_discarding(static_cast<uint64_t>(count + 1) * sizeof(int64_t));
    auto* offsets = offsets_.as<int64_t>();
    const auto* from = data_->offsets.as<Offset>() + row;
    const int64_t first = count == 0 ? 0 : int64_t{from[0]};
    const auto limit = data_->children[0].length;
    int64_t last = first;
    offsets[0] = 0;
    for (int64_t i = 1; i <= count; ++i) {
        const int64_t end = from[i];
        if (end < last || end > limit)
            corrupt("row {} has list elements {} to {} of {}", row + i - 1, last, end, limit);
        offsets[i] = end - first;
        last = end;
    }
    if (first < 0) corrupt("row {} has list elements from {}", row, first);
    view.offsets = offsets;
    read_members(first, last - first, view);
}

template <typename Offset>
void ArraySlice::read_list_view(int64_t row, int64_t count, ColumnView& view) {
    const auto* from = data_->offsets.as<Offset>() + row;
    const auto* sizes = data_->sizes.as<Offset>() + row;
    const int64_t limit = data_->children[0].length;
    // Where each list begins at the end of the one before, the elements can be read in place.
    offsets_.resize_discarding(static_cast<uint64_t>(count + 1) * sizeof(int64_t));
    auto* offsets = offsets_.as<int64_t>();
    int64_t first = -1;
    int64_t end = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t size = view.is_null(i) ? 0 : int64_t{sizes[i]};
        if (size != 0) {
            const int64_t start = from[i];
            if (start < 0 || size < 0 || start > limit || size > limit - start)
                corrupt("row {} has {} list elements from {} of {}", row + i, size, start, limit);
            if (first < 0) first = end = start;
            if (start != end) return gather_list_view(from, sizes, count, view);
            end += size;
        }
        offsets[i + 1] = first < 0 ? 0 : end - first;
    }
    view.offsets = offsets;
    read_members(std::max<int64_t>(first, 0), first < 0 ? 0 : end - first, view);
}

template <typename Offset>
void ArraySlice::gather_list_view(const Offset* from, const Offset* sizes, int64_t count,
                                  ColumnView& view) {
    const int64_t limit = data_->children[0].length;
    auto* offsets = offsets_.as<int64_t>();
    const ColumnView all = children_[0].read(0, limit);
    column::Column& elements = gathered_.children[0];
    clear_rows(elements);
    rows_.clear();
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t size = view.is_null(i) ? 0 : int64_t{sizes[i]};
        const int64_t start = size == 0 ? 0 : int64_t{from[i]};
        if (start < 0 || size < 0 || start > limit || size > limit - start)
            corrupt("{} list elements from {} of {}", size, start, limit);
        check_count(total += size);
        for (int64_t k = 0; k < size; ++k) rows_.push_back(start + k);
        offsets[i + 1] = total;
        if (rows_.size() < 16384 && i + 1 < count) continue;
        gather_rows(all, rows_, elements);
        rows_.clear();
    }
    view.offsets = offsets;
    child_views_[0] = gathered_view(elements);
    view.children = child_views_.data();
    view.child_count = 1;
}

void ArraySlice::read_members(int64_t row, int64_t count, ColumnView& view) {
    for (size_t i = 0; i < children_.size(); ++i) child_views_[i] = children_[i].read(row, count);
    view.children = child_views_.data();
    view.child_count = static_cast<int32_t>(children_.size());
}

void ArraySlice::read_type_codes(int64_t row, int64_t count, ColumnView& view) {
    int8_t index_of[256];
    std::memset(index_of, -1, sizeof index_of);
    const std::vector<int8_t>& codes = data_->layout->type->type_codes;
    for (size_t i = 0; i < codes.size(); ++i)
        index_of[static_cast<uint8_t>(codes[i])] = static_cast<int8_t>(i);
    values_.resize_discarding(static_cast<uint64_t>(count));
    const uint8_t* from = data_->values.data + row;
    auto* to = values_.as<int8_t>();
    for (int64_t i = 0; i < count; ++i) {
        to[i] = index_of[from[i]];
        if (to[i] >= 0) continue;
        if (!view.is_null(i)) corrupt("row {} has the unknown type code {}", row + i, from[i]);
        to[i] = 0;
    }
    view.values = to;
}

void ArraySlice::read_dense_union(int64_t row, int64_t count, ColumnView& view) {
    read_type_codes(row, count, view);
    const auto* index = view.as<int8_t>();
    const auto* from = data_->offsets.as<int32_t>() + row;
    offsets_.resize_discarding(static_cast<uint64_t>(count) * sizeof(int64_t));
    auto* offsets = offsets_.as<int64_t>();
    // The smallest range of each child that this batch touches.
    struct Range {
        int64_t begin = std::numeric_limits<int64_t>::max();
        int64_t end = 0;
    };
    std::vector<Range> ranges(children_.size());
    for (int64_t i = 0; i < count; ++i) {
        offsets[i] = from[i];
        if (view.is_null(i)) continue;
        const auto child = static_cast<size_t>(index[i]);
        if (offsets[i] < 0 || offsets[i] >= data_->children[child].length)
            corrupt("row {} refers to value {} of {}", row + i, offsets[i],
                    data_->children[child].length);
        ranges[child].begin = std::min(ranges[child].begin, offsets[i]);
        ranges[child].end = std::max(ranges[child].end, offsets[i] + 1);
    }
    for (Range& range : ranges) range.begin = std::min(range.begin, range.end);
    for (int64_t i = 0; i < count; ++i)
        offsets[i] = view.is_null(i) ? 0 : offsets[i] - ranges[static_cast<size_t>(index[i])].begin;
    for (size_t i = 0; i < children_.size(); ++i)
        child_views_[i] = children_[i].read(ranges[i].begin, ranges[i].end - ranges[i].begin);
    view.offsets = offsets;
    view.children = child_views_.data();
    view.child_count = static_cast<int32_t>(children_.size());
}

int64_t ArraySlice::run_end(int64_t run) const {
    const uint8_t* at = data_->children[0].values.data + run * data_->layout->value_width;
    switch (data_->layout->value_width) {
        case 2:
            return base::load<int16_t>(at);
        case 4:
            return base::load<int32_t>(at);
        default:
            return base::load<int64_t>(at);
    }
}

void ArraySlice::read_runs(int64_t row, int64_t count, ColumnView& view) {
    // Run ends ascend (checked when loaded): find the first that ends behind `row`.
    int64_t low = 0;
    int64_t high = data_->children[0].length;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (run_end(middle) > row)
            high = middle;
        else
            low = middle + 1;
    }
    const bool nested = column::is_nested(data_->layout->type->id) ||
                        data_->layout->type->id == column::TypeId::kNull;
    if (options_.keep_runs && !nested)
        keep_runs(low, row, count, view);
    else
        expand_runs(low, row, count, view);
}

void ArraySlice::keep_runs(int64_t first_run, int64_t row, int64_t count, ColumnView& view) {
    run_ends_.resize_discarding(static_cast<uint64_t>(count) * sizeof(int32_t));
    auto* ends = run_ends_.as<int32_t>();
    int32_t runs = 0;
    for (int64_t done = 0; done < count; ++runs) {
        if (first_run + runs >= data_->children[0].length)
            corrupt("runs end at row {}", row + done);
        const int64_t end = std::min(run_end(first_run + runs) - row, count);
        if (end <= done) corrupt("run ends changed while they were read");
        ends[runs] = static_cast<int32_t>(end);
        done = end;
    }
    const ColumnView values = children_[1].read(first_run, runs);
    view = values;
    view.encoding = Encoding::kRuns;
    view.length = count;
    view.run_count = runs;
    view.run_ends = ends;
    if (values.null_count != 0) view.null_count = -1;
}

void ArraySlice::expand_runs(int64_t first_run, int64_t row, int64_t count, ColumnView& view) {
    check_count(count);
    rows_.clear();
    int64_t run = first_run;
    for (int64_t i = 0; i < count; ++run) {
        if (run >= data_->children[0].length) corrupt("runs end at row {}", row + i);
        const int64_t end = std::min(run_end(run) - row, count);
        for (; i < end; ++i) rows_.push_back(run - first_run);
    }
    const ColumnView values = children_[1].read(first_run, run - first_run);
    clear_rows(gathered_);
    gather_rows(values, rows_, gathered_);
    take_gathered(view);
    if (values.encoding == Encoding::kDictionary) view.dictionary = values.dictionary;
}

void ArraySlice::take_gathered(ColumnView& view) {
    const column::DataType* type = view.type;
    view = gathered_view(gathered_);
    view.type = type;
}

template <typename Index, typename Code>
void ArraySlice::copy_codes(int64_t row, int64_t count, const ColumnView& view) {
    using Unsigned = std::make_unsigned_t<Index>;
    values_.resize_discarding(static_cast<uint64_t>(count) * sizeof(Code));
    auto* codes = values_.as<Code>();
    const auto* from = data_->values.as<Index>() + row;
    const auto entries = static_cast<uint64_t>(data_->dictionary->size());
    // Signed and unsigned indices of one width share the loop: a negative one is a large one,
    // unless the dictionary has more entries than the signed type can count; `sign` collects those.
    Unsigned largest = 0;
    Index sign = 0;
    for (int64_t i = 0; i < count; ++i) {
        const Index index = from[i];
        largest = std::max(largest, static_cast<Unsigned>(index));
        sign = static_cast<Index>(sign | index);
        codes[i] = static_cast<Code>(index);
    }
    if (largest < entries && !(std::is_signed_v<Index> && sign < 0)) return;
    // Slots of NULL rows may hold anything; find out whether they are the reason.
    for (int64_t i = 0; i < count; ++i) {
        const Index index = from[i];
        codes[i] = static_cast<Code>(index);
        const bool good =
            (!std::is_signed_v<Index> || index >= 0) && static_cast<Unsigned>(index) < entries;
        if (good) continue;
        if (!view.is_null(i))
            corrupt("row {} has dictionary index {} of {}", row + i, static_cast<int64_t>(index),
                    entries);
        codes[i] = 0;
    }
}

void ArraySlice::read_codes(int64_t row, int64_t count, ColumnView& view) {
    const Layout& layout = *data_->layout;
    view.encoding = Encoding::kDictionary;
    view.code_width = static_cast<uint8_t>(std::min(layout.value_width, 4));
    const int kind = layout.value_width * 2 + (layout.index_signed ? 1 : 0);
    switch (kind) {
        case 2:
            copy_codes<uint8_t, uint8_t>(row, count, view);
            break;
        case 3:
            copy_codes<int8_t, uint8_t>(row, count, view);
            break;
        case 4:
            copy_codes<uint16_t, uint16_t>(row, count, view);
            break;
        case 5:
            copy_codes<int16_t, uint16_t>(row, count, view);
            break;
        case 8:
            copy_codes<uint32_t, uint32_t>(row, count, view);
            break;
        case 9:
            copy_codes<int32_t, uint32_t>(row, count, view);
            break;
        case 16:
            copy_codes<uint64_t, uint32_t>(row, count, view);
            break;
        default:
            copy_codes<int64_t, uint32_t>(row, count, view);
            break;
    }
    view.values = values_.data();
    view.dictionary = &data_->dictionary->dictionary();
    if (!options_.keep_dictionary || column::is_nested(layout.type->id) ||
        layout.type->id == column::TypeId::kNull)
        expand_codes(count, view);
}

void ArraySlice::expand_codes(int64_t count, ColumnView& view) {
    rows_.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
        rows_[static_cast<size_t>(i)] = view.is_null(i) ? kNullRow : view.code(i);
    const ColumnView& values = data_->dictionary->dictionary().values;
    clear_rows(gathered_);
    gather_rows(values, rows_, gathered_);
    take_gathered(view);
}

}  // namespace loom::arrow
