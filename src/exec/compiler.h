#pragma once
// The class behind compile(); one method an operator. compile.cpp has most of them,
// compile_join.cpp joins, compile_window.cpp windows and shared rows.

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "exec/compile.h"

namespace loom::exec {

// What the operators above want of a column.
enum class Need : uint8_t {
    kNone,
    kValue,
    kGroupKey  ///< its value, as a group key: dictionary codes are welcome
};
using Needs = std::vector<Need>;

inline void raise_need(Need& need, Need at_least) {
    need = std::max(need, at_least);
}

inline void need_columns(const plan::Expr& expr, Needs& needs) {
    for (const int column : plan::columns_of(expr)) raise_need(needs[column], Need::kValue);
}

// A pipeline under construction and the slots of its operator's output (-1: not needed).
struct Stream {
    std::unique_ptr<CompiledPipeline> compiled;
    std::vector<int> slots;

    Pipeline& pipeline() { return compiled->pipeline; }
};

class PlanCompiler {
  public:
    PlanCompiler(std::span<const plan::ParameterValue> parameters, const Resources& resources)
        : parameters_(parameters), resources_(resources), budget_(resources.budget) {}

    std::vector<std::unique_ptr<CompiledPipeline>> run(const plan::Operator& root);

  private:
    Stream compile(const plan::Operator& op, const Needs& needs);
    Stream compile_source(const plan::Operator& op);
    Stream compile_filter(const plan::Operator& op, Needs needs);
    Stream compile_project(const plan::Operator& op, const Needs& needs);
    Stream compile_join(const plan::Operator& op, const Needs& needs);
    Stream compile_aggregate(const plan::Operator& op);
    Stream compile_sort(const plan::Operator& op, Needs needs, int64_t limit);
    Stream compile_limit(const plan::Operator& op, const Needs& needs);
    Stream compile_append(const plan::Operator& op, const Needs& needs);
    Stream compile_shared(const plan::Operator& op);
    Stream compile_window(const plan::Operator& op, const Needs& needs);
    static void release_order(Stream& stream);

    int add_slot(Pipeline& pipeline, Slot slot);
    int expression_slot(Stream& stream, const plan::Expr& expr);
    plan::Expr guarded(const Stream& stream, const plan::Expr& arg,
                       const std::vector<plan::Expr>& filter);
    std::shared_ptr<const Expression> compile_expression(const plan::Expr& expr,
                                                         const std::vector<int>& slots);
    void add_filter(Stream& stream, const plan::Expr& predicate, const std::vector<int>& slots);
    void add_build_side(Stream& probe, const plan::Operator& build,
                        const std::vector<plan::Expr>& keys, const Needs& needs);
    void close_store(Stream& stream, const std::vector<plan::Type>& types,
                     const std::vector<int>& slots);
    Stream reopen(Stream closed, const std::vector<plan::Type>& types,
                  const std::vector<int>& columns);
    Stream open_stored(const std::vector<plan::Type>& types, const std::vector<int>& columns);
    int64_t frame_offset(const std::vector<plan::Expr>& offset);
    void check_distance(const std::vector<plan::Expr>& offset);
    int64_t count_value(const std::vector<plan::Expr>& exprs, int64_t if_absent);

    std::span<const plan::ParameterValue> parameters_;
    Resources resources_;
    base::MemoryBudget* budget_;
    std::vector<std::unique_ptr<CompiledPipeline>> done_;
    std::map<int, CompiledPipeline*> shared_;  ///< by source: who computes the rows
};

}  // namespace loom::exec
