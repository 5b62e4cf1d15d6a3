#pragma once
// Hashes of single values for approx_count_distinct. The engine and the aggregate that PostgreSQL
// runs share them, so that both estimate the same number. Values that PostgreSQL holds for equal
// have one hash, whatever they are stored as.

#include "exec/hash.h"
#include "exec/key.h"

namespace loom::exec {

/// Of booleans, integers, dates and times.
inline uint64_t distinct_hash(int64_t value) noexcept {
    return combine(1, static_cast<uint64_t>(value));
}
inline uint64_t distinct_hash(double value) noexcept {
    return combine(1, float_key(value));
}
/// Of numerics of up to plan::kMaxPrecision digits without trailing zeros behind the point.
inline uint64_t distinct_hash(plan::Decimal value) noexcept {
    value = normalised(value);
    const auto high = static_cast<uint64_t>(value.unscaled >> 64);
    return combine(combine(mix(static_cast<uint64_t>(value.unscaled)), high),
                   static_cast<uint64_t>(value.scale));
}
inline uint64_t distinct_hash(const plan::Interval& value) noexcept {
    const __int128 span = interval_span(value);
    return combine(mix(static_cast<uint64_t>(span)), static_cast<uint64_t>(span >> 64));
}
/// Of text, bytea and uuid; `bytes` of bpchar are those before its trailing blanks.
inline uint64_t distinct_hash(column::BytesView bytes) noexcept {
    return hash_bytes(bytes.data, bytes.size);
}

}  // namespace loom::exec
