#pragma once
// What expressions over one column of texts give for each text of its dictionary.

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/codegen/kernel_text.h"
#include "gpu/memory/device_table.h"
#include "plan/expr.h"

namespace loom::gpu {

/// Returns for each text, and behind them for NULL, what a condition says: 0 is false, 1 true, 2
/// NULL. `slot` is the one that it reads, whose column `column` is. Raises NotInKernels where it
/// faults for any of them: whether a row has that text, the CPU engine finds out.
std::vector<uint8_t> answers_of(const plan::Expr& condition, int slot, const DeviceColumn& column,
                                std::span<const plan::ParameterValue> parameters);

/// Returns what an expression that is a text makes of each text. Raises as answers_of().
ComputedTexts texts_of(const plan::Expr& expr, int slot, const DeviceColumn& column,
                       std::span<const plan::ParameterValue> parameters);

}  // namespace loom::gpu
