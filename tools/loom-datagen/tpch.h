#pragma once
// The tables of TPC-H (Transaction Processing Performance Council, "TPC Benchmark H", revision 3,
// clauses 1.4 and 4.2.3).

#include "comments.h"
#include "table.h"
#include "tpch_facts.h"

namespace loom::datagen {

/// Sizes of the tables at a scale factor.
struct TpchSize {
    explicit TpchSize(double scale);

    int64_t orders;
    int64_t customers;
    int64_t suppliers;
    int64_t parts;
    int64_t clerks;
};

/// What all tables of a data set are made from. Shared by them.
struct TpchBase {
    TpchBase(uint64_t random_seed, const TpchSize& table_sizes)
        : seed(random_seed), size(table_sizes), comments(random_seed) {}

    uint64_t seed;
    TpchSize size;
    CommentPool comments;
};
using TpchBasePtr = std::shared_ptr<const TpchBase>;

inline constexpr int kSuppliersOfPart = 4;

/// Returns the key of supplier `which` (0 to 3) of a part; the four differ.
int32_t supplier_of_part(int64_t part, int which, int64_t suppliers) noexcept;

/// decimal(15,2)
column::TypePtr money_type();

std::unique_ptr<Table> make_tpch_region(TpchBasePtr base);
std::unique_ptr<Table> make_tpch_nation(TpchBasePtr base);
std::unique_ptr<Table> make_tpch_supplier(TpchBasePtr base);
std::unique_ptr<Table> make_tpch_customer(TpchBasePtr base);
std::unique_ptr<Table> make_tpch_part(TpchBasePtr base);
std::unique_ptr<Table> make_tpch_partsupp(TpchBasePtr base);
std::unique_ptr<Table> make_tpch_orders(TpchBasePtr base);
std::unique_ptr<Table> make_tpch_lineitem(TpchBasePtr base);

}  // namespace loom::datagen
