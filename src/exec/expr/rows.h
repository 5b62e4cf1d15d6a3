#pragma once
// Moves rows between vectors: codes to values, chosen rows to dense ones and back.

#include <cstdint>

#include "base/buffer.h"
#include "exec/vector.h"

namespace loom::exec {

/// Memory for the rows of one vector.
struct RowBuffer {
    base::Buffer values;
    base::Buffer validity;

    explicit RowBuffer(base::MemoryBudget* budget) : values(budget), validity(budget) {}
};

/// Returns a plain or constant vector with the rows of `vector`; codes are looked up into `room`.
Vector flatten(const Vector& vector, RowBuffer& room);
/// Returns a plain vector: flatten(), and constants are repeated.
Vector spread(const Vector& vector, RowBuffer& room);
/// Returns the chosen rows, in any form.
Vector gather(const Vector& vector, const uint16_t* selection, int64_t rows, RowBuffer& room);

/// Copies the rows of `from` (plain or constant) whose bits are set to the same places of `to`.
void blend(const Vector& from, const uint64_t* mask, int64_t rows, void* to);
/// Copies row k of `from` (plain or constant) to the place of the k-th set bit.
void scatter(const Vector& from, const uint64_t* mask, int64_t rows, void* to);

/// Writes the valid rows of a vector of `rows` rows as a mask.
void known_rows(const Vector& vector, int64_t rows, uint64_t* mask);
/// Returns a word with the bits of the rows that exist at word `at`.
inline uint64_t row_word(int64_t rows, int64_t at) noexcept {
    const int64_t left = rows - at * 64;
    return left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
}

}  // namespace loom::exec
