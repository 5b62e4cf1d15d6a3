#pragma once
// Materialised rows, column by column: what hash tables, sorts and results hold.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "column/gather.h"
#include "exec/vector.h"

namespace loom::exec {

/// Owns the values of one column. Fixed-width values lie in one block; bytes in chunks that never
/// move.
class StoredColumn {
  public:
    StoredColumn(plan::Type type, base::MemoryBudget* budget);

    /// Makes room for so many rows in all.
    void reserve(int64_t rows);
    /// Appends rows of any form; bytes are copied.
    void append(const Vector& rows);
    /// Appends rows[positions[i]].
    void append(const Vector& rows, const uint32_t* positions, int64_t count);
    /// Appends one value of a column of bytes.
    void append_bytes(const column::BytesView& bytes);
    void append_nulls(int64_t count);
    /// Moves the rows of `other`, which has the same type, behind the own ones.
    void append_store(StoredColumn&& other);

    /// Replaces the values by codes into a dictionary of the distinct ones, if there are at most
    /// 65,535. Returns whether it did.
    bool encode();

    plan::Type type() const noexcept { return type_; }
    int64_t length() const noexcept { return length_; }
    bool has_nulls() const noexcept { return null_count_ > 0; }
    /// Bytes that the column holds.
    uint64_t bytes() const noexcept { return values_.size() + validity_.size() + chunk_bytes_; }
    /// Returns all rows (plain, or codes after encode()). Valid until the column changes.
    Vector view() const noexcept;
    /// Returns rows [begin, begin + count); `begin` must be a multiple of 8.
    Vector view(int64_t begin, int64_t count) const noexcept;
    /// Fills `values` and `validity` with the rows that `rows` names; -1 gives NULL. Returns the
    /// vector over those buffers.
    Vector gather(const int32_t* rows, int64_t count, base::Buffer& values,
                  base::Buffer& validity) const;

    template <typename T>
    const T* values() const noexcept {
        return values_.as<T>();
    }
    bool is_null(int64_t row) const noexcept {
        return null_count_ > 0 && !base::bit_at(validity_.data(), row);
    }

  private:
    void append_validity(const Vector& rows);
    column::BytesView keep(const column::BytesView& bytes);
    void own_bytes(int64_t begin, int64_t count);

    plan::Type type_;
    int width_;
    bool bytes_;
    base::MemoryBudget* budget_;
    int64_t length_ = 0;
    int64_t null_count_ = 0;
    base::Buffer values_;
    base::Buffer validity_;  ///< kept only once there are NULLs
    int64_t capacity_ = 0;
    std::vector<base::Buffer> chunks_;
    size_t chunk_used_ = 0;
    uint64_t chunk_bytes_ = 0;
    uint8_t code_width_ = 0;  ///< 0: plain
    std::unique_ptr<StoredColumn> entries_;
    VectorDictionary dictionary_;
};

/// Owns rows of several columns.
class RowStore {
  public:
    RowStore(const std::vector<plan::Type>& types, base::MemoryBudget* budget);

    /// Appends `length` rows; rows[c] is column c.
    void append(const std::vector<Vector>& rows, int64_t length);
    void append_store(RowStore&& other);

    int64_t length() const noexcept { return length_; }
    size_t width() const noexcept { return columns_.size(); }
    StoredColumn& column(size_t index) { return columns_[index]; }
    const StoredColumn& column(size_t index) const { return columns_[index]; }
    void set_length(int64_t length) { length_ = length; }
    uint64_t bytes() const noexcept;

  private:
    std::vector<StoredColumn> columns_;
    int64_t length_ = 0;
};

/// Returns rows that are all NULL.
Vector null_rows(plan::Type type, int64_t count);

/// Returns `vector` as plain rows: itself, or its values in `values` and `validity`.
Vector to_plain(const Vector& vector, base::Buffer& values, base::Buffer& validity);

using column::gather_bits;
using column::gather_values;

/// Returns rows[positions[i]] of a plain vector, in `values` and `validity`; bytes stay where they
/// are.
Vector take_rows(const Vector& rows, const uint32_t* positions, int64_t count, base::Buffer& values,
                 base::Buffer& validity);

/// Returns the bytes that a row of the vector takes (its code, or its value).
int row_width(const Vector& vector) noexcept;

}  // namespace loom::exec
