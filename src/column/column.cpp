#include "column/column.h"

#include <atomic>
#include <cstring>

namespace loom::column {

using base::bit_at;
using base::put_bit;

uint64_t next_dictionary_version() noexcept {
    static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

ColumnView Column::view() {
    ColumnView result;
    result.type = type.get();
    result.encoding = encoding;
    result.code_width = code_width;
    result.length = length;
    result.null_count = null_count;
    result.validity = validity.size() == 0 ? nullptr : validity.data();
    result.values = values.data();
    result.offsets = offsets.as<int64_t>();
    result.run_count = run_count;
    result.run_ends = run_ends.as<int32_t>();
    child_views_.clear();
    for (Column& child : children) child_views_.push_back(child.view());
    result.children = child_views_.data();
    result.child_count = static_cast<int32_t>(child_views_.size());
    if (dictionary.version != 0) result.dictionary = &dictionary;
    return result;
}

ColumnBuilder::ColumnBuilder(TypePtr type) : type_(std::move(type)) {
    for (const Field& field : type_->children)
        children_.push_back(std::make_unique<ColumnBuilder>(field.type));
    if (type_->id == TypeId::kList || type_->id == TypeId::kMap) offsets_.push_back(0);
}

void ColumnBuilder::mark(bool valid) {
    if ((length_ & 7) == 0) validity_.push_back(0);
    put_bit(validity_.data(), length_, valid);
    null_count_ += valid ? 0 : 1;
    ++length_;
}

void ColumnBuilder::append_null() {
    switch (type_->id) {
        case TypeId::kNull:
            break;
        case TypeId::kBool:
            if ((length_ & 7) == 0) values_.push_back(0);
            break;
        case TypeId::kUtf8:
        case TypeId::kBinary:
            slices_.emplace_back(-1, 0);
            break;
        case TypeId::kList:
        case TypeId::kMap:
            offsets_.push_back(children_[0]->length());
            break;
        case TypeId::kFixedList:
            for (int i = 0; i < type_->list_size; ++i) children_[0]->append_null();
            break;
        case TypeId::kStruct:
            for (auto& child : children_) child->append_null();
            break;
        case TypeId::kSparseUnion:
        case TypeId::kDenseUnion:
            // A union has no NULL of its own; its first member can be NULL.
            children_[0]->append_null();
            return append_union(0);
        default:
            values_.resize(values_.size() + byte_width(*type_));
            break;
    }
    mark(false);
}

void ColumnBuilder::append_bool(bool value) {
    if ((length_ & 7) == 0) values_.push_back(0);
    put_bit(values_.data(), length_, value);
    mark(true);
}

void ColumnBuilder::append_fixed(const void* value, size_t size) {
    if (static_cast<int32_t>(size) != byte_width(*type_))
        raise(base::ErrorKind::kBug, "a value of {} bytes for type {}", size, to_string(*type_));
    const auto* bytes = static_cast<const uint8_t*>(value);
    values_.insert(values_.end(), bytes, bytes + size);
    mark(true);
}

void ColumnBuilder::append_bytes(std::string_view bytes) {
    if (type_->id == TypeId::kFixedBinary) return append_fixed(bytes.data(), bytes.size());
    slices_.emplace_back(heap_.size(), bytes.size());
    heap_.insert(heap_.end(), bytes.begin(), bytes.end());
    mark(true);
}

void ColumnBuilder::append_nested() {
    if (type_->id == TypeId::kList || type_->id == TypeId::kMap)
        offsets_.push_back(children_[0]->length());
    mark(true);
}

void ColumnBuilder::append_union(int index) {
    values_.push_back(static_cast<uint8_t>(index));
    if (type_->id == TypeId::kDenseUnion)
        offsets_.push_back(children_[index]->length() - 1);
    else
        for (auto& child : children_)
            if (child->length() == length_) child->append_null();
    mark(true);
}

namespace {
void fill(base::Buffer& buffer, const void* data, size_t bytes) {
    buffer.resize(bytes);
    if (bytes != 0) std::memcpy(buffer.data(), data, bytes);
}
}  // namespace

Column ColumnBuilder::finish() {
    Column column(type_);
    column.length = length_;
    column.null_count = null_count_;
    if (null_count_ != 0) fill(column.validity, validity_.data(), validity_.size());
    if (is_bytes(type_->id)) {
        fill(column.heap, heap_.data(), heap_.size());
        column.values.resize(slices_.size() * sizeof(BytesView));
        auto* views = column.values.as<BytesView>();
        for (size_t i = 0; i < slices_.size(); ++i)
            views[i] = slices_[i].first < 0
                           ? BytesView{}
                           : BytesView{column.heap.data() + slices_[i].first, slices_[i].second};
    } else {
        fill(column.values, values_.data(), values_.size());
    }
    fill(column.offsets, offsets_.data(), offsets_.size() * sizeof(int64_t));
    for (auto& child : children_) column.children.push_back(child->finish());
    *this = ColumnBuilder(type_);
    return column;
}

namespace {

// Copies one value slot of `from` (plain, `width` bytes or a bitmap bit) to a slot of `to`.
struct SlotCopier {
    const ColumnView& from;
    int32_t width;
    uint8_t* to;

    void operator()(int64_t source, int64_t target) const {
        if (width == 0)
            put_bit(to, target, bit_at(from.as<uint8_t>(), source));
        else
            std::memcpy(to + target * width, from.as<uint8_t>() + source * width, width);
    }
};

int32_t slot_width(const DataType& type) {
    return is_bytes(type.id) ? static_cast<int32_t>(sizeof(BytesView)) : byte_width(type);
}

}  // namespace

ColumnView to_plain(const ColumnView& view, Column& scratch) {
    if (view.encoding == Encoding::kPlain) return view;
    if (is_nested(view.type->id))
        raise(base::ErrorKind::kUnsupported, "a dictionary of nested values");
    scratch.encoding = Encoding::kPlain;
    scratch.length = view.length;
    const int32_t width = slot_width(*view.type);
    scratch.values.resize_discarding(width == 0 ? base::bitmap_bytes(view.length)
                                                : view.length * width);
    std::memset(scratch.values.data(), 0, scratch.values.size());
    scratch.validity.resize_discarding(base::bitmap_bytes(view.length));
    uint8_t* valid = scratch.validity.data();
    const ColumnView& source = view.dictionary != nullptr ? view.dictionary->values : view;
    SlotCopier copy{source, width, scratch.values.data()};
    int64_t nulls = 0;
    auto put = [&](int64_t slot, int64_t row) {
        bool null = view.is_null(slot);
        int64_t at = slot;
        if (!null && view.dictionary != nullptr) {
            at = view.code(slot);
            null = source.is_null(at);
        }
        put_bit(valid, row, !null);
        nulls += null;
        if (!null) copy(at, row);
    };
    if (view.encoding == Encoding::kDictionary) {
        for (int64_t row = 0; row < view.length; ++row) put(row, row);
    } else {
        int64_t row = 0;
        for (int32_t run = 0; run < view.run_count; ++run)
            for (; row < view.run_ends[run]; ++row) put(run, row);
    }
    ColumnView result = scratch.view();
    result.type = view.type;
    result.null_count = nulls;
    if (nulls == 0) result.validity = nullptr;
    return result;
}

}  // namespace loom::column
