#include "exec/window/window_sink.h"

#include "exec/window/functions.h"

namespace loom::exec {

WindowSink::WindowSink(std::vector<int> slots, std::vector<plan::Type> types, WindowPlan window,
                       base::MemoryBudget* budget)
    : StoreSink(std::move(slots), std::move(types), budget), window_(std::move(window)) {}

void WindowSink::finish(Tasks& tasks) {
    StoreSink::finish(tasks);
    RowStore rows = std::move(rows_).join(types_, budget_);
    rows_ = RowSet();
    if (rows.length() >= INT32_MAX)
        throw Unrepresentable("a window over more than 2,147,483,646 rows");
    const Poll& poll = tasks.poll(0);
    const RowSpans all = whole(rows.length(), budget_);
    const RowSpans partitions = window_.partition.empty()
                                    ? whole(rows.length(), budget_)
                                    : split(all, rows, window_.partition, budget_, poll);
    const RowSpans peers = split(partitions, rows, window_.order, budget_, poll);
    const RowSpans frames = frames_of(window_.frame, partitions, peers, budget_);

    std::vector<plan::Type> types = types_;
    for (const WindowPlan::Call& call : window_.calls) types.push_back(call.type);
    RowStore result(types, budget_);
    // Each function fills a column of its own.
    tasks.run(static_cast<int64_t>(window_.calls.size()), [&](int64_t task, int worker) {
        const WindowPlan::Call& call = window_.calls[static_cast<size_t>(task)];
        const WindowInput input{rows,      partitions,  peers,   frames,
                                call.args, call.filter, budget_, tasks.poll(worker)};
        compute_window(call.function, input,
                       result.column(types_.size() + static_cast<size_t>(task)));
    });
    for (size_t i = 0; i < types_.size(); ++i)
        result.column(i).append_store(std::move(rows.column(i)));
    result.set_length(rows.length());
    rows_.add(std::move(result));
}

}  // namespace loom::exec
