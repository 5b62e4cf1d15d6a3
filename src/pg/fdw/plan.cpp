// Estimates, paths and plans.

#include <algorithm>
#include <map>

#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"
#include "pg/fdw/kept_files.h"
#include "pg/guc/settings.h"

extern "C" {
#include "access/table.h"
#include "optimizer/cost.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
}

namespace loom::pg {

namespace {

// More files than this are estimated from a sample of them.
constexpr size_t kMaxFilesOpened = 64;
constexpr Cost kStartupCost = 10;

// Sizes learned from footers, kept by file version so that planning twice does not parse twice.
struct KnownFile {
    io::FileIdentity identity;
    double rows;
    double bytes;
};
constexpr size_t kMaxKnownFiles = 8192;

KnownFile learn(const std::string& path) {
    static std::map<std::string, KnownFile> known;
    const io::FileIdentity identity = io::stat_local_file(path);
    const auto found = known.find(path);
    if (found != known.end() && found->second.identity == identity) return found->second;
    const auto table = format::open_table(open_kept_file(path), {});
    KnownFile file{table->file().identity(), static_cast<double>(table->row_count()),
                   static_cast<double>(table->file().size())};
    if (known.size() >= kMaxKnownFiles) known.clear();
    known[path] = file;
    return file;
}

struct TableSize {
    double rows = 0;
    double bytes = 0;
};

TableSize measure(const std::vector<io::SourceFile>& files) {
    TableSize size;
    const size_t step = (files.size() + kMaxFilesOpened - 1) / kMaxFilesOpened;
    double sampled_bytes = 0;
    for (size_t i = 0; i < files.size(); i += std::max<size_t>(step, 1)) {
        const KnownFile file = learn(files[i].path);
        size.rows += file.rows;
        sampled_bytes += file.bytes;
    }
    if (step <= 1) {
        size.bytes = sampled_bytes;
        return size;
    }
    for (const io::SourceFile& file : files)
        size.bytes += static_cast<double>(io::stat_local_file(file.path).size);
    if (sampled_bytes > 0) size.rows *= size.bytes / sampled_bytes;
    return size;
}

TableDef table_def(Oid table) {
    Relation relation = pg_call([&] { return table_open(table, NoLock); });
    TableDef def = read_table_def(relation);
    pg_call([&] { table_close(relation, NoLock); });
    return def;
}

// The attributes that the query needs of a relation: all of them for a whole-row reference.
std::vector<AttrNumber> referenced_columns(const RelOptInfo* rel, const TableDef& def) {
    Bitmapset* attributes = pg_call([&] {
        Bitmapset* set = nullptr;
        pull_varattnos(reinterpret_cast<Node*>(rel->reltarget->exprs), rel->relid, &set);
        const ListCell* cell;
        foreach (cell, rel->baserestrictinfo)
            pull_varattnos(reinterpret_cast<Node*>(lfirst_node(RestrictInfo, cell)->clause),
                           rel->relid, &set);
        return set;
    });
    const bool whole_row = bms_is_member(-FirstLowInvalidHeapAttributeNumber, attributes);
    std::vector<AttrNumber> result;
    for (size_t i = 0; i < def.columns.size(); ++i) {
        const auto attribute = static_cast<AttrNumber>(i + 1);
        if (def.columns[i].source == ColumnSource::kDropped) continue;
        if (whole_row || bms_is_member(attribute - FirstLowInvalidHeapAttributeNumber, attributes))
            result.push_back(attribute);
    }
    return result;
}

double column_share(const RelationPlan& plan) {
    const double columns = std::max<double>(1, static_cast<double>(plan.def.columns.size()));
    return static_cast<double>(plan.referenced.size()) / columns;
}

struct ScanCost {
    Cost startup;
    Cost total;
};

ScanCost scan_cost(const RelOptInfo* rel, const RelationPlan& plan, double divisor) {
    const double pages = plan.bytes * column_share(plan) / BLCKSZ;
    const Cost cpu = cpu_tuple_cost + rel->baserestrictcost.per_tuple +
                     cpu_operator_cost * static_cast<double>(plan.referenced.size());
    const Cost startup = kStartupCost + rel->baserestrictcost.startup;
    return {startup, startup + (seq_page_cost * pages + cpu * rel->tuples) / divisor};
}

}  // namespace

void get_rel_size(PlannerInfo* root, RelOptInfo* rel, Oid table) {
    pg_entry([=] {
        auto* plan = make_in_context<RelationPlan>(root->planner_cxt);
        plan->def = table_def(table);
        plan->referenced = referenced_columns(rel, plan->def);
        const TableSize size = measure(io::list_files(plan->def.options.files));
        plan->rows = size.rows;
        plan->bytes = size.bytes;
        rel->fdw_private = plan;
        rel->tuples = size.rows;
        pg_call([&] { set_baserel_size_estimates(root, rel); });
    });
}

namespace {

// Paths for the inner side of nested loops: a join clause whose other side becomes a parameter may
// let the scan skip row groups.
bool any_member(PlannerInfo*, RelOptInfo*, EquivalenceClass*, EquivalenceMember* member,
                void* arg) {
    auto* done = static_cast<List**>(arg);
    return IsA(member->em_expr, Var) && !list_member(*done, member->em_expr);
}

List* joinable_clauses(PlannerInfo* root, RelOptInfo* rel) {
    List* clauses = list_copy(rel->joininfo);
    if (rel->has_eclass_joins) {
        List* done = NIL;
        clauses = list_concat(clauses, generate_implied_equalities_for_column(
                                           root, rel, any_member, &done, rel->lateral_referencers));
    }
    return clauses;
}

void add_parameterized_paths(PlannerInfo* root, RelOptInfo* rel, const ScanCost& cost) {
    List* clauses = pg_call([&] { return joinable_clauses(root, rel); });
    List* outers = NIL;
    const ListCell* cell;
    foreach (cell, clauses) {
        auto* info = lfirst_node(RestrictInfo, cell);
        List* values = NIL;
        PruneQual qual;
        if (!pg_call([&] { return join_clause_is_movable_to(info, rel); })) continue;
        if (!recognise_prune_qual(info->clause, rel->relid, &values, &qual)) continue;
        pg_call([&] {
            Relids outer = bms_union(info->clause_relids, rel->lateral_relids);
            outer = bms_del_member(outer, static_cast<int>(rel->relid));
            if (bms_is_empty(outer)) return;
            ParamPathInfo* parameters = get_baserel_parampathinfo(root, rel, outer);
            if (parameters == nullptr || list_member_ptr(outers, parameters)) return;
            outers = lappend(outers, parameters);
            // Half of a full scan: skipping may help, but a hash join must win for many outer rows.
            add_path(rel, reinterpret_cast<Path*>(make_foreign_scan_path(
                              root, rel, parameters->ppi_rows, cost.startup,
                              cost.startup + (cost.total - cost.startup) / 2, outer)));
        });
    }
}

void add_parallel_path(PlannerInfo* root, RelOptInfo* rel, const RelationPlan& plan) {
    if (!rel->consider_parallel || rel->lateral_relids != nullptr) return;
    int workers = plan.def.options.parallel_workers;
    if (workers < 0) {
        const double pages = plan.bytes / BLCKSZ;
        workers = pg_call([&] {
            return compute_parallel_worker(rel, pages, -1, max_parallel_workers_per_gather);
        });
    }
    workers = std::min(workers, max_parallel_workers_per_gather);
    if (workers <= 0) return;
    // As PostgreSQL counts the leader: it helps less the more workers it has to serve.
    const double divisor =
        workers + std::max(0.0, parallel_leader_participation ? 1 - 0.3 * workers : 0);
    const ScanCost cost = scan_cost(rel, plan, divisor);
    pg_call([&] {
        ForeignPath* path = make_foreign_scan_path(root, rel, clamp_row_est(rel->rows / divisor),
                                                   cost.startup, cost.total, nullptr);
        path->path.parallel_aware = true;
        path->path.parallel_safe = true;
        path->path.parallel_workers = workers;
        add_partial_path(rel, reinterpret_cast<Path*>(path));
    });
}

}  // namespace

void get_paths(PlannerInfo* root, RelOptInfo* rel, Oid) {
    pg_entry([=] {
        const auto& plan = *static_cast<RelationPlan*>(rel->fdw_private);
        const ScanCost cost = scan_cost(rel, plan, 1);
        pg_call([&] {
            add_path(rel,
                     reinterpret_cast<Path*>(make_foreign_scan_path(
                         root, rel, rel->rows, cost.startup, cost.total, rel->lateral_relids)));
        });
        add_parallel_path(root, rel, plan);
        add_parameterized_paths(root, rel, cost);
    });
}

bool is_parallel_safe(PlannerInfo*, RelOptInfo*, RangeTblEntry*) {
    return true;
}

List* serialise_maylongjmp(const ScanPlan& plan) {
    return list_make5(list_make2(makeInteger(static_cast<int>(plan.kind)),
                                 makeInteger(static_cast<int>(plan.relation))),
                      plan.referenced, plan.quals, makeInteger(plan.value_count),
                      makeInteger(plan.virtual_qual_count));
}

ScanPlan deserialise_scan_plan(List* list) {
    ScanPlan plan;
    auto* head = static_cast<List*>(linitial(list));
    plan.kind = static_cast<ScanPlan::Kind>(intVal(linitial(head)));
    plan.relation = static_cast<Oid>(intVal(lsecond(head)));
    plan.referenced = static_cast<List*>(lsecond(list));
    plan.quals = static_cast<List*>(lthird(list));
    plan.value_count = intVal(lfourth(list));
    plan.virtual_qual_count = intVal(list_nth(list, 4));
    return plan;
}

namespace {

bool only_virtual_columns(Expr* clause, Index relid, const TableDef& def) {
    Bitmapset* attributes = pg_call([&] {
        Bitmapset* set = nullptr;
        Node* node = reinterpret_cast<Node*>(clause);
        if (!contain_volatile_functions(node) && !contain_subplans(node))
            pull_varattnos(node, relid, &set);
        return set;
    });
    if (bms_is_empty(attributes)) return false;
    for (int i = -1; (i = bms_next_member(attributes, i)) >= 0;) {
        const int attribute = i + FirstLowInvalidHeapAttributeNumber;
        if (attribute <= 0 || def.columns[attribute - 1].source != ColumnSource::kPathKey)
            return false;
    }
    return true;
}

struct PlanQuals {
    List* values = NIL;
    List* clauses = NIL;
    List* virtual_quals = NIL;
    List* serialised = NIL;
};

PlanQuals collect_quals(List* clauses, Index relid, const TableDef& def) {
    PlanQuals result;
    const ListCell* cell;
    foreach (cell, clauses) {
        auto* clause = static_cast<Expr*>(lfirst(cell));
        if (only_virtual_columns(clause, relid, def)) {
            pg_call([&] { result.virtual_quals = lappend(result.virtual_quals, clause); });
            continue;
        }
        PruneQual qual;
        List* values = pg_call([&] { return list_copy(result.values); });
        if (!recognise_prune_qual(clause, relid, &values, &qual)) continue;
        if (def.columns[qual.attribute - 1].source != ColumnSource::kField) continue;
        result.values = values;
        List* stored = serialise(qual);
        pg_call([&] {
            result.clauses = lappend(result.clauses, clause);
            result.serialised = lappend(result.serialised, stored);
        });
    }
    return result;
}

ForeignScan* plan_count(const RelOptInfo*, ForeignPath* path, List* tlist) {
    return pg_call([&] {
        List* scan_tlist = add_to_flat_tlist(NIL, path->path.pathtarget->exprs);
        return make_foreignscan(tlist, NIL, 0, NIL, path->fdw_private, scan_tlist, NIL, nullptr);
    });
}

}  // namespace

ForeignScan* get_plan(PlannerInfo*, RelOptInfo* rel, Oid table, ForeignPath* path, List* tlist,
                      List* scan_clauses, Plan* outer_plan) {
    return pg_entry([=] {
        if (IS_UPPER_REL(rel)) return plan_count(rel, path, tlist);
        const auto& relation = *static_cast<RelationPlan*>(rel->fdw_private);
        List* clauses = pg_call([&] { return extract_actual_clauses(scan_clauses, false); });
        const PlanQuals quals = collect_quals(clauses, rel->relid, relation.def);
        ScanPlan plan;
        plan.relation = table;
        plan.quals = quals.serialised;
        plan.value_count = list_length(quals.values);
        plan.virtual_qual_count = list_length(quals.virtual_quals);
        for (AttrNumber attribute : relation.referenced)
            pg_call([&] { plan.referenced = lappend_int(plan.referenced, attribute); });
        // Join clauses that a parameterized path checks here may need further columns.
        pg_call([&] {
            Bitmapset* attributes = nullptr;
            pull_varattnos(reinterpret_cast<Node*>(clauses), rel->relid, &attributes);
            for (int i = -1; (i = bms_next_member(attributes, i)) >= 0;) {
                const int attribute = i + FirstLowInvalidHeapAttributeNumber;
                if (attribute > 0)
                    plan.referenced = list_append_unique_int(plan.referenced, attribute);
            }
        });
        return pg_call([&] {
            // The planner lets scans emit whole rows where that saves a projection; nodes above
            // copy them as tuples, which can't be that wide.
            List* target = tlist;
            if (list_length(tlist) > MaxTupleAttributeNumber) {
                target = make_tlist_from_pathtarget(path->path.pathtarget);
                apply_pathtarget_labeling_to_tlist(target, path->path.pathtarget);
            }
            List* exprs =
                list_concat(list_concat_copy(quals.values, quals.clauses), quals.virtual_quals);
            return make_foreignscan(target, clauses, rel->relid, exprs, serialise_maylongjmp(plan),
                                    NIL, NIL, outer_plan);
        });
    });
}

namespace {

// Returns whether a query asks for nothing but count(*) of a whole table.
bool is_plain_count(PlannerInfo* root, RelOptInfo* input, RelOptInfo* output) {
    Query* query = root->parse;
    if (input->reloptkind != RELOPT_BASEREL || input->baserestrictinfo != NIL ||
        input->fdw_private == nullptr || query->groupClause != NIL || query->groupingSets != NIL ||
        query->havingQual != nullptr || root->hasHavingQual || !query->hasAggs ||
        list_length(query->jointree->fromlist) != 1)
        return false;
    const ListCell* cell;
    PathTarget* target = root->upper_targets[UPPERREL_GROUP_AGG];
    if (target->exprs == NIL) return false;
    foreach (cell, target->exprs) {
        if (!IsA(lfirst(cell), Aggref)) return false;
        const auto* aggregate = static_cast<Aggref*>(lfirst(cell));
        if (aggregate->aggfnoid != F_COUNT_ || aggregate->aggfilter != nullptr) return false;
    }
    return output->fdwroutine != nullptr;
}

}  // namespace

void get_upper_paths(PlannerInfo* root, UpperRelationKind stage, RelOptInfo* input,
                     RelOptInfo* output, void*) {
    if (stage != UPPERREL_GROUP_AGG || !g_enabled || !is_plain_count(root, input, output)) return;
    pg_entry([=] {
        ScanPlan plan;
        plan.kind = ScanPlan::Kind::kCount;
        plan.relation = root->simple_rte_array[input->relid]->relid;
        pg_call([&] {
            add_path(output,
                     reinterpret_cast<Path*>(make_foreign_upper_path(
                         root, output, root->upper_targets[UPPERREL_GROUP_AGG], 1, kStartupCost,
                         kStartupCost + cpu_tuple_cost, serialise_maylongjmp(plan))));
        });
    });
}

}  // namespace loom::pg
