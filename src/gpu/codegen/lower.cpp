#include <algorithm>
#include <utility>

#include "gpu/codegen/expression_facts.h"
#include "gpu/codegen/pipeline.h"

namespace loom::gpu {

namespace {

using plan::Expr;
using plan::ExprKind;
using plan::JoinType;
using plan::Operator;
using plan::OperatorKind;

// A pipeline that takes shape, and what the operator that was lowered last gives out, over its
// slots.
struct Stream {
    Pipeline pipeline;
    std::vector<Expr> outputs;
    double rows = 0;
};

class Lowering {
  public:
    Stream stream(const Operator& op) {
        switch (op.kind) {
            case OperatorKind::kScan:
                return scan(op);
            case OperatorKind::kFilter:
                return filter(op);
            case OperatorKind::kProject:
                return project(op);
            case OperatorKind::kJoin:
                return join(op);
            case OperatorKind::kAggregate:
                return inner(op);
            case OperatorKind::kShared:
                return stream(op.inputs[0]);
            default:
                throw Refusal{"an operator that kernels do not have"};
        }
    }

    Program aggregate(const Operator& op) {
        if (op.kind != OperatorKind::kAggregate) throw Refusal{"no aggregate"};
        const bool distinct =
            std::any_of(op.aggregates.begin(), op.aggregates.end(),
                        [](const plan::Aggregate& call) { return call.distinct; });
        const Operator& from = distinct ? without_distinct(op) : op;
        Stream input = stream(from.inputs[0]);
        Pipeline& pipeline = input.pipeline;
        pipeline.sink = Pipeline::Sink::kAggregate;
        for (const Expr& key : from.group_keys) pipeline.keys.push_back(over(key, input.outputs));
        for (plan::Aggregate call : from.aggregates) {
            for (Expr& arg : call.args) arg = over(arg, input.outputs);
            for (Expr& condition : call.filter) condition = over(condition, input.outputs);
            pipeline.aggregates.push_back(std::move(call));
        }
        pipeline.grouped = op.grouped;
        program_.pipelines.push_back(std::move(pipeline));
        return std::move(program_);
    }

    struct Refusal {
        std::string reason;
    };

  private:
    // Puts what an operator's input gives in the place of its columns.
    static Expr over(const Expr& expr, const std::vector<Expr>& outputs) {
        if (expr.kind == ExprKind::kColumn) return outputs[static_cast<size_t>(expr.index)];
        if (expr.kind == ExprKind::kHost) throw Refusal{"an expression that PostgreSQL computes"};
        Expr result = expr;
        for (Expr& arg : result.args) arg = over(arg, outputs);
        return result;
    }

    // Whether an expression is computed for the texts of a dictionary.
    static bool is_of_one_text(const Expr& expr, const Pipeline& pipeline) {
        const std::vector<int> columns = plan::columns_of(expr);
        return columns.size() == 1 &&
               pipeline.slots[static_cast<size_t>(columns[0])].type.id == plan::TypeId::kText;
    }

    // Aggregates of the distinct values of one expression are those of its groups.
    const Operator& without_distinct(const Operator& op) {
        const std::vector<Expr>& args = op.aggregates[0].args;
        for (const plan::Aggregate& call : op.aggregates)
            if (!call.distinct || !call.filter.empty() || call.args.size() != 1 ||
                !is_same(call.args[0], args[0]))
                throw Refusal{"DISTINCT of several expressions, or beside other aggregates"};
        Operator groups;
        groups.kind = OperatorKind::kAggregate;
        groups.group_keys = op.group_keys;
        groups.group_keys.push_back(args[0]);
        for (const Expr& key : groups.group_keys) groups.output.push_back(key.type);
        groups.grouped = true;
        groups.rows = op.inputs[0].rows;
        groups.inputs = op.inputs;
        Operator& made = program_.made.emplace_back(op);
        for (size_t k = 0; k < op.group_keys.size(); ++k)
            made.group_keys[k] = plan::make_column(static_cast<int>(k), op.group_keys[k].type);
        for (plan::Aggregate& call : made.aggregates) {
            call.distinct = false;
            call.args = {plan::make_column(static_cast<int>(op.group_keys.size()), args[0].type)};
        }
        made.inputs = {std::move(groups)};
        return made;
    }

