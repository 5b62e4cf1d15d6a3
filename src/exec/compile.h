#pragma once
// Cuts a plan at its breakers into pipelines, in the order in which they have to run.

#include <memory>
#include <vector>

#include "exec/pipeline/sinks.h"
#include "exec/query.h"
#include "exec/resources.h"

namespace loom::exec {

/// A pipeline of a query, and what happens with its rows when it is done.
struct CompiledPipeline {
    enum class Then : uint8_t {
        kFeed,     ///< they are added to the stored source of `target`
        kBuild,    ///< they are the build side of join `target_join` of `target`
        kScatter,  ///< they are the scattered source of `target`
        kResult    ///< they are the query's result
    };
    Pipeline pipeline;
    bool ordered = false;  ///< the source's order must stay: one worker
    Then then = Then::kResult;
    CompiledPipeline* target = nullptr;
    std::vector<CompiledPipeline*> further_targets;  ///< kFeed: that read the same rows
    int target_join = -1;
    std::vector<int> build_keys;       ///< kBuild: key columns of the stored rows
    std::vector<int> encode;           ///< kBuild: columns that become dictionary codes
    std::shared_ptr<StoreSink> store;  ///< the sink, if it is one
};

/// Compiles `root`. Raises Unrepresentable for what the engine does not do.
std::vector<std::unique_ptr<CompiledPipeline>> compile(
    const plan::Operator& root, std::span<const plan::ParameterValue> parameters,
    const Resources& resources);

}  // namespace loom::exec
