#pragma once
// Turns values into codes while a row group is collected.

#include <vector>

#include "format/parquet/write/value_store.h"

namespace loom::parquet::write {

/// Numbers distinct physical values in order of their first appearance.
class DictionaryBuilder {
  public:
    explicit DictionaryBuilder(int32_t width) : entries_(width) { clear(); }

    void clear();
    const ValueStore& entries() const noexcept { return entries_; }

    /// Writes the codes of `count` values of 4 or 8 bytes each to `codes`.
    void encode_fixed(const void* values, int64_t count, uint32_t* codes);
    void encode_bytes(const column::BytesView* values, int64_t count, uint32_t* codes);

  private:
    template <typename T>
    void encode_words(const T* values, int64_t count, uint32_t* codes);
    template <typename T>
    uint32_t code_of_word(T value);
    uint32_t code_of_bytes(base::ByteSpan value);
    uint32_t add_slot(size_t slot, uint32_t hash);
    void grow();

    ValueStore entries_;
    std::vector<uint32_t> slots_;   // code + 1, 0 for free; a power of two, at most half full
    std::vector<uint32_t> hashes_;  // per entry
};

}  // namespace loom::parquet::write
