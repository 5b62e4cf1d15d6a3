#include "exec/row_store.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/copy_short.h"
#include "exec/tasks.h"

namespace loom::exec {

using column::BytesView;
using column::Int128;

namespace {

// Bytes are collected in chunks, small ones first; a longer value gets a chunk of its own.
constexpr size_t kFirstChunk = size_t{1} << 12;
constexpr size_t kChunkBytes = size_t{1} << 18;
constexpr int64_t kMaxEncoded = 65'535;
// Rows encoded between two looks at the stop token.
constexpr int64_t kRowsPerPoll = 1 << 16;

}  // namespace

int row_width(const Vector& vector) noexcept {
    return vector.form == Form::kCodes ? vector.code_width : width(physical(vector.type));
}

namespace {

// Decodes codes to the dictionary's values.
void decode(const Vector& vector, void* out) {
    const int width = plan::width(physical(vector.type));
    const void* entries = vector.dictionary->values.values;
    if (vector.dictionary->values.length == 0) {
        std::memset(out, 0, static_cast<size_t>(vector.length) * width);
        return;
    }
    if (vector.code_width == 1)
        gather_values(entries, width, vector.as<uint8_t>(), vector.length, out);
    else if (vector.code_width == 2)
        gather_values(entries, width, vector.as<uint16_t>(), vector.length, out);
    else
        gather_values(entries, width, vector.as<uint32_t>(), vector.length, out);
}

// Returns the validity of a codes vector with the dictionary's NULL entries taken in.
const uint8_t* decoded_validity(const Vector& vector, base::Buffer& validity) {
    const uint8_t* entries = vector.dictionary->values.validity;
    if (entries == nullptr) return vector.validity;
    validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(vector.length)));
    for (int64_t i = 0; i < vector.length; ++i)
        base::put_bit(validity.data(), i,
                      !vector.is_null(i) && base::bit_at(entries, vector.code(i)));
    return validity.data();
}

}  // namespace

Vector to_plain(const Vector& vector, base::Buffer& values, base::Buffer& validity) {
    if (vector.form == Form::kPlain) return vector;
    Vector plain = vector;
    plain.form = Form::kPlain;
    plain.dictionary = nullptr;
    plain.code_width = 0;
    const int width = plan::width(physical(vector.type));
    values.resize_discarding(static_cast<uint64_t>(vector.length) * width);
    plain.values = values.data();
    if (vector.form == Form::kCodes) {
        decode(vector, values.data());
        plain.validity = decoded_validity(vector, validity);
        return plain;
    }
    for (int64_t i = 0; i < vector.length; ++i)
        std::memcpy(values.data() + i * width, vector.values, static_cast<size_t>(width));
    if (vector.is_null(0)) {
        validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(vector.length)));
        base::fill_bits(validity.data(), 0, vector.length, false);
        plain.validity = validity.data();
    } else {
        plain.validity = nullptr;
    }
    return plain;
}

Vector take_rows(const Vector& rows, const uint32_t* positions, int64_t count, base::Buffer& values,
                 base::Buffer& validity) {
    const int width = plan::width(physical(rows.type));
    Vector taken;
    taken.type = rows.type;
    taken.length = count;
    values.resize_discarding(static_cast<uint64_t>(count) * width);
    gather_values(rows.values, width, positions, count, values.data());
    taken.values = values.data();
    if (rows.validity == nullptr) return taken;
    validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
    gather_bits(rows.validity, positions, count, validity.data());
    taken.validity = validity.data();
    return taken;
}

Vector null_rows(plan::Type type, int64_t count) {
    static constexpr plan::Decimal kZero{};  // no type is wider
    static constexpr uint8_t kInvalid = 0;
    Vector rows;
    rows.type = type;
    rows.form = Form::kConstant;
    rows.length = count;
    rows.values = &kZero;
    rows.validity = &kInvalid;
    return rows;
}

StoredColumn::StoredColumn(plan::Type type, base::MemoryBudget* budget)
    : type_(type),
      width_(plan::width(physical(type))),
      bytes_(physical(type) == plan::Physical::kBytes),
      budget_(budget),
      values_(budget),
      validity_(budget) {}

void StoredColumn::reserve(int64_t rows) {
    if (rows <= capacity_) return;
    capacity_ = std::max(rows, std::max<int64_t>(capacity_ * 2, 1024));
    values_.resize(static_cast<uint64_t>(capacity_) * width_);
    if (null_count_ > 0) validity_.resize(static_cast<uint64_t>(base::bitmap_bytes(capacity_)));
}