    static int add_slot(Pipeline& pipeline, Slot slot) {
        pipeline.slots.push_back(slot);
        return static_cast<int>(pipeline.slots.size()) - 1;
    }

    static Stream scan(const Operator& op) {
        Stream result;
        result.pipeline.table = op.source;
        result.pipeline.name = op.name;
        result.pipeline.rows = op.rows;
        result.rows = op.rows;
        for (size_t i = 0; i < op.output.size(); ++i) {
            Slot slot;
            slot.type = op.output[i];
            slot.index = static_cast<int>(i);
            result.pipeline.columns.push_back(slot.index);
            result.outputs.push_back(plan::make_column(add_slot(result.pipeline, slot), slot.type));
        }
        return result;
    }

    Stream inner(const Operator& op) {
        std::string reason;
        std::optional<Program> program = lower(op, &reason);
        if (!program) throw Refusal{std::move(reason)};
        Stream result = scan(op);
        result.pipeline.inner = static_cast<int>(program_.inner.size());
        program_.inner.push_back({&op, std::make_unique<Program>(std::move(*program))});
        return result;
    }

    static void add_filter(Stream& stream, const Expr& predicate, double selectivity) {
        if (predicate.kind == ExprKind::kAnd) {
            for (const Expr& arg : predicate.args) add_filter(stream, arg, selectivity);
            return;
        }
        PipelineStep step;
        step.predicate = predicate;
        step.selectivity = selectivity;
        stream.pipeline.steps.push_back(std::move(step));
    }

    Stream filter(const Operator& op) {
        Stream result = marked(op) ? join(unmarked(op)) : stream(op.inputs[0]);
        // The planner's estimate is of all predicates together.
        const double all = ratio(op.rows, result.rows);
        for (const Expr& predicate : op.predicates)
            add_filter(result, over(predicate, result.outputs), all);
        result.rows = op.rows;
        return result;
    }

    // The predicate that keeps rows with a mark, or those without, if no error may come before it.
    static const Expr* marked(const Operator& op) {
        const Operator& join = op.inputs[0];
        if (join.kind != OperatorKind::kJoin || join.join != JoinType::kMark) return nullptr;
        const int mark = static_cast<int>(join.output.size()) - 1;
        for (const Expr& predicate : op.predicates) {
            const Expr& of = predicate.kind == ExprKind::kNot ? predicate.args[0] : predicate;
            if (of.kind == ExprKind::kColumn && of.index == mark) return &predicate;
            if (may_fault(predicate)) return nullptr;
        }
        return nullptr;
    }
    // The join that keeps them.
    const Operator& unmarked(const Operator& filter) {
        Operator& made = program_.made.emplace_back(filter.inputs[0]);
        const bool without = marked(filter)->kind == ExprKind::kNot;
        made.join = without ? JoinType::kAnti : JoinType::kSemi;
        made.null_aware = without && made.null_aware;
        made.rows = filter.rows;
        return made;
    }

    Stream project(const Operator& op) {
        Stream result = stream(op.inputs[0]);
        std::vector<Expr> outputs;
        for (const Expr& expr : op.expressions) {
            outputs.push_back(over(expr, result.outputs));
            if (expr.kind == ExprKind::kColumn || !may_fault(expr)) continue;
            // An error has to be raised also where nobody reads the value.
            if (plan::physical(expr.type) == plan::Physical::kBytes &&
                !is_of_one_text(outputs.back(), result.pipeline))
                throw Refusal{"an output that may raise an error"};
            PipelineStep step;
            step.kind = PipelineStep::Kind::kCompute;
            step.predicate = outputs.back();
            result.pipeline.steps.push_back(std::move(step));
        }
        result.outputs = std::move(outputs);
        result.rows = op.rows;
        return result;
    }

