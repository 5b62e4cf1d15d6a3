#pragma once
// Rows that an aggregate has given, as columns that a pipeline scans.

#include <memory>
#include <vector>

#include "exec/query.h"
#include "gpu/driver/device.h"
#include "gpu/memory/device_table.h"

namespace loom::gpu {

struct RowColumns {
    std::vector<std::shared_ptr<const DeviceColumn>> columns;  ///< null: nobody reads it
    int64_t rows = 0;                                          ///< one block of them
};

/// Brings all rows of a source to a device. `used` says which columns. Decimals are held in one
/// scale, which the column's type says; it is not what each is shown with. Raises NotInKernels for
/// values that kernels do not have, DeviceError.
RowColumns load_rows(Device& device, Stream& stream, exec::RowSource& rows,
                     const std::vector<plan::Type>& types, const std::vector<bool>& used);

}  // namespace loom::gpu
