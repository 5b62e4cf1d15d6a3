#include "format/parquet/write/dictionary_builder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace loom::parquet::write {

namespace {

constexpr size_t kFirstSlots = 1024;

uint32_t hash_word(uint64_t value) noexcept {
    value *= 0x9e3779b97f4a7c15U;
    return static_cast<uint32_t>(value >> 32) ^ static_cast<uint32_t>(value >> 61);
}

}  // namespace

void DictionaryBuilder::clear() {
    entries_.clear();
    hashes_.clear();
    slots_.assign(kFirstSlots, 0);
}

void DictionaryBuilder::grow() {
    slots_.assign(slots_.size() * 2, 0);
    const size_t mask = slots_.size() - 1;
    for (uint32_t code = 0; code < hashes_.size(); ++code) {
        size_t slot = hashes_[code] & mask;
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        slots_[slot] = code + 1;
    }
}

// Called after the value was appended to entries_.
uint32_t DictionaryBuilder::add_slot(size_t slot, uint32_t hash) {
    const auto code = static_cast<uint32_t>(hashes_.size());
    slots_[slot] = code + 1;
    hashes_.push_back(hash);
    if (hashes_.size() * 2 > slots_.size()) grow();
    return code;
}

template <typename T>
uint32_t DictionaryBuilder::code_of_word(T value) {
    const uint32_t hash = hash_word(value);
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
        const uint32_t code = slots_[slot] - 1;
        if (base::load<T>(entries_.fixed(code)) == value) return code;
    }
    entries_.append_fixed(&value, 1);
    return add_slot(slot, hash);
}

template <typename T>
void DictionaryBuilder::encode_words(const T* values, int64_t count, uint32_t* codes) {
    if (count == 0) return;
    // Columns often hold runs of one value.
    T last = values[0];
    uint32_t code = code_of_word(last);
    for (int64_t i = 0; i < count; ++i) {
        if (values[i] != last) {
            last = values[i];
            code = code_of_word(last);
        }
        codes[i] = code;
    }
}

void DictionaryBuilder::encode_fixed(const void* values, int64_t count, uint32_t* codes) {
    if (entries_.width() == 4)
        encode_words(static_cast<const uint32_t*>(values), count, codes);
    else
        encode_words(static_cast<const uint64_t*>(values), count, codes);
}

uint32_t DictionaryBuilder::code_of_bytes(base::ByteSpan value) {
    const auto hash = static_cast<uint32_t>(XXH3_64bits(value.data(), value.size()));
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
        const uint32_t code = slots_[slot] - 1;
        if (hashes_[code] == hash && base::as_text(entries_.bytes(code)) == base::as_text(value))
            return code;
    }
    entries_.append_bytes(value);
    return add_slot(slot, hash);
}

void DictionaryBuilder::encode_bytes(const column::BytesView* values, int64_t count,
                                     uint32_t* codes) {
    for (int64_t i = 0; i < count; ++i) codes[i] = code_of_bytes(values[i].bytes());
}

}  // namespace loom::parquet::write
