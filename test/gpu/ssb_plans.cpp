#include "ssb_plans.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "format/table_reader.h"
#include "io/file.h"

namespace loom::gpu {

namespace {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;
using plan::TypeId;

constexpr plan::Type kInt = plan::make_type(TypeId::kInt4);
constexpr plan::Type kText = plan::make_type(TypeId::kText);
constexpr plan::Type kBool = plan::make_type(TypeId::kBool);

constexpr uint32_t kEqual = 65, kAtMost = 149, kAtLeast = 150;  // of int4
constexpr uint32_t kTextEqual = 67, kTextAtMost = 741, kTextAtLeast = 743;
constexpr uint32_t kMultiply = 141, kSubtract = 181, kSum = 2108;

struct TableDefinition {
    const char* name;
    std::vector<std::pair<const char*, plan::Type>> columns;
};

const std::vector<TableDefinition>& tables() {
    static const std::vector<TableDefinition> all = {
        {"lineorder",
         {{"lo_custkey", kInt},
          {"lo_partkey", kInt},
          {"lo_suppkey", kInt},
          {"lo_orderdate", kInt},
          {"lo_quantity", kInt},
          {"lo_extendedprice", kInt},
          {"lo_discount", kInt},
          {"lo_revenue", kInt},
          {"lo_supplycost", kInt}}},
        {"date",
         {{"d_datekey", kInt},
          {"d_year", kInt},
          {"d_yearmonthnum", kInt},
          {"d_weeknuminyear", kInt},
          {"d_yearmonth", kText}}},
        {"customer",
         {{"c_custkey", kInt}, {"c_city", kText}, {"c_nation", kText}, {"c_region", kText}}},
        {"supplier",
         {{"s_suppkey", kInt}, {"s_city", kText}, {"s_nation", kText}, {"s_region", kText}}},
        {"part",
         {{"p_partkey", kInt}, {"p_mfgr", kText}, {"p_category", kText}, {"p_brand1", kText}}}};
    return all;
}
enum TableNumber { kLineorder, kDate, kCustomer, kSupplier, kPart };

// A tree whose columns are known by name.
struct Tree {
    Operator op;
    std::vector<std::string> names;

