// Aggregates as TPC-H has them, and many groups, as kernels on the device that is the host's
// processor.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "compare.h"
#include "gpu/codegen/expression_text.h"
#include "plan/numeric_expr.h"
#include "plan_device.h"
#include "random_plans.h"

namespace loom::gpu {
namespace {

namespace fs = std::filesystem;
using plan::Expr;
using plan::Operator;
using plan::OperatorKind;

constexpr plan::Type kMoney = plan::make_numeric(15, 2);

enum Lineitem { kOrderKey, kQuantity, kPrice, kDiscount, kTax, kFlag, kStatus, kShipped };

class Tpch : public testing::Test {
  protected:
    void SetUp() override {
        opened_ = open_plan_device();
        if (opened_.compiler == nullptr) GTEST_SKIP() << "skipped: " << opened_.reason;
        modules_ =
            std::make_unique<ModuleCache>(*opened_.device, *opened_.compiler, ModuleCacheOptions{});
        columns_ = std::make_unique<ColumnStore>(*opened_.device, 2);
        directory_ = fs::temp_directory_path() / ("loom-gpu-tpch-" + std::to_string(getpid()));
        fs::create_directories(directory_);
    }
    void TearDown() override {
        if (!directory_.empty()) fs::remove_all(directory_);
    }

    exec::TableSource table(const std::vector<ColumnPlan>& plans, int64_t rows) {
        return maker_.make_table(plans, rows,
                                 directory_ / ("table" + std::to_string(tables_++) + ".parquet"));
    }
    std::vector<std::string> run(const Operator& aggregate, const exec::Inputs& inputs) {
        DeviceContext context{*opened_.device, *modules_, *columns_};
        RunTimes times;
        const auto rows = run_aggregate(context, aggregate, inputs, &times);
        texts_.insert(times.texts.begin(), times.texts.end());
        return rows_of(*rows, aggregate.output.size());
    }
    void compile_for_cuda() {
        const std::unique_ptr<Compiler> nvrtc = make_nvrtc_compiler(&reason_);
        if (nvrtc == nullptr) {
            std::printf("skipped: %s\n", reason_.c_str());
            return;
        }
        for (const std::string& text : texts_)
            for (const char* architecture : {"sm_80", "sm_90", "sm_120"})
                EXPECT_NO_THROW(nvrtc->compile(text, architecture)) << architecture << "\n" << text;
    }

