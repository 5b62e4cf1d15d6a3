#pragma once
// A dictionary-encoded field: indices for the record batch, and the entries not yet written.

#include <string>
#include <unordered_map>

#include "format/arrow/field_writer.h"

namespace loom::arrow {

/// Gives each different value a number, over the whole file, and collects the numbers. New entries
/// are written as a delta before the record batch that uses them; the file format allows no
/// replacement.
class DictionaryWriter final : public FieldWriter {
  public:
    DictionaryWriter(const column::Field& field, int64_t& next_dictionary_id);

    void append_nulls(int64_t count) override;
    void collect(BatchParts& parts) const override;
    void clear() override;
    bool full() const override { return values_->full(); }
    void list_dictionaries(std::vector<DictionaryWriter*>& out) override;

    int64_t id() const noexcept { return id_; }
    /// Returns whether a dictionary batch is due before the next record batch.
    bool has_news() const noexcept { return !written_ || values_->length() != 0; }
    /// Returns whether the next dictionary batch adds to an earlier one.
    bool is_delta() const noexcept { return written_; }
    int64_t new_entries() const noexcept { return values_->length(); }
    void collect_entries(BatchParts& parts) const { values_->collect(parts); }
    /// Says that the new entries were written.
    void entries_written();

  protected:
    void append_plain(const column::ColumnView& view, int64_t row, int64_t count) override;
    bool append_encoded(const column::ColumnView& view, int64_t row, int64_t count) override;

  private:
    int64_t index_of(const column::ColumnView& values, int64_t row);
    void append_indices();

    int64_t id_;
    int64_t index_limit_;
    std::unique_ptr<FieldWriter> values_;
    std::unordered_map<std::string, int64_t> known_;
    bool written_ = false;
    base::Buffer indices_;
    std::string key_;
    std::vector<int64_t> pending_;  ///< indices of the rows being appended, kNullRow for NULL
    std::vector<uint8_t> validity_;
    uint64_t mapped_version_ = 0;  ///< of the input dictionary that `mapped_` belongs to
    std::vector<int64_t> mapped_;  ///< its codes to our indices; kUnmapped until used
};

}  // namespace loom::arrow
