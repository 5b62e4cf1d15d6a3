#include "pg/plan/stored_plan.h"

#include "pg/bridge/bridge.h"
#include "pg/node/loom_scan.h"
#include "plan/serialise.h"

namespace loom::pg {

namespace {

List* strings_maylongjmp(const std::vector<std::string>& texts) {
    List* list = NIL;
    for (const std::string& text : texts) list = lappend(list, makeString(pstrdup(text.c_str())));
    return list;
}

List* type_maylongjmp(plan::Type type) {
    return list_make3(makeInteger(static_cast<int>(type.id)), makeInteger(type.precision),
                      makeInteger(type.scale));
}

List* parameter_maylongjmp(const HostParameter& parameter) {
    return lappend(type_maylongjmp(parameter.type), makeInteger(parameter.is_list ? 1 : 0));
}

List* table_maylongjmp(const ScanTable& table) {
    List* list = list_make1(makeInteger(static_cast<int>(table.relation)));
    list = lappend(list, makeInteger(static_cast<int>(table.rtindex)));
    list = lappend(list, table.quals);
    list = lappend(list, makeInteger(list_length(table.values)));
    return lappend(list, makeInteger(list_length(table.virtual_quals)));
}

Const* bytes_maylongjmp(const std::string& bytes) {
    auto* value = static_cast<bytea*>(palloc(bytes.size() + VARHDRSZ));
    SET_VARSIZE(value, bytes.size() + VARHDRSZ);
    memcpy(VARDATA(value), bytes.data(), bytes.size());
    return makeConst(BYTEAOID, -1, InvalidOid, -1, PointerGetDatum(value), false, false);
}

int int_at(const List* list, int index) {
    return intVal(list_nth(list, index));
}

plan::Type type_at(const List* list) {
    return {static_cast<plan::TypeId>(int_at(list, 0)), static_cast<uint8_t>(int_at(list, 1)),
            static_cast<int16_t>(int_at(list, 2))};
}

}  // namespace

CustomScan* make_loom_scan(const BuiltPlan& built, Plan* original) {
    const std::string bytes = plan::serialise(built.root);
    return pg_call([&] {
        auto* node = makeNode(CustomScan);
        Plan* plan = &node->scan.plan;
        // Costs, parameters and flags are those of the subtree. Its order among the nodes as well.
        const NodeTag tag = plan->type;
        *plan = *original;
        plan->type = tag;
        plan->targetlist = built.targetlist;
        plan->qual = built.qual;
        plan->lefttree = original;
        plan->righttree = nullptr;
        plan->initPlan = NIL;
        plan->parallel_aware = false;
        plan->parallel_safe = false;
        plan->async_capable = false;
        unmark_disabled(plan);
        // A subplan is executed once wherever its node is initialised, so each has one owner.
        for (Plan* below : built.nodes) {
            plan->initPlan = list_concat(plan->initPlan, below->initPlan);
            below->initPlan = NIL;
        }
        List* parameters = NIL;
        List* tables = NIL;
        for (const HostParameter& parameter : built.parameters) {
            parameters = lappend(parameters, parameter_maylongjmp(parameter));
            node->custom_exprs = lappend(node->custom_exprs, parameter.expr);
        }
        for (const ScanTable& table : built.tables) {
            tables = lappend(tables, table_maylongjmp(table));
            node->custom_exprs = list_concat(node->custom_exprs, table.values);
            node->custom_exprs = list_concat(node->custom_exprs, table.virtual_quals);
        }
        List* calls = NIL;
        for (const HostCall& call : built.calls) {
            calls = lappend(calls, type_maylongjmp(call.type));
            node->custom_exprs = lappend(node->custom_exprs, call.expr);
        }
        node->custom_private = list_make5(bytes_maylongjmp(bytes), parameters, tables,
                                          strings_maylongjmp(built.not_pushed), calls);
        node->custom_private =
            lappend(node->custom_private, makeString(pstrdup(built.session_zone.c_str())));
        for (Plan* rows : built.row_plans) node->custom_plans = lappend(node->custom_plans, rows);
        node->custom_scan_tlist = built.scan_tlist;
        node->custom_relids = built.relids;
        node->methods = loom_scan_methods();
        return node;
    });
}

StoredPlan read_stored_plan(const CustomScan* scan) {
    StoredPlan stored;
    const auto* bytes = static_cast<const Const*>(linitial(scan->custom_private));
    const auto* value = reinterpret_cast<const bytea*>(DatumGetPointer(bytes->constvalue));
    stored.root = plan::deserialise({reinterpret_cast<const uint8_t*>(VARDATA_ANY(value)),
                                     static_cast<size_t>(VARSIZE_ANY_EXHDR(value))});
    const ListCell* cell;
    foreach (cell, static_cast<List*>(lsecond(scan->custom_private))) {
        const auto* list = static_cast<List*>(lfirst(cell));
        stored.parameters.push_back({type_at(list), int_at(list, 3) != 0});
    }
    foreach (cell, static_cast<List*>(lthird(scan->custom_private))) {
        const auto* list = static_cast<List*>(lfirst(cell));
        StoredTable table;
        table.relation = static_cast<Oid>(int_at(list, 0));
        table.rtindex = static_cast<Index>(int_at(list, 1));
        table.quals = static_cast<List*>(list_nth(list, 2));
        table.value_count = int_at(list, 3);
        table.virtual_count = int_at(list, 4);
        stored.tables.push_back(table);
    }
    foreach (cell, static_cast<List*>(lfourth(scan->custom_private)))
        stored.not_pushed.emplace_back(strVal(lfirst(cell)));
    foreach (cell, static_cast<List*>(list_nth(scan->custom_private, 4)))
        stored.calls.push_back(type_at(static_cast<List*>(lfirst(cell))));
    stored.session_zone = strVal(list_nth(scan->custom_private, 5));
    return stored;
}

}  // namespace loom::pg