    Expr column(const std::string& name) const {
        size_t i = 0;
        while (names[i] != name) ++i;
        return plan::make_column(static_cast<int>(i), op.output[i]);
    }
};

Expr integer(int64_t value) {
    return plan::make_constant(kInt, column::Scalar::of_int(value));
}
Expr text(const char* value) {
    return plan::make_constant(kText, column::Scalar::of_bytes(value));
}
Expr call(uint32_t function, Expr a, Expr b, plan::Type type = kBool) {
    return plan::make_call(function, type, {std::move(a), std::move(b)});
}
Expr either(Expr a, Expr b) {
    Expr expr;
    expr.kind = ExprKind::kOr;
    expr.type = kBool;
    expr.args = {std::move(a), std::move(b)};
    return expr;
}

Tree scan(int table, double rows) {
    Tree tree;
    tree.op.kind = OperatorKind::kScan;
    tree.op.source = table;
    tree.op.rows = rows;
    tree.op.name = tables()[static_cast<size_t>(table)].name;
    for (const auto& [name, type] : tables()[static_cast<size_t>(table)].columns) {
        tree.names.emplace_back(name);
        tree.op.columns.emplace_back(name);
        tree.op.output.push_back(type);
    }
    return tree;
}

// `share` of the rows are left.
Tree filter(Tree below, std::vector<Expr> predicates, double share) {
    Tree tree;
    tree.names = below.names;
    tree.op.kind = OperatorKind::kFilter;
    tree.op.output = below.op.output;
    tree.op.rows = below.op.rows * share;
    tree.op.predicates = std::move(predicates);
    tree.op.inputs = {std::move(below.op)};
    return tree;
}

Tree join(Tree probe, const std::string& probe_key, Tree build, const std::string& build_key,
          double share) {
    Tree tree;
    tree.op.kind = OperatorKind::kJoin;
    tree.op.probe_keys = {probe.column(probe_key)};
    tree.op.build_keys = {build.column(build_key)};
    tree.op.rows = probe.op.rows * share;
    tree.names = probe.names;
    tree.names.insert(tree.names.end(), build.names.begin(), build.names.end());
    tree.op.output = probe.op.output;
    tree.op.output.insert(tree.op.output.end(), build.op.output.begin(), build.op.output.end());
    tree.op.inputs = {std::move(probe.op), std::move(build.op)};
    return tree;
}

Operator sum(Tree below, Expr argument, const std::vector<std::string>& keys) {
    Operator op;
    op.kind = OperatorKind::kAggregate;
    for (const std::string& key : keys) {
        op.group_keys.push_back(below.column(key));
        op.output.push_back(op.group_keys.back().type);
    }
    plan::Aggregate aggregate;
    aggregate.function = kSum;
    aggregate.type = plan::make_type(TypeId::kInt8);
    aggregate.args = {std::move(argument)};
    op.output.push_back(aggregate.type);
    op.aggregates = {std::move(aggregate)};
    op.grouped = !keys.empty();
    op.inputs = {std::move(below.op)};
    return op;
}

// Flight 1: a part of the dates, of the discounts, of the quantities.
Operator flight1(double rows, std::vector<std::pair<std::string, int>> date, double dates,
                 std::pair<int, int> discount, std::pair<int, int> quantity) {
    Tree facts = scan(kLineorder, rows);
    facts = filter(facts,
                   {call(kAtLeast, facts.column("lo_discount"), integer(discount.first)),
                    call(kAtMost, facts.column("lo_discount"), integer(discount.second)),
                    call(kAtLeast, facts.column("lo_quantity"), integer(quantity.first)),
                    call(kAtMost, facts.column("lo_quantity"), integer(quantity.second))},
                   3.0 / 11 * (quantity.second - std::max(1, quantity.first) + 1) / 50);
    Tree days = scan(kDate, 2556);
    std::vector<Expr> predicates;
    for (const auto& [column, value] : date)
        predicates.push_back(call(kEqual, days.column(column), integer(value)));
    days = filter(days, std::move(predicates), dates);
    Tree all = join(facts, "lo_orderdate", days, "d_datekey", dates);
    Expr product = call(kMultiply, all.column("lo_extendedprice"), all.column("lo_discount"), kInt);
    return sum(std::move(all), std::move(product), {});
}

// Flight 2: some parts of the suppliers of a region, by year and brand.
Operator flight2(double rows, const char* region, std::vector<Expr> (*parts)(const Tree&),
                 double share) {
    Tree part = scan(kPart, 200'000);
    part = filter(part, parts(part), share);
    Tree supplier = scan(kSupplier, rows / 3000);
    supplier = filter(supplier, {call(kTextEqual, supplier.column("s_region"), text(region))}, 0.2);
    Tree all = join(scan(kLineorder, rows), "lo_suppkey", supplier, "s_suppkey", 0.2);
    all = join(all, "lo_partkey", part, "p_partkey", share);
    all = join(all, "lo_orderdate", scan(kDate, 2556), "d_datekey", 1);
    Expr revenue = all.column("lo_revenue");
    return sum(std::move(all), std::move(revenue), {"d_year", "p_brand1"});
}

// Flight 3: customers and suppliers of an area.
Operator flight3(double rows, std::vector<Expr> (*customers)(const Tree&),
                 std::vector<Expr> (*suppliers)(const Tree&), double share,
                 std::vector<Expr> (*dates)(const Tree&), double date_share, const char* level) {
    Tree customer = scan(kCustomer, rows / 200);
    customer = filter(customer, customers(customer), share);
    Tree supplier = scan(kSupplier, rows / 3000);
    supplier = filter(supplier, suppliers(supplier), share);
    Tree days = scan(kDate, 2556);
    days = filter(days, dates(days), date_share);
    Tree all = join(scan(kLineorder, rows), "lo_suppkey", supplier, "s_suppkey", share);
    all = join(all, "lo_custkey", customer, "c_custkey", share);
    all = join(all, "lo_orderdate", days, "d_datekey", date_share);
    Expr revenue = all.column("lo_revenue");
    return sum(std::move(all), std::move(revenue),
               {std::string("c_") + level, std::string("s_") + level, "d_year"});
}

struct Flight4 {
    std::vector<Expr> (*customers)(const Tree&) = nullptr;
    double customer_share = 1;
    std::vector<Expr> (*suppliers)(const Tree&) = nullptr;
    double supplier_share = 1;
    std::vector<Expr> (*parts)(const Tree&) = nullptr;
    double part_share = 1;
    std::vector<Expr> (*dates)(const Tree&) = nullptr;
    double date_share = 1;
    std::vector<std::string> keys;
};

Operator flight4(double rows, const Flight4& flight) {
    const auto side = [](int table, double size, std::vector<Expr> (*predicates)(const Tree&),
                         double share) {
        Tree tree = scan(table, size);
        return predicates == nullptr ? tree : filter(tree, predicates(tree), share);
    };
    Tree all = join(scan(kLineorder, rows), "lo_suppkey",
                    side(kSupplier, rows / 3000, flight.suppliers, flight.supplier_share),
                    "s_suppkey", flight.supplier_share);
    all = join(all, "lo_custkey",
               side(kCustomer, rows / 200, flight.customers, flight.customer_share), "c_custkey",
               flight.customer_share);
    all = join(all, "lo_partkey", side(kPart, 200'000, flight.parts, flight.part_share),
               "p_partkey", flight.part_share);
    all = join(all, "lo_orderdate", side(kDate, 2556, flight.dates, flight.date_share), "d_datekey",
               flight.date_share);
    Expr profit = call(kSubtract, all.column("lo_revenue"), all.column("lo_supplycost"), kInt);
    return sum(std::move(all), std::move(profit), flight.keys);
}

std::vector<Expr> american_customers(const Tree& t) {
    return {call(kTextEqual, t.column("c_region"), text("AMERICA"))};
}
std::vector<Expr> american_suppliers(const Tree& t) {
    return {call(kTextEqual, t.column("s_region"), text("AMERICA"))};
}
std::vector<Expr> first_makers(const Tree& t) {
    return {either(call(kTextEqual, t.column("p_mfgr"), text("MFGR#1")),
                   call(kTextEqual, t.column("p_mfgr"), text("MFGR#2")))};
}
std::vector<Expr> last_years(const Tree& t) {
    return {either(call(kEqual, t.column("d_year"), integer(1997)),
                   call(kEqual, t.column("d_year"), integer(1998)))};
}
std::vector<Expr> most_years(const Tree& t) {
    return {call(kAtLeast, t.column("d_year"), integer(1992)),
            call(kAtMost, t.column("d_year"), integer(1997))};
}
template <char kSide>
std::vector<Expr> two_cities(const Tree& t) {
    const std::string column = std::string(1, kSide) + "_city";
    return {either(call(kTextEqual, t.column(column), text("UNITED KI1")),
                   call(kTextEqual, t.column(column), text("UNITED KI5")))};
}

}  // namespace

exec::Inputs open_ssb(const std::string& directory) {
    exec::Inputs inputs;
    for (const TableDefinition& table : tables()) {
        std::string path = directory + "/" + table.name + ".parquet";
        if (!std::filesystem::exists(path)) path = directory + "/" + table.name + ".arrow";
        exec::ScanFile file;
        file.reader = format::open_table(io::open_local_file(path), {});
        const column::Schema& schema = file.reader->schema();
        for (const auto& [name, type] : table.columns) {
            exec::ScanFile::Column column;
            for (size_t i = 0; i < schema.fields.size(); ++i)
                if (schema.fields[i].name == name) column.field = static_cast<int>(i);
            file.columns.push_back(std::move(column));
        }
        inputs.tables.emplace_back().files.push_back(std::move(file));
    }
    return inputs;
}

std::vector<SsbQuery> ssb_queries(double rows) {
    std::vector<SsbQuery> all;
    all.push_back({"q1.1", flight1(rows, {{"d_year", 1993}}, 1.0 / 7, {1, 3}, {INT32_MIN, 24})});
    all.push_back(
        {"q1.2", flight1(rows, {{"d_yearmonthnum", 199401}}, 1.0 / 84, {4, 6}, {26, 35})});
    all.push_back({"q1.3", flight1(rows, {{"d_weeknuminyear", 6}, {"d_year", 1994}}, 1.0 / 364,
                                   {5, 7}, {26, 35})});
    all.push_back({"q2.1", flight2(
                               rows, "AMERICA",
                               [](const Tree& t) {
                                   return std::vector<Expr>{
                                       call(kTextEqual, t.column("p_category"), text("MFGR#12"))};
                               },
                               1.0 / 25)});
    all.push_back({"q2.2", flight2(
                               rows, "ASIA",
                               [](const Tree& t) {
                                   return std::vector<Expr>{
                                       call(kTextAtLeast, t.column("p_brand1"), text("MFGR#2221")),
                                       call(kTextAtMost, t.column("p_brand1"), text("MFGR#2228"))};
                               },
                               1.0 / 125)});
    all.push_back({"q2.3", flight2(
                               rows, "EUROPE",
                               [](const Tree& t) {
                                   return std::vector<Expr>{
                                       call(kTextEqual, t.column("p_brand1"), text("MFGR#2221"))};
                               },
                               1.0 / 1000)});
    all.push_back({"q3.1", flight3(
                               rows,
                               [](const Tree& t) {
                                   return std::vector<Expr>{
                                       call(kTextEqual, t.column("c_region"), text("ASIA"))};
                               },
                               [](const Tree& t) {
                                   return std::vector<Expr>{
                                       call(kTextEqual, t.column("s_region"), text("ASIA"))};
                               },
                               0.2, most_years, 6.0 / 7, "nation")});
    all.push_back({"q3.2", flight3(
                               rows,
                               [](const Tree& t) {
                                   return std::vector<Expr>{call(kTextEqual, t.column("c_nation"),
                                                                 text("UNITED STATES"))};
                               },
                               [](const Tree& t) {
                                   return std::vector<Expr>{call(kTextEqual, t.column("s_nation"),
                                                                 text("UNITED STATES"))};
                               },
                               0.04, most_years, 6.0 / 7, "city")});
    all.push_back({"q3.3", flight3(rows, two_cities<'c'>, two_cities<'s'>, 1.0 / 125, most_years,
                                   6.0 / 7, "city")});
    all.push_back({"q3.4", flight3(
                               rows, two_cities<'c'>, two_cities<'s'>, 1.0 / 125,
                               [](const Tree& t) {
                                   return std::vector<Expr>{
                                       call(kTextEqual, t.column("d_yearmonth"), text("Dec1997"))};
                               },
                               1.0 / 84, "city")});
    all.push_back({"q4.1", flight4(rows, {american_customers,
                                          0.2,
                                          american_suppliers,
                                          0.2,
                                          first_makers,
                                          0.4,
                                          nullptr,
                                          1,
                                          {"d_year", "c_nation"}})});
    all.push_back({"q4.2", flight4(rows, {american_customers,
                                          0.2,
                                          american_suppliers,
                                          0.2,
                                          first_makers,
                                          0.4,
                                          last_years,
                                          2.0 / 7,
                                          {"d_year", "s_nation", "p_category"}})});
    all.push_back(
        {"q4.3", flight4(rows, {american_customers,
                                0.2,
                                [](const Tree& t) {
                                    return std::vector<Expr>{call(kTextEqual, t.column("s_nation"),
                                                                  text("UNITED STATES"))};
                                },
                                0.04,
                                [](const Tree& t) {
                                    return std::vector<Expr>{
                                        call(kTextEqual, t.column("p_category"), text("MFGR#14"))};
                                },
                                0.04,
                                last_years,
                                2.0 / 7,
                                {"d_year", "s_city", "p_brand1"}})});
    return all;
}

}  // namespace loom::gpu
