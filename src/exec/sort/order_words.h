#pragma once
// Values as words: unsigned numbers in the order of the values.

#include <cstdint>

#include "exec/vector.h"

namespace loom::exec {

/// Whether different values of a type may share a word.
bool words_are_prefixes(plan::Physical physical) noexcept;

/// Sets words[i] to that of row i of a plain vector; rows that are NULL get any. A smaller word
/// means a smaller value; equal words mean equal values unless words_are_prefixes(), or unless the
/// word is 0 or UINT64_MAX, at which larger numbers are cut. Of texts the word is the 8 bytes after
/// the first `skip`, which must be the same in all rows.
void order_words(const Vector& vector, int64_t count, uint64_t* words, int64_t skip = 0) noexcept;

}  // namespace loom::exec
