#pragma once
// Turns one subtree of a finished plan into a plan of the engine. One file per family of nodes:
// builder.cpp the frame, build_top.cpp, build_scan.cpp, build_rows.cpp, build_join.cpp,
// build_group.cpp, build_ordered.cpp, build_order.cpp, build_subplan.cpp, build_sets.cpp,
// build_window.cpp, build_shim.cpp.
//
// Plans are converted after set_plan_references: an expression's columns are positions in the
// target lists of the nodes below (OUTER_VAR, INNER_VAR) or attributes of the scan's relation. So
// each node is converted by itself: build() yields an operator whose columns are the node's target
// list.

#include "pg/compat/backend.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pg/plan/expression.h"
#include "pg/plan/outer_reference.h"
#include "plan/operator.h"

namespace loom::pg {

/// A table that the engine reads.
struct ScanTable {
    Oid relation = InvalidOid;
    List* quals = NIL;          ///< serialised PruneQuals; value indexes are into `values`
    List* values = NIL;         ///< expressions of the quals' values
    List* virtual_quals = NIL;  ///< clauses on virtual columns only, over attributes of the table
    Index rtindex = 0;
};

/// A subtree in the engine: an operator whose columns are the node's target list, then what
/// `lifted` reads beside it.
struct Built {
    plan::Operator op;
    std::vector<Lifted> lifted;  ///< conditions that hold for the rows that are wanted
    /// Columns that the engine has. The others are placeholders, which nothing may read: PostgreSQL
    /// lets scans list columns that nobody wants.
    std::vector<bool> present;
};

/// What a node computes before its quals and its target list.
struct Core {
    plan::Operator op;
    Scope scope;  ///< what `op`'s columns are in the node's own expressions
    /// Expressions of the node and what to put in their place, in terms of `scope`.
    std::vector<std::pair<Node*, Node*>> substitutes;
    std::vector<Lifted> lifted;
};

/// A subtree as the engine and PostgreSQL share it.
struct BuiltPlan {
    plan::Operator root;
    std::vector<ScanTable> tables;
    std::vector<HostParameter> parameters;
    std::vector<HostCall> calls;
    std::string session_zone;             ///< the time zone that the plan holds for, or empty
    std::vector<std::string> not_pushed;  ///< for EXPLAIN: `what: why`
    List* scan_tlist = NIL;               ///< what the columns of `root` are
    List* targetlist = NIL;               ///< over the columns of `root` (INDEX_VAR)
    List* qual = NIL;                     ///< likewise
    Bitmapset* relids = nullptr;
    std::vector<Plan*> nodes;      ///< all nodes of the subtree that the engine does the work of
    std::vector<Plan*> row_plans;  ///< row source i of the engine is this plan's rows
};

class Builder {
  public:
    explicit Builder(PlannedStmt* statement);

    /// Converts the subtree of `plan`. At its top, quals and target list entries that the engine
    /// cannot evaluate stay with PostgreSQL; anything else that it cannot do makes this return
    /// nothing, and reason() say why.
    std::optional<BuiltPlan> build_top(Plan* plan);
    const std::string& reason() const noexcept { return reason_; }

  private:
    /// Whether the order of the rows that PostgreSQL's node returns must be kept.
    enum class Order : uint8_t { kAny, kKept };
    using Keys = std::vector<plan::SortKey>;

    std::optional<Built> build(Plan* plan, Order order);
    std::optional<Built> build_node(Plan* plan, Order order);
    std::optional<Core> core(Plan* plan, Order order);
    bool add_filter(Core& core, const std::vector<plan::Expr>& predicates, double rows);
    bool add_quals(Core& core, List* quals, double rows);
    std::optional<Built> add_target_list(Core core, Plan* plan);
    bool check(const plan::Operator& op);
    template <typename T = Core>
    std::optional<T> refuse(std::string reason) {
        if (reason_.empty()) reason_ = std::move(reason);
        return std::nullopt;
    }
    std::optional<plan::Expr> translate(Node* node, const Scope& scope, const char* what);

