#pragma once
// Runs a program on a device: columns in, kernels, groups out.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/query.h"
#include "gpu/codegen/kernel_text.h"
#include "gpu/codegen/pipeline.h"
#include "gpu/driver/device.h"
#include "gpu/driver/device_pool.h"
#include "gpu/driver/module_cache.h"
#include "gpu/memory/column_store.h"
#include "gpu/run/device_rows.h"
#include "gpu/run/text_tables.h"
#include "gpu/run/tuning.h"
#include "gpu/run/turns.h"

namespace loom::gpu {

/// Nobody waits for a run's result any more.
struct Abandoned {};

/// As many devices work together at most.
inline constexpr size_t kMostDevices = 16;

/// What others see of a run, and tell it.
struct RunWatch {
    std::atomic<bool> abandoned = false;
    /// When each device began to work at kernels, as the steady clock counts; 0: it does not.
    std::array<std::atomic<std::chrono::steady_clock::rep>, kMostDevices> launched = {};

    void check() const {
        if (abandoned) throw Abandoned{};
    }
};

/// What a device is asked with.
struct DeviceContext {
    Device& device;
    ModuleCache& modules;
    ColumnStore& columns;
    KernelChoices choices = {};
    Tuning* tuning = nullptr;     ///< knows better choices; or null
    TextTables* texts = nullptr;  ///< those of other runs; or null
    /// Of a probe side's columns that are on the device at once, besides what the store allows:
    /// larger tables are gone through in parts, some files after others.
    uint64_t most_bytes = UINT64_MAX;
    /// Where there are several devices: of a probe side's columns that one of them is given.
    static constexpr uint64_t kSpreadBytes = uint64_t{2} << 30;
    uint64_t spread_bytes = kSpreadBytes;
    size_t number = 0;           ///< of the device, among those that work together
    Turns* turns = nullptr;      ///< of that device, or null; waited for before its memory is used
    bool only_prepared = false;  ///< raises NotPrepared instead of loading and compiling
    bool only_asked = false;     ///< ends with no rows, instead of launching kernels
    RunWatch* watch = nullptr;  ///< or null; looked at before each block of a file, and each kernel
    DevicePool* pool = nullptr;  ///< of that device, or null; keeps what runs use again
    /// Which build sides have several rows of a key, as duplicate_bit() says, for each aggregate of
    /// a run: what is known before it, and more so behind it. Or null.
    std::vector<uint32_t>* duplicates = nullptr;
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
    bool wants_kernels = true;  ///< asks for `kernels`
    bool wants_texts = true;    ///< asks for `texts`
    double load = 0;            ///< until all columns were there
    double compile = 0;         ///< until all kernels were there
    double device = 0;          ///< from clearing memory to the last kernel, by the device's clock
    double total = 0;
    std::vector<Launch> kernels;
    std::vector<std::string> texts;  ///< of the modules, in the order of their kernels
    size_t parts = 1;                ///< that the probe side's table was cut into
    size_t shape = 0;                ///< of the last kernel: see Tuning
};

/// One run of an aggregate. Raises NotInKernels where the data are not as kernels need them,
/// exec::SqlFault and exec::Unrepresentable as the CPU engine does, NotPrepared, Abandoned,
/// base::Error, DeviceError.
/// Returns nothing if it was only asked.
std::unique_ptr<DeviceRows> run_aggregate(DeviceContext& context, const plan::Operator& aggregate,
                                          const exec::Inputs& inputs, RunTimes* times = nullptr);
/// The same with several devices of one kind: the first answers alone, unless the probe side is
/// large and has several files. Then each takes some of the files, always the same ones, whatever
/// their order here; each has the build sides.
std::unique_ptr<DeviceRows> run_aggregate(std::span<DeviceContext> devices,
                                          const plan::Operator& aggregate,
                                          const exec::Inputs& inputs, RunTimes* times = nullptr);

/// Tells whether run_aggregate() may succeed.
bool supports_aggregate(const plan::Operator& aggregate, std::string* reason);

}  // namespace loom::gpu
