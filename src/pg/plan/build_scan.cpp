// Nodes that read tables, and nodes that hand on rows as they are.

#include <algorithm>

#include "exec/scan/load_nested.h"
#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"
#include "pg/fdw/kept_files.h"
#include "pg/node/table_files.h"
#include "pg/plan/builder.h"
#include "pg/plan/layout.h"
#include "pg/plan/sql_type.h"
#include "plan/numeric_expr.h"
#include "plan/numeric_type.h"

extern "C" {
#include "access/table.h"
}

namespace loom::pg {

using plan::OperatorKind;
using plan::Type;
using plan::TypeId;

namespace {

struct Table {
    TableDef def;
    std::string name;
};

Table read_table(Oid oid) {
    Relation relation = pg_call([&] { return table_open(oid, NoLock); });
    Table table;
    table.def = read_table_def(relation);
    table.name = RelationGetRelationName(relation);
    pg_call([&] { table_close(relation, NoLock); });
    return table;
}

// The schema of a table's first file, if it can be read. Execution checks each file; this spares
// plans that could not run.
std::optional<column::Schema> first_schema(const TableDef& def) {
    try {
        const std::vector<io::SourceFile> files = io::list_files(def.options.files);
        if (files.empty()) return std::nullopt;
        return format::open_table(open_kept_file(files[0].path), {})->schema();
    } catch (const base::Error&) {
        return std::nullopt;
    }
}

// The type that the engine can load a column as. A numeric without one has the scale of the file's
// decimals.
std::optional<Type> column_type(const ColumnDef& column, const column::Schema* schema) {
    if (column.source == ColumnSource::kDropped || column.source == ColumnSource::kMetadataSplit)
        return std::nullopt;
    // A domain's constraints are checked value by value.
    if (pg_call([&] { return get_typtype(column.type) == TYPTYPE_DOMAIN; })) return std::nullopt;
    const bool is_numeric = column.type == NUMERICOID;
    if (!is_numeric && column.typmod >= 0 && column.source != ColumnSource::kField)
        return std::nullopt;
    std::optional<Type> type = engine_type(column.type, column.typmod);
    if (column.source != ColumnSource::kField || schema == nullptr) return type;
    int field = -1;
    try {
        field = find_field(*schema, column.source_name);
    } catch (const base::Error&) {
        return std::nullopt;
    }
    if (field < 0) return type;
    const column::DataType& stored = *schema->fields[static_cast<size_t>(field)].type;
    if (is_numeric && column.typmod < 0 && stored.id == column::TypeId::kDecimal &&
        stored.precision <= plan::kMaxPrecision && stored.scale >= 0 &&
        stored.scale <= stored.precision)
        type = plan::make_numeric(stored.precision, stored.scale);
    if (!type || !loads_values(column, stored)) return std::nullopt;
    bool loads;
    if (plan::is_opaque(*type)) {
        const auto layout = nested_layout(type->oid);
        loads = layout && exec::can_load(stored, *layout);
    } else {
        loads = exec::can_load(stored, *type);
    }
    return loads ? type : std::nullopt;
}

bool is_arrow_scan(const ForeignScan* scan) {
    return scan->operation == CMD_SELECT && scan->scan.scanrelid > 0 &&
           scan->fdw_scan_tlist == NIL && outerPlan(scan) == nullptr &&
           is_arrow_server(scan->fs_server);
}

}  // namespace

namespace {

bool reads_varying_maylongjmp(Node* node, void* varying) {
    if (node == nullptr) return false;
    if (IsA(node, Param)) {
        const auto* param = reinterpret_cast<Param*>(node);
        return param->paramkind == PARAM_EXEC &&
               bms_is_member(param->paramid, static_cast<Bitmapset*>(varying));
    }
    return walk_expression(node, reads_varying_maylongjmp, varying);
}

bool uses_value(const PruneQual& qual, const std::vector<bool>& which) {
    if (qual.value_index >= 0 && which[static_cast<size_t>(qual.value_index)]) return true;
    return std::any_of(qual.arms.begin(), qual.arms.end(),
                       [&](const PruneQual& arm) { return uses_value(arm, which); });
}

// What a scan skips by. Conditions on the row of an enclosing query are left out: the engine reads
// the table once for all of its rows.
ScanTable scan_table(const ScanPlan& stored, List* exprs, Bitmapset* varying) {
    ScanTable source;
    source.relation = stored.relation;
    const int clauses = list_length(stored.quals);
    std::vector<bool> unknown(static_cast<size_t>(stored.value_count));
    int index = 0;
    const ListCell* cell;
    foreach (cell, exprs) {
        auto* expr = static_cast<Node*>(lfirst(cell));
        const bool varies = pg_call([&] { return reads_varying_maylongjmp(expr, varying); });
        pg_call([&] {
            if (index < stored.value_count)
                source.values = lappend(
                    source.values,
                    varies ? makeNullConst(exprType(expr), -1, exprCollation(expr)) : lfirst(cell));
            else if (index >= stored.value_count + clauses && !varies)
                source.virtual_quals = lappend(source.virtual_quals, expr);
        });
        if (index < stored.value_count) unknown[static_cast<size_t>(index)] = varies;
        ++index;
    }
    foreach (cell, stored.quals) {
        auto* qual = static_cast<List*>(lfirst(cell));
        if (uses_value(deserialise_prune_qual(qual), unknown)) continue;
        pg_call([&] { source.quals = lappend(source.quals, qual); });
    }
    return source;
}

}  // namespace

std::optional<Core> Builder::scan(ForeignScan* node) {
    if (!is_arrow_scan(node)) return refuse("a foreign scan of another kind");
    const ScanPlan stored = deserialise_scan_plan(node->fdw_private);
    if (stored.kind != ScanPlan::Kind::kRows) return refuse("rows are counted from metadata");
    const Table table = read_table(stored.relation);
    const auto rtindex = node->scan.scanrelid;
    relids_ = pg_call([&] { return bms_add_member(relids_, static_cast<int>(rtindex)); });

    Core core;
    core.op.kind = OperatorKind::kScan;
    core.op.name = table.name;
    core.op.source = static_cast<int>(tables_.size());
    core.op.rows = node->scan.plan.qual == NIL ? node->scan.plan.plan_rows : 0;
    const std::optional<column::Schema> schema = first_schema(table.def);
    const ListCell* cell;
    foreach (cell, stored.referenced) {
        const auto attribute = static_cast<AttrNumber>(lfirst_int(cell));
        const ColumnDef& column = table.def.columns[static_cast<size_t>(attribute - 1)];
        const auto type = column_type(column, schema ? &*schema : nullptr);
        if (!type) continue;
        auto* var = pg_call([&] {
            return makeVar(static_cast<int>(rtindex), attribute, column.type, column.typmod,
                           column.collation, 0);
        });
        core.scope.push_back({reinterpret_cast<Node*>(var), *type, nullptr});
        core.op.output.push_back(*type);
        core.op.columns.push_back(column.name);
        core.op.host_columns.push_back(attribute);
    }

    // Columns that nothing reads stand in the target list all the same; they are NULL.
    foreach (cell, node->scan.plan.targetlist) {
        auto* expr = reinterpret_cast<Node*>(lfirst_node(TargetEntry, cell)->expr);
        if (!IsA(expr, Var)) continue;
        const auto* var = reinterpret_cast<Var*>(expr);
        if (var->varattno <= 0 || list_member_int(stored.referenced, var->varattno)) continue;
        core.substitutes.emplace_back(expr, pg_call([&] {
                                          return reinterpret_cast<Node*>(makeNullConst(
                                              var->vartype, var->vartypmod, var->varcollid));
                                      }));
    }

    ScanTable source = scan_table(stored, node->fdw_exprs, translator_.outer().varying);
    source.rtindex = rtindex;
    tables_.push_back(source);
    if (!check(core.op)) return std::nullopt;
    return core;
}

std::optional<Core> Builder::subquery(SubqueryScan* node, Order order) {
    auto below = build(node->subplan, order);
    if (!below) return std::nullopt;
    Core core;
    core.scope =
        scope_of(node->subplan->targetlist, static_cast<int>(node->scan.scanrelid), *below);
    core.op = std::move(below->op);
    core.lifted = std::move(below->lifted);
    relids_ =
        pg_call([&] { return bms_add_member(relids_, static_cast<int>(node->scan.scanrelid)); });
    return core;
}

std::optional<Core> Builder::pass_through(Plan* plan, Order order) {
    auto below = build(outerPlan(plan), order);
    if (!below) return std::nullopt;
    Core core;
    core.scope = scope_of(outerPlan(plan)->targetlist, OUTER_VAR, *below);
    core.op = std::move(below->op);
    core.lifted = std::move(below->lifted);
    return core;
}

std::optional<Core> Builder::result(Result* node, Order order) {
    Plan* plan = &node->plan;
    if (outerPlan(plan) == nullptr) return refuse("rows without a table");
    auto core = pass_through(plan, order);
    if (!core || node->resconstantqual == nullptr) return core;
    // A condition without columns, which holds for all rows or for none.
    std::vector<plan::Expr> predicates;
    const ListCell* cell;
    foreach (cell, reinterpret_cast<List*>(node->resconstantqual)) {
        auto predicate = translate(static_cast<Node*>(lfirst(cell)), {}, "one-time filter");
        if (!predicate) return std::nullopt;
        // PostgreSQL raises its error even if there is no row.
        if (!cannot_fault(*predicate)) return refuse("a one-time filter that may fail");
        predicates.push_back(std::move(*predicate));
    }
    if (!add_filter(*core, predicates, plan->plan_rows)) return std::nullopt;
    return core;
}

std::optional<Core> Builder::cte_scan(CteScan* node, Order order) {
    Plan* plan = original_subplan(statement_, node->ctePlanId);
    if (plan == nullptr) return refuse("a common table expression of this kind");
    const auto keys = order_of(plan);
    if (order == Order::kKept && (!keys || !keys->empty()))
        return refuse("the order of a common table expression");
    auto known = ctes_.find(node->ctePlanId);
    if (known == ctes_.end()) {
        auto built = build(plan, Order::kAny);
        if (!built) return std::nullopt;
        if (!built->lifted.empty()) return refuse("a value of an enclosing query");
        built->op = share(std::move(built->op));
        known = ctes_.emplace(node->ctePlanId, std::move(*built)).first;
    }
    Core core;
    const auto rtindex = static_cast<int>(node->scan.scanrelid);
    core.scope = scope_of(plan->targetlist, rtindex, known->second);
    core.op = known->second.op;
    relids_ = pg_call([&] { return bms_add_member(relids_, rtindex); });
    return core;
}

namespace {

// Makes `common` the types that hold the values of both; false if there are none.
bool find_common_types(const std::vector<Type>& types, std::vector<Type>* common) {
    if (types.size() != common->size()) return false;
    for (size_t i = 0; i < types.size(); ++i) {
        Type& type = (*common)[i];
        if (types[i] == type) continue;
        if (types[i].id != TypeId::kNumeric || type.id != TypeId::kNumeric) return false;
        type = plan::numeric_choice_type(types[i], type);
    }
    return true;
}

// Brings the columns of an operator to types that find_common_types() found for them.
void convert_columns(plan::Operator& op, const std::vector<Type>& types) {
    if (op.output == types) return;
    std::vector<plan::Expr> columns;
    for (size_t i = 0; i < types.size(); ++i)
        columns.push_back(
            plan::as_numeric(plan::make_column(static_cast<int>(i), op.output[i]), types[i]));
    op = project(std::move(op), std::move(columns));
}

}  // namespace

std::optional<Core> Builder::append(Plan* plan, List* children) {
    if (children == NIL) return refuse("an empty append");
    Built built;
    plan::Operator& op = built.op;
    op.kind = OperatorKind::kAppend;
    op.rows = plan->plan_rows;
    const ListCell* cell;
    foreach (cell, children) {
        auto input = build(static_cast<Plan*>(lfirst(cell)), Order::kAny);
        if (!input) return std::nullopt;
        if (!input->lifted.empty()) return refuse("append: a value of an enclosing query");
        if (op.inputs.empty()) {
            op.output = input->op.output;
            built.present = input->present;
        } else if (!find_common_types(input->op.output, &op.output)) {
            return refuse("append: inputs of different types");
        }
        for (size_t i = 0; i < built.present.size(); ++i)
            built.present[i] = built.present[i] && input->present[i];
        op.inputs.push_back(std::move(input->op));
    }
    for (plan::Operator& input : op.inputs) convert_columns(input, op.output);
    Core core;
    core.scope = scope_of(static_cast<Plan*>(linitial(children))->targetlist, OUTER_VAR, built);
    core.op = std::move(op);
    if (!check(core.op)) return std::nullopt;
    return core;
}

}  // namespace loom::pg
