#pragma once
// HyperLogLog: how many distinct values there are, from 64-bit hashes of them. A sketch is an array
// of registers, each the largest rank of the hashes that its index has met.

#include "sql/definition.h"

namespace loom::sql {

/// 4,096 registers of a byte: a standard error of 1.04 / sqrt(4096), that is 1.63 %.
inline constexpr int kSketchBits = 12;
inline constexpr int kSketchRegisters = 1 << kSketchBits;
/// The largest rank: all bits that do not choose the register are 0.
inline constexpr int kMaxSketchRank = 64 - kSketchBits + 1;

struct SketchEntry {
    uint16_t index;  ///< of the register
    uint8_t rank;    ///< the place of the first bit set behind those of the index, from 1
};

LOOM_SQL constexpr SketchEntry sketch_entry(uint64_t hash) {
    const uint64_t rest = hash << kSketchBits;
    return {static_cast<uint16_t>(hash >> (64 - kSketchBits)),
            static_cast<uint8_t>(rest == 0 ? kMaxSketchRank : 65 - bit_width(rest))};
}

/// How many registers hold each rank.
struct RankCounts {
    int32_t of[kMaxSketchRank + 1] = {};
};

/// Returns the number of distinct values, by the estimator of Otmar Ertl ("New cardinality
/// estimation algorithms for HyperLogLog sketches", 2017, algorithm 6), which needs no tables and
/// no other formula for few or many values. Depends on the counts alone.
LOOM_SQL int64_t sketch_estimate(const RankCounts& counts) {
    constexpr double kRegisters = kSketchRegisters;
    if (counts.of[0] == kSketchRegisters) return 0;
    // Registers at the largest rank may stand for larger ones.
    const double full = 1 - counts.of[kMaxSketchRank] / kRegisters;
    double tau = 0;
    if (full != 0 && full != 1) {
        double x = full;
        double y = 1;
        double before;
        tau = 1 - x;
        do {
            x = LOOM_MATH(sqrt)(x);
            before = tau;
            y *= 0.5;
            tau -= (1 - x) * (1 - x) * y;
        } while (tau != before);
        tau /= 3;
    }
    double sum = kRegisters * tau;
    for (int rank = kMaxSketchRank - 1; rank >= 1; --rank) sum = 0.5 * (sum + counts.of[rank]);
    // Empty registers.
    double x = counts.of[0] / kRegisters;
    double y = 1;
    double sigma = x;
    double before;
    do {
        x *= x;
        before = sigma;
        sigma += x * y;
        y += y;
    } while (sigma != before);
    sum += kRegisters * sigma;
    constexpr double kAlpha = 0.72134752044448170368;  // 1 / (2 ln 2)
    const double estimate = LOOM_MATH(rint)(kAlpha * kRegisters * kRegisters / sum);
    // Hashes made for it could ask for more, or for infinity.
    constexpr double kEnd = 9223372036854775808.0;
    return estimate < kEnd ? static_cast<int64_t>(estimate) : int64_t{9223372036854775807};
}

/// Likewise of all registers.
LOOM_SQL int64_t sketch_estimate(const uint8_t* registers) {
    RankCounts counts;
    for (int i = 0; i < kSketchRegisters; ++i) ++counts.of[registers[i]];
    return sketch_estimate(counts);
}

}  // namespace loom::sql
