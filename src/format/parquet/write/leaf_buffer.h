#pragma once
// Collects one leaf column of the row group that is being written: levels, and codes or values.

#include <span>
#include <vector>

#include "column/column_view.h"
#include "format/parquet/write/convert.h"
#include "format/parquet/write/dictionary_builder.h"
#include "format/parquet/write/schema_plan.h"

namespace loom::parquet::write {

/// One entry of a leaf's level stream: the row of the leaf's view, or -1 for a NULL here or above.
struct Slot {
    int64_t row = 0;
    uint8_t definition = 0;
    uint8_t repetition = 0;
};

/// Starts every row group with a dictionary (if that is wished) and gives it up as soon as it grows
/// too large or repeats too little. Not thread safe.
class LeafBuffer {
  public:
    /// `dictionary_limit` is the most bytes a dictionary may take; 0 turns dictionaries off. `leaf`
    /// must outlive the buffer.
    LeafBuffer(const Leaf& leaf, int64_t dictionary_limit);

    /// Appends rows [begin, begin + count) of a column that is not nested. Raises kTypeMismatch for
    /// a NULL if the column is not nullable.
    void append_rows(const column::ColumnView& view, int64_t begin, int64_t count);
    /// Appends a piece of a level stream, with the values that its slots name.
    void append_slots(const column::ColumnView& view, std::span<const Slot> slots);
    /// Decides between codes and values; call it when the row group is complete.
    void finish();
    void clear();

    const Leaf& leaf() const noexcept { return leaf_; }
    int64_t level_count() const noexcept { return level_count_; }
    int64_t value_count() const noexcept {
        return coding_ ? static_cast<int64_t>(codes_.size()) : values_.size();
    }
    /// Empty while all levels are the highest one.
    std::span<const uint8_t> definitions() const noexcept { return definitions_; }
    /// Empty for a leaf that is not repeated.
    std::span<const uint8_t> repetitions() const noexcept { return repetitions_; }
    /// Returns whether codes() and dictionary() hold the values; else values() does.
    bool coding() const noexcept { return coding_; }
    std::span<const uint32_t> codes() const noexcept { return codes_; }
    const ValueStore& dictionary() const noexcept { return builder_.entries(); }
    const ValueStore& values() const noexcept { return values_; }

  private:
    void add_full_levels(int64_t count);
    void add_level(uint8_t definition);
    void add_values(const column::ColumnView& view, const RowPick& pick);
    void add_plain(const column::ColumnView& view, const RowPick& pick);
    void add_coded(const column::ColumnView& view, const RowPick& pick);
    uint32_t map_entry(const column::ColumnView& entries, uint32_t code);
    void encode(const base::Buffer& converted, int64_t count, uint32_t* codes);
    void store(const base::Buffer& converted, int64_t count);
    void give_up_if_useless();
    void abandon_dictionary();

    const Leaf& leaf_;
    int64_t dictionary_limit_;
    int64_t level_count_ = 0;
    std::vector<uint8_t> definitions_;
    std::vector<uint8_t> repetitions_;
    bool coding_;
    DictionaryBuilder builder_;
    std::vector<uint32_t> codes_;
    ValueStore values_;
    uint64_t mapped_version_ = 0;  // of the source dictionary that map_ translates
    std::vector<uint32_t> map_;    // its codes to ours
    base::Buffer scratch_;
    std::vector<int64_t> rows_;
    std::vector<int64_t> entry_rows_;
};

}  // namespace loom::parquet::write
