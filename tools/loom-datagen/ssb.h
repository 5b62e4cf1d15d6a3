#pragma once
// The Star Schema Benchmark (O'Neil, O'Neil, Chen: "The Star Schema Benchmark", revision 3, 2009).

#include <chrono>
#include <cstdint>

#include "random.h"
#include "table.h"
#include "tpch_facts.h"

namespace loom::datagen {

/// Sizes of the tables at a scale factor.
struct SsbSize {
    explicit SsbSize(double scale);

    int64_t orders;
    int64_t customers;
    int64_t suppliers;
    int64_t parts;
};

/// Returns e.g. 19940213.
int32_t date_key(std::chrono::sys_days day) noexcept;

std::unique_ptr<Table> make_lineorder(uint64_t seed, const SsbSize& size);
std::unique_ptr<Table> make_customer(uint64_t seed, const SsbSize& size);
std::unique_ptr<Table> make_supplier(uint64_t seed, const SsbSize& size);
std::unique_ptr<Table> make_part(uint64_t seed, const SsbSize& size);
std::unique_ptr<Table> make_date();

}  // namespace loom::datagen
