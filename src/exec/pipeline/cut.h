#pragma once
// Cuts a pipeline where memory has no room for the build side of a join.

#include <memory>

#include "exec/compile.h"

namespace loom::exec {

/// Looks for the first join of a pipeline, which must not be prepared, whose build side was
/// scattered and whose probe side was not yet. Returns a pipeline that scatters the probe side, and
/// leaves in `compiled` what comes after; null if there is no such join.
std::unique_ptr<CompiledPipeline> cut_at_scattered_join(CompiledPipeline& compiled,
                                                        const Resources& resources);

}  // namespace loom::exec