// Call after reserve() and before length_ grows.
void StoredColumn::append_validity(const Vector& rows) {
    int64_t nulls = 0;
    if (rows.form == Form::kConstant)
        nulls = rows.is_null(0) ? rows.length : 0;
    else if (rows.validity != nullptr)
        nulls = rows.length - base::count_bits(rows.validity, 0, rows.length);
    if (nulls > 0 && null_count_ == 0) {
        validity_.resize(static_cast<uint64_t>(base::bitmap_bytes(capacity_)));
        base::fill_bits(validity_.data(), 0, length_, true);
    }
    null_count_ += nulls;
    if (null_count_ == 0) return;
    if (nulls == 0)
        base::fill_bits(validity_.data(), length_, rows.length, true);
    else if (rows.form == Form::kConstant)
        base::fill_bits(validity_.data(), length_, rows.length, false);
    else
        base::copy_bits(rows.validity, 0, rows.length, validity_.data(), length_);
}

BytesView StoredColumn::keep(const BytesView& bytes) {
    if (bytes.size == 0) return {reinterpret_cast<const uint8_t*>(""), 0};
    const auto size = static_cast<size_t>(bytes.size);
    if (chunks_.empty() || chunk_used_ + size > chunks_.back().size()) {
        base::Buffer chunk(budget_);
        const size_t usual =
            std::clamp(static_cast<size_t>(chunk_bytes_), kFirstChunk, kChunkBytes);
        chunk.resize(std::max(usual, size));
        chunk_bytes_ += chunk.size();
        chunks_.push_back(std::move(chunk));
        chunk_used_ = 0;
    }
    uint8_t* place = chunks_.back().data() + chunk_used_;
    base::copy_short(place, bytes.data, size);
    chunk_used_ += size;
    return {place, bytes.size};
}

void StoredColumn::own_bytes(int64_t begin, int64_t count) {
    auto* views = values_.as<BytesView>() + begin;
    for (int64_t i = 0; i < count; ++i)
        views[i] = is_null(begin + i) ? BytesView{nullptr, 0} : keep(views[i]);
}

void StoredColumn::append(const Vector& rows) {
    if (rows.length == 0) return;
    reserve(length_ + rows.length);
    base::Buffer validity;
    Vector source = rows;
    uint8_t* place = values_.data() + length_ * width_;
    switch (rows.form) {
        case Form::kPlain:
            std::memcpy(place, rows.values, static_cast<size_t>(rows.length) * width_);
            break;
        case Form::kConstant:
            for (int64_t i = 0; i < rows.length; ++i)
                std::memcpy(place + i * width_, rows.values, static_cast<size_t>(width_));
            break;
        case Form::kCodes:
            decode(rows, place);
            source.validity = decoded_validity(rows, validity);
            break;
    }
    append_validity(source);
    const int64_t begin = length_;
    length_ += rows.length;
    if (bytes_) own_bytes(begin, rows.length);
}

void StoredColumn::append(const Vector& rows, const uint32_t* positions, int64_t count) {
    if (count == 0) return;
    base::Buffer values;
    base::Buffer validity;
    const Vector plain = to_plain(rows, values, validity);
    base::Buffer taken;
    base::Buffer taken_validity;
    append(take_rows(plain, positions, count, taken, taken_validity));
}

void StoredColumn::append_bytes(const BytesView& bytes) {
    reserve(length_ + 1);
    if (null_count_ > 0) base::put_bit(validity_.data(), length_, true);
    values_.as<BytesView>()[length_++] = keep(bytes);
}

void StoredColumn::append_nulls(int64_t count) {
    append(null_rows(type_, count));
}

void StoredColumn::append_store(StoredColumn&& other) {
    if (other.length_ == 0) return;
    if (length_ == 0) {
        *this = std::move(other);
        return;
    }
    reserve(length_ + other.length_);
    append_validity(other.view());
    std::memcpy(values_.data() + length_ * width_, other.values_.data(),
                static_cast<size_t>(other.length_) * width_);
    length_ += other.length_;
    // The chunk in use stays last.
    base::Buffer current;
    const bool keep_current = !chunks_.empty();
    if (keep_current) {
        current = std::move(chunks_.back());
        chunks_.pop_back();
    }
    for (base::Buffer& chunk : other.chunks_) chunks_.push_back(std::move(chunk));
    if (keep_current)
        chunks_.push_back(std::move(current));
    else
        chunk_used_ = other.chunk_used_;
    other.chunks_.clear();
    chunk_bytes_ += std::exchange(other.chunk_bytes_, 0);
    other.length_ = 0;
}

Vector StoredColumn::view() const noexcept {
    return view(0, length_);
}

