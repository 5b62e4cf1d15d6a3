#pragma once
// Values of a column as files hold them, for what encodes them.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/query.h"
#include "gpu/memory/device_table.h"
#include "gpu/memory/encode.h"
#include "gpu/memory/text_dictionary.h"

namespace loom::gpu {

/// A block's values before they are encoded.
struct DecodedBlock {
    std::vector<int64_t> values;
    std::vector<uint8_t> valid;
    bool has_null = false;
    ColumnShape shape;

    /// Adds a row.
    void put(bool row_valid, int64_t value);
    Values view() const {
        return {values, has_null ? std::span<const uint8_t>(valid) : std::span<const uint8_t>()};
    }
};

/// Reads blocks of one column. For one thread.
class BlockDecoder {
  public:
    /// `texts` is the dictionary of a column of texts, else null; it must outlive this.
    BlockDecoder(plan::Type type, TextDictionary* texts) : type_(type), texts_(texts) {}

    /// Raises base::Error for files, exec::Unrepresentable for values that the engine does not
    /// have.
    DecodedBlock decode(const exec::ScanFile& file, const BlockRows& block, int column);
    /// Adds values that have been read; not to the shape.
    void add(const exec::Vector& vector, DecodedBlock& out);

  private:
    void add_codes(const exec::Vector& vector, DecodedBlock& out);
    int64_t code_of(const column::BytesView& bytes);

    plan::Type type_;
    TextDictionary* texts_;
    uint64_t version_ = 0;  // of the dictionary that `entries_` are of
    std::vector<int64_t> entries_;
    std::unordered_map<std::string, uint32_t> known_;
};

}  // namespace loom::gpu
