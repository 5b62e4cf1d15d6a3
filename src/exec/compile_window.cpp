// Windows, and rows that several operators read.

#include <algorithm>
#include <cmath>
#include <utility>

#include "exec/compiler.h"
#include "exec/key.h"
#include "exec/pipeline/sort_sink.h"
#include "exec/window/window_sink.h"

namespace loom::exec {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;
using plan::Type;

// The first operator of a source has its rows computed; the others read them too.
Stream PlanCompiler::compile_shared(const Operator& op) {
    std::vector<int> columns(op.output.size());
    for (size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<int>(i);
    const auto known = shared_.find(op.source);
    if (known != shared_.end()) {
        Stream stream = open_stored(op.output, columns);
        known->second->further_targets.push_back(stream.compiled.get());
        return stream;
    }
    Stream stream = compile(op.inputs[0], Needs(op.output.size(), Need::kValue));
    close_store(stream, op.output, stream.slots);
    // What goes to a file can be read once.
    stream.compiled->store->let_spill({});
    shared_[op.source] = stream.compiled.get();
    return reopen(std::move(stream), op.output, columns);
}

namespace {

BoundFrame bound_frame(const plan::Frame& frame) {
    BoundFrame bound;
    bound.mode = frame.mode;
    bound.start = frame.start;
    bound.end = frame.end;
    return bound;
}

}  // namespace

int64_t PlanCompiler::frame_offset(const std::vector<Expr>& offset) {
    if (offset.empty()) return 0;
    const int64_t value = count_value(offset, -1);
    if (value < 0) throw Unrepresentable("a frame offset that is NULL");
    return value;
}

// What PostgreSQL reports, or has rules of its own for: NULL, negative, infinite and no number.
void PlanCompiler::check_distance(const std::vector<Expr>& offset) {
    if (offset.empty()) return;
    const Expression expression(offset[0], parameters_);
    Evaluator evaluator(expression, budget_);
    base::Buffer values;
    base::Buffer validity;
    const Vector one = to_plain(evaluator.evaluate({}, 1), values, validity);
    const bool fits = !one.is_null(0) && [&] {
        switch (plan::physical(one.type)) {
            case plan::Physical::kInt64:
                return one.as<int64_t>()[0] >= 0;
            case plan::Physical::kInt128:
                return one.as<__int128>()[0] >= 0;
            case plan::Physical::kDecimal:
                return one.as<plan::Decimal>()[0].unscaled >= 0;
            case plan::Physical::kFloat64:
                return std::isfinite(one.as<double>()[0]) && one.as<double>()[0] >= 0;
            case plan::Physical::kInterval:
                return interval_span(one.as<plan::Interval>()[0]) >= 0;
            default:
                return false;
        }
    }();
    if (!fits) throw Unrepresentable("a frame offset that is NULL, negative or infinite");
}

namespace {

// Windows over the same rows, the first one at the bottom.
struct WindowChain {
    std::vector<const Operator*> windows;
    const Operator* input = nullptr;  ///< below the windows, and below `sort`
    const Operator* sort = nullptr;   ///< or null: the input's order counts
    size_t together = 0;              ///< first sort keys that tell partitions of all windows
};

bool sees_only(const Operator& window, size_t width) {
    const auto sees = [&](const Expr& expr) {
        return std::ranges::all_of(plan::columns_of(expr),
                                   [&](int column) { return static_cast<size_t>(column) < width; });
    };
    for (const plan::WindowCall& call : window.windows)
        if (!std::ranges::all_of(call.args, sees) || !std::ranges::all_of(call.filter, sees))
            return false;
    for (const auto* exprs :
         {&window.frame.key, &window.frame.start_value, &window.frame.end_value})
        if (!std::ranges::all_of(*exprs, sees)) return false;
    return std::ranges::all_of(window.group_keys, sees) &&
           std::ranges::all_of(window.sort_keys, [&](const plan::SortKey& key) {
               return static_cast<size_t>(key.column) < width;
           });
}

// Returns how many of the first sort keys, in any order, are the window's partition keys; 0: not
// so.
size_t partition_prefix(const Operator& window, const std::vector<plan::SortKey>& keys) {
    std::vector<int> left;
    for (const Expr& key : window.group_keys) left.push_back(key.index);
    for (size_t i = 0; i < keys.size() && !left.empty(); ++i) {
        if (std::erase(left, keys[i].column) == 0) return 0;
        if (left.empty()) return i + 1;
    }
    return 0;
}

// Windows whose partitions are runs of one sort below them all can be computed part by part.
WindowChain chain_of(const Operator& top) {
    WindowChain chain;
    const Operator* bottom = &top;
    for (; bottom->kind == OperatorKind::kWindow; bottom = bottom->inputs.data())
        chain.windows.insert(chain.windows.begin(), bottom);
    const size_t width = bottom->output.size();
    bool partitioned = bottom->kind == OperatorKind::kSort && bottom->count.empty();
    for (const Operator* window : chain.windows) {
        if (!partitioned) break;
        const size_t prefix = partition_prefix(*window, bottom->sort_keys);
        partitioned = prefix > 0 && sees_only(*window, width);
        chain.together = chain.together == 0 ? prefix : std::min(chain.together, prefix);
    }
    if (!partitioned) return {{&top}, top.inputs.data(), nullptr, 0};
    chain.input = bottom->inputs.data();
    chain.sort = bottom;
    return chain;
}

}  // namespace

Stream PlanCompiler::compile_window(const Operator& op, const Needs& needs) {
    const WindowChain chain = chain_of(op);
    const size_t width = chain.input->output.size();
    // Columns that the rows must have, and those that only arguments are computed from.
    Needs stored_needs(needs.begin(), needs.begin() + static_cast<std::ptrdiff_t>(width));
    if (chain.sort != nullptr)
        for (const plan::SortKey& key : chain.sort->sort_keys)
            raise_need(stored_needs[key.column], Need::kValue);
    for (const Operator* window : chain.windows) {
        for (const Expr& key : window->group_keys) need_columns(key, stored_needs);
        for (const plan::SortKey& key : window->sort_keys)
            raise_need(stored_needs[key.column], Need::kValue);
    }
    for (Need& need : stored_needs)
        if (need == Need::kGroupKey) need = Need::kValue;
    Needs below = stored_needs;
    for (const Operator* window : chain.windows) {
        for (const plan::WindowCall& call : window->windows) {
            for (const Expr& arg : call.args) need_columns(arg, below);
            for (const Expr& filter : call.filter) need_columns(filter, below);
        }
        for (const auto* exprs :
             {&window->frame.key, &window->frame.start_value, &window->frame.end_value})
            for (const Expr& expr : *exprs) need_columns(expr, below);
    }
    Stream stream = compile(*chain.input, below);
    // Frames count rows in the order in which the input gives them.
    if (chain.sort == nullptr) stream.compiled->ordered = true;

    WindowWork work;
    std::vector<int> stored;
    std::vector<int> columns(op.output.size(), -1);
    const auto store = [&](int slot, Type type) {
        stored.push_back(slot);
        work.types.push_back(type);
        return static_cast<int>(stored.size()) - 1;
    };
    const auto store_column = [&](int column) {
        if (columns[column] < 0)
            columns[column] = store(stream.slots[column], chain.input->output[column]);
        return columns[column];
    };
    const auto store_value = [&](const Expr& expr) {
        return expr.kind == ExprKind::kColumn ? store_column(expr.index)
                                              : store(expression_slot(stream, expr), expr.type);
    };
    for (size_t i = 0; i < width; ++i)
        if (stored_needs[i] != Need::kNone) store_column(static_cast<int>(i));
    for (const Operator* window : chain.windows) {
        WindowPlan& plan = work.windows.emplace_back();
        plan.frame = bound_frame(window->frame);
        if (window->frame.key.empty()) {
            plan.frame.start_offset = frame_offset(window->frame.start_offset);
            plan.frame.end_offset = frame_offset(window->frame.end_offset);
        } else {
            check_distance(window->frame.start_offset);
            check_distance(window->frame.end_offset);
            const auto value = [&](const std::vector<Expr>& exprs) {
                return exprs.empty() ? -1 : store_value(exprs[0]);
            };
            plan.frame.key = value(window->frame.key);
            plan.frame.start_value = value(window->frame.start_value);
            plan.frame.end_value = value(window->frame.end_value);
            plan.frame.descending = window->sort_keys[0].descending;
            plan.frame.nulls_first = window->sort_keys[0].nulls_first;
        }
        for (const Expr& key : window->group_keys) plan.partition.push_back(columns[key.index]);
        for (const plan::SortKey& key : window->sort_keys)
            plan.order.push_back(columns[key.column]);
        for (const plan::WindowCall& call : window->windows) {
            WindowPlan::Call planned;
            planned.function = call.function;
            planned.type = call.type;
            for (const Expr& arg : call.args)
                planned.args.push_back(store_value(guarded(stream, arg, call.filter)));
            planned.layout = call.layout;
            if (!call.filter.empty()) planned.filter = store_value(call.filter[0]);
            plan.calls.push_back(std::move(planned));
        }
    }
    // Behind the stored columns come the results.
    std::vector<plan::SortKey> keys;
    if (chain.sort != nullptr) keys = chain.sort->sort_keys;
    for (plan::SortKey& key : keys) key.column = columns[key.column];
    for (size_t i = width; i < columns.size(); ++i)
        columns[i] = static_cast<int>(stored.size() + i - width);
    for (size_t i = 0; i < columns.size(); ++i) {
        if (needs[i] == Need::kNone) {
            columns[i] = -1;
            continue;
        }
        work.kept.push_back(std::exchange(columns[i], static_cast<int>(work.kept.size())));
    }
    const std::vector<Type> kept = work.kept_types();
    CompiledPipeline& compiled = *stream.compiled;
    if (chain.sort == nullptr) {
        compiled.store = std::make_shared<WindowSink>(stored, std::move(work), budget_);
    } else {
        SortedStep step;
        step.together = chain.together;
        step.types = kept;
        const std::vector<Type> types = work.types;
        step.apply = [work = std::move(work), budget = budget_](RowStore&& rows, const Poll& poll) {
            return add_windows(std::move(rows), work, budget, poll);
        };
        compiled.store =
            std::make_shared<SortSink>(stored, types, std::move(keys), -1, resources_, step);
    }
    compiled.pipeline.sink = compiled.store;
    compiled.pipeline.sink_inputs = stored;
    Stream opened = reopen(std::move(stream), kept, columns);
    opened.compiled->ordered = true;
    return opened;
}

}  // namespace loom::exec
