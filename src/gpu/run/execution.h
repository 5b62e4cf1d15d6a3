#pragma once
// Runs a program on a device: columns in, kernels, groups out.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/query.h"
#include "gpu/codegen/kernel_text.h"
#include "gpu/codegen/pipeline.h"
#include "gpu/driver/device.h"
#include "gpu/driver/module_cache.h"
#include "gpu/memory/device_table.h"
#include "gpu/run/device_rows.h"

namespace loom::gpu {

/// Columns that are in device memory, kept for later programs. May be used by several threads.
class ColumnStore {
  public:
    ColumnStore(Device& device, int threads) : device_(device), threads_(threads) {}

    /// Returns a column of a table, which is loaded if it is not there. Raises as load_column().
    std::shared_ptr<const DeviceColumn> get(Stream& stream, const exec::TableSource& table,
                                            const std::vector<BlockRows>& blocks, int column,
                                            plan::Type type);
    uint64_t bytes() const;

  private:
    using Key = std::string;

    Device& device_;
    int threads_;
    mutable std::mutex mutex_;
    std::map<Key, std::shared_ptr<const DeviceColumn>> columns_;
};

/// What a device is asked with.
struct DeviceContext {
    Device& device;
    ModuleCache& modules;
    ColumnStore& columns;
    KernelChoices choices = {};
};

/// One kernel of a run.
struct Launch {
    std::string name;
    Kernel kernel;
    Grid grid;
    int mark = 0;             ///< of the stream, behind it
    double milliseconds = 0;  ///< by the device's clock
};

/// What a run took, in milliseconds.
struct RunTimes {
    double load = 0;     ///< until all columns were there
    double compile = 0;  ///< until all kernels were there
    double device = 0;   ///< from clearing memory to the last kernel, by the device's clock
    double total = 0;
    std::vector<Launch> kernels;
    std::vector<std::string> texts;  ///< of the modules, in the order of their kernels
};

/// One run of an aggregate. Raises NotInKernels where the data are not as kernels need them,
/// exec::SqlFault and exec::Unrepresentable as the CPU engine does, base::Error, DeviceError.
std::unique_ptr<DeviceRows> run_aggregate(DeviceContext& context, const plan::Operator& aggregate,
                                          const exec::Inputs& inputs, RunTimes* times = nullptr);

/// Tells whether run_aggregate() may succeed.
bool supports_aggregate(const plan::Operator& aggregate, std::string* reason);

}  // namespace loom::gpu
