#pragma once
// The Star Schema Benchmark (O'Neil, O'Neil, Chen: "The Star Schema Benchmark", revision 3, 2009).

#include <chrono>
#include <cstdint>

#include "random.h"
#include "table.h"

namespace loom::datagen {

/// Sizes of the tables at a scale factor.
struct SsbSize {
    explicit SsbSize(double scale);

    int64_t orders;
    int64_t customers;
    int64_t suppliers;
    int64_t parts;
};

inline constexpr std::chrono::sys_days kFirstDay = std::chrono::year{1992} / 1 / 1;
inline constexpr std::chrono::sys_days kLastDay = std::chrono::year{1998} / 12 / 31;
/// Orders end so early that every commit date is in the date table.
inline constexpr std::chrono::sys_days kLastOrderDay = std::chrono::year{1998} / 8 / 2;

/// Returns e.g. 19940213.
int32_t date_key(std::chrono::sys_days day) noexcept;

/// Returns the retail price of a part in cents (TPC-H 4.2.3).
inline int32_t part_price(int64_t part) noexcept {
    return static_cast<int32_t>(90'000 + part / 10 % 20'001 + 100 * (part % 1'000));
}

std::unique_ptr<Table> make_lineorder(uint64_t seed, const SsbSize& size);
std::unique_ptr<Table> make_customer(uint64_t seed, const SsbSize& size);
std::unique_ptr<Table> make_supplier(uint64_t seed, const SsbSize& size);
std::unique_ptr<Table> make_part(uint64_t seed, const SsbSize& size);
std::unique_ptr<Table> make_date();

}  // namespace loom::datagen
