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
            default:
                throw Refusal{"an operator that kernels do not have"};
        }
    }

    Program aggregate(const Operator& op) {
        if (op.kind != OperatorKind::kAggregate) throw Refusal{"no aggregate"};
        Stream input = stream(op.inputs[0]);
        Pipeline& pipeline = input.pipeline;
        pipeline.sink = Pipeline::Sink::kAggregate;
        for (const Expr& key : op.group_keys) pipeline.keys.push_back(over(key, input.outputs));
        for (plan::Aggregate call : op.aggregates) {
            if (call.distinct) throw Refusal{"DISTINCT in an aggregate"};
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
        Stream result = stream(op.inputs[0]);
        // The planner's estimate is of all predicates together.
        const double all = ratio(op.rows, result.rows);
        for (const Expr& predicate : op.predicates)
            add_filter(result, over(predicate, result.outputs), all);
        result.rows = op.rows;
        return result;
    }

    Stream project(const Operator& op) {
        Stream result = stream(op.inputs[0]);
        std::vector<Expr> outputs;
        for (const Expr& expr : op.expressions) {
            // An error has to be raised also where nobody reads the value.
            if (expr.kind != ExprKind::kColumn && may_fault(expr))
                throw Refusal{"an output that may raise an error"};
            outputs.push_back(over(expr, result.outputs));
        }
        result.outputs = std::move(outputs);
        result.rows = op.rows;
        return result;
    }

    Stream join(const Operator& op) {
        if (op.join != JoinType::kInner && op.join != JoinType::kSemi)
            throw Refusal{"a join of another kind than inner and semi"};
        if (op.probe_keys.size() != 1) throw Refusal{"a join on several keys, or none"};
        if (!op.predicates.empty()) throw Refusal{"a join with a further condition"};
        Stream build = stream(op.inputs[1]);
        Stream result = stream(op.inputs[0]);

        build.pipeline.sink = Pipeline::Sink::kBuild;
        build.pipeline.build_keys = {over(op.build_keys[0], build.outputs)};
        const bool inner = op.join == JoinType::kInner;
        if (inner) build.pipeline.payload = build.outputs;

        PipelineJoin made;
        made.build = static_cast<int>(program_.pipelines.size());
        made.type = op.join;
        made.keys = {over(op.probe_keys[0], result.outputs)};
        made.selectivity = std::min(1.0, ratio(op.rows, result.rows));
        program_.pipelines.push_back(std::move(build.pipeline));

        PipelineStep step;
        step.kind = PipelineStep::Kind::kJoin;
        step.join = static_cast<int>(result.pipeline.joins.size());
        result.pipeline.joins.push_back(std::move(made));
        result.pipeline.steps.push_back(std::move(step));
        if (inner)
            for (size_t i = 0; i < build.outputs.size(); ++i) {
                Slot slot;
                slot.kind = Slot::Kind::kPayload;
                slot.type = build.outputs[i].type;
                slot.index = static_cast<int>(i);
                slot.join = step.join;
                result.outputs.push_back(
                    plan::make_column(add_slot(result.pipeline, slot), slot.type));
            }
        result.rows = op.rows;
        return result;
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