Vector StoredColumn::view(int64_t begin, int64_t count) const noexcept {
    Vector vector;
    vector.type = type_;
    vector.length = count;
    if (null_count_ > 0) vector.validity = validity_.data() + begin / 8;
    if (code_width_ > 0) {
        vector.form = Form::kCodes;
        vector.code_width = code_width_;
        vector.dictionary = &dictionary_;
        vector.values = values_.data() + begin * code_width_;
    } else {
        vector.values = values_.data() + begin * width_;
    }
    return vector;
}

Vector StoredColumn::gather(const int32_t* rows, int64_t count, base::Buffer& values,
                            base::Buffer& validity) const {
    Vector vector = view(0, count);
    const int width = code_width_ > 0 ? code_width_ : width_;
    values.resize_discarding(static_cast<uint64_t>(count) * width);
    int32_t lowest = 0;
    for (int64_t i = 0; i < count; ++i) lowest = std::min(lowest, rows[i]);
    vector.values = values.data();
    vector.validity = nullptr;
    if (lowest >= 0) {
        gather_values(values_.data(), width, reinterpret_cast<const uint32_t*>(rows), count,
                      values.data());
        if (null_count_ > 0) {
            validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
            gather_bits(validity_.data(), reinterpret_cast<const uint32_t*>(rows), count,
                        validity.data());
            vector.validity = validity.data();
        }
        return vector;
    }
    std::memset(values.data(), 0, static_cast<size_t>(count) * width);
    validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
    for (int64_t i = 0; i < count; ++i) {
        const bool present = rows[i] >= 0;
        if (present)
            std::memcpy(values.data() + i * width,
                        values_.data() + static_cast<int64_t>(rows[i]) * width,
                        static_cast<size_t>(width));
        base::put_bit(validity.data(), i, present && !is_null(rows[i]));
    }
    vector.validity = validity.data();
    return vector;
}

bool StoredColumn::encode() {
    if (code_width_ > 0 || length_ == 0) return code_width_ > 0;
    base::Buffer codes(budget_);
    codes.resize(static_cast<uint64_t>(length_) * sizeof(uint16_t));
    auto entries = std::make_unique<StoredColumn>(type_, budget_);
    std::unordered_map<std::string_view, uint16_t> known;
    const auto key_of = [&](int64_t row) -> std::string_view {
        if (bytes_) return values_.as<BytesView>()[row].text();
        return {reinterpret_cast<const char*>(values_.data() + row * width_),
                static_cast<size_t>(width_)};
    };
    for (int64_t row = 0; row < length_; ++row) {
        if (row % kRowsPerPoll == 0) poll_thread();
        if (is_null(row)) {
            codes.as<uint16_t>()[row] = 0;
            continue;
        }
        const auto [found, added] =
            known.try_emplace(key_of(row), static_cast<uint16_t>(known.size()));
        if (added) {
            if (static_cast<int64_t>(known.size()) > kMaxEncoded) return false;
            Vector one;
            one.type = type_;
            one.length = 1;
            one.values = values_.data() + row * width_;
            entries->append(one);
        }
        codes.as<uint16_t>()[row] = found->second;
    }
    if (entries->length() == 0) entries->append_nulls(1);
    if (entries->length() <= 256) {
        for (int64_t row = 0; row < length_; ++row)
            codes.data()[row] = static_cast<uint8_t>(codes.as<uint16_t>()[row]);
        code_width_ = 1;
    } else {
        code_width_ = 2;
    }
    values_ = std::move(codes);
    chunks_.clear();
    chunk_bytes_ = 0;
    capacity_ = length_;
    entries_ = std::move(entries);
    dictionary_.values = entries_->view();
    dictionary_.version = column::next_dictionary_version();
    return true;
}

RowStore::RowStore(const std::vector<plan::Type>& types, base::MemoryBudget* budget) {
    columns_.reserve(types.size());
    for (const plan::Type type : types) columns_.emplace_back(type, budget);
}

void RowStore::append(const std::vector<Vector>& rows, int64_t length) {
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].append(rows[i]);
    length_ += length;
}

uint64_t RowStore::bytes() const noexcept {
    uint64_t bytes = 0;
    for (const StoredColumn& column : columns_) bytes += column.bytes();
    return bytes;
}

void RowStore::append_store(RowStore&& other) {
    for (size_t i = 0; i < columns_.size(); ++i) {
        poll_thread();
        columns_[i].append_store(std::move(other.columns_[i]));
    }
    length_ += other.length_;
    other.length_ = 0;
}

}  // namespace loom::exec
