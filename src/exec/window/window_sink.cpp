#include "exec/window/window_sink.h"

#include "exec/window/functions.h"

namespace loom::exec {

namespace {

std::vector<plan::Type> all_types(const WindowWork& work) {
    std::vector<plan::Type> types = work.types;
    for (const WindowPlan& window : work.windows)
        for (const WindowPlan::Call& call : window.calls) types.push_back(call.type);
    return types;
}

// Appends the results of one window to `types` and to the rows.
RowStore add_window(RowStore&& rows, std::vector<plan::Type>& types, const WindowPlan& window,
                    base::MemoryBudget* budget, const Poll& poll, Tasks* tasks) {
    const RowSpans all = whole(rows.length(), budget);
    const RowSpans partitions = window.partition.empty()
                                    ? whole(rows.length(), budget)
                                    : split(all, rows, window.partition, budget, poll);
    const RowSpans peers = split(partitions, rows, window.order, budget, poll);
    const RowSpans frames = frames_of(window.frame, rows, partitions, peers, budget, poll);

    const size_t width = types.size();
    for (const WindowPlan::Call& call : window.calls) types.push_back(call.type);
    RowStore result(types, budget);
    // Each function fills a column of its own.
    const auto compute = [&](size_t index, const Poll& own_poll) {
        const WindowPlan::Call& call = window.calls[index];
        const plan::Layout* layout = call.layout.empty() ? nullptr : call.layout.data();
        const WindowInput input{rows,        partitions, peers,  frames,  call.args,
                                call.filter, layout,     budget, own_poll};
        compute_window(call.function, input, result.column(width + index));
    };
    if (tasks != nullptr)
        tasks->run(static_cast<int64_t>(window.calls.size()), [&](int64_t task, int worker) {
            compute(static_cast<size_t>(task), tasks->poll(worker));
        });
    else
        for (size_t i = 0; i < window.calls.size(); ++i) compute(i, poll);
    for (size_t i = 0; i < width; ++i) result.column(i).append_store(std::move(rows.column(i)));
    result.set_length(rows.length());
    return result;
}

}  // namespace

std::vector<plan::Type> WindowWork::kept_types() const {
    const std::vector<plan::Type> all = all_types(*this);
    std::vector<plan::Type> result;
    for (const int column : kept) result.push_back(all[static_cast<size_t>(column)]);
    return result;
}

RowStore add_windows(RowStore&& rows, const WindowWork& work, base::MemoryBudget* budget,
                     const Poll& poll, Tasks* tasks) {
    if (rows.length() >= INT32_MAX)
        throw Unrepresentable("a window over more than 2,147,483,646 rows");
    std::vector<plan::Type> types = work.types;
    RowStore all = std::move(rows);
    for (const WindowPlan& window : work.windows)
        all = add_window(std::move(all), types, window, budget, poll, tasks);
    RowStore kept(work.kept_types(), budget);
    for (size_t i = 0; i < work.kept.size(); ++i)
        kept.column(i).append_store(std::move(all.column(static_cast<size_t>(work.kept[i]))));
    kept.set_length(all.length());
    return kept;
}

WindowSink::WindowSink(std::vector<int> slots, WindowWork work, base::MemoryBudget* budget)
    : StoreSink(std::move(slots), work.types, budget), work_(std::move(work)) {}

void WindowSink::finish(Tasks& tasks) {
    StoreSink::finish(tasks);
    RowStore rows = std::move(rows_).join(types_, budget_);
    rows_ = RowSet();
    rows_.add(add_windows(std::move(rows), work_, budget_, tasks.poll(0), &tasks));
}

}  // namespace loom::exec
