#include "pg/node/host_expressions.h"

#include <string>
#include <utility>

#include "exec/fault.h"
#include "pg/bridge/bridge.h"
#include "pg/bridge/subtransaction.h"
#include "pg/node/value.h"

extern "C" {
#include "executor/executor.h"
}

namespace loom::pg {

namespace {

// The row type of an expression's arguments. Without `row`, their number is what is wanted.
struct Arguments {
    int count = 0;
    TupleDesc row = nullptr;
};

bool find_arguments_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    if (!IsA(node, Var)) return walk_expression(node, find_arguments_maylongjmp, arg);
    const auto* var = reinterpret_cast<const Var*>(node);
    auto* found = static_cast<Arguments*>(arg);
    found->count = std::max(found->count, static_cast<int>(var->varattno));
    if (found->row == nullptr) return false;
    TupleDescInitEntry(found->row, var->varattno, nullptr, var->vartype, var->vartypmod, 0);
    TupleDescInitEntryCollation(found->row, var->varattno, var->varcollid);
    return false;
}

TupleTableSlot* make_slot_maylongjmp(Node* expr) {
    Arguments arguments;
    find_arguments_maylongjmp(expr, &arguments);
    arguments.row = CreateTemplateTupleDesc(arguments.count);
    find_arguments_maylongjmp(expr, &arguments);
    return MakeSingleTupleTableSlot(arguments.row, &TTSOpsVirtual);
}

// Errors after which PostgreSQL's plan runs without further attempts.
constexpr int kMostFailures = 100;

// Bytes that evaluating a batch may leave lying about.
constexpr Size kMaxUsed = Size{4} << 20;

bool is_wanted_elsewhere() {
    return InterruptPending && (ProcDiePending || QueryCancelPending || ClientConnectionLost);
}

}  // namespace

HostExpressions::HostExpressions(const std::vector<ExprState*>& states,
                                 const std::vector<plan::Type>& types, PlanState* parent,
                                 MemoryContext context)
    : parent_(parent) {
    pg_call([&] {
        MemoryContext old = MemoryContextSwitchTo(context);
        econtext_ = CreateExprContext(parent->state);
        batch_ = AllocSetContextCreate(context, "pg_loom expressions", ALLOCSET_DEFAULT_SIZES);
        MemoryContextSwitchTo(old);
    });
    for (size_t i = 0; i < states.size(); ++i) {
        Expression expression{states[i], nullptr, {}, {}, DatumColumn(types[i], context)};
        pg_call([&] {
            MemoryContext old = MemoryContextSwitchTo(context);
            expression.slot = make_slot_maylongjmp(reinterpret_cast<Node*>(expression.state->expr));
            MemoryContextSwitchTo(old);
        });
        const auto width = static_cast<size_t>(expression.slot->tts_tupleDescriptor->natts);
        expression.values.resize(width);
        expression.nulls.resize(width);
        for (size_t c = 0; c < width; ++c)
            pg_call([&] {
                expression.values[c] = static_cast<Datum*>(
                    MemoryContextAlloc(context, sizeof(Datum) * exec::kBatchRows));
                expression.nulls[c] =
                    static_cast<bool*>(MemoryContextAlloc(context, exec::kBatchRows));
            });
        expressions_.push_back(std::move(expression));
    }
}

// Returns false if it ended early.
bool HostExpressions::run_maylongjmp(Expression& expression, ExprState* state,
                                     std::span<const exec::Vector> args, int64_t rows) {
    MemoryContextReset(batch_);
    MemoryContext old = MemoryContextSwitchTo(batch_);
    for (size_t c = 0; c < args.size(); ++c)
        make_datums_maylongjmp(args[c], args[c].form == exec::Form::kConstant ? 1 : rows,
                               expression.values[c], expression.nulls[c]);
    TupleTableSlot* slot = ExecStoreVirtualTuple(ExecClearTuple(expression.slot));
    econtext_->ecxt_outertuple = slot;
    MemoryContext used = econtext_->ecxt_per_tuple_memory;
    MemoryContextReset(used);
    int64_t borrowed = 0;  // rows from here on live there
    bool done = true;
    for (int64_t row = 0; row < rows && done; ++row) {
        for (size_t c = 0; c < args.size(); ++c) {
            const int64_t from = args[c].form == exec::Form::kConstant ? 0 : row;
            slot->tts_values[c] = expression.values[c][from];
            slot->tts_isnull[c] = expression.nulls[c][from];
        }
        bool null = true;
        const Datum value = ExecEvalExprSwitchContext(state, econtext_, &null);
        expression.result.borrow_maylongjmp(row, value, null);
        if (used->mem_allocated > kMaxUsed) {
            expression.result.keep_maylongjmp(borrowed, row + 1);
            borrowed = row + 1;
            MemoryContextReset(used);
        }
        done = !is_wanted_elsewhere();
    }
    MemoryContextSwitchTo(old);
    return done;
}

exec::Vector HostExpressions::evaluate(size_t number, std::span<const exec::Vector> args,
                                       int64_t rows, bool* interrupted) {
    Expression& expression = expressions_[number];
    std::string why;
    if (failures_ > kMostFailures || expression.state == nullptr)
        throw exec::Unrepresentable("PostgreSQL raised errors before");
    ExprState* const state = std::exchange(expression.state, nullptr);
    if (!succeeds([&] { *interrupted = !run_maylongjmp(expression, state, args, rows); }, &why)) {
        // The engine may go on where it computed more than it needed. What functions keep from call
        // to call may be half done, so they begin anew.
        ++failures_;
        pg_call([&] {
            MemoryContext old = MemoryContextSwitchTo(parent_->state->es_query_cxt);
            expression.state = ExecInitExpr(state->expr, parent_);
            MemoryContextSwitchTo(old);
        });
        throw exec::Unrepresentable("PostgreSQL raised: " + why);
    }
    expression.state = state;
    if (*interrupted) return {};
    return expression.result.vector(rows);
}

}  // namespace loom::pg
