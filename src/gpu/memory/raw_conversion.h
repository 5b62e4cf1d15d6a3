#pragma once
// How values as files hold them become the engine's, where kernels do that.

#include <optional>

#include "exec/query.h"
#include "gpu/runtime/raw.h"

namespace loom::gpu {

/// Returns what exec::Loader does with a file's column, without any rows; nothing if kernels don't
/// do that. Codes are of texts only; what they stand for is left open.
std::optional<RawPiece> raw_conversion(const format::RawColumn& raw, const column::DataType& file,
                                       plan::Type type);

/// Returns the value that all rows have of a column that a file does not have.
RawPiece raw_constant(bool known, int64_t value);

}  // namespace loom::gpu
