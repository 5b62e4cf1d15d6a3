#pragma once
// The thirteen queries of the Star Schema Benchmark as plans of the engine, up to their groups, for
// tests and benchmarks that run without PostgreSQL.

#include <string>
#include <vector>

#include "exec/query.h"
#include "plan/operator.h"

namespace loom::gpu {

struct SsbQuery {
    std::string name;          ///< `q1.1` to `q4.3`
    plan::Operator aggregate;  ///< over scans of sources 0 (lineorder) to 4
};

/// Opens the benchmark's tables in `directory` (`lineorder.parquet` or `lineorder.arrow`, and so
/// on) with the columns that the plans read.
exec::Inputs open_ssb(const std::string& directory);

/// Returns the plans, with a planner's estimates for a fact table of `rows` rows.
std::vector<SsbQuery> ssb_queries(double rows);

}  // namespace loom::gpu
