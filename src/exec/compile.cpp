#include "exec/compile.h"

#include <algorithm>

#include <fmt/core.h>

#include "exec/pipeline/aggregate_sink.h"
#include "exec/pipeline/sort_sink.h"
#include "exec/pipeline/top_sink.h"

namespace loom::exec {

using plan::Expr;
using plan::ExprKind;
using plan::JoinType;
using plan::Operator;
using plan::OperatorKind;
using plan::Type;

namespace {

// What the operators above want of a column.
enum class Need : uint8_t {
    kNone,
    kValue,
    kGroupKey  ///< its value, as a group key: dictionary codes are welcome
};
using Needs = std::vector<Need>;

void raise_need(Need& need, Need at_least) {
    need = std::max(need, at_least);
}

void need_columns(const Expr& expr, Needs& needs) {
    for (const int column : plan::columns_of(expr)) raise_need(needs[column], Need::kValue);
}

// A pipeline under construction and the slots of its operator's output (-1: not needed).
struct Stream {
    std::unique_ptr<CompiledPipeline> compiled;
    std::vector<int> slots;

    Pipeline& pipeline() { return compiled->pipeline; }
};

class Compiler {
  public:
    Compiler(std::span<const plan::ParameterValue> parameters, const Resources& resources)
        : parameters_(parameters), resources_(resources), budget_(resources.budget) {}

    std::vector<std::unique_ptr<CompiledPipeline>> run(const Operator& root) {
        Stream stream = compile(root, Needs(root.output.size(), Need::kValue));
        close_store(stream, root.output, stream.slots);
        stream.compiled->then = CompiledPipeline::Then::kResult;
        done_.push_back(std::move(stream.compiled));
        return std::move(done_);
    }

  private:
    Stream compile(const Operator& op, const Needs& needs);
    Stream compile_source(const Operator& op);
    Stream compile_filter(const Operator& op, Needs needs);
    Stream compile_project(const Operator& op, const Needs& needs);
    Stream compile_join(const Operator& op, const Needs& needs);
    Stream compile_aggregate(const Operator& op);
    Stream compile_sort(const Operator& op, Needs needs, int64_t limit);
    Stream compile_limit(const Operator& op, const Needs& needs);
    Stream compile_append(const Operator& op, const Needs& needs);

    int add_slot(Pipeline& pipeline, Slot slot);
    int expression_slot(Stream& stream, const Expr& expr);
    std::shared_ptr<const Expression> compile_expression(const Expr& expr,
                                                         const std::vector<int>& slots);
    void add_filter(Stream& stream, const Expr& predicate, const std::vector<int>& slots);
    void add_build_side(Stream& probe, const Operator& build, const std::vector<Expr>& keys,
                        const Needs& needs);
    void close_store(Stream& stream, const std::vector<Type>& types, const std::vector<int>& slots);
    Stream reopen(Stream closed, const std::vector<Type>& types, const std::vector<int>& columns);
    int64_t count_value(const std::vector<Expr>& exprs, int64_t if_absent);

