#pragma once
// How fast columns come to a device for the first time, beside the link that they come over.

#include <string>

#include "exec/query.h"
#include "gpu/driver/device.h"
#include "gpu/driver/module_cache.h"

namespace loom::gpu {

struct FirstTouch {
    size_t columns = 0;
    uint64_t bytes = 0;      ///< of the file that are read
    uint64_t plain = 0;      ///< those of the values, 4 each
    double first = 0;        ///< seconds, pinned memory and the kernels' module included
    double again = 0;        ///< median of those that find both; the file is in the page cache
    double link = 0;         ///< bytes a second, from pinned memory over several streams
    bool by_kernels = true;  ///< whether kernels encoded all columns

    /// Bytes a second; 0 if nothing has been measured.
    double rate() const { return again > 0 ? static_cast<double>(bytes) / again : 0; }
    double plain_rate() const { return again > 0 ? static_cast<double>(plain) / again : 0; }
};

/// Loads all columns of a table of integers, drops them, and so on for `rounds` rounds.
FirstTouch measure_first_touch(Device& device, ModuleCache& modules, const exec::TableSource& table,
                               int threads, int rounds);

/// Returns that as a line.
std::string to_line(const FirstTouch& measured);

}  // namespace loom::gpu
