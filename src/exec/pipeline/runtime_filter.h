#pragma once
// What the build sides of a pipeline's joins say of the rows that its scan has to read.

#include <vector>

#include "exec/pipeline/pipeline.h"
#include "format/prune.h"

namespace loom::exec {

/// Conditions that rows of `table` must meet to have a match in every join that drops the others;
/// by file. Empty if there are none. Call when the pipeline is prepared.
std::vector<std::vector<format::PruneCondition>> runtime_filters(const Pipeline& pipeline,
                                                                 const TableSource& table);

}  // namespace loom::exec
