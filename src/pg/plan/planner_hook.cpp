// The planner hook: queries that read tables of arrow_fdw are planned with settings that lead to
// plans the engine can run; what it can run is then replaced by LoomScan nodes.

#include "pg/plan/planner_hook.h"

#include <algorithm>
#include <optional>

#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "pg/plan/builder.h"
#include "pg/plan/replace.h"
#include "pg/plan/sql_type.h"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/planner.h"
#include "utils/guc.h"
}

namespace loom::pg {

namespace {

planner_hook_type previous_hook = nullptr;

// Settings that decide the shape of plans.
struct PlannerSettings {
    bool nestloop, mergejoin, memoize, incremental_sort, partitionwise_join,
        partitionwise_aggregate, indexscan, indexonlyscan, bitmapscan;
    int workers;
};

PlannerSettings current_settings() {
    return {enable_nestloop,
            enable_mergejoin,
            enable_memoize,
            enable_incremental_sort,
            enable_partitionwise_join,
            enable_partitionwise_aggregate,
            enable_indexscan,
            enable_indexonlyscan,
            enable_bitmapscan,
            max_parallel_workers_per_gather};
}

void apply(const PlannerSettings& settings) {
    enable_nestloop = settings.nestloop;
    enable_mergejoin = settings.mergejoin;
    enable_memoize = settings.memoize;
    enable_incremental_sort = settings.incremental_sort;
    enable_partitionwise_join = settings.partitionwise_join;
    enable_partitionwise_aggregate = settings.partitionwise_aggregate;
    enable_indexscan = settings.indexscan;
    enable_indexonlyscan = settings.indexonlyscan;
    enable_bitmapscan = settings.bitmapscan;
    max_parallel_workers_per_gather = settings.workers;
}

// A table that stands for a file has no indexes, unless the user wants them.
PlannerSettings settings_for_engine(const PlannerSettings& users) {
    PlannerSettings settings = users;
    settings.nestloop = settings.mergejoin = settings.memoize = false;
    settings.incremental_sort = false;
    settings.partitionwise_join = settings.partitionwise_aggregate = false;
    settings.workers = 0;
    if (g_shim && enable_seqscan)
        settings.indexscan = settings.indexonlyscan = settings.bitmapscan = false;
    return settings;
}

// The user's settings while others are in force, or null. A function that is evaluated during
// planning may plan queries of its own.
const PlannerSettings* user_settings = nullptr;

// Puts settings in force until the end of a block. Touches plain variables only.
class SettingsScope {
  public:
    SettingsScope(const PlannerSettings& settings, const PlannerSettings* users)
        : saved_(current_settings()), saved_user_(user_settings) {
        user_settings = users;
        apply(settings);
    }
    ~SettingsScope() {
        apply(saved_);
        user_settings = saved_user_;
    }
    SettingsScope(const SettingsScope&) = delete;
    SettingsScope& operator=(const SettingsScope&) = delete;

