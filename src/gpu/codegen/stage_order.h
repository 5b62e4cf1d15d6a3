#pragma once
// In which order a warp tests its tile, and which tests it leaves to single rows.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loom::gpu {

/// A test of a tile's rows, by what it costs.
struct StageCost {
    double selectivity = 1;   ///< rows left of a row tested
    double bytes = 4;         ///< a row, of the column
    double instructions = 5;  ///< a row, to unpack and test it
    double probe = 0;         ///< nanoseconds of the device for a million rows that are alive: a
                              ///< look-up beyond shared memory
};

/// Which of the tests run on whole tiles, in order; the others run row by row, in the order in
/// which they are given.
struct StageOrder {
    std::vector<std::size_t> stages;
};

/// Finds the order of the least expected time. `most` is the number of stages that registers allow;
/// a row that all tests keep is looked up in `sink_look_ups` places.
StageOrder order_stages(const std::vector<StageCost>& tests, std::size_t most,
                        double sink_look_ups);

}  // namespace loom::gpu
