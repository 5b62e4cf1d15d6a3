#pragma once
// The groups of an aggregate, as rows of its operator's output.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "exec/query.h"

namespace loom::gpu {

/// Rows are added column by column, each by one of add_null() to add_text() and then end_row();
/// fetch() comes after all of them.
class DeviceRows : public exec::RowSource {
  public:
    explicit DeviceRows(std::vector<plan::Type> types);

    int64_t rows() const noexcept { return rows_; }
    size_t columns() const noexcept { return columns_.size(); }
    int64_t fetch(std::span<exec::Vector> columns) override;

    void add_null(size_t column);
    /// Of all types that are held as integers.
    void add_integer(size_t column, __int128 value);
    void add_text(size_t column, std::string_view text);
    /// Returns room for one value that is not NULL, as plan::Physical says.
    uint8_t* add_value(size_t column);
    /// Adds a value of another one's column of the same number and type.
    void add_from(const DeviceRows& other, size_t column, int64_t row);
    void end_row() { ++rows_; }

    /// Appends bytes that equal values have in common, and no others.
    void append_bytes(size_t column, int64_t row, std::string& out) const;

  private:
    struct Column {
        int width = 0;
        std::vector<uint8_t> values;  ///< texts: where they end in `bytes`
        std::vector<bool> valid;
        std::string bytes;
        base::Buffer batch;
        base::Buffer validity;
    };

    std::string_view text(const Column& column, int64_t row) const;

    std::vector<Column> columns_;
    std::vector<plan::Type> types_;
    int64_t rows_ = 0;
    int64_t next_ = 0;
};

}  // namespace loom::gpu
