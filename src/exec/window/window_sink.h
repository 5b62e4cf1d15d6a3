#pragma once
// Window functions: rows are kept in the order in which they come, then each function's column is
// computed over partitions, peers and frames.

#include <vector>

#include "exec/pipeline/sinks.h"
#include "exec/window/frames.h"

namespace loom::exec {

/// What a WindowSink computes. Numbers are columns of its stored rows.
struct WindowPlan {
    struct Call {
        uint32_t function = 0;
        plan::Type type;
        std::vector<int> args;
        int filter = -1;
    };
    std::vector<int> partition;
    std::vector<int> order;
    BoundFrame frame;
    std::vector<Call> calls;
};

/// Keeps all rows, and puts the results behind their columns. Runs with one worker.
class WindowSink final : public StoreSink {
  public:
    WindowSink(std::vector<int> slots, std::vector<plan::Type> types, WindowPlan window,
               base::MemoryBudget* budget);
    void finish(Tasks& tasks) override;

  private:
    WindowPlan window_;
};

}  // namespace loom::exec