  private:
    PlannerSettings saved_;
    const PlannerSettings* saved_user_;
};

bool reads_arrow_table_maylongjmp(const RangeTblEntry* entry) {
    if (entry->rtekind != RTE_RELATION) return false;
    if (entry->relkind == RELKIND_FOREIGN_TABLE) return is_arrow_table(entry->relid);
    if (!entry->inh || (entry->relkind != RELKIND_PARTITIONED_TABLE && !has_subclass(entry->relid)))
        return false;
    const ListCell* cell;
    foreach (cell, find_all_inheritors(entry->relid, NoLock, nullptr)) {
        const Oid child = lfirst_oid(cell);
        if (get_rel_relkind(child) == RELKIND_FOREIGN_TABLE && is_arrow_table(child)) return true;
    }
    return false;
}

bool reads_arrow_maylongjmp(Query* query);

bool expression_reads_arrow_maylongjmp(Node* node, void*) {
    if (node == nullptr) return false;
    if (IsA(node, Query)) return reads_arrow_maylongjmp(reinterpret_cast<Query*>(node));
    return walk_expression(node, expression_reads_arrow_maylongjmp, nullptr);
}

// Looks at range tables, and at expressions only if queries are in them: every statement of a
// session pays for this.
bool reads_arrow_maylongjmp(Query* query) {
    check_stack_depth();
    const ListCell* cell;
    foreach (cell, query->rtable) {
        const RangeTblEntry* entry = lfirst_node(RangeTblEntry, cell);
        if (entry->rtekind == RTE_SUBQUERY ? reads_arrow_maylongjmp(entry->subquery)
                                           : reads_arrow_table_maylongjmp(entry))
            return true;
    }
    foreach (cell, query->cteList) {
        const auto* cte = lfirst_node(CommonTableExpr, cell);
        if (expression_reads_arrow_maylongjmp(cte->ctequery, nullptr)) return true;
    }
    return query->hasSubLinks && walk_query(query, expression_reads_arrow_maylongjmp, nullptr,
                                            QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
}

struct Request {
    Query* query;
    const char* text;
    int options;
    ParamListInfo parameters;
};

PlannedStmt* plan_normally_maylongjmp(const Request& request) {
    auto* planner = previous_hook != nullptr ? previous_hook : standard_planner;
    return planner(request.query, request.text, request.options, request.parameters);
}

// A cursor may be read backwards unless it says otherwise, which a LoomScan cannot do.
void keep_scrolling(PlannedStmt* statement, int options, bool could_scroll) {
    const bool wanted = (options & CURSOR_OPT_SCROLL) != 0 ||
                        ((options & CURSOR_OPT_FAST_PLAN) != 0 &&
                         (options & CURSOR_OPT_NO_SCROLL) == 0 && could_scroll);
    pg_call([&] {
        if (wanted && !ExecSupportsBackwardScan(statement->planTree))
            statement->planTree = materialised_maylongjmp(statement->planTree);
    });
}

PlannedStmt* plan_with_engine(const Request& request) {
    Request copy = request;
    copy.query = pg_call([&] { return copy_object_maylongjmp(request.query); });
    PlannedStmt* statement = nullptr;
    {
        const PlannerSettings users = current_settings();
        const SettingsScope scope(settings_for_engine(users), &users);
        statement = pg_call([&] { return plan_normally_maylongjmp(copy); });
    }
    const bool could_scroll =
        pg_call([&] { return ExecSupportsBackwardScan(statement->planTree); });
    if ((request.options & CURSOR_OPT_FAST_PLAN) != 0 &&
        is_updatable_at_cursor(statement->planTree))
        return nullptr;
    if (!replace_subtrees(statement)) return nullptr;
    keep_scrolling(statement, request.options, could_scroll);
    // Compiling what little PostgreSQL still evaluates would take longer than evaluating it.
    if (IsA(statement->planTree, CustomScan)) statement->jitFlags = PGJIT_NONE;
    return statement;
}

// Lets errors through only, until the end of a block: what a query's constants have to say was said
// when it was planned for the engine.
class QuietScope {
  public:
    explicit QuietScope(bool wanted) : client_(client_min_messages), log_(log_min_messages) {
        if (!wanted) return;
        client_min_messages = std::max(client_min_messages, ERROR);
        log_min_messages = std::max(log_min_messages, ERROR);
    }
    ~QuietScope() {
        client_min_messages = client_;
        log_min_messages = log_;
    }
    QuietScope(const QuietScope&) = delete;
    QuietScope& operator=(const QuietScope&) = delete;

  private:
    int client_;
    int log_;
};

// With pg_loom.shim whatever has rows is worth a try.
bool reads_anything_maylongjmp(Node* node, void*) {
    if (node == nullptr) return false;
    if (IsA(node, RangeTblEntry))
        return reinterpret_cast<RangeTblEntry*>(node)->rtekind != RTE_RESULT;
    if (IsA(node, Query))
        return walk_query(reinterpret_cast<Query*>(node), reads_anything_maylongjmp, nullptr,
                          QTW_EXAMINE_RTES_BEFORE);
    return walk_expression(node, reads_anything_maylongjmp, nullptr);
}

PlannedStmt* plan_query(Query* query, const char* text, int options, ParamListInfo parameters) {
    return pg_entry([=] {
        const Request request{query, text, options, parameters};
        std::optional<SettingsScope> restored;
        if (user_settings != nullptr) restored.emplace(*user_settings, nullptr);
        const bool ours = g_enabled && query->commandType != CMD_UTILITY && pg_call([&] {
                              auto* node = reinterpret_cast<Node*>(query);
                              return g_shim ? reads_anything_maylongjmp(node, nullptr)
                                            : reads_arrow_maylongjmp(query);
                          });
        PlannedStmt* statement = ours ? plan_with_engine(request) : nullptr;
        if (statement != nullptr) return statement;
        const QuietScope quiet(ours);
        return pg_call([&] { return plan_normally_maylongjmp(request); });
    });
}

}  // namespace

void install_planner_hook() {
    previous_hook = planner_hook;
    planner_hook = plan_query;
}

}  // namespace loom::pg
