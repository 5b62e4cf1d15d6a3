#include "format/parquet/write/value_store.h"

namespace loom::parquet::write {

void ValueStore::append_many(const column::BytesView* values, int64_t count) {
    size_t total = 0;
    for (int64_t i = 0; i < count; ++i) total += values[i].size;
    size_t end = used_;
    uint8_t* to = grow(total);
    for (int64_t i = 0; i < count; ++i) {
        if (values[i].size != 0) std::memcpy(to, values[i].data, values[i].size);
        to += values[i].size;
        end += values[i].size;
        if (width_ == 0) ends_.push_back(end);
    }
    size_ += count;
}

namespace {

template <typename T>
void decode(const uint8_t* entries, std::span<const uint32_t> codes, uint8_t* to) {
    for (size_t i = 0; i < codes.size(); ++i)
        base::store(to + i * sizeof(T), base::load<T>(entries + codes[i] * sizeof(T)));
}

}  // namespace

void ValueStore::append_decoded(const ValueStore& entries, std::span<const uint32_t> codes) {
    if (width_ != 4 && width_ != 8) {
        for (uint32_t code : codes) append_bytes(entries.bytes(code));
        return;
    }
    uint8_t* to = grow(codes.size() * width_);
    if (width_ == 4)
        decode<uint32_t>(entries.fixed(0), codes, to);
    else
        decode<uint64_t>(entries.fixed(0), codes, to);
    size_ += static_cast<int64_t>(codes.size());
}

}  // namespace loom::parquet::write
