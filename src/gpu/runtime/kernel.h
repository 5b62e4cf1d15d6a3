#pragma once
// What the text of every kernel begins with.

#include "gpu/runtime/group.h"
#include "gpu/runtime/machine.h"
#include "gpu/runtime/tile.h"
#include "sql/calendar.h"
#include "sql/compare.h"
#include "sql/fault.h"
#include "sql/float.h"
#include "sql/integer.h"
#include "sql/numeric.h"

namespace loom::gpu {

/// What kernels say of a run besides their results; all 0 at first.
struct Status {
    uint32_t faults;  ///< sql::FaultBits of any row: the CPU engine finds out which comes first
    uint32_t duplicate_keys;  ///< which build sides have several rows of one key: a bit each
    uint32_t full_sets;       ///< a KeySet or RowLists was too small
    uint32_t unused;
};

template <typename T = uint8_t>
LOOM_DEVICE const T* bytes_at(uint64_t word) {
    return reinterpret_cast<const T*>(word);
}
template <typename T>
LOOM_DEVICE T* room_at(uint64_t word) {
    return reinterpret_cast<T*>(word);
}
LOOM_DEVICE sql::Int128 int128_of(uint64_t low, uint64_t high) {
    return static_cast<sql::Int128>(sql::UInt128{high} << 64 | low);
}
LOOM_DEVICE double double_of(uint64_t word) {
#if defined(__CUDACC_RTC__)
    return __longlong_as_double(static_cast<long long>(word));
#else
    return __builtin_bit_cast(double, word);
#endif
}

/// Copies words into shared memory, with all threads of the block; `count` is rounded up to four,
/// and both places have room for that.
LOOM_DEVICE void copy_to_shared(uint32_t* to, const uint32_t* from, uint32_t count) {
    LOOM_NO_UNROLL for (uint32_t i = thread_index() * 4; i < count; i += block_threads() * 4)
        read_words4(to + i, from + i);
}
LOOM_DEVICE void clear_shared(uint32_t* to, uint32_t count) {
    LOOM_NO_UNROLL for (uint32_t i = thread_index(); i < count; i += block_threads()) to[i] = 0;
}

LOOM_DEVICE void report(const sql::Fault& fault, uint64_t status) {
    if (fault.bits() != 0) atomic_or(&room_at<Status>(status)->faults, fault.bits());
}

}  // namespace loom::gpu
