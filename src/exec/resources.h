#pragma once
// What the operators of a query share.

#include "base/buffer.h"
#include "io/temp_file.h"

namespace loom::exec {

/// Borrowed from the query.
struct Resources {
    base::MemoryBudget* budget = nullptr;
    io::TempSpace* space = nullptr;

    uint64_t memory = 0;  ///< bytes that operators shall keep within; 0: no limit

    /// Returns the bytes that operators may hold before they write to temporary files: half of what
    /// they may have, so that what cannot be written has room.
    uint64_t spill_limit() const noexcept {
        return memory == 0 || space->directories.empty() ? UINT64_MAX : memory / 2;
    }
};

}  // namespace loom::exec
