#pragma once
// Smallest and largest values for statistics, in Parquet's plain form.

#include <span>
#include <string>
#include <string_view>

#include "format/parquet/write/schema_plan.h"
#include "format/parquet/write/value_store.h"

namespace loom::parquet::write {

/// Smallest and largest value of some rows, NaN left out. `known` is false if there was none or the
/// type has no order.
struct Bounds {
    bool known = false;
    std::string min;
    std::string max;
};

/// Returns the bounds of values [begin, end) of `values`.
Bounds bounds_of(const Leaf& leaf, const ValueStore& values, int64_t begin, int64_t end);
/// Returns the bounds of the values at `indexes`.
Bounds bounds_of(const Leaf& leaf, const ValueStore& values, std::span<const uint32_t> indexes);

/// Compares two values in plain form by the leaf's order: negative, 0 or positive.
int compare(const Leaf& leaf, std::string_view a, std::string_view b) noexcept;

/// Widens `into` to cover `more`.
void merge(const Leaf& leaf, const Bounds& more, Bounds& into);

/// A bound as it goes to the file.
struct WrittenBound {
    std::string bytes;
    bool exact = true;
};
/// Returns a lower bound of at most `limit` bytes (byte arrays; other types stay whole).
WrittenBound lower_bound(const Leaf& leaf, const std::string& value, size_t limit);
/// Returns an upper bound of at most `limit` bytes, or the value itself if no shorter one exists.
/// Text is cut and raised by whole characters, so that it stays valid UTF-8.
WrittenBound upper_bound(const Leaf& leaf, const std::string& value, size_t limit);

}  // namespace loom::parquet::write
