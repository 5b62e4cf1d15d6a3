#pragma once
// Turns what readers hand out (a file's type, still encoded) into vectors of the engine's type.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/buffer.h"
#include "column/column_view.h"
#include "exec/vector.h"

namespace loom::exec {

/// Tells whether a column of a file can be loaded as `type` without loss and without PostgreSQL.
bool can_load(const column::DataType& file, plan::Type type);

/// Loads one column of one file, batch by batch. Values that `type` cannot hold (a date out of
/// range, text that is not UTF-8, or too long) raise Unrepresentable.
class Loader {
  public:
    /// `characters`: those that a varchar may have at most and a char has; -1: any number.
    Loader(const column::DataType& file, plan::Type type, base::MemoryBudget* budget,
           int32_t characters = -1);

    /// Converts; the result is valid until the next call and as long as `view`. Codes stay codes.
    Vector load(const column::ColumnView& view);

  private:
    friend struct LoadSteps;
    friend std::optional<column::Scalar> file_scalar(const column::Scalar& value,
                                                     const column::DataType& file, plan::Type type);
    using Convert = void (*)(const column::ColumnView& view, const Loader& self, uint8_t* out);

    // Converted values, and the bytes of those that are made longer.
    struct Room {
        base::Buffer values;
        base::Buffer heap;
    };
    Vector plain(const column::ColumnView& view, Room& room);
    void check_length(const column::ColumnView& view) const;
    void pad_texts(const column::ColumnView& view, Room& room) const;
    void check_text(const column::ColumnView& view) const;
    void check_digits(const Vector& vector) const;
    void check_finite(const Vector& vector) const;

    plan::Type type_;
    Convert convert_ = nullptr;  ///< null: the layout is the same
    int64_t factor_ = 1;         ///< to the engine's unit
    int64_t divisor_ = 1;
    int64_t offset_ = 0;
    int64_t low_ = INT64_MIN;
    int64_t high_ = INT64_MAX;
    bool text_ = false;
    int32_t characters_;
    Room room_;
    // Dictionaries seen last: files alternate between few.
    struct Known {
        uint64_t source_version = 0;
        Room room;
        VectorDictionary dictionary;
    };
    Known known_;
};

/// Returns the order word (exec/sort/order_words.h) of a bound from a file's statistics, or nothing
/// if it is unknown or has no counterpart in the engine.
std::optional<uint64_t> order_word(const column::Scalar& bound, const column::DataType& file,
                                   plan::Type type);

/// Returns what a file's column holds where it loads as `value`, an integer, date or timestamp, or
/// as text; nothing if other values of the file load as the same, or if it is not known.
std::optional<column::Scalar> file_scalar(const column::Scalar& value, const column::DataType& file,
                                          plan::Type type);

}  // namespace loom::exec
