// loom-open-bench REPETITIONS COLUMN FILE...: how long opening each file takes, and one column of
// all its row groups. scripts/bench makes the files.

#include <cstdlib>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "open_cost.h"

namespace loom::bench {
namespace {

constexpr double kMostMilliseconds = 20;

void report(const std::string& path, const std::string& column, int repetitions) {
    const std::vector<OpenCost> costs = open_repeatedly(path, column, repetitions);
    const OpenCost& median = costs[costs.size() / 2];
    fmt::print("{:<14}{} columns x {} row groups: {:.2f} ms, best {:.2f}  (required: <= {} ms{})\n",
               std::filesystem::path(path).filename().string(), median.columns, median.row_groups,
               median.milliseconds, costs[0].milliseconds, kMostMilliseconds,
               median.milliseconds <= kMostMilliseconds ? "" : ", missed");
}

}  // namespace
}  // namespace loom::bench

int main(int argc, char** argv) {
    const int repetitions = argc > 3 ? std::atoi(argv[1]) : 0;
    if (repetitions < 1) {
        fmt::print(stderr, "usage: loom-open-bench REPETITIONS COLUMN FILE...\n");
        return 2;
    }
    try {
        for (int i = 3; i < argc; ++i) loom::bench::report(argv[i], argv[2], repetitions);
    } catch (const std::exception& error) {
        fmt::print(stderr, "loom-open-bench: error: {}\n", error.what());
        return 1;
    }
    return 0;
}
