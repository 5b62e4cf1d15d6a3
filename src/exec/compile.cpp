#include "exec/compile.h"

#include <algorithm>

#include "exec/compiler.h"
#include "exec/functions.h"
#include "exec/pipeline/aggregate_sink.h"
#include "exec/pipeline/sort_sink.h"
#include "exec/pipeline/top_sink.h"

#include <fmt/core.h>

namespace loom::exec {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;
using plan::Type;

namespace {

void remap(Expr& expr, const std::vector<int>& slots) {
    if (expr.kind == ExprKind::kColumn) expr.index = slots[expr.index];
    for (Expr& arg : expr.args) remap(arg, slots);
}

}  // namespace

std::vector<std::unique_ptr<CompiledPipeline>> PlanCompiler::run(const Operator& root) {
    Stream stream = compile(root, Needs(root.output.size(), Need::kValue));
    close_store(stream, root.output, stream.slots);
    stream.compiled->then = CompiledPipeline::Then::kResult;
    done_.push_back(std::move(stream.compiled));
    return std::move(done_);
}

int PlanCompiler::add_slot(Pipeline& pipeline, Slot slot) {
    pipeline.slots.push_back(std::move(slot));
    return static_cast<int>(pipeline.slots.size()) - 1;
}

std::shared_ptr<const Expression> PlanCompiler::compile_expression(const Expr& expr,
                                                                   const std::vector<int>& slots) {
    Expr remapped = expr;
    remap(remapped, slots);
    return std::make_shared<const Expression>(remapped, parameters_);
}

// Returns a slot that holds `expr` over the stream's columns.
int PlanCompiler::expression_slot(Stream& stream, const Expr& expr) {
    if (expr.kind == ExprKind::kColumn) return stream.slots[expr.index];
    Slot slot;
    slot.kind = Slot::Kind::kComputed;
    slot.type = expr.type;
    slot.expression = compile_expression(expr, stream.slots);
    slot.inputs = slot.expression->columns();
    const bool may_fault = slot.expression->may_fault();
    const int index = add_slot(stream.pipeline(), std::move(slot));
    if (may_fault) {
        // It must be computed for the rows that PostgreSQL would compute it for.
        Step step;
        step.kind = Step::Kind::kCompute;
        step.slot = index;
        stream.pipeline().steps.push_back(std::move(step));
    }
    return index;
}

// Returns an argument that is computed for rows that pass the filter only, as far as it matters.
Expr PlanCompiler::guarded(const Stream& stream, const Expr& arg, const std::vector<Expr>& filter) {
    if (filter.empty() || arg.kind == ExprKind::kColumn ||
        !compile_expression(arg, stream.slots)->may_fault())
        return arg;
    return plan::value_if(filter, arg);
}

Stream PlanCompiler::compile(const Operator& op, const Needs& needs) {
    switch (op.kind) {
        case OperatorKind::kScan:
        case OperatorKind::kRows:
            return compile_source(op);
        case OperatorKind::kFilter:
            return compile_filter(op, needs);
        case OperatorKind::kProject:
            return compile_project(op, needs);
        case OperatorKind::kJoin:
            return compile_join(op, needs);
        case OperatorKind::kAggregate:
            return compile_aggregate(op);
        case OperatorKind::kSort:
            return compile_sort(op, needs, -1);
        case OperatorKind::kLimit:
            return compile_limit(op, needs);
        case OperatorKind::kAppend:
            return compile_append(op, needs);
        case OperatorKind::kShared:
            return compile_shared(op);
        case OperatorKind::kWindow:
            return compile_window(op, needs);
    }
    throw base::Error(base::ErrorKind::kBug, "an operator of unknown kind");
}

Stream PlanCompiler::compile_source(const Operator& op) {
    Stream stream;
    stream.compiled = std::make_unique<CompiledPipeline>();
    Pipeline& pipeline = stream.pipeline();
    const bool scan = op.kind == OperatorKind::kScan;
    pipeline.name = scan ? op.name : "rows";
    (scan ? pipeline.table : pipeline.host_rows) = op.source;
    pipeline.source_may_raise = op.may_raise;
    pipeline.source_types = op.output;
    for (size_t i = 0; i < op.output.size(); ++i) {
        Slot slot;
        slot.kind = scan ? Slot::Kind::kScan : Slot::Kind::kStored;
        slot.type = op.output[i];
        slot.index = static_cast<int>(i);
        stream.slots.push_back(add_slot(pipeline, std::move(slot)));
    }
    return stream;
}

void PlanCompiler::add_filter(Stream& stream, const Expr& predicate,
                              const std::vector<int>& slots) {
    if (predicate.kind == ExprKind::kAnd) {
        for (const Expr& arg : predicate.args) add_filter(stream, arg, slots);
        return;
    }
    Step step;
    step.kind = Step::Kind::kFilter;
    step.expression = compile_expression(predicate, slots);
    step.inputs = step.expression->columns();
    stream.pipeline().steps.push_back(std::move(step));
}

Stream PlanCompiler::compile_filter(const Operator& op, Needs needs) {
    for (const Expr& predicate : op.predicates) need_columns(predicate, needs);
    Stream stream = compile(op.inputs[0], needs);
    for (const Expr& predicate : op.predicates) add_filter(stream, predicate, stream.slots);
    return stream;
}

Stream PlanCompiler::compile_project(const Operator& op, const Needs& needs) {
    Needs below(op.inputs[0].output.size(), Need::kNone);
    // What may raise an error is computed although nothing reads it, as PostgreSQL does.
    const auto is_needed = [&](size_t i) {
        return needs[i] != Need::kNone || may_raise(op.expressions[i]);
    };
    for (size_t i = 0; i < op.expressions.size(); ++i) {
        if (!is_needed(i)) continue;
        if (op.expressions[i].kind == ExprKind::kColumn)
            raise_need(below[op.expressions[i].index], needs[i]);
        else
            need_columns(op.expressions[i], below);
    }
    Stream stream = compile(op.inputs[0], below);
    std::vector<int> slots;
    for (size_t i = 0; i < op.expressions.size(); ++i)
        slots.push_back(is_needed(i) ? expression_slot(stream, op.expressions[i]) : -1);
    stream.slots = std::move(slots);
    return stream;
}

void PlanCompiler::close_store(Stream& stream, const std::vector<Type>& types,
                               const std::vector<int>& slots) {
    CompiledPipeline& compiled = *stream.compiled;
    compiled.store = std::make_shared<StoreSink>(slots, types, budget_);
    compiled.store->let_spill(resources_);
    compiled.pipeline.sink = compiled.store;
    compiled.pipeline.sink_inputs = slots;
}

// Starts a pipeline over the rows that a closed one holds; columns[i] is where output column i lies
// in them, or -1.
Stream PlanCompiler::reopen(Stream closed, const std::vector<Type>& types,
                            const std::vector<int>& columns) {
    Stream stream = open_stored(types, columns);
    closed.compiled->then = CompiledPipeline::Then::kFeed;
    closed.compiled->target = stream.compiled.get();
    done_.push_back(std::move(closed.compiled));
    return stream;
}

// A pipeline over stored rows that are yet to come.
Stream PlanCompiler::open_stored(const std::vector<Type>& types, const std::vector<int>& columns) {
    Stream stream;
    stream.compiled = std::make_unique<CompiledPipeline>();
    Pipeline& pipeline = stream.pipeline();
    pipeline.source_types = types;
    for (size_t i = 0; i < types.size(); ++i) {
        Slot slot;
        slot.kind = Slot::Kind::kStored;
        slot.type = types[i];
        slot.index = static_cast<int>(i);
        add_slot(pipeline, std::move(slot));
    }
    stream.slots = columns;
    return stream;
}

Stream PlanCompiler::compile_aggregate(const Operator& op) {
    const Operator& input = op.inputs[0];
    Needs below(input.output.size(), Need::kNone);
    for (const Expr& key : op.group_keys) {
        if (key.kind == ExprKind::kColumn)
            raise_need(below[key.index], Need::kGroupKey);
        else
            need_columns(key, below);
    }
    for (const plan::Aggregate& aggregate : op.aggregates) {
        for (const Expr& arg : aggregate.args) need_columns(arg, below);
        for (const Expr& filter : aggregate.filter) need_columns(filter, below);
    }
    Stream stream = compile(input, below);
    std::vector<int> keys;
    std::vector<Type> key_types;
    for (const Expr& key : op.group_keys) {
        keys.push_back(expression_slot(stream, key));
        key_types.push_back(key.type);
    }
    release_order(stream);
    CompiledPipeline& compiled = *stream.compiled;
    std::vector<AggregateCall> calls;
    std::vector<int> inputs = keys;
    for (const plan::Aggregate& aggregate : op.aggregates) {
        AggregateCall call;
        call.function = aggregate.function;
        call.type = aggregate.type;
        call.distinct = aggregate.distinct;
        call.arg = plan::make_type(plan::TypeId::kBool);
        if (!aggregate.args.empty()) {
            call.arg = aggregate.args[0].type;
            call.slot =
                expression_slot(stream, guarded(stream, aggregate.args[0], aggregate.filter));
            inputs.push_back(call.slot);
        }
        if (aggregate.args.size() > 1) {
            call.second_slot =
                expression_slot(stream, guarded(stream, aggregate.args[1], aggregate.filter));
            inputs.push_back(call.second_slot);
        }
        if (!aggregate.filter.empty()) {
            call.filter = compile_expression(aggregate.filter[0], stream.slots);
            inputs.insert(inputs.end(), call.filter->columns().begin(),
                          call.filter->columns().end());
        }
        calls.push_back(std::move(call));
    }
    compiled.pipeline.sink =
        std::make_shared<AggregateSink>(keys, key_types, op.grouped, std::move(calls), resources_);
    compiled.pipeline.sink_inputs = inputs;
    std::vector<int> columns(op.output.size());
    for (size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<int>(i);
    return reopen(std::move(stream), op.output, columns);
}

Stream PlanCompiler::compile_sort(const Operator& op, Needs needs, int64_t limit) {
    // Those that only the sort needs come last.
    const Needs above = needs;
    for (const plan::SortKey& key : op.sort_keys) raise_need(needs[key.column], Need::kValue);
    Stream stream = compile(op.inputs[0], needs);
    std::vector<int> stored;
    std::vector<Type> types;
    std::vector<int> columns(needs.size(), -1);
    SortedStep then;
    for (const bool wanted : {true, false}) {
        for (size_t i = 0; i < needs.size(); ++i) {
            if (needs[i] == Need::kNone || (above[i] != Need::kNone) != wanted) continue;
            columns[i] = static_cast<int>(stored.size());
            stored.push_back(stream.slots[i]);
            types.push_back(op.output[i]);
        }
        if (wanted) then.types = types;
    }
    release_order(stream);
    std::vector<plan::SortKey> keys = op.sort_keys;
    for (plan::SortKey& key : keys) key.column = columns[key.column];
    const int64_t own = count_value(op.count, -1);
    const int64_t count = own < 0 ? limit : limit < 0 ? own : std::min(own, limit);
    CompiledPipeline& compiled = *stream.compiled;
    if (count >= 0 && count <= TopSink::kMaxLimit && !keys.empty()) {
        auto bound = std::make_shared<TopBound>();
        const Slot& first = compiled.pipeline.slots[stored[keys[0].column]];
        if (first.kind == Slot::Kind::kScan) bound->scan_column = first.index;
        bound->descending = keys[0].descending;
        bound->nulls_first = keys[0].nulls_first;
        compiled.pipeline.bound = bound;
        compiled.store = std::make_shared<TopSink>(stored, types, std::move(keys), count,
                                                   std::move(bound), resources_);
    } else {
        compiled.store =
            std::make_shared<SortSink>(stored, types, std::move(keys), count, resources_, then);
        if (!then.types.empty()) types = then.types;
        for (int& column : columns)
            if (column >= static_cast<int>(types.size())) column = -1;
    }
    compiled.pipeline.sink = compiled.store;
    compiled.pipeline.sink_inputs = stored;
    Stream sorted = reopen(std::move(stream), types, columns);
    sorted.compiled->ordered = true;
    return sorted;
}

// For operators that take rows in any order: several workers may bring them.
void PlanCompiler::release_order(Stream& stream) {
    const std::vector<Step>& steps = stream.pipeline().steps;
    if (std::ranges::none_of(steps, [](const Step& s) { return s.kind == Step::Kind::kLimit; }))
        stream.compiled->ordered = false;
}

// Evaluates LIMIT, OFFSET and the like, which are constant during an execution; NULL means absent.
int64_t PlanCompiler::count_value(const std::vector<Expr>& exprs, int64_t if_absent) {
    if (exprs.empty()) return if_absent;
    const Expression expression(exprs[0], parameters_);
    Evaluator evaluator(expression, budget_);
    base::Buffer values;
    base::Buffer validity;
    const Vector one = to_plain(evaluator.evaluate({}, 1), values, validity);
    if (one.is_null(0)) return if_absent;
    const int64_t value = one.as<int64_t>()[0];
    if (value < 0) throw Unrepresentable("a negative LIMIT or OFFSET");
    return value;
}

Stream PlanCompiler::compile_limit(const Operator& op, const Needs& needs) {
    Step step;
    step.kind = Step::Kind::kLimit;
    step.count = count_value(op.count, -1);
    step.offset = count_value(op.offset, 0);
    const Operator& input = op.inputs[0];
    int64_t wanted = -1;
    if (step.count >= 0 && step.offset <= INT64_MAX - step.count) wanted = step.offset + step.count;
    Stream stream = input.kind == OperatorKind::kSort ? compile_sort(input, needs, wanted)
                                                      : compile(input, needs);
    stream.pipeline().steps.push_back(std::move(step));
    return stream;
}

Stream PlanCompiler::compile_append(const Operator& op, const Needs& needs) {
    std::vector<Type> types;
    std::vector<int> columns(needs.size(), -1);
    for (size_t i = 0; i < needs.size(); ++i) {
        if (needs[i] == Need::kNone) continue;
        columns[i] = static_cast<int>(types.size());
        types.push_back(op.output[i]);
    }
    Stream result;
    for (const Operator& input : op.inputs) {
        Stream stream = compile(input, needs);
        std::vector<int> stored;
        for (size_t i = 0; i < needs.size(); ++i)
            if (needs[i] != Need::kNone) stored.push_back(stream.slots[i]);
        close_store(stream, types, stored);
        if (result.compiled == nullptr) {
            result = reopen(std::move(stream), types, columns);
        } else {
            stream.compiled->then = CompiledPipeline::Then::kFeed;
            stream.compiled->target = result.compiled.get();
            done_.push_back(std::move(stream.compiled));
        }
    }
    if (result.compiled == nullptr) throw Unrepresentable("an empty APPEND");
    return result;
}

std::vector<std::unique_ptr<CompiledPipeline>> compile(
    const Operator& root, std::span<const plan::ParameterValue> parameters,
    const Resources& resources) {
    return PlanCompiler(parameters, resources).run(root);
}

}  // namespace loom::exec
