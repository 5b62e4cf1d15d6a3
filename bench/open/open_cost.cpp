#include "open_cost.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "format/table_reader.h"

namespace loom::bench {

OpenCost open_once(const std::string& path, const std::string& column) {
    OpenCost cost;
    const auto start = std::chrono::steady_clock::now();
    {
        const auto table = format::open_table(io::open_local_file(path), {});
        const int index = table->schema().find(column);
        if (index < 0) base::raise(base::ErrorKind::kBadName, "no column \"{}\"", column);
        cost.columns = static_cast<int64_t>(table->schema().fields.size());
        cost.row_groups = table->row_group_count();
        for (int64_t group = 0; group < cost.row_groups; ++group) {
            const auto statistics = table->statistics(group, index);
            const auto reader = table->open_column(group, index, {});
        }
    }  // closing is part of the time
    cost.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return cost;
}

std::vector<OpenCost> open_repeatedly(const std::string& path, const std::string& column,
                                      int repetitions) {
    open_once(path, column);
    std::vector<OpenCost> costs;
    costs.reserve(static_cast<size_t>(repetitions));
    for (int i = 0; i < repetitions; ++i) costs.push_back(open_once(path, column));
    std::sort(costs.begin(), costs.end(),
              [](const OpenCost& a, const OpenCost& b) { return a.milliseconds < b.milliseconds; });
    return costs;
}

}  // namespace loom::bench
