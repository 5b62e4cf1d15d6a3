// Fields without members.

#include "format/arrow/field_writer.h"

#include <algorithm>
#include <cstring>

#include "format/arrow/dictionary_writer.h"
#include "format/arrow/gather.h"

namespace loom::arrow {

using base::Buffer;
using base::ErrorKind;
using column::BytesView;
using column::ColumnView;
using column::Encoding;
using column::Field;
using column::Storage;
using column::TypeId;

namespace {

// A batch ends once a field holds this many bytes, so that the next portion can't pass 2^31.
constexpr uint64_t kFullBytes = uint64_t{1} << 30;

// Makes room for `rows` bits; bits behind them in the last byte become 0, so that equal rows give
// equal files.
void grow_bits(Buffer& bits, int64_t rows) {
    const size_t before = bits.size();
    bits.resize(static_cast<uint64_t>(base::bitmap_bytes(rows)));
    if (bits.size() > before) bits.data()[bits.size() - 1] = 0;
}

class NullWriter final : public FieldWriter {
  public:
    using FieldWriter::FieldWriter;
    void append_nulls(int64_t count) override { length_ += count; }
    void collect(BatchParts& parts) const override { parts.nodes.push_back({length_, length_}); }
    void clear() override { clear_rows(); }
    void list_dictionaries(std::vector<DictionaryWriter*>&) override {}

  protected:
    void append_plain(const ColumnView&, int64_t, int64_t count) override { length_ += count; }
};

/// Fixed-width values and booleans.
class FixedWriter final : public FieldWriter {
  public:
    explicit FixedWriter(const Field& field)
        : FieldWriter(field), width_(column::byte_width(*field.type)) {}

    void append_nulls(int64_t count) override {
        const size_t before = values_.size();
        resize(length_ + count);
        if (is_bits())
            base::fill_bits(values_.data(), length_, count, false);
        else
            std::memset(values_.data() + before, 0, values_.size() - before);
        append_null_bits(count);
    }
    void collect(BatchParts& parts) const override {
        collect_node(parts);
        parts.buffers.push_back(values_.span());
    }
    void clear() override {
        clear_rows();
        values_.resize_discarding(0);
    }
    void list_dictionaries(std::vector<DictionaryWriter*>&) override {}

  protected:
    void append_plain(const ColumnView& view, int64_t row, int64_t count) override {
        const size_t before = values_.size();
        resize(length_ + count);
        if (is_bits())
            base::copy_bits(view.as<uint8_t>(), row, count, values_.data(), length_);
        else if (count != 0 && width_ != 0)
            std::memcpy(values_.data() + before, view.as<uint8_t>() + row * width_,
                        static_cast<size_t>(count * width_));
        append_validity(view, row, count);
    }

  private:
    bool is_bits() const { return field_.type->id == TypeId::kBool; }
    void resize(int64_t rows) {
        if (is_bits())
            grow_bits(values_, rows);
        else
            values_.resize(static_cast<uint64_t>(rows * width_));
    }

    int64_t width_;
    Buffer values_;
};

/// Texts and binary with 32- or 64-bit offsets.
template <typename Offset>
class BytesWriter final : public FieldWriter {
  public:
    explicit BytesWriter(const Field& field) : FieldWriter(field) { clear(); }

    void append_nulls(int64_t count) override {
        for (int64_t i = 0; i < count; ++i)
            append_value(offsets_, static_cast<Offset>(heap_.size()));
        append_null_bits(count);
    }
    void collect(BatchParts& parts) const override {
        collect_node(parts);
        parts.buffers.push_back(offsets_.span());
        parts.buffers.push_back(heap_.span());
    }
    void clear() override {
        clear_rows();
        heap_.resize_discarding(0);
        offsets_.resize_discarding(0);
        append_value(offsets_, Offset{0});
    }
    bool full() const override { return sizeof(Offset) == 4 && heap_.size() >= kFullBytes; }
    void list_dictionaries(std::vector<DictionaryWriter*>&) override {}

