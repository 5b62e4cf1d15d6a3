#pragma once
// Window functions: each function's column is computed over partitions, peers and frames of rows
// that lie in order.

#include <vector>

#include "exec/pipeline/sinks.h"
#include "exec/window/frames.h"

namespace loom::exec {

/// Window functions that share partitions, order and frame. Numbers are columns of the rows.
struct WindowPlan {
    struct Call {
        uint32_t function = 0;
        plan::Type type;
        std::vector<int> args;
        int filter = -1;
        std::vector<plan::Layout> layout;
    };
    std::vector<int> partition;
    std::vector<int> order;
    BoundFrame frame;
    std::vector<Call> calls;
};

/// Windows over the same rows. The results of each are columns behind those that it sees.
struct WindowWork {
    std::vector<plan::Type> types;  ///< of the rows without results
    std::vector<WindowPlan> windows;
    std::vector<int> kept;  ///< columns, results too, that go on

    std::vector<plan::Type> kept_types() const;
};

/// Returns the kept columns of rows that lie in the order of all windows. Several workers compute
/// them if `tasks` is given. Raises SqlFault and Unrepresentable.
RowStore add_windows(RowStore&& rows, const WindowWork& work, base::MemoryBudget* budget,
                     const Poll& poll, Tasks* tasks = nullptr);

/// Keeps all rows, and puts the results behind their columns. Runs with one worker.
class WindowSink final : public StoreSink {
  public:
    WindowSink(std::vector<int> slots, WindowWork work, base::MemoryBudget* budget);
    void finish(Tasks& tasks) override;

  private:
    WindowWork work_;
};

}  // namespace loom::exec