    std::span<const plan::ParameterValue> parameters_;
    Resources resources_;
    base::MemoryBudget* budget_;
    std::vector<std::unique_ptr<CompiledPipeline>> done_;
};

void remap(Expr& expr, const std::vector<int>& slots) {
    if (expr.kind == ExprKind::kColumn) expr.index = slots[expr.index];
    for (Expr& arg : expr.args) remap(arg, slots);
}

int Compiler::add_slot(Pipeline& pipeline, Slot slot) {
    pipeline.slots.push_back(std::move(slot));
    return static_cast<int>(pipeline.slots.size()) - 1;
}

std::shared_ptr<const Expression> Compiler::compile_expression(const Expr& expr,
                                                               const std::vector<int>& slots) {
    Expr remapped = expr;
    remap(remapped, slots);
    return std::make_shared<const Expression>(remapped, parameters_);
}

// Returns a slot that holds `expr` over the stream's columns.
int Compiler::expression_slot(Stream& stream, const Expr& expr) {
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

Stream Compiler::compile(const Operator& op, const Needs& needs) {
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
    }
    throw base::Error(base::ErrorKind::kBug, "an operator of unknown kind");
}

Stream Compiler::compile_source(const Operator& op) {
    Stream stream;
    stream.compiled = std::make_unique<CompiledPipeline>();
    Pipeline& pipeline = stream.pipeline();
    const bool scan = op.kind == OperatorKind::kScan;
    pipeline.name = scan ? op.name : "rows";
    (scan ? pipeline.table : pipeline.host_rows) = op.source;
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

void Compiler::add_filter(Stream& stream, const Expr& predicate, const std::vector<int>& slots) {
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

Stream Compiler::compile_filter(const Operator& op, Needs needs) {
    for (const Expr& predicate : op.predicates) need_columns(predicate, needs);
    Stream stream = compile(op.inputs[0], needs);
    for (const Expr& predicate : op.predicates) add_filter(stream, predicate, stream.slots);
    return stream;
}

Stream Compiler::compile_project(const Operator& op, const Needs& needs) {
    Needs below(op.inputs[0].output.size(), Need::kNone);
    for (size_t i = 0; i < op.expressions.size(); ++i) {
        if (needs[i] == Need::kNone) continue;
        if (op.expressions[i].kind == ExprKind::kColumn)
            raise_need(below[op.expressions[i].index], needs[i]);
        else
            need_columns(op.expressions[i], below);
    }
    Stream stream = compile(op.inputs[0], below);
    std::vector<int> slots;
    for (size_t i = 0; i < op.expressions.size(); ++i)
        slots.push_back(needs[i] == Need::kNone ? -1 : expression_slot(stream, op.expressions[i]));
    stream.slots = std::move(slots);
    return stream;
}

void Compiler::close_store(Stream& stream, const std::vector<Type>& types,
                           const std::vector<int>& slots) {
    CompiledPipeline& compiled = *stream.compiled;
    compiled.store = std::make_shared<StoreSink>(slots, types, budget_);
    compiled.pipeline.sink = compiled.store;
    compiled.pipeline.sink_inputs = slots;
}

// Starts a pipeline over the rows that a closed one holds; columns[i] is where output column i lies
// in them, or -1.
Stream Compiler::reopen(Stream closed, const std::vector<Type>& types,
                        const std::vector<int>& columns) {
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
    closed.compiled->then = CompiledPipeline::Then::kFeed;
    closed.compiled->target = stream.compiled.get();
    done_.push_back(std::move(closed.compiled));
    return stream;
}

// Makes the build pipeline of the join that `probe` is about to get, and its slots.
void Compiler::add_build_side(Stream& probe, const Operator& build, const std::vector<Expr>& keys,
                              const Needs& needs) {
    Needs below = needs;
    for (const Expr& key : keys) need_columns(key, below);
    Stream stream = compile(build, below);
    const int join = static_cast<int>(probe.pipeline().joins.size()) - 1;
    std::vector<int> key_slots;
    for (const Expr& key : keys) key_slots.push_back(expression_slot(stream, key));

    // Stored are the columns that are needed, then the keys that are not among them. A group key
    // that is to become codes can't serve as the join's key.
    std::vector<int> stored;
    std::vector<Type> types;
    std::vector<int> slots(needs.size(), -1);
    CompiledPipeline& compiled = *stream.compiled;
    Pipeline& target = probe.pipeline();
    for (size_t i = 0; i < needs.size(); ++i) {
        if (needs[i] == Need::kNone) continue;
        Slot slot;
        slot.kind = Slot::Kind::kBuildColumn;
        slot.type = build.output[i];
        slot.index = static_cast<int>(stored.size());
        slot.join = join;
        slot.row_slot = target.joins[join].row_slot;
        slots[i] = add_slot(target, std::move(slot));
        if (needs[i] == Need::kGroupKey) compiled.encode.push_back(static_cast<int>(stored.size()));
        stored.push_back(stream.slots[i]);
        types.push_back(build.output[i]);
    }
    for (size_t k = 0; k < keys.size(); ++k) {
        size_t place = 0;
        while (place < stored.size() &&
               (stored[place] != key_slots[k] ||
                std::find(compiled.encode.begin(), compiled.encode.end(),
                          static_cast<int>(place)) != compiled.encode.end()))
            ++place;
        if (place == stored.size()) {
            stored.push_back(key_slots[k]);
            types.push_back(keys[k].type);
        }
        compiled.build_keys.push_back(static_cast<int>(place));
    }
    close_store(stream, types, stored);
    compiled.then = CompiledPipeline::Then::kBuild;
    compiled.target = probe.compiled.get();
    compiled.target_join = join;
    done_.push_back(std::move(stream.compiled));
    probe.slots.insert(probe.slots.end(), slots.begin(), slots.end());
}

JoinType mirrored(JoinType type) {
    switch (type) {
        case JoinType::kLeft:
            return JoinType::kRight;
        case JoinType::kRight:
            return JoinType::kLeft;
        case JoinType::kSemi:
            return JoinType::kRightSemi;
        case JoinType::kRightSemi:
            return JoinType::kSemi;
        case JoinType::kAnti:
            return JoinType::kRightAnti;
        case JoinType::kRightAnti:
            return JoinType::kAnti;
        default:
            return type;
    }
}

Stream Compiler::compile_join(const Operator& op, const Needs& needs) {
    if (op.null_aware) throw Unrepresentable("NOT IN as a join");
    // The smaller side is built, whatever PostgreSQL chose.
    const bool swap = op.join == JoinType::kInner && op.inputs[1].rows > op.inputs[0].rows;
    const Operator& probe_op = op.inputs[swap ? 1 : 0];
    const Operator& build_op = op.inputs[swap ? 0 : 1];
    const std::vector<Expr>& probe_keys = swap ? op.build_keys : op.probe_keys;
    const std::vector<Expr>& build_keys = swap ? op.probe_keys : op.build_keys;
    const JoinType type = swap ? mirrored(op.join) : op.join;
    const size_t left = op.inputs[0].output.size();
    const size_t right = op.inputs[1].output.size();

    // Needs of probe columns followed by build columns, in PostgreSQL's order of sides.
    const bool right_only = op.join == JoinType::kRightSemi || op.join == JoinType::kRightAnti;
    const bool left_only = op.join == JoinType::kSemi || op.join == JoinType::kAnti;
    Needs both(left + right, Need::kNone);
    std::copy(needs.begin(), needs.end(),
              both.begin() + static_cast<std::ptrdiff_t>(right_only ? left : 0));
    const Needs wanted = both;
    for (const Expr& predicate : op.predicates) need_columns(predicate, both);
    const auto border = both.begin() + static_cast<std::ptrdiff_t>(left);
    Needs probe_needs = swap ? Needs(border, both.end()) : Needs(both.begin(), border);
    const Needs build_needs = swap ? Needs(both.begin(), border) : Needs(border, both.end());
    for (const Expr& key : probe_keys) need_columns(key, probe_needs);

    Stream stream = compile(probe_op, probe_needs);
    const size_t probe_width = probe_op.output.size();
    stream.slots.resize(probe_width, -1);
    Pipeline& pipeline = stream.pipeline();
    const int index = static_cast<int>(pipeline.joins.size());
    Join join;
    join.type = type;
    for (const Expr& key : probe_keys) join.keys.push_back(expression_slot(stream, key));
    Slot rows;
    rows.kind = Slot::Kind::kBuildRow;
    rows.type = plan::make_type(plan::TypeId::kInt4);
    rows.join = index;
    rows.inputs = join.keys;
    join.row_slot = add_slot(pipeline, std::move(rows));
    if (join.marks_build()) join.matched = std::make_shared<base::Buffer>(budget_);
    pipeline.joins.push_back(std::move(join));
    add_build_side(stream, build_op, build_keys, build_needs);

    // From here on slots are in PostgreSQL's order of sides.
    std::vector<int> slots = stream.slots;
    if (swap)
        std::rotate(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(probe_width),
                    slots.end());
    if (!op.predicates.empty()) {
        Expr all;
        all.kind = ExprKind::kAnd;
        all.type = plan::make_type(plan::TypeId::kBool);
        all.args = op.predicates;
        pipeline.joins[index].residual =
            compile_expression(op.predicates.size() == 1 ? op.predicates[0] : all, slots);
    }
    Step step;
    step.kind = Step::Kind::kJoin;
    step.join = index;
    step.inputs = pipeline.joins[index].keys;
    pipeline.steps.push_back(std::move(step));

    if (left_only) slots.resize(left);
    if (right_only) slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(left));
    stream.slots = slots;
    if (!pipeline.joins[index].marks_build()) return stream;

    // Build rows follow when all probe rows have been seen, so the join's rows are stored.
    std::vector<int> stored;
    std::vector<Type> types;
    std::vector<int> build_columns;
    std::vector<int> columns(slots.size(), -1);
    for (size_t i = 0; i < slots.size(); ++i) {
        if (needs[i] == Need::kNone) continue;
        columns[i] = static_cast<int>(stored.size());
        stored.push_back(slots[i]);
        types.push_back(op.output[i]);
        const Slot& slot = pipeline.slots[slots[i]];
        const bool of_build = slot.kind == Slot::Kind::kBuildColumn && slot.join == index;
        build_columns.push_back(of_build ? slot.index : -1);
    }
    close_store(stream, types, stored);
    stream.compiled->store->append_build_rows(&pipeline.joins[index], build_columns);
    return reopen(std::move(stream), types, columns);
}

Stream Compiler::compile_aggregate(const Operator& op) {
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
            const Expr& arg = aggregate.args[0];
            call.arg = arg.type;
            // An argument that may fault is computed only for rows that pass the filter.
            if (!aggregate.filter.empty() && arg.kind != ExprKind::kColumn &&
                compile_expression(arg, stream.slots)->may_fault())
                throw Unrepresentable("an aggregate with FILTER over an expression that can fail");
            call.slot = expression_slot(stream, arg);
            inputs.push_back(call.slot);
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

Stream Compiler::compile_sort(const Operator& op, Needs needs, int64_t limit) {
    for (const plan::SortKey& key : op.sort_keys) raise_need(needs[key.column], Need::kValue);
    Stream stream = compile(op.inputs[0], needs);
    std::vector<int> stored;
    std::vector<Type> types;
    std::vector<int> columns(needs.size(), -1);
    for (size_t i = 0; i < needs.size(); ++i) {
        if (needs[i] == Need::kNone) continue;
        columns[i] = static_cast<int>(stored.size());
        stored.push_back(stream.slots[i]);
        types.push_back(op.output[i]);
    }
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
            std::make_shared<SortSink>(stored, types, std::move(keys), count, resources_);
    }
    compiled.pipeline.sink = compiled.store;
    compiled.pipeline.sink_inputs = stored;
    Stream sorted = reopen(std::move(stream), types, columns);
    sorted.compiled->ordered = true;
    return sorted;
}

// Evaluates LIMIT, OFFSET and the like, which are constant during an execution; NULL means absent.
int64_t Compiler::count_value(const std::vector<Expr>& exprs, int64_t if_absent) {
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

Stream Compiler::compile_limit(const Operator& op, const Needs& needs) {
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

Stream Compiler::compile_append(const Operator& op, const Needs& needs) {
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

}  // namespace

std::vector<std::unique_ptr<CompiledPipeline>> compile(
    const Operator& root, std::span<const plan::ParameterValue> parameters,
    const Resources& resources) {
    return Compiler(parameters, resources).run(root);
}

}  // namespace loom::exec
