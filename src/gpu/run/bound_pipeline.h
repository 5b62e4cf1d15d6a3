#pragma once
// Pipelines of a run with their data on the device.

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/codegen/kernel_text.h"
#include "gpu/codegen/pipeline.h"
#include "gpu/memory/device_table.h"
#include "gpu/runtime/tile.h"

namespace loom::gpu {

/// A pipeline with its columns on the device.
struct Bound {
    const Pipeline* pipeline = nullptr;
    PipelineData data;
    std::vector<std::shared_ptr<const DeviceColumn>> columns;  ///< by slot, of the scan's
    std::vector<BlockView> views;
    std::vector<Span> spans;
};

/// Returns the column whose values a slot has: of the scan, or of the build side that it comes
/// from, where it is a column there (else null). `bound` is by pipeline.
inline const DeviceColumn* column_of(const Bound& of, const std::vector<Bound>& bound, int slot) {
    const auto at = static_cast<size_t>(slot);
    const Slot& definition = of.pipeline->slots[at];
    if (definition.kind == Slot::Kind::kScan) return of.columns[at].get();
    const PipelineJoin& join = of.pipeline->joins[static_cast<size_t>(definition.join)];
    const Bound& made = bound[static_cast<size_t>(join.build)];
    const plan::Expr& payload = made.pipeline->payload[static_cast<size_t>(definition.index)];
    return payload.kind == plan::ExprKind::kColumn ? column_of(made, bound, payload.index)
                                                   : nullptr;
}

}  // namespace loom::gpu
