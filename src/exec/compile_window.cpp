// Windows, and rows that several operators read.

#include "exec/compiler.h"
#include "exec/window/window_sink.h"

namespace loom::exec {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
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

Stream PlanCompiler::compile_window(const Operator& op, Needs needs) {
    const Operator& input = op.inputs[0];
    const size_t width = input.output.size();
    const Needs results(needs.begin() + static_cast<std::ptrdiff_t>(width), needs.end());
    needs.resize(width);
    for (const Expr& key : op.group_keys) need_columns(key, needs);
    for (const plan::SortKey& key : op.sort_keys) raise_need(needs[key.column], Need::kValue);
    for (const plan::WindowCall& call : op.windows) {
        for (const Expr& arg : call.args) need_columns(arg, needs);
        for (const Expr& filter : call.filter) need_columns(filter, needs);
    }
    for (Need& need : needs)
        if (need == Need::kGroupKey) need = Need::kValue;
    Stream stream = compile(input, needs);
    // Frames count rows in the order in which the input gives them.
    stream.compiled->ordered = true;

    WindowPlan window;
    window.frame = bound_frame(op.frame);
    window.frame.start_offset = frame_offset(op.frame.start_offset);
    window.frame.end_offset = frame_offset(op.frame.end_offset);
    std::vector<int> stored;
    std::vector<Type> types;
    std::vector<int> columns(op.output.size(), -1);
    for (size_t i = 0; i < width; ++i) {
        if (needs[i] == Need::kNone) continue;
        columns[i] = static_cast<int>(stored.size());
        stored.push_back(stream.slots[i]);
        types.push_back(op.output[i]);
    }
    for (const Expr& key : op.group_keys) window.partition.push_back(columns[key.index]);
    for (const plan::SortKey& key : op.sort_keys) window.order.push_back(columns[key.column]);
    const auto store = [&](const Expr& expr) {
        stored.push_back(expression_slot(stream, expr));
        types.push_back(expr.type);
        return static_cast<int>(stored.size()) - 1;
    };
    for (size_t i = 0; i < op.windows.size(); ++i) {
        const plan::WindowCall& call = op.windows[i];
        WindowPlan::Call planned;
        planned.function = call.function;
        planned.type = call.type;
        for (const Expr& arg : call.args) {
            // An argument that may fault is computed only for rows that pass the filter.
            if (!call.filter.empty() && arg.kind != ExprKind::kColumn &&
                compile_expression(arg, stream.slots)->may_fault())
                throw Unrepresentable("a window with FILTER over an expression that can fail");
            planned.args.push_back(store(arg));
        }
        if (!call.filter.empty()) planned.filter = store(call.filter[0]);
        window.calls.push_back(std::move(planned));
    }
    // Behind the stored columns come the results.
    std::vector<Type> all = types;
    for (size_t i = 0; i < op.windows.size(); ++i) {
        columns[width + i] = static_cast<int>(all.size());
        all.push_back(op.windows[i].type);
    }
    CompiledPipeline& compiled = *stream.compiled;
    compiled.store = std::make_shared<WindowSink>(stored, types, std::move(window), budget_);
    compiled.pipeline.sink = compiled.store;
    compiled.pipeline.sink_inputs = stored;
    Stream opened = reopen(std::move(stream), all, columns);
    opened.compiled->ordered = true;
    return opened;
}

}  // namespace loom::exec
