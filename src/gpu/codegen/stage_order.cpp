#include "gpu/codegen/stage_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gpu/runtime/tile.h"

namespace loom::gpu {

namespace {

// Measured on an H200, as nanoseconds for a million rows; only ratios count. A byte a row at 4.2
// TB/s; an instruction a row, at two thirds of the rate at which processors issue them.
constexpr double kByte = 238;
constexpr double kInstruction = 50;
// A row that is left to the tail is queued; each of its look-ups is then a sector of its own, which
// the first cache hands out one after the other.
constexpr double kQueuedRow = 4'000;
constexpr double kLookUp = 3'000;
constexpr double kSectorBytes = 32;

// The part of the sectors of a column in which a row is alive.
double touched(double alive, double bytes) {
    return 1 - std::pow(1 - alive, kSectorBytes / bytes);
}

}  // namespace

StageOrder order_stages(const std::vector<StageCost>& tests, size_t most, double sink_look_ups) {
    std::vector<size_t> order(tests.size());
    std::iota(order.begin(), order.end(), size_t{0});
    StageOrder best;
    double best_time = std::numeric_limits<double>::infinity();
    // Tests beyond this many stay where they are.
    constexpr size_t kPermuted = 6;
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), kPermuted));
    do {
        double time = 0;
        double alive = 1;
        for (size_t stages = 0; stages <= order.size(); ++stages) {
            double rest = alive;
            double tail = alive * kQueuedRow;
            for (size_t i = stages; i < order.size(); ++i) {
                const StageCost& test = tests[order[i]];
                tail += kByte * test.bytes * touched(rest, test.bytes) +
                        rest * (test.probe + 2 * kLookUp);
                rest *= test.selectivity;
            }
            tail += rest * sink_look_ups * kLookUp;
            // Without a test of the tile each thread takes a row: nothing is queued.
            if (stages == 0) tail = std::numeric_limits<double>::infinity();
            if (time + tail < best_time) {
                best_time = time + tail;
                best.stages.assign(order.begin(),
                                   order.begin() + static_cast<std::ptrdiff_t>(stages));
            }
            if (stages == order.size() || stages == most) break;
            const StageCost& test = tests[order[stages]];
            const double reached = 1 - std::pow(1 - alive, static_cast<double>(kTileRows));
            time += kByte * test.bytes * touched(alive, test.bytes) +
                    kInstruction * reached * test.instructions + alive * test.probe;
            alive *= test.selectivity;
        }
    } while (std::next_permutation(order.begin(), end));
    return best;
}

}  // namespace loom::gpu