    Stream join(const Operator& op) {
        // What PostgreSQL builds is kept here, and the other side looked up: the sides change
        // places.
        const bool swapped = op.join == JoinType::kRight || op.join == JoinType::kRightSemi ||
                             op.join == JoinType::kRightAnti;
        if (op.join == JoinType::kFull || op.join == JoinType::kMark)
            throw Refusal{"a join that keeps rows of both sides, or marks them"};
        if (op.probe_keys.empty()) throw Refusal{"a join without keys"};
        Stream build = stream(op.inputs[swapped ? 0 : 1]);
        Stream result = stream(op.inputs[swapped ? 1 : 0]);

        PipelineJoin made;
        made.build = static_cast<int>(program_.pipelines.size());
        made.type = type_of(op.join);
        made.null_aware = op.null_aware;
        made.selectivity =
            made.type == JoinType::kLeft ? 1 : std::min(1.0, ratio(op.rows, result.rows));
        build.pipeline.sink = Pipeline::Sink::kBuild;
        build.pipeline.kept = build.rows;
        add_keys(swapped ? op.build_keys : op.probe_keys, swapped ? op.probe_keys : op.build_keys,
                 result, build, made);

        PipelineStep step;
        step.kind = PipelineStep::Kind::kJoin;
        step.join = static_cast<int>(result.pipeline.joins.size());
        const bool joined = made.type == JoinType::kInner || made.type == JoinType::kLeft;
        std::vector<Expr> payload;
        if (joined || !op.predicates.empty()) {
            build.pipeline.payload = build.outputs;
            for (size_t i = 0; i < build.outputs.size(); ++i) {
                Slot slot;
                slot.kind = Slot::Kind::kPayload;
                slot.type = build.outputs[i].type;
                slot.index = static_cast<int>(i);
                slot.join = step.join;
                payload.push_back(plan::make_column(add_slot(result.pipeline, slot), slot.type));
            }
        }
        program_.pipelines.push_back(std::move(build.pipeline));
        std::vector<Expr> both = swapped ? payload : result.outputs;
        const std::vector<Expr>& right = swapped ? result.outputs : payload;
        both.insert(both.end(), right.begin(), right.end());
        if (made.type != JoinType::kInner)
            for (const Expr& predicate : op.predicates)
                made.conditions.push_back(over(predicate, both));
        const bool filters = made.type == JoinType::kInner;
        result.pipeline.joins.push_back(std::move(made));
        result.pipeline.steps.push_back(std::move(step));
        if (filters)
            for (const Expr& predicate : op.predicates)
                add_filter(result, over(predicate, both), 1);
        if (joined) result.outputs = std::move(both);
        // All rows that are left of a join that marked them have the mark, or none has.
        if (op.output.size() > result.outputs.size())
            result.outputs.push_back(
                plan::make_constant(plan::make_type(plan::TypeId::kBool),
                                    column::Scalar::of_int(op.join == JoinType::kSemi ? 1 : 0)));
        result.rows = op.rows;
        return result;
    }

    static JoinType type_of(JoinType type) {
        switch (type) {
            case JoinType::kRight:
                return JoinType::kLeft;
            case JoinType::kRightSemi:
                return JoinType::kSemi;
            case JoinType::kRightAnti:
                return JoinType::kAnti;
            default:
                return type;
        }
    }

    static void add_keys(const std::vector<Expr>& probe_keys, const std::vector<Expr>& build_keys,
                         const Stream& probe, Stream& build, PipelineJoin& join) {
        for (size_t i = 0; i < probe_keys.size(); ++i) {
            // When keys are computed is up to the engine.
            if (may_fault(probe_keys[i]) || may_fault(build_keys[i]))
                throw Refusal{"a key of a join that may raise an error"};
            if (probe_keys[i].type.scale != build_keys[i].type.scale)
                throw Refusal{"a join of numerics of several scales"};
            join.keys.push_back(over(probe_keys[i], probe.outputs));
            build.pipeline.build_keys.push_back(over(build_keys[i], build.outputs));
        }
    }

    static double ratio(double part, double whole) { return whole > 0 ? part / whole : 1; }

    Program program_;
};

}  // namespace

std::optional<Program> lower(const plan::Operator& aggregate, std::string* reason) {
    try {
        return Lowering().aggregate(aggregate);
    } catch (Lowering::Refusal& refusal) {
        *reason = std::move(refusal.reason);
        return std::nullopt;
    }
}

}  // namespace loom::gpu