  protected:
    void append_plain(const ColumnView& view, int64_t row, int64_t count) override {
        const auto* values = view.as<BytesView>() + row;
        uint64_t bytes = heap_.size();
        for (int64_t i = 0; i < count; ++i)
            if (!view.is_null(row + i)) bytes += static_cast<uint64_t>(values[i].size);
        if (sizeof(Offset) == 4 && bytes > INT32_MAX)
            base::raise(ErrorKind::kLimit,
                        "column \"{}\" has {} bytes in a record batch; store it with large offsets",
                        field_.name, bytes);
        uint64_t end = heap_.size();
        heap_.resize(bytes);
        const size_t before = offsets_.size();
        offsets_.resize(before + static_cast<size_t>(count) * sizeof(Offset));
        auto* offsets = reinterpret_cast<Offset*>(offsets_.data() + before);
        for (int64_t i = 0; i < count; ++i) {
            if (!view.is_null(row + i) && values[i].size != 0) {
                std::memcpy(heap_.data() + end, values[i].data,
                            static_cast<size_t>(values[i].size));
                end += static_cast<uint64_t>(values[i].size);
            }
            offsets[i] = static_cast<Offset>(end);
        }
        append_validity(view, row, count);
    }

  private:
    Buffer offsets_;
    Buffer heap_;
};

/// Texts and binary as views: short ones inline, long ones in data buffers.
class ByteViewWriter final : public FieldWriter {
  public:
    using FieldWriter::FieldWriter;

    void append_nulls(int64_t count) override {
        const size_t before = views_.size();
        views_.resize(before + static_cast<size_t>(count) * kViewBytes);
        std::memset(views_.data() + before, 0, static_cast<size_t>(count) * kViewBytes);
        append_null_bits(count);
    }
    void collect(BatchParts& parts) const override {
        collect_node(parts);
        parts.buffers.push_back(views_.span());
        for (const Buffer& heap : heaps_) parts.buffers.push_back(heap.span());
        parts.view_buffers.push_back(static_cast<int64_t>(heaps_.size()));
    }
    void clear() override {
        clear_rows();
        views_.resize_discarding(0);
        heaps_.clear();
    }
    bool full() const override { return heaps_.size() > 4; }
    void list_dictionaries(std::vector<DictionaryWriter*>&) override {}

  protected:
    void append_plain(const ColumnView& view, int64_t row, int64_t count) override {
        size_t at = views_.size();
        views_.resize(at + static_cast<size_t>(count) * kViewBytes);
        for (int64_t i = 0; i < count; ++i, at += kViewBytes)
            put(view.is_null(row + i) ? BytesView{} : view.as<BytesView>()[row + i],
                views_.data() + at);
        append_validity(view, row, count);
    }

  private:
    static constexpr size_t kViewBytes = 16;
    static constexpr int64_t kInline = 12;

    void put(const BytesView& value, uint8_t* to) {
        std::memset(to, 0, kViewBytes);
        if (value.size > INT32_MAX)
            base::raise(ErrorKind::kLimit, "column \"{}\" has a value of {} bytes", field_.name,
                        value.size);
        base::store(to, static_cast<int32_t>(value.size));
        if (value.size <= kInline) {
            if (value.size != 0) std::memcpy(to + 4, value.data, static_cast<size_t>(value.size));
            return;
        }
        if (heaps_.empty() || heaps_.back().size() + static_cast<uint64_t>(value.size) > INT32_MAX)
            heaps_.emplace_back();
        std::memcpy(to + 4, value.data, 4);
        base::store(to + 8, static_cast<int32_t>(heaps_.size() - 1));
        base::store(to + 12, static_cast<int32_t>(heaps_.back().size()));
        append_to(heaps_.back(), value.data, static_cast<size_t>(value.size));
    }