    static std::vector<ColumnPlan> lineitem() {
        return {{kInt4, 1, 15'000},
                {kMoney, 100, 5'000},
                {kMoney, 90'000, 10'500'000},
                {kMoney, 0, 10},
                {kMoney, 0, 8},
                {kText, 0, 2},
                {kText, 3, 4},
                {kDate, 8'000, 8'000 + 2'526}};
    }
    static Expr line(int column) {
        return plan::make_column(column, lineitem()[static_cast<size_t>(column)].type);
    }
    static Expr one() {
        return plan::make_constant(plan::make_numeric(1, 0), column::Scalar::of_int(1));
    }
    static Expr money(int64_t cents) {
        return plan::make_constant(plan::make_numeric(4, 2), column::Scalar::of_int(cents));
    }
    static Operator filtered(Operator below, std::vector<Expr> predicates) {
        Operator op;
        op.kind = OperatorKind::kFilter;
        op.output = below.output;
        op.rows = below.rows / 3;
        op.predicates = std::move(predicates);
        op.inputs = {std::move(below)};
        return op;
    }
    static Operator grouped(Operator below, std::vector<Expr> keys,
                            std::vector<plan::Aggregate> aggregates) {
        Operator op;
        op.kind = OperatorKind::kAggregate;
        for (const Expr& key : keys) op.output.push_back(key.type);
        for (const plan::Aggregate& call : aggregates) op.output.push_back(call.type);
        op.grouped = !keys.empty();
        op.group_keys = std::move(keys);
        op.aggregates = std::move(aggregates);
        op.inputs = {std::move(below)};
        return op;
    }
    static Operator query1(double rows) {
        const Expr discounted =
            function_call(1726, {line(kPrice), function_call(1725, {one(), line(kDiscount)})});
        const Expr charge =
            function_call(1726, {discounted, function_call(1724, {one(), line(kTax)})});
        return grouped(
            filtered(scan(0, lineitem(), rows),
                     {function_call(1088, {line(kShipped), constant(kDate, 8'000 + 2'400)})}),
            {line(kFlag), line(kStatus)},
            {aggregate_call(2114, {line(kQuantity)}), aggregate_call(2114, {line(kPrice)}),
             aggregate_call(2114, {discounted}), aggregate_call(2114, {charge}),
             aggregate_call(2103, {line(kQuantity)}), aggregate_call(2103, {line(kPrice)}),
             aggregate_call(2103, {line(kDiscount)}), aggregate_call(2803, {})});
    }
    static Operator query6(double rows) {
        return grouped(
            filtered(scan(0, lineitem(), rows),
                     {function_call(1090, {line(kShipped), constant(kDate, 8'400)}),
                      function_call(1087, {line(kShipped), constant(kDate, 8'765)}),
                      function_call(1721, {line(kDiscount), money(5)}),
                      function_call(1723, {line(kDiscount), money(7)}),
                      function_call(1722, {line(kQuantity), money(2'400)})}),
            {}, {aggregate_call(2114, {function_call(1726, {line(kPrice), line(kDiscount)})})});
    }

    Maker maker_{1};
    std::string reason_;
    fs::path directory_;
    PlanDevice opened_;
    std::unique_ptr<ModuleCache> modules_;
    std::unique_ptr<ColumnStore> columns_;
    std::set<std::string> texts_;
    int tables_ = 0;
};

}  // namespace

TEST_F(Tpch, PricingSummaryAndRevenueChange) {
    for (const int64_t rows : {0, 1, 20'000}) {
        SCOPED_TRACE(rows);
        exec::Inputs inputs;
        inputs.tables.push_back(table(lineitem(), rows));
        for (const Operator& query :
             {query1(static_cast<double>(rows)), query6(static_cast<double>(rows))}) {
            SCOPED_TRACE(plan::to_text(query));
            EXPECT_EQ(run(query, inputs), rows_on_cpu(query, inputs));
        }
    }
    compile_for_cuda();
}

TEST_F(Tpch, SumsOfManyDigits) {
    const plan::Type wide = plan::make_numeric(18, 0);
    constexpr int64_t kMost = 999'999'999'999'999'999;
    const std::vector<ColumnPlan> plans = {{wide, -kMost, kMost}, {wide, kMost - 9, kMost}};
    exec::Inputs inputs;
    inputs.tables.push_back(table(plans, 50));
    inputs.tables.push_back(table(plans, 150));
    inputs.tables.push_back(table(plans, 1'000));
    const Expr a = plan::make_column(0, wide);
    const Expr b = plan::make_column(1, wide);
    const Operator query = grouped(scan(0, plans, 50), {},
                                   {aggregate_call(2114, {a}), aggregate_call(2114, {b}),
                                    aggregate_call(2114, {function_call(1726, {a, a})}),
                                    aggregate_call(2103, {a}), aggregate_call(2103, {b})});
    EXPECT_EQ(run(query, inputs), rows_on_cpu(query, inputs));
    // 39 digits: the CPU engine gives up, and so do kernels; more than 128 bits they do not try.
    const std::vector<plan::Aggregate> squares = {
        aggregate_call(2114, {function_call(1726, {b, b})})};
    const Operator more = grouped(scan(1, plans, 150), {}, squares);
    EXPECT_THROW(rows_on_cpu(more, inputs), exec::Unrepresentable);
    EXPECT_THROW(run(more, inputs), exec::Unrepresentable);
    EXPECT_THROW(run(grouped(scan(2, plans, 1'000), {}, squares), inputs), NotInKernels);
    compile_for_cuda();
}

// Both tests of the key are of whole tiles, and its values go along with the rows that are left.
TEST_F(Tpch, RangeOfAJoinKey) {
    const std::vector<ColumnPlan> facts = {{kInt4, 1, 3'000}, {kInt4, 0, 50}};
    const std::vector<ColumnPlan> dimension = {{kInt4, 1, 3'000, 0, true}, {kText, 0, 20}};
    exec::Inputs inputs;
    inputs.tables.push_back(table(facts, 9'000));
    inputs.tables.push_back(table(dimension, 2'000));
    Operator joined;
    joined.kind = OperatorKind::kJoin;
    joined.probe_keys = {plan::make_column(0, kInt4)};
    joined.build_keys = {plan::make_column(0, kInt4)};
    joined.rows = 2'000;
    joined.inputs = {
        filtered(scan(0, facts, 9'000),
                 {function_call(149, {plan::make_column(0, kInt4), constant(kInt4, 1'000)})}),
        scan(1, dimension, 2'000)};
    joined.output = {kInt4, kInt4, kInt4, kText};
    const Operator query = grouped(joined, {plan::make_column(3, kText)},
                                   {aggregate_call(2108, {plan::make_column(1, kInt4)}),
                                    aggregate_call(2116, {plan::make_column(0, kInt4)})});
    EXPECT_EQ(run(query, inputs), rows_on_cpu(query, inputs));
}

// A key without any value is looked up nowhere.
TEST_F(Tpch, JoinKeyOfNulls) {
    const std::vector<ColumnPlan> facts = {{kInt4, 0, 1, 100}, {kInt4, 0, 50}};
    const std::vector<ColumnPlan> dimension = {{kInt4, 1'000'000, 1'003'000, 0, true},
                                               {kText, 0, 20}};
    exec::Inputs inputs;
    inputs.tables.push_back(table(facts, 2'000));
    inputs.tables.push_back(table(dimension, 2'000));
    Operator joined;
    joined.kind = OperatorKind::kJoin;
    joined.probe_keys = {plan::make_column(0, kInt4)};
    joined.build_keys = {plan::make_column(0, kInt4)};
    joined.rows = 100;
    joined.inputs = {scan(0, facts, 2'000), scan(1, dimension, 2'000)};
    joined.output = {kInt4, kInt4, kInt4, kText};
    for (const bool by_text : {false, true}) {
        std::vector<Expr> keys;
        if (by_text) keys.push_back(plan::make_column(3, kText));
        const Operator query =
            grouped(joined, keys, {aggregate_call(2108, {plan::make_column(1, kInt4)})});
        EXPECT_EQ(run(query, inputs), rows_on_cpu(query, inputs));
    }
}

TEST_F(Tpch, ManyGroups) {
    const std::vector<ColumnPlan> facts = {{kInt8, 1, 100'000, 0, true},
                                           {kInt8, INT64_MIN, INT64_MAX},
                                           {kInt4, 1, 2'000},
                                           {kMoney, -5'000'000, 5'000'000, 10}};
    const std::vector<ColumnPlan> dimension = {
        {kInt4, 1, 2'000, 0, true}, {kText, 9, 1'800, 5}, {kDate, 8'000, 10'000, 5}};
    exec::Inputs inputs;
    inputs.tables.push_back(table(facts, 100'000));
    inputs.tables.push_back(table(dimension, 1'900));
    const auto column = [&](size_t at) {
        return plan::make_column(static_cast<int>(at),
                                 at < 4 ? facts[at].type : dimension[at - 4].type);
    };
    const std::vector<plan::Aggregate> calls = {
        aggregate_call(2803, {}), aggregate_call(2114, {column(3)}),
        aggregate_call(2115, {column(1)}), aggregate_call(2107, {column(1)})};
    Operator joined;
    joined.kind = OperatorKind::kJoin;
    joined.probe_keys = {column(2)};
    joined.build_keys = {plan::make_column(0, kInt4)};
    joined.rows = 100'000;
    joined.inputs = {scan(0, facts, 100'000), scan(1, dimension, 1'900)};
    joined.output = joined.inputs[0].output;
    joined.output.insert(joined.output.end(), joined.inputs[1].output.begin(),
                         joined.inputs[1].output.end());
    // A group a row, which the planner knows or does not; texts and dates of a build side.
    for (const double estimate : {0.0, 100'000.0}) {
        Operator query = grouped(scan(0, facts, 100'000), {column(0)}, calls);
        query.rows = estimate;
        EXPECT_EQ(run(query, inputs), rows_on_cpu(query, inputs)) << estimate;
    }
    Operator query = grouped(joined, {column(5), column(6), column(2)}, calls);
    EXPECT_EQ(run(query, inputs), rows_on_cpu(query, inputs));
    query = grouped(joined, {column(5), column(6)}, {aggregate_call(2138, {column(6)})});
    EXPECT_EQ(run(query, inputs), rows_on_cpu(query, inputs));
    // 64 bits of a key, and one for NULL, are no word.
    query = grouped(scan(0, facts, 100'000), {column(1)}, calls);
    EXPECT_THROW(run(query, inputs), NotInKernels);
    compile_for_cuda();
}

// Orders and what belongs to them, as in TPC-H: keys of orders are spread, a part and a supplier
// together are a key, and orders lead to customers and those to nations.
class TpchJoins : public Tpch {
  protected:
    enum Table { kLines, kOrders, kCustomer, kNation, kSupplier, kPartSupplier };

    void make_tables() {
        for (const auto& [plans, rows] : std::vector<std::pair<std::vector<ColumnPlan>, int64_t>>{
                 {{{kInt8, 1, 40'001, 0, false, 32},
                   {kInt4, 1, 200},
                   {kInt4, 1, 6},
                   {kMoney, 100, 5'000},
                   {kMoney, 90'000, 10'500'000},
                   {kMoney, 0, 10},
                   {kDate, 8'000, 10'526}},
                  9'000},
                 {{{kInt8, 1, 40'001, 0, true, 32},
                   {kInt4, 1, 600},
                   {kDate, 8'000, 10'400},
                   {kText, 0, 4}},
                  1'200},
                 {{{kInt4, 1, 600, 0, true},
                   {kText, 0, 4},
                   {kInt4, 0, 24},
                   {kMoney, -99'999, 999'999, 10}},
                  550},
                 {{{kInt4, 0, 24, 0, true}, {kText, 9, 33}, {kInt4, 0, 4}}, 25},
                 {{{kInt4, 1, 6, 0, true}, {kInt4, 0, 24}}, 6},
                 {{{kInt4, 1, 200, 0, false, 1, 4},
                   {kInt4, 1, 4, 0, false, 1, 0, 4},
                   {kMoney, 100, 100'000}},
                  800}}) {
            plans_.push_back(plans);
            rows_.push_back(rows);
            inputs_.tables.push_back(table(plans, rows));
        }
    }
    // A tree and the tables whose columns it has, in order.
    struct Tree {
        Operator op;
        std::vector<int> tables;
    };
    Tree all_of(int table) const {
        return {scan(table, plans_[static_cast<size_t>(table)],
                     static_cast<double>(rows_[static_cast<size_t>(table)])),
                {table}};
    }
    Expr column(const Tree& tree, int table, int column) const {
        int at = column;
        for (const int each : tree.tables) {
            if (each == table) break;
            at += static_cast<int>(plans_[static_cast<size_t>(each)].size());
        }
        return plan::make_column(
            at, plans_[static_cast<size_t>(table)][static_cast<size_t>(column)].type);
    }
    static Tree joined(const Tree& probe, const Tree& build, std::vector<Expr> probe_keys,
                       std::vector<Expr> build_keys, plan::JoinType type = plan::JoinType::kInner) {
        Tree tree = probe;
        tree.op = {};
        tree.op.kind = OperatorKind::kJoin;
        tree.op.join = type;
        tree.op.probe_keys = std::move(probe_keys);
        tree.op.build_keys = std::move(build_keys);
        tree.op.rows = probe.op.rows / 2;
        tree.op.output = probe.op.output;
        using plan::JoinType;
        if (type == JoinType::kInner || type == JoinType::kLeft || type == JoinType::kRight) {
            tree.tables.insert(tree.tables.end(), build.tables.begin(), build.tables.end());
            tree.op.output.insert(tree.op.output.end(), build.op.output.begin(),
                                  build.op.output.end());
        } else if (type == JoinType::kRightSemi || type == JoinType::kRightAnti) {
            tree.tables = build.tables;
            tree.op.output = build.op.output;
        }
        tree.op.inputs = {probe.op, build.op};
        return tree;
    }
    static Tree filtered(Tree tree, std::vector<Expr> predicates) {
        tree.op = Tpch::filtered(std::move(tree.op), std::move(predicates));
        return tree;
    }
    Tree orders_of_customers(std::vector<Expr> customers) const {
        Tree customer = all_of(kCustomer);
        if (!customers.empty()) customer = filtered(customer, std::move(customers));
        const Tree orders = all_of(kOrders);
        return joined(orders, customer, {column(orders, kOrders, 1)},
                      {column(customer, kCustomer, 0)});
    }
    Expr revenue(const Tree& tree) const {
        return function_call(
            1726, {column(tree, kLines, 4), function_call(1725, {one(), column(tree, kLines, 5)})});
    }
    void check(const Operator& query, size_t least = 2) {
        SCOPED_TRACE(plan::to_text(query));
        const auto expected = rows_on_cpu(query, inputs_);
        EXPECT_GE(expected.size(), least);
        EXPECT_EQ(run(query, inputs_), expected);
    }

    std::vector<std::vector<ColumnPlan>> plans_;
    std::vector<int64_t> rows_;
    exec::Inputs inputs_;
};

TEST_F(TpchJoins, ShippingPriority) {
    make_tables();
    const Tree lines = all_of(kLines);
    const Tree orders =
        orders_of_customers({function_call(67, {plan::make_column(1, kText), constant(kText, 2)})});
    const Tree all =
        joined(lines, orders, {column(lines, kLines, 0)}, {column(orders, kOrders, 0)});
    // By values of both sides; by what comes from the customers; by numbers of three keys.
    check(grouped(all.op, {column(all, kLines, 0), column(all, kOrders, 2)},
                  {aggregate_call(2114, {revenue(all)})}));
    check(grouped(all.op, {column(all, kCustomer, 2)}, {aggregate_call(2114, {revenue(all)})}));
    check(grouped(all.op,
                  {column(all, kOrders, 3), column(all, kCustomer, 1), column(all, kCustomer, 2)},
                  {aggregate_call(2803, {}), aggregate_call(2114, {column(all, kCustomer, 3)})}));
    compile_for_cuda();
}

TEST_F(TpchJoins, LocalSuppliersAndProfit) {
    make_tables();
    const Tree lines = all_of(kLines);
    const Tree orders = orders_of_customers({});
    Tree all = joined(lines, orders, {column(lines, kLines, 0)}, {column(orders, kOrders, 0)});
    const Tree nation = all_of(kNation);
    const Tree supplier = all_of(kSupplier);
    // A key of the facts, and one of a build side of a build side.
    Tree local = joined(all, supplier, {column(all, kLines, 2), column(all, kCustomer, 2)},
                        {column(supplier, kSupplier, 0), column(supplier, kSupplier, 1)});
    local = joined(local, nation, {column(local, kSupplier, 1)}, {column(nation, kNation, 0)});
    check(grouped(local.op, {column(local, kNation, 1)}, {aggregate_call(2114, {revenue(local)})}),
          1);

    const Tree offers = all_of(kPartSupplier);
    all = joined(all, offers, {column(all, kLines, 1), column(all, kLines, 2)},
                 {column(offers, kPartSupplier, 0), column(offers, kPartSupplier, 1)});
    const Tree suppliers =
        joined(supplier, nation, {column(supplier, kSupplier, 1)}, {column(nation, kNation, 0)});
    all = joined(all, suppliers, {column(all, kLines, 2)}, {column(suppliers, kSupplier, 0)});
    const Expr profit = function_call(
        1725, {revenue(all),
               function_call(1726, {column(all, kPartSupplier, 2), column(all, kLines, 3)})});
    const Expr year = function_call(
        6199,
        {plan::make_constant(kText, column::Scalar::of_bytes("year")), column(all, kOrders, 2)});
    check(grouped(all.op, {column(all, kNation, 1), year}, {aggregate_call(2114, {profit})}));
    compile_for_cuda();
}

// EXISTS, NOT EXISTS and outer joins.
TEST_F(TpchJoins, WithAndWithoutMatch) {
    using plan::JoinType;
    make_tables();
    const Tree orders = all_of(kOrders);
    const Tree lines = all_of(kLines);
    const Tree late =
        filtered(lines, {function_call(1089, {column(lines, kLines, 6), constant(kDate, 10'000)})});
    const Tree customer = all_of(kCustomer);
    for (const JoinType type : {JoinType::kSemi, JoinType::kAnti}) {
        // Several rows of a key, as a test of tiles or of rows.
        for (const double estimate : {100.0, 1'200.0}) {
            Tree some =
                joined(orders, late, {column(orders, kOrders, 0)}, {column(late, kLines, 0)}, type);
            some.op.rows = estimate;
            check(grouped(some.op, {column(some, kOrders, 3)}, {aggregate_call(2803, {})}));
            Tree idle = joined(customer, orders, {column(customer, kCustomer, 0)},
                               {column(orders, kOrders, 1)}, type);
            idle.op.rows = estimate;
            check(grouped(
                idle.op, {column(idle, kCustomer, 2)},
                {aggregate_call(2803, {}), aggregate_call(2114, {column(idle, kCustomer, 3)})}));
        }
        // Orders whose customer is (not) another's neighbour.
        Tree some = joined(orders, customer, {column(orders, kOrders, 1)},
                           {column(customer, kCustomer, 0)}, type);
        some.op.predicates = {
            function_call(740, {column(orders, kOrders, 3), plan::make_column(5, kText)})};
        // Texts of two columns are not compared.
        EXPECT_THROW(run(grouped(some.op, {}, {aggregate_call(2803, {})}), inputs_), NotInKernels);
        some.op.predicates = {function_call(
            147, {plan::make_column(6, kInt4),
                  function_call(156, {column(orders, kOrders, 1), constant(kInt4, 25)})})};
        check(grouped(some.op, {column(some, kOrders, 3)}, {aggregate_call(2803, {})}));
    }
    Tree outer = joined(
        orders,
        filtered(customer,
                 {function_call(147, {column(customer, kCustomer, 2), constant(kInt4, 12)})}),
        {column(orders, kOrders, 1)}, {column(customer, kCustomer, 0)}, JoinType::kLeft);
    for (const int key : {1, 2, 3})
        check(
            grouped(outer.op, {column(outer, kCustomer, key)},
                    {aggregate_call(2803, {}), aggregate_call(2147, {column(outer, kCustomer, 0)}),
                     aggregate_call(2114, {column(outer, kCustomer, 3)}),
                     aggregate_call(2116, {column(outer, kCustomer, 2)})}));
    compile_for_cuda();
}

// Conditions on one column of texts are computed beforehand, also those that fault for other texts.
TEST_F(TpchJoins, GlobalSales) {
    make_tables();
    const Tree customer = all_of(kCustomer);
    const Tree orders = all_of(kOrders);
    for (const int length : {1, -1}) {
        Expr any;
        any.kind = plan::ExprKind::kAnyOf;
        any.type = kBool;
        any.function = comparison(kText, 0);
        any.list = {constant(kText, 1).value, constant(kText, 4).value};
        any.args = {function_call(
            877, {column(customer, kCustomer, 1), constant(kInt4, 1), constant(kInt4, length)})};
        const Tree some = filtered(
            customer, {any, function_call(1720, {column(customer, kCustomer, 3), money(0)})});
        const Tree idle = joined(some, orders, {column(some, kCustomer, 0)},
                                 {column(orders, kOrders, 1)}, plan::JoinType::kAnti);
        const Operator query =
            grouped(idle.op, {column(idle, kCustomer, 1)},
                    {aggregate_call(2803, {}), aggregate_call(2114, {column(idle, kCustomer, 3)})});
        if (length > 0) {
            check(query);
        } else {
            EXPECT_THROW(run(query, inputs_), NotInKernels);
        }
    }
    compile_for_cuda();
}

// Group keys, and outputs that nobody reads, that are made of a text.
TEST_F(TpchJoins, KeysThatAreMadeOfTexts) {
    make_tables();
    const Tree nation = all_of(kNation);
    const auto part = [&](int length) {
        return function_call(
            877, {column(nation, kNation, 1), constant(kInt4, 1), constant(kInt4, length)});
    };
    const std::vector<plan::Aggregate> calls = {aggregate_call(2803, {}),
                                                aggregate_call(2108, {column(nation, kNation, 2)})};
    for (const int length : {0, 1, 4, 7})
        check(grouped(nation.op, {part(length), column(nation, kNation, 2)}, calls));
    for (const int length : {2, -1}) {
        Operator projected;
        projected.kind = OperatorKind::kProject;
        projected.expressions = {part(length), column(nation, kNation, 2)};
        projected.output = {kText, kInt4};
        projected.inputs = {nation.op};
        projected.rows = nation.op.rows;
        for (const bool read : {false, true}) {
            const Operator query = grouped(
                projected, {read ? plan::make_column(0, kText) : plan::make_column(1, kInt4)},
                {aggregate_call(2803, {})});
            if (length > 0) {
                check(query, 1);
            } else {
                EXPECT_THROW(run(query, inputs_), NotInKernels);
            }
        }
    }
    compile_for_cuda();
}

// IN and NOT IN, whose marks say whether there is a match; distinct values of groups.
TEST_F(TpchJoins, PartsAndSuppliers) {
    using plan::JoinType;
    make_tables();
    const Tree lines = all_of(kLines);
    const Tree customer = all_of(kCustomer);
    const auto marks = [&](const Tree& of, int key, bool aware) {
        Operator join;
        join.kind = OperatorKind::kJoin;
        join.join = JoinType::kMark;
        join.null_aware = aware;
        join.probe_keys = {plan::make_column(key, of.op.output[static_cast<size_t>(key)])};
        join.build_keys = {plan::make_column(2, kInt4)};
        join.rows = of.op.rows;
        join.output = of.op.output;
        join.output.push_back(kBool);
        join.inputs = {
            of.op,
            filtered(customer,
                     {function_call(147, {column(customer, kCustomer, 2), constant(kInt4, 20)})})
                .op};
        return join;
    };
    const Expr mark = plan::make_column(static_cast<int>(customer.op.output.size()), kBool);
    Expr unmarked;
    unmarked.kind = plan::ExprKind::kNot;
    unmarked.type = kBool;
    unmarked.args = {mark};
    for (const bool aware : {true, false})
        for (const Expr& keep : {mark, unmarked})
            for (const bool later : {false, true}) {
                Operator some;
                some.kind = OperatorKind::kFilter;
                some.inputs = {marks(customer, 2, aware)};
                some.output = some.inputs[0].output;
                if (later)
                    some.predicates.push_back(
                        function_call(66, {column(customer, kCustomer, 0), constant(kInt4, 300)}));
                some.predicates.push_back(keep);
                some.rows = 100;
                check(grouped(some, {mark, column(customer, kCustomer, 2)},
                              {aggregate_call(2803, {})}));
            }
    const std::vector<plan::Aggregate> calls = {aggregate_call(2147, {column(lines, kLines, 0)}),
                                                aggregate_call(2107, {column(lines, kLines, 0)})};
    for (const std::vector<Expr>& keys : {std::vector<Expr>{},
                                          {column(lines, kLines, 2)},
                                          {column(lines, kLines, 1), column(lines, kLines, 2)}}) {
        Operator query = grouped(lines.op, keys, calls);
        for (plan::Aggregate& call : query.aggregates) call.distinct = true;
        check(query, 1);
        query.aggregates.push_back(aggregate_call(2803, {}));
        query.output.push_back(kInt8);
        EXPECT_THROW(run(query, inputs_), NotInKernels);
    }
    compile_for_cuda();
}

// A condition over both sides.
TEST_F(TpchJoins, ConditionsOfAJoin) {
    make_tables();
    const Tree lines = all_of(kLines);
    const Tree offers = all_of(kPartSupplier);
    Tree all = joined(lines, offers, {column(lines, kLines, 1), column(lines, kLines, 2)},
                      {column(offers, kPartSupplier, 0), column(offers, kPartSupplier, 1)});
    all.op.predicates = {
        function_call(1722, {column(all, kPartSupplier, 2), column(all, kLines, 4)}),
        function_call(1720, {column(all, kPartSupplier, 2), money(9'000)})};
    check(grouped(all.op, {column(all, kPartSupplier, 1)}, {aggregate_call(2114, {revenue(all)})}));
    compile_for_cuda();
}

// Keys that take more bits than a word has: a row of a build side stands for its columns. Without
// its key several rows may be one group.
TEST_F(TpchJoins, ReturnedItems) {
    using plan::JoinType;
    const std::vector<ColumnPlan> buyers = {{kInt4, 1, 600, 0, true},
                                            {kText, 0, 900, 5},
                                            {kInt8, 0, INT64_C(1) << 50, 5},
                                            {kDate, 0, 3'000'000, 5},
                                            {kMoney, -99'999'999, 99'999'999}};
    // Few values, so that rows are alike.
    const std::vector<ColumnPlan> few = {{kInt4, 1, 600, 0, true},
                                         {kText, 0, 2, 20},
                                         {kInt8, 0, INT64_C(1) << 55, 20, false, INT64_C(1) << 54},
                                         {kDate, 0, 3'000'000, 20, false, 1'000'000},
                                         {kMoney, -99'999'999, 99'999'999, 0, false, 90'000'000}};
    make_tables();
    const Tree orders = all_of(kOrders);
    for (const auto& columns : {buyers, few}) {
        inputs_.tables.push_back(table(columns, 550));
        plans_.push_back(columns);
        rows_.push_back(550);
        const int at = static_cast<int>(plans_.size()) - 1;
        const Tree customer = all_of(at);
        for (const JoinType type : {JoinType::kInner, JoinType::kLeft}) {
            const Tree all = joined(orders, customer, {column(orders, kOrders, 1)},
                                    {column(customer, at, 0)}, type);
            std::vector<Expr> keys;
            for (int key = 4; key >= 0; --key) {
                keys.push_back(column(all, at, key));
                if (key > 1) continue;
                for (const bool date : {false, true}) {
                    if (date) keys.push_back(column(all, kOrders, 2));
                    check(grouped(
                        all.op, keys,
                        {aggregate_call(2803, {}), aggregate_call(2114, {column(all, at, 4)}),
                         aggregate_call(2116, {column(all, kOrders, 1)}),
                         aggregate_call(2115, {column(all, at, 2)})}));
                    if (date) keys.pop_back();
                }
            }
        }
    }
    compile_for_cuda();
}

// The same of a row of the scan.
TEST_F(TpchJoins, KeysOfTheScanOfManyBits) {
    make_tables();
    const std::vector<ColumnPlan> wide = {{kInt8, 0, INT64_C(1) << 40, 5},
                                          {kInt4, 1, 600},
                                          {kInt8, 0, INT64_C(1) << 40, 5},
                                          {kInt8, 0, INT64_C(3) << 40, 5, false, INT64_C(1) << 40}};
    const Tree customer = all_of(kCustomer);
    for (const int64_t rows : {1, 3'000}) {
        inputs_.tables.push_back(table(wide, rows));
        plans_.push_back(wide);
        rows_.push_back(rows);
        const int at = static_cast<int>(plans_.size()) - 1;
        const Tree all = joined(all_of(at), customer, {column(all_of(at), at, 1)},
                                {column(customer, kCustomer, 0)}, plan::JoinType::kLeft);
        check(grouped(all.op, {column(all, at, 0), column(all, at, 2), column(all, kCustomer, 1)},
                      {aggregate_call(2803, {}), aggregate_call(2116, {column(all, at, 1)})}),
              1);
        check(
            grouped(all.op, {column(all, at, 3), column(all, kCustomer, 2), column(all, at, 2)},
                    {aggregate_call(2803, {}), aggregate_call(2114, {column(all, kCustomer, 3)})}),
            1);
    }
    compile_for_cuda();
}

// What a choice gives has the scale of its arm; a sum shows the largest.
TEST_F(TpchJoins, MarketShare) {
    make_tables();
    const Tree lines = all_of(kLines);
    const auto choose = [&](int64_t below, Expr then, Expr otherwise) {
        Expr expr;
        expr.kind = plan::ExprKind::kCase;
        expr.type = plan::make_decimal();
        expr.args = {function_call(1090, {column(lines, kLines, 6), constant(kDate, below)}),
                     plan::as_decimal(std::move(then)), plan::as_decimal(std::move(otherwise))};
        return expr;
    };
    const Expr zero = plan::make_constant(plan::make_numeric(1, 0), column::Scalar::of_int(0));
    const Expr nothing = plan::make_constant(plan::make_numeric(1, 0), {});
    for (const int64_t below : {0, 8'010, 9'000, 20'000}) {
        const std::vector<plan::Aggregate> calls = {
            aggregate_call(2114, {choose(below, revenue(lines), zero)}),
            aggregate_call(2114, {choose(below, zero, column(lines, kLines, 4))}),
            aggregate_call(2103, {choose(below, revenue(lines), column(lines, kLines, 4))}),
            aggregate_call(2114, {choose(below, choose(8'005, money(-7), nothing), nothing)}),
            aggregate_call(2114, {revenue(lines)})};
        check(grouped(lines.op, {}, calls), 1);
        check(grouped(lines.op, {column(lines, kLines, 2)}, calls));
        check(grouped(lines.op, {column(lines, kLines, 0)}, calls));
    }
    compile_for_cuda();
}

// Aggregates over the results of others, and joins with them.
TEST_F(TpchJoins, ResultsOfAggregates) {
    using plan::JoinType;
    make_tables();
    const Tree orders = all_of(kOrders);
    const Tree customer = all_of(kCustomer);
    // How many customers have so many orders.
    const Tree made = joined(orders, customer, {column(orders, kOrders, 1)},
                             {column(customer, kCustomer, 0)}, JoinType::kRight);
    const Operator counts =
        grouped(made.op, {column(made, kCustomer, 0)},
                {aggregate_call(2147, {column(made, kOrders, 0)}), aggregate_call(2803, {})});
    const Expr count = plan::make_column(1, kInt8);
    check(grouped(counts, {count}, {aggregate_call(2803, {})}));
    Operator shared;
    shared.kind = OperatorKind::kShared;
    shared.source = 1;
    shared.output = counts.output;
    shared.inputs = {counts};
    check(grouped(shared, {}, {aggregate_call(2115, {count}), aggregate_call(2107, {count})}), 1);
    // Orders of many things; a sum may be NULL.
    const Tree lines = all_of(kLines);
    const Operator sums =
        grouped(lines.op, {column(lines, kLines, 0)},
                {aggregate_call(2114, {column(lines, kLines, 3)}), aggregate_call(2803, {})});
    const plan::Type quantity = sums.output[1];
    Tree large{sums, {}};
    large =
        filtered(large, {function_call(1720, {plan::make_column(1, quantity),
                                              plan::make_constant(plan::make_numeric(3, 0),
                                                                  column::Scalar::of_int(200))})});
    check(grouped(
        large.op, {plan::make_column(2, kInt8)},
        {aggregate_call(2114, {plan::make_column(1, quantity)}), aggregate_call(2803, {})}));
    for (const JoinType type :
         {JoinType::kInner, JoinType::kLeft, JoinType::kSemi, JoinType::kAnti}) {
        Tree some = joined(orders, large, {column(orders, kOrders, 0)},
                           {plan::make_column(0, kInt8)}, type);
        check(grouped(some.op, {column(some, kOrders, 3)}, {aggregate_call(2803, {})}));
        if (type == JoinType::kSemi || type == JoinType::kAnti) continue;
        check(grouped(some.op, {column(some, kOrders, 3)},
                      {aggregate_call(2114, {plan::make_column(5, quantity)}),
                       aggregate_call(2130, {plan::make_column(5, quantity)}),
                       aggregate_call(2147, {plan::make_column(6, kInt8)})}));
    }
    // Texts, and no rows at all.
    const Operator names = grouped(orders.op, {column(orders, kOrders, 3)},
                                   {aggregate_call(2115, {column(orders, kOrders, 0)})});
    check(grouped(names, {plan::make_column(0, kText)},
                  {aggregate_call(2107, {plan::make_column(1, kInt8)})}));
    const Operator none = grouped(
        filtered(orders, {function_call(1090, {column(orders, kOrders, 2), constant(kDate, 0)})})
            .op,
        {column(orders, kOrders, 3)}, {aggregate_call(2803, {})});
    check(grouped(none, {plan::make_column(0, kText)}, {aggregate_call(2803, {})}), 0);
    check(grouped(none, {}, {aggregate_call(2803, {}), aggregate_call(2107, {count})}), 1);
    // What an average is differs in scale: it can be compared, and no more.
    const Operator averages = grouped(lines.op, {column(lines, kLines, 2)},
                                      {aggregate_call(2103, {column(lines, kLines, 3)})});
    const Expr average = plan::make_column(1, averages.output[1]);
    for (const plan::Aggregate& call :
         {aggregate_call(2130, {average}), aggregate_call(2114, {average})})
        EXPECT_THROW(run(grouped(averages, {}, {call}), inputs_), NotInKernels);
    EXPECT_THROW(run(grouped(averages, {average}, {aggregate_call(2803, {})}), inputs_),
                 NotInKernels);
    check(grouped(averages, {}, {aggregate_call(2116, {plan::make_column(0, kInt4)})}), 1);
    for (const JoinType type : {JoinType::kInner, JoinType::kLeft}) {
        Tree more = joined(lines, Tree{averages, {}}, {column(lines, kLines, 2)},
                           {plan::make_column(0, kInt4)}, type);
        const Expr of = plan::make_column(8, averages.output[1]);
        const Expr fraction =
            function_call(1726, {plan::as_decimal(plan::make_constant(plan::make_numeric(2, 1),
                                                                      column::Scalar::of_int(12))),
                                 of});
        more = filtered(
            more, {function_call(1720, {plan::as_decimal(column(lines, kLines, 3)), fraction})});
        check(
            grouped(more.op, {column(lines, kLines, 2)},
                    {aggregate_call(2803, {}), aggregate_call(2114, {column(lines, kLines, 4)})}));
    }
    compile_for_cuda();
}

// Several rows of a key: each of them is a row of the result.
TEST_F(TpchJoins, SeveralRowsOfAKey) {
    using plan::JoinType;
    make_tables();
    const Tree lines = all_of(kLines);
    const Tree orders = all_of(kOrders);
    const Tree offers = all_of(kPartSupplier);
    const Tree customer = all_of(kCustomer);
    for (const double estimate : {100.0, 1'200.0}) {
        // By a key that is near, by several, by one that is spread.
        for (const JoinType type : {JoinType::kInner, JoinType::kLeft}) {
            Tree twice = joined(offers, lines, {column(offers, kPartSupplier, 0)},
                                {column(lines, kLines, 1)}, type);
            twice.op.rows = estimate;
            check(grouped(twice.op, {column(twice, kLines, 2)},
                          {aggregate_call(2803, {}), aggregate_call(2114, {revenue(twice)}),
                           aggregate_call(2147, {column(twice, kLines, 0)})}));
            Tree pairs = joined(
                offers, lines, {column(offers, kPartSupplier, 0), column(offers, kPartSupplier, 1)},
                {column(lines, kLines, 1), column(lines, kLines, 2)}, type);
            pairs.op.rows = estimate;
            check(grouped(pairs.op, {column(pairs, kPartSupplier, 1)},
                          {aggregate_call(2803, {}), aggregate_call(2114, {revenue(pairs)})}));
            Tree spread = joined(orders, lines, {column(orders, kOrders, 0)},
                                 {column(lines, kLines, 0)}, type);
            spread.op.rows = estimate;
            if (type == JoinType::kLeft)
                spread.op.predicates = {
                    function_call(1720, {column(spread, kLines, 3), money(2'500)})};
            check(grouped(
                spread.op, {column(spread, kOrders, 3)},
                {aggregate_call(2803, {}), aggregate_call(2147, {column(spread, kLines, 0)}),
                 aggregate_call(2114, {column(spread, kLines, 4)})}));
            // Lists in lists: customers, their orders, and those orders' lines.
            Tree all = joined(customer, spread, {column(customer, kCustomer, 0)},
                              {column(spread, kOrders, 1)}, type);
            all.op.rows = estimate;
            check(grouped(all.op, {column(all, kCustomer, 2), column(all, kOrders, 3)},
                          {aggregate_call(2803, {}), aggregate_call(2147, {column(all, kLines, 0)}),
                           aggregate_call(2114, {column(all, kLines, 4)}),
                           aggregate_call(2114, {column(all, kCustomer, 3)})}));
        }
        // Another line of the order, of another supplier; none such.
        for (const JoinType type : {JoinType::kSemi, JoinType::kAnti}) {
            Tree some = joined(lines, all_of(kLines), {column(lines, kLines, 0)},
                               {column(lines, kLines, 0)}, type);
            const int width = static_cast<int>(plans_[kLines].size());
            some.op.predicates = {
                function_call(144, {column(some, kLines, 2), plan::make_column(width + 2, kInt4)})};
            some.op.rows = estimate;
            check(grouped(some.op, {column(some, kLines, 2)}, {aggregate_call(2803, {})}));
        }
    }
    compile_for_cuda();
}

// More keys than the planner thought of.
TEST_F(TpchJoins, ManyKeysThatAreHashed) {
    const std::vector<ColumnPlan> facts = {{kInt8, 0, INT64_C(1) << 40, 5, false, 1 << 24},
                                           {kInt4, 1, 100}};
    const std::vector<ColumnPlan> dimension = {{kInt8, 0, INT64_C(1) << 40, 0, true, 1 << 24},
                                               {kInt4, 0, 40, 5}};
    exec::Inputs inputs;
    inputs.tables.push_back(table(facts, 30'000));
    inputs.tables.push_back(table(dimension, 60'000));
    for (const double estimate : {10.0, 60'000.0}) {
        Operator join;
        join.kind = OperatorKind::kJoin;
        join.probe_keys = {plan::make_column(0, kInt8)};
        join.build_keys = {plan::make_column(0, kInt8)};
        join.rows = 10'000;
        join.output = {kInt8, kInt4, kInt8, kInt4};
        join.inputs = {scan(0, facts, 30'000), scan(1, dimension, estimate)};
        for (const int key : {1, 2, 3})
            EXPECT_EQ(
                run(grouped(join, {plan::make_column(key, join.output[static_cast<size_t>(key)])},
                            {aggregate_call(2803, {}),
                             aggregate_call(2108, {plan::make_column(3, kInt4)})}),
                    inputs),
                rows_on_cpu(
                    grouped(join, {plan::make_column(key, join.output[static_cast<size_t>(key)])},
                            {aggregate_call(2803, {}),
                             aggregate_call(2108, {plan::make_column(3, kInt4)})}),
                    inputs));
    }
}

}  // namespace loom::gpu