    // build_scan.cpp
    std::optional<Core> scan(ForeignScan* scan);
    std::optional<Core> subquery(SubqueryScan* scan, Order order);
    std::optional<Core> pass_through(Plan* plan, Order order);
    std::optional<Core> result(Result* result, Order order);
    std::optional<Core> cte_scan(CteScan* scan, Order order);
    std::optional<Core> append(Plan* plan, List* children);
    // build_rows.cpp
    std::optional<Built> rows(Plan* plan);
    std::string column_label(Node* expr) const;
    // build_shim.cpp
    std::optional<Core> shimmed(Plan* plan);
    // build_join.cpp
    std::optional<Core> join(Join* join, List* key_clauses);
    bool add_key(plan::Operator& op, OpExpr* clause, const Scope& probe, const Scope& build);
    bool combine_lifted(Core& core, const std::vector<Lifted>& probe,
                        const std::vector<Lifted>& build);
    bool join_loop(Core& core, std::vector<Lifted>& lifted, const OuterValues& loop);
    std::optional<List*> add_join_quals(Core& core, List* quals, const Scope& joined);
    // build_group.cpp
    std::optional<Core> aggregate(Agg* agg, Order order);
    std::optional<Core> distinct(Plan* plan, int columns, const AttrNumber* indexes,
                                 const Oid* operators, const Oid* collations, Order order);
    bool add_group_keys(plan::Operator& op, Plan* input, int columns, const AttrNumber* indexes,
                        const Oid* operators, const Oid* collations, const Scope& scope);
    bool add_aggregate(plan::Operator& op, Core& core, Aggref* call, const Scope& scope);
    bool sort_groups(Core& core, Plan* input, const std::vector<int>& groups);
    bool group_by_lifted(Core& core, const std::vector<Lifted>& lifted);
    // build_ordered.cpp
    struct OrderedCall {
        plan::WindowCall window;
        Keys keys;  ///< the order of a group's rows
    };
    bool add_ordered_call(const Scope& scope, Aggref* call, bool groups_are_rows,
                          std::vector<plan::Expr>* exprs, OrderedCall* out);
    /// Puts windows on the rows of `source`, grouped by columns `groups`, that have the results of
    /// `calls`, and returns the aggregates that take these.
    bool add_ordered_sets(Core& source, const std::vector<plan::Expr>& groups, List* calls,
                          std::vector<plan::Aggregate>* aggregates);
    // build_sets.cpp
    std::optional<Core> grouping_sets(Agg* agg, Order order);
    std::optional<Core> set_operation(SetOp* set, Order order);
    std::optional<Core> set_of_distinct(SetOp* set, const SetOpKeys& keys, Core input);
    std::optional<Core> set_of_all(SetOp* set, const SetOpKeys& keys, Core input);
    plan::Operator share(plan::Operator op);
    // build_window.cpp
    std::optional<Core> window(WindowAgg* window);
    bool add_window_call(plan::Operator& op, Core& core, WindowFunc* call, const Scope& scope);
    bool add_frame(plan::Operator& op, const WindowAgg* window, const Scope& scope);
    bool add_frame_values(plan::Operator& op, const WindowAgg* window, const Scope& scope);
    std::optional<Core> distinct_on(Unique* unique);
    // build_order.cpp
    std::optional<Core> sort(Sort* sort, Order order);
    std::optional<Core> limit(Limit* limit);
    std::optional<Core> merge_append(MergeAppend* append, Order order);
    std::optional<Keys> sort_keys(const List* tlist, int columns, const AttrNumber* indexes,
                                  const Oid* operators, const Oid* collations,
                                  const bool* nulls_first);
    /// The order in which PostgreSQL's node returns its rows, as positions in its target list.
    /// Nothing: there is one, but it is not known.
    std::optional<Keys> order_of(Plan* plan);
    bool are_present(const Keys& keys, const Scope& scope);
    bool add_sort(plan::Operator& op, const Keys& keys);

