#pragma once
// What a file costs before the first value is read: the share of a query that grows with the
// columns and row groups it does not need.

#include <cstdint>
#include <string>
#include <vector>

namespace loom::bench {

struct OpenCost {
    double milliseconds = 0;
    int64_t columns = 0;
    int64_t row_groups = 0;
};

/// Opens `path`, asks for the statistics of `column` and opens it in every row group, without
/// reading a value. Raises what the reader raises, and kBadName if there is no such column.
OpenCost open_once(const std::string& path, const std::string& column);

/// Does so once to warm up, then `repetitions` times; returns the fastest first.
std::vector<OpenCost> open_repeatedly(const std::string& path, const std::string& column,
                                      int repetitions);

}  // namespace loom::bench
