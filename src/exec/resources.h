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
    uint64_t spill_limit() const noexcept { return may_spill() ? memory / 2 : UINT64_MAX; }
    bool may_spill() const noexcept { return memory > 0 && !space->directories.empty(); }
    /// Whether one of `workers` shall write the `held` bytes that it has collected to a temporary
    /// file. While others hold more than the limit, small amounts are not worth a write.
    bool is_full(uint64_t held, size_t workers) const noexcept {
        if (!may_spill()) return false;
        const uint64_t used = budget->used();
        return used > memory ||
               (used > spill_limit() && held > spill_limit() / (8 * (workers > 0 ? workers : 1)));
    }
};

}  // namespace loom::exec
