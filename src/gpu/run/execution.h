#pragma once
// Runs a program on a device: columns in, kernels, groups out.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/query.h"
#include "gpu/codegen/kernel_text.h"
#include "gpu/codegen/pipeline.h"
#include "gpu/driver/device.h"
#include "gpu/driver/module_cache.h"
#include "gpu/memory/column_store.h"

namespace loom::gpu {

/// What a device is asked with.
struct DeviceContext {
    Device& device;
    ModuleCache& modules;
    ColumnStore& columns;
    KernelChoices choices = {};
    bool only_prepared = false;  ///< raises NotPrepared instead of loading and compiling
};

/// What a run would have to wait for.
struct NotPrepared {
    std::string reason;
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

/// The groups of an aggregate: rows of the operator's output.
class DeviceRows : public exec::RowSource {
  public:
    explicit DeviceRows(std::vector<plan::Type> types)
        : columns_(types.size()), types_(std::move(types)) {}

    int64_t rows() const noexcept { return rows_; }
    int64_t fetch(std::span<exec::Vector> columns) override;

    void add_null(size_t column);
    void add_integer(size_t column, int64_t value);
    void add_text(size_t column, std::string_view text);
    void end_row() { ++rows_; }

  private:
    struct Column {
        std::vector<int64_t> integers;  ///< texts: where they end in `bytes`
        std::vector<bool> valid;
        std::string bytes;
        base::Buffer values;
        base::Buffer validity;
    };

    std::vector<Column> columns_;
    std::vector<plan::Type> types_;
    int64_t rows_ = 0;
    int64_t next_ = 0;
};

/// One run of an aggregate. Raises NotInKernels where the data are not as kernels need them,
/// exec::SqlFault and exec::Unrepresentable as the CPU engine does, NotPrepared, base::Error,
/// DeviceError.
std::unique_ptr<DeviceRows> run_aggregate(DeviceContext& context, const plan::Operator& aggregate,
                                          const exec::Inputs& inputs, RunTimes* times = nullptr);

/// Tells whether run_aggregate() may succeed.
bool supports_aggregate(const plan::Operator& aggregate, std::string* reason);

}  // namespace loom::gpu