    // build_subplan.cpp
    /// Makes the SubPlans of an expression, which stands in a node with core `core`, joins below
    /// it, and adds what they return to the scope. What cannot be joined is left as it is; then
    /// reason() says why. `condition`: the expression is one that rows must satisfy, so that
    /// unknown is as good as false.
    void add_subplans(Core& core, Node* expr, bool condition);
    bool add_subplan(Core& core, SubPlan* subplan, bool unknown_is_false);
    bool add_scalar(Core& core, SubPlan* subplan, Plan* plan, const OuterValues& outer);
    bool add_aggregate_value(Core& core, SubPlan* subplan, Plan* plan, const OuterValues& outer);
    bool add_lookup(Core& core, SubPlan* subplan, Plan* plan, const OuterValues& outer);
    bool add_mark(Core& core, SubPlan* subplan, Plan* plan, const OuterValues& outer,
                  bool null_aware);
    struct Compared {
        std::vector<plan::Expr> probe, build;
    };
    bool add_unknown(Core& core, SubPlan* subplan, const Compared& compared, const Built& built,
                     const std::vector<Lifted>& lifted, const OuterValues& outer);
    bool add_possible(plan::Operator& join, const Core& core, const SubPlan* subplan,
                      const Built& built);
    bool add_test(plan::Operator& join, const Core& core, const SubPlan* subplan, Node* test,
                  const Built& built);
    std::optional<plan::Expr> subplan_argument(Node* argument, const Core& core);
    bool join_lifted(plan::Operator& join, const std::vector<Lifted>& lifted,
                     const OuterValues& outer, bool keys_only);

    /// What a builder has come to know, so that an attempt that fails may leave nothing behind.
    struct Progress;
    Progress progress() const;
    void go_back(const Progress& progress);

    PlannedStmt* statement_;
    Translator translator_;
    std::vector<ScanTable> tables_;
    std::vector<Plan*> nodes_;
    std::vector<Plan*> row_plans_;
    Bitmapset* relids_ = nullptr;
    std::string reason_;
    std::string subplan_reason_;  ///< why the first SubPlan that was not joined was not
    bool top_ = false;            ///< the node being built is the top
    /// CTEs by the numbers of their plans. Their operators are shared.
    std::map<int, Built> ctes_;
    int shared_ = 0;
    const Plan* correlated_aggregate_ = nullptr;  ///< may have a group for each outer row
};

struct Builder::Progress {
    std::map<int, Built> ctes;
    size_t tables;
    size_t nodes;
    size_t row_plans;
    Translator::Mark translated;
    Bitmapset* relids;
};

/// Whether an aggregate needs its group's rows in order, and is one that the engine has.
bool needs_order(const Aggref* call);

/// Returns the columns of a node below as `varno` Vars.
Scope scope_of(const List* tlist, int varno, const Built& below);

/// Rewrites an expression of `plan` in terms of the relations below it, for EXPLAIN.
Node* in_terms_of_relations(Node* node, Plan* plan);

/// Returns the quals or target list of a node with a core's substitutes.
List* substituted(List* list, const Core& core);
/// Returns whether PostgreSQL takes the rows of grouping sets to be in the order of its input. It
/// puts the rows of a larger set after those that they stand for, as if NULL came last.
bool keeps_order(const Agg* sets);
/// Returns whether the expressions are columns 0 to `width` - 1, in order.
bool is_identity(const std::vector<plan::Expr>& exprs, size_t width);

/// Puts a projection on `input`.
plan::Operator project(plan::Operator input, std::vector<plan::Expr> exprs);

/// Returns whether an expression has SubPlans.
bool has_subplans(Node* node);
/// Returns whether a plan that stands for each row of another has InitPlans that must run again for
/// each: what they return is no parameter that is constant while the engine runs.
bool has_varying_init_plans(const Plan* plan);

/// Returns whether the engine has work anywhere below: a foreign table is read, be it by way of a
/// CTE, or pg_loom.shim lends it other rows.
bool reads_foreign_table(const Plan* plan, const PlannedStmt* statement);
/// Returns whether a node is one whose rows pg_loom.shim hands to the engine as if they came from a
/// file. False while the setting is off.
bool is_shimmed(const Plan* plan);
/// Returns whether a cursor over a plan may say which row of a table an UPDATE is to change, which
/// a LoomScan cannot tell.
bool is_updatable_at_cursor(const Plan* plan);
/// Returns whether a plan may be executed a second time, should the engine give up, without anyone
/// noticing.
bool may_run_twice_maylongjmp(const Plan* plan, const PlannedStmt* statement);
/// Returns plan `number` of the statement's subplans as the planner made it, which a LoomScan may
/// stand for by now; null if there is none.
Plan* original_subplan(const PlannedStmt* statement, int number);
/// Returns the children that a node has beside its left and right trees.
List* further_children(const Plan* plan);

/// Returns what people call a plan node.
const char* node_name(const Plan* plan);

}  // namespace loom::pg
