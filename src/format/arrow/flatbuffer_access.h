#pragma once
// Elements of flatbuffer vectors. Writers exist that align the elements to 4 bytes only, so they
// are copied out instead of being referred to.

#include "base/bytes.h"
#include "flatbuffers/flatbuffers.h"

namespace loom::arrow {

/// Returns element `i` (not checked) of a vector of structs.
template <typename T>
T struct_at(const flatbuffers::Vector<const T*>& vector, uint32_t i) {
    return base::load<T>(vector.Data() + static_cast<size_t>(i) * sizeof(T));
}

/// Returns element `i` (not checked) of a vector of numbers.
template <typename T>
T scalar_at(const flatbuffers::Vector<T>& vector, uint32_t i) {
    return base::load<T>(vector.Data() + static_cast<size_t>(i) * sizeof(T));
}

}  // namespace loom::arrow
