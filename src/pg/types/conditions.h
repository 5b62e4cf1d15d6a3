#pragma once
// Turns comparisons with PostgreSQL values into conditions on a file's own values, for skipping.
//
// The result may be wider than the comparison, never narrower: units are floored as
// convert_datetime.cpp floors them, and whatever depends on TimeZone is widened by a day.

#include "pg/compat/backend.h"

#include <optional>

#include "column/data_type.h"
#include "format/prune.h"

namespace loom::pg {

/// One comparison `column OP value`, its strategy as in btree operator families.
struct Comparison {
    Oid column_type;  ///< declared type of the column
    Oid value_type;
    int strategy;  ///< BTLessStrategyNumber ...
};

/// Returns the range of a field's own values that may satisfy the comparison, or nothing if the
/// pair of types can't be used for skipping. `value` is not NULL. Sets `nans` if NaN may satisfy
/// it. May raise PostgreSQL errors (palloc): call inside pg_call; `range` must be constructed
/// outside of it.
struct FieldBounds {
    enum class Kind : uint8_t { kUnusable, kInteger, kFloat, kBytes };
    Kind kind = Kind::kUnusable;
    bool has_lo = false, has_hi = false, nans = false;
    __int128 lo = 0, hi = 0;
    double float_lo = 0, float_hi = 0;
    const char* bytes_lo = nullptr;  ///< palloc'd
    const char* bytes_hi = nullptr;
    size_t bytes_lo_size = 0, bytes_hi_size = 0;
};
FieldBounds bounds_of_comparison_maylongjmp(const Comparison& comparison, Datum value,
                                            const column::DataType& field);

/// Returns bounds for texts that begin as a LIKE pattern does (`pattern` is a text datum), or
/// kUnusable.
FieldBounds bounds_of_like_maylongjmp(Datum pattern, const column::DataType& field);
/// Returns bounds for texts that begin with `prefix`, a text datum.
FieldBounds bounds_of_prefix_maylongjmp(Datum prefix, const column::DataType& field);

/// Builds the scalar range of usable bounds.
format::ScalarRange to_range(const FieldBounds& bounds);

}  // namespace loom::pg