    Buffer views_;
    std::vector<Buffer> heaps_;
};

}  // namespace

void append_to(Buffer& buffer, const void* bytes, size_t size) {
    const size_t before = buffer.size();
    buffer.resize(before + size);
    if (size != 0) std::memcpy(buffer.data() + before, bytes, size);
}

void FieldWriter::append(const ColumnView& view, int64_t row, int64_t count) {
    if (count == 0) return;
    if (view.encoding == Encoding::kPlain) return append_plain(view, row, count);
    if (append_encoded(view, row, count)) return;
    // Make it plain: follow runs to slots, and codes to entries.
    std::vector<int64_t> rows(static_cast<size_t>(count));
    const int32_t* run = view.run_ends;
    for (int64_t i = 0; i < count; ++i) {
        int64_t slot = row + i;
        if (view.encoding == Encoding::kRuns) {
            run = std::upper_bound(run, view.run_ends + view.run_count, row + i);
            slot = run - view.run_ends;
        }
        const bool null = view.is_null(slot);
        rows[static_cast<size_t>(i)] = null                         ? kNullRow
                                       : view.dictionary != nullptr ? int64_t{view.code(slot)}
                                                                    : slot;
    }
    ColumnView values = view.dictionary != nullptr ? view.dictionary->values : view;
    values.encoding = Encoding::kPlain;
    if (plain_.type == nullptr) plain_ = new_column(field_.type, nullptr);
    arrow::clear_rows(plain_);
    gather_rows(values, rows, plain_);
    append_plain(gathered_view(plain_), 0, count);
}

void FieldWriter::append_validity(const ColumnView& view, int64_t row, int64_t count) {
    const int64_t nulls =
        view.validity == nullptr ? 0 : count - base::count_bits(view.validity, row, count);
    if (nulls == 0 && null_count_ == 0) {
        length_ += count;
        return;
    }
    grow_bits(validity_, length_ + count);
    if (null_count_ == 0) base::fill_bits(validity_.data(), 0, length_, true);
    if (view.validity == nullptr)
        base::fill_bits(validity_.data(), length_, count, true);
    else
        base::copy_bits(view.validity, row, count, validity_.data(), length_);
    length_ += count;
    null_count_ += nulls;
}

void FieldWriter::append_null_bits(int64_t count) {
    if (count == 0) return;
    grow_bits(validity_, length_ + count);
    if (null_count_ == 0) base::fill_bits(validity_.data(), 0, length_, true);
    base::fill_bits(validity_.data(), length_, count, false);
    length_ += count;
    null_count_ += count;
}

void FieldWriter::collect_node(BatchParts& parts) const {
    parts.nodes.push_back({length_, null_count_});
    parts.buffers.push_back(null_count_ == 0 ? base::ByteSpan{} : validity_.span());
}

void FieldWriter::clear_rows() {
    length_ = 0;
    null_count_ = 0;
    validity_.resize_discarding(0);
}

std::unique_ptr<FieldWriter> make_plain_writer(const Field& field, int64_t& next_dictionary_id) {
    switch (field.type->id) {
        case TypeId::kNull:
            return std::make_unique<NullWriter>(field);
        case TypeId::kUtf8:
        case TypeId::kBinary:
            if (field.storage == Storage::kView) return std::make_unique<ByteViewWriter>(field);
            if (field.storage == Storage::kLarge)
                return std::make_unique<BytesWriter<int64_t>>(field);
            return std::make_unique<BytesWriter<int32_t>>(field);
        default:
            break;
    }
    if (column::is_nested(field.type->id)) return make_nested_writer(field, next_dictionary_id);
    return std::make_unique<FixedWriter>(field);
}

std::unique_ptr<FieldWriter> make_field_writer(const Field& field, int64_t& next_dictionary_id) {
    if (field.storage == Storage::kRunEnd) return make_run_writer(field, next_dictionary_id);
    if (field.dictionary_index_width != 0)
        return std::make_unique<DictionaryWriter>(field, next_dictionary_id);
    return make_plain_writer(field, next_dictionary_id);
}

namespace {

void append_list_key(const ColumnView& view, int64_t first, int64_t last, std::string& out) {
    const int64_t count = last - first;
    out.append(reinterpret_cast<const char*>(&count), sizeof count);
    for (int64_t i = first; i < last; ++i) append_value_key(view.children[0], i, out);
}

}  // namespace

void append_value_key(const ColumnView& view, int64_t row, std::string& out) {
    const TypeId id = view.type->id;
    // NULL and lengths come first, so that no two lists of values share their bytes.
    out += view.is_null(row) || id == TypeId::kNull ? '\0' : '\1';
    if (out.back() == '\0') return;
    if (column::is_bytes(id)) {
        const BytesView& value = view.as<BytesView>()[row];
        out.append(reinterpret_cast<const char*>(&value.size), sizeof value.size);
        out += value.text();
        return;
    }
    switch (id) {
        case TypeId::kBool:
            out += base::bit_at(view.as<uint8_t>(), row) ? 't' : 'f';
            break;
        case TypeId::kList:
        case TypeId::kMap:
            append_list_key(view, view.offsets[row], view.offsets[row + 1], out);
            break;
        case TypeId::kFixedList: {
            const int64_t size = view.type->list_size;
            append_list_key(view, row * size, (row + 1) * size, out);
            break;
        }
        case TypeId::kStruct:
            for (int32_t i = 0; i < view.child_count; ++i)
                append_value_key(view.children[i], row, out);
            break;
        case TypeId::kSparseUnion:
        case TypeId::kDenseUnion: {
            const int8_t index = view.as<int8_t>()[row];
            out += static_cast<char>(index);
            append_value_key(view.children[index],
                             id == TypeId::kDenseUnion ? view.offsets[row] : row, out);
            break;
        }
        default: {
            const auto width = static_cast<size_t>(column::byte_width(*view.type));
            out.append(view.as<char>() + static_cast<size_t>(row) * width, width);
        }
    }
}

}  // namespace loom::arrow
