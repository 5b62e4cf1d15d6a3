#include "exec/datum/value_writer.h"

#include <algorithm>
#include <cstring>

#include "exec/datum/numeric_bytes.h"
#include "exec/fault.h"

namespace loom::exec {

namespace {

constexpr uint64_t kHeader = 4;                           // of a varlena
constexpr uint64_t kMostBytes = (uint64_t{1} << 30) - 1;  // MaxAllocSize
constexpr uint64_t kMaxAlign = 8;
constexpr uint64_t kMostShort = 127;  // with the header of one byte

// ArrayType: header, dimensions, where data begins, element type; then the sizes and lower bounds
// of dimensions.
constexpr uint64_t kArrayDimensions = 4;
constexpr uint64_t kArrayDataOffset = 8;
constexpr uint64_t kArrayElement = 12;
constexpr uint64_t kArraySize = 16;
constexpr uint64_t kArrayLowerBound = 20;
constexpr uint64_t kEmptyArrayBytes = 16;
constexpr uint64_t kArrayHeader = 24;

// HeapTupleHeaderData of a composite value: header; type, number of attributes and flags; where
// data begins; then a bit for each attribute that is not NULL.
constexpr uint64_t kRowFlags = 20;
constexpr uint64_t kRowDataOffset = kHeader + plan::kRowHeader;
constexpr uint64_t kRowBitmap = 23;
constexpr uint16_t kHasNulls = 0x0001;
constexpr uint16_t kHasVariableWidth = 0x0002;

constexpr uint64_t align(uint64_t size, uint64_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

template <typename T>
void store(uint8_t* at, T value) {
    std::memcpy(at, &value, sizeof value);
}

}  // namespace

uint8_t* ValueWriter::grow(uint64_t bytes) {
    const uint64_t begin = size_;
    size_ += bytes;
    if (size_ > bytes_.size()) bytes_.resize(std::max<uint64_t>({size_, bytes_.size() * 2, 4096}));
    return bytes_.data() + begin;
}

void ValueWriter::pad(uint64_t start, uint64_t alignment) {
    const uint64_t missing = align(size_ - start, alignment) - (size_ - start);
    if (missing > 0) std::memset(grow(missing), 0, missing);
}

void ValueWriter::put_bytes(const void* bytes, uint64_t count) {
    uint8_t* out = grow(count);
    if (count > 0) std::memcpy(out, bytes, count);
}

void ValueWriter::put_varlena(const void* bytes, uint64_t count) {
    const uint64_t start = size_;
    grow(kHeader);
    put_bytes(bytes, count);
    set_header(start);
}

// Says how long the varlena is that began at `start` and ends here.
void ValueWriter::set_header(uint64_t start) {
    const uint64_t size = size_ - start;
    if (size > kMostBytes) throw Unrepresentable("an array or row of more than 1 GB");
    store(bytes_.data() + start, static_cast<uint32_t>(size << 2));
}

// Turns the varlena at `begin` into one with a header of one byte, at `before`, if it is short.
void ValueWriter::shorten(uint64_t before, uint64_t begin) {
    const uint64_t count = size_ - begin - kHeader;
    if (count + 1 > kMostShort) return;
    uint8_t* out = bytes_.data() + before;
    std::memmove(out + 1, bytes_.data() + begin + kHeader, count);
    *out = static_cast<uint8_t>((count + 1) << 1 | 1);
    size_ = before + 1 + count;
}

uint64_t ValueWriter::start_value() {
    pad(0, kMaxAlign);
    return size_;
}

column::BytesView ValueWriter::payload(uint64_t start) const noexcept {
    uint32_t header;
    std::memcpy(&header, bytes_.data() + start, sizeof header);
    return {bytes_.data() + start + kHeader, static_cast<int64_t>(header >> 2) - 4};
}

void ValueWriter::put(const plan::Layout& layout, const Vector& values, int64_t row) {
    const Vector* source = &values;
    if (values.form == Form::kConstant) row = 0;
    if (values.form == Form::kCodes) {
        row = values.code(row);
        source = &values.dictionary->values;
    }
    const plan::Type type = source->type;
    const plan::Physical physical = plan::physical(type);
    const auto width = static_cast<uint64_t>(plan::width(physical));
    const auto* at = source->as<uint8_t>() + static_cast<uint64_t>(row) * width;
    const auto put_numeric = [&](__int128 value, int scale) {
        uint8_t bytes[kMostNumericBytes];
        put_varlena(bytes, static_cast<uint64_t>(write_numeric(value, scale, bytes)));
    };
    switch (physical) {
        case plan::Physical::kInt64:
            if (type.id == plan::TypeId::kNumeric)
                return put_numeric(source->as<int64_t>()[row], type.scale);
            // A datum's low bytes are the value.
            return put_bytes(at, static_cast<uint64_t>(layout.length));
        case plan::Physical::kInt128:
            return put_numeric(source->as<__int128>()[row], type.scale);
        case plan::Physical::kDecimal: {
            const auto& number = source->as<plan::Decimal>()[row];
            return put_numeric(number.unscaled, static_cast<int>(number.scale));
        }
        case plan::Physical::kBytes: {
            const auto& bytes = source->as<column::BytesView>()[row];
            if (layout.length >= 0)
                return put_bytes(bytes.data, static_cast<uint64_t>(layout.length));
            return put_varlena(bytes.data, static_cast<uint64_t>(bytes.size));
        }
        default:
            return put_bytes(at, width);
    }
}

ValueWriter::Array::Array(ValueWriter& writer, const plan::Layout& element, int64_t count,
                          bool nulls)
    : writer_(writer), element_(element), start_(writer.size_) {
    const uint64_t bitmap = nulls ? static_cast<uint64_t>((count + 7) / 8) : 0;
    const uint64_t data = count == 0 ? kEmptyArrayBytes : align(kArrayHeader + bitmap, kMaxAlign);
    uint8_t* out = writer.grow(data);
    std::memset(out, 0, data);
    store(out + kArrayDimensions, count == 0 ? int32_t{0} : int32_t{1});
    store(out + kArrayDataOffset, bitmap > 0 ? static_cast<int32_t>(data) : int32_t{0});
    store(out + kArrayElement, element.oid);
    if (count == 0) return;
    store(out + kArraySize, static_cast<int32_t>(count));
    store(out + kArrayLowerBound, int32_t{1});
    if (bitmap > 0) bitmap_ = start_ + kArrayHeader;
}

void ValueWriter::Array::mark() {
    if (bitmap_ > 0) base::put_bit(writer_.bytes_.data() + bitmap_, index_, true);
    ++index_;
}

void ValueWriter::Array::finish() {
    writer_.set_header(start_);
}

ValueWriter::Composite::Composite(ValueWriter& writer, const plan::Layout& layout,
                                  std::span<const uint8_t> present)
    : writer_(writer), layout_(layout), start_(writer.size_) {
    const bool nulls = std::ranges::find(present, uint8_t{0}) != present.end();
    const uint64_t bitmap = nulls ? (present.size() + 7) / 8 : 0;
    const uint64_t data = align(kRowBitmap + bitmap, kMaxAlign);
    uint8_t* out = writer.grow(data);
    std::memset(out, 0, data);
    std::memcpy(out + kHeader, layout.header.data(), plan::kRowHeader);
    uint16_t flags;
    std::memcpy(&flags, out + kRowFlags, sizeof flags);
    flags &= static_cast<uint16_t>(~(kHasNulls | kHasVariableWidth));
    if (nulls) flags |= kHasNulls;
    for (size_t i = 0; i < present.size(); ++i)
        if (present[i] != 0 && layout.parts[i].length == -1) flags |= kHasVariableWidth;
    store(out + kRowFlags, flags);
    store(out + kRowDataOffset, static_cast<uint8_t>(data));
    if (!nulls) return;
    for (size_t i = 0; i < present.size(); ++i)
        base::put_bit(out + kRowBitmap, static_cast<int64_t>(i), present[i] != 0);
}

void ValueWriter::Composite::finish() {
    writer_.set_header(start_);
}

}  // namespace loom::exec
