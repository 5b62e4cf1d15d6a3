#pragma once
// Bounds of one column over one record batch, in the text forms of statistics.h.

#include <string>
#include <vector>

#include "column/column_view.h"
#include "column/scalar.h"

namespace loom::arrow {

/// Follows one top-level field while a record batch fills.
class StatisticsCollector {
  public:
    explicit StatisticsCollector(const column::Field& field);

    /// Returns whether bounds of this type are written at all.
    bool active() const noexcept { return kind_ != Kind::kNone; }
    void add(const column::ColumnView& view, int64_t row, int64_t count);
    /// Adds this batch's entries to the metadata of its message and to the old-style lists, and
    /// starts the next batch.
    void finish_batch(std::vector<column::KeyValue>& metadata);

    /// Returns whether the old-style lists exist for this type.
    bool has_lists() const noexcept { return kind_ == Kind::kInteger; }
    const std::string& min_list() const noexcept { return min_list_; }
    const std::string& max_list() const noexcept { return max_list_; }

  private:
    enum class Kind : uint8_t { kNone, kInteger, kFloat, kText };

    void add_rows(const column::ColumnView& view, int64_t row, int64_t count);
    void add_coded(const column::ColumnView& view, int64_t row, int64_t count);
    template <typename T>
    void add_integers(const column::ColumnView& view, int64_t row, int64_t count);
    void add_float(double value);
    void add_text(std::string_view text);
    std::string integer_text(column::Int128 value) const;
    std::string detail() const;
    void extend_lists();

    column::Field field_;
    Kind kind_ = Kind::kNone;
    bool found_ = false;
    column::Int128 min_integer_ = 0, max_integer_ = 0;
    double min_float_ = 0, max_float_ = 0;
    std::string min_text_, max_text_;
    int64_t nans_ = 0;
    bool min_exact_ = true, max_exact_ = true;
    int64_t batches_ = 0;
    std::string min_list_, max_list_;
};

}  // namespace loom::arrow
