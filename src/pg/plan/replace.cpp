#include "pg/plan/replace.h"

#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "pg/node/loom_scan.h"
#include "pg/plan/stored_plan.h"

namespace loom::pg {

namespace {

// A few thousand rows, read and filtered.
constexpr Cost kSmallCost = 1000;

class Replacer {
  public:
    explicit Replacer(PlannedStmt* statement) : statement_(statement) {}

    // Replaces `*place` or what lies below it. `above` says why the node above was not converted.
    void visit(Plan** place, const std::string& above) {
        Plan* plan = *place;
        if (!reads_foreign_table(plan, statement_)) return;
        if (is_small_and_repeated(plan)) return;
        Builder builder(statement_);
        if (auto built = builder.build_top(plan)) {
            if (!above.empty()) built->not_pushed.push_back(above);
            *place = &make_loom_scan(*built, plan)->scan.plan;
            ++count_;
            return;
        }
        const std::string& reason = builder.reason();
        visit_children(plan, reason.empty() ? above : std::string(node_name(plan)) + ": " + reason);
    }

    int count() const { return count_; }
    /// Parameters whose values change while the statement runs.
    Bitmapset*& changing() { return changing_; }

  private:
    // What runs anew for each row of something else, and is over soon, costs the engine more to
    // begin than PostgreSQL to do.
    bool is_small_and_repeated(const Plan* plan) const {
        return !g_force && !g_shim && plan->total_cost < kSmallCost &&
               bms_overlap(plan->extParam, changing_);
    }

    void visit_children(Plan* plan, const std::string& reason) {
        if (plan->lefttree != nullptr) visit(&plan->lefttree, reason);
        if (IsA(plan, NestLoop)) {
            const ListCell* parameter;
            foreach (parameter, reinterpret_cast<NestLoop*>(plan)->nestParams)
                pg_call([&] {
                    changing_ =
                        bms_add_member(changing_, lfirst_node(NestLoopParam, parameter)->paramno);
                });
        }
        if (plan->righttree != nullptr) visit(&plan->righttree, reason);
        if (IsA(plan, SubqueryScan)) visit(&reinterpret_cast<SubqueryScan*>(plan)->subplan, reason);
        ListCell* cell;
        foreach (cell, further_children(plan)) {
            auto* child = static_cast<Plan*>(lfirst(cell));
            visit(&child, reason);
            lfirst(cell) = child;
        }
        protect_inner(plan);
    }

    // What a join reads again and again, or marks, must not be computed each time, and cannot be
    // marked: it gets a Material, as a Sort in its place would have served.
    static void protect_inner(Plan* plan) {
        Plan* inner = plan->righttree;
        if (inner == nullptr || !IsA(inner, CustomScan) ||
            reinterpret_cast<CustomScan*>(inner)->methods != loom_scan_methods())
            return;
        bool wanted = IsA(plan, MergeJoin);
        if (IsA(plan, NestLoop)) {
            wanted = true;
            const ListCell* cell;
            foreach (cell, reinterpret_cast<NestLoop*>(plan)->nestParams)
                if (bms_is_member(lfirst_node(NestLoopParam, cell)->paramno, inner->allParam))
                    wanted = false;
        }
        if (wanted) plan->righttree = pg_call([&] { return materialised_maylongjmp(inner); });
    }

    PlannedStmt* statement_;
    Bitmapset* changing_ = nullptr;
    int count_ = 0;
};

}  // namespace

// What materialize_finished_plan() makes has the columns of the plan below, which a LoomScan states
// in terms that only it can resolve; EXPLAIN would fail.
Plan* materialised_maylongjmp(Plan* plan) {
    Plan* material = materialize_finished_plan(plan);
    material->targetlist = NIL;
    const ListCell* cell;
    foreach (cell, plan->targetlist) {
        auto* entry = copy_object_maylongjmp(lfirst_node(TargetEntry, cell));
        auto* expr = reinterpret_cast<Node*>(entry->expr);
        entry->expr = reinterpret_cast<Expr*>(makeVar(OUTER_VAR, entry->resno, exprType(expr),
                                                      exprTypmod(expr), exprCollation(expr), 0));
        material->targetlist = lappend(material->targetlist, entry);
    }
    return material;
}

bool replace_subtrees(PlannedStmt* statement) {
    Replacer replacer(statement);
    replacer.visit(&statement->planTree, "");
    // A subquery stands behind those inside it, and is taken as the planner made it.
    for (int i = list_length(statement->subplans) - 1; i >= 0; --i) {
        ListCell* cell = list_nth_cell(statement->subplans, i);
        auto* subplan = static_cast<Plan*>(lfirst(cell));
        if (subplan == nullptr) continue;
        Plan* replaced = subplan;
        replacer.changing() =
            pg_call([&] { return bms_add_members(replacer.changing(), subplan->extParam); });
        replacer.visit(&replaced, "");
        // PostgreSQL reads a Sort again without sorting again, and relies on it.
        if (replaced != subplan && IsA(subplan, Sort) && IsA(replaced, CustomScan) &&
            bms_is_empty(subplan->extParam))
            replaced = pg_call([&] { return materialised_maylongjmp(replaced); });
        lfirst(cell) = replaced;
    }
    return replacer.count() > 0;
}

}  // namespace loom::pg
