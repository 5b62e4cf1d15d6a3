#pragma once
// Reads one column of a file whole, with threads over its row groups, and boils it down to a number
// that another engine can check.

#include <cstdint>
#include <map>
#include <string>

#include "column/scalar.h"

namespace loom::bench {

enum class Measure {
    kSum,     ///< of numbers, decoded to plain values
    kGroups,  ///< rows per distinct text, counted on dictionary codes
    kLength   ///< bytes of all texts, decoded to plain values
};

struct ScanResult {
    double milliseconds = 0;
    int64_t rows = 0;
    int64_t nulls = 0;
    int64_t decoded_bytes = 0;  ///< of plain values
    column::Int128 sum = 0;
    double float_sum = 0;
    std::map<std::string, int64_t> groups;
};

/// Opens `path` and scans `column`; opening is part of the time. Raises what the reader raises, and
/// kUnsupported for a type that `measure` does not fit.
ScanResult scan_column(const std::string& path, const std::string& column, int threads,
                       Measure measure);

}  // namespace loom::bench
