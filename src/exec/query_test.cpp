// Runs random plans over random rows and compares the engine with a slow, obvious evaluation.

#include "exec/query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "exec/test_tables.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::JoinType;
using plan::Operator;
using plan::OperatorKind;
using plan::TypeId;

constexpr plan::Type kInt4 = plan::make_type(TypeId::kInt4);
constexpr plan::Type kInt8 = plan::make_type(TypeId::kInt8);
constexpr plan::Type kText = plan::make_type(TypeId::kText);
constexpr plan::Type kFloat8 = plan::make_type(TypeId::kFloat8);
constexpr uint32_t kInt4Less = 66;
constexpr uint32_t kFloat8OfInt4 = 316;
constexpr uint32_t kCountPairs = 2818;  // regr_count
constexpr uint32_t kAverageOfX = 2822;  // regr_avgx

Rows run_engine(const Operator& root, const std::vector<Table>& tables, int64_t step, int threads,
                uint64_t memory = 0, uint64_t* temp_bytes = nullptr) {
    std::vector<std::unique_ptr<TableRows>> sources;
    Inputs inputs;
    for (const Table& table : tables) {
        sources.push_back(std::make_unique<TableRows>(table, step));
        inputs.rows.push_back(sources.back().get());
    }
    Options options;
    options.threads = threads;
    options.memory = memory;
    if (memory > 0) options.temp_directories = {testing::TempDir()};
    Query query(root, std::move(inputs), options);
    NoHost host;
    Rows rows;
    while (const Batch* batch = query.next(host))
        for (int64_t i = 0; i < batch->rows; ++i) {
            Row row;
            for (const Vector& column : batch->columns) row.push_back(value_at(column, i));
            rows.push_back(std::move(row));
        }
    if (temp_bytes != nullptr) *temp_bytes = query.profile().temp_bytes;
    return rows;
}

// The obvious evaluation.

// A number that is made a float stays a whole number.
Value evaluate(const Expr& expr, const Row& row) {
    if (expr.kind == plan::ExprKind::kCall) return evaluate(expr.args[0], row);
    return row[static_cast<size_t>(expr.index)];
}

bool holds(const Expr& less, const Row& row) {
    const Value a = evaluate(less.args[0], row);
    const Value b = evaluate(less.args[1], row);
    return !is_null(a) && !is_null(b) && a < b;
}

Row joined(const Row& left, const Row& right) {
    Row row = left;
    row.insert(row.end(), right.begin(), right.end());
    return row;
}

// Three-valued IN: a NULL on either side leaves it open whether there is a match.
Value mark_of(const Operator& op, const Row& left, const Rows& right, bool matched) {
    bool open = false;
    for (const Row& row : right)
        open = open || (op.null_aware && (is_null(evaluate(op.probe_keys[0], left)) ||
                                          is_null(evaluate(op.build_keys[0], row))));
    return !matched && open ? Value() : Value(int64_t{matched ? 1 : 0});
}

// The values of a row's keys; nothing if one is NULL, which equals nothing.
std::optional<Row> join_key(const std::vector<Expr>& keys, const Row& row) {
    Row values;
    for (const Expr& key : keys) values.push_back(evaluate(key, row));
    if (std::any_of(values.begin(), values.end(), is_null)) return std::nullopt;
    return values;
}

Rows run_join(const Operator& op, const Rows& left, const Rows& right) {
    const Row no_left(op.inputs[0].output.size());
    const Row no_right(op.inputs[1].output.size());
    std::vector<bool> right_matched(right.size());
    std::map<Row, std::vector<size_t>> by_key;
    for (size_t j = 0; j < right.size(); ++j)
        if (const auto key = join_key(op.build_keys, right[j])) by_key[*key].push_back(j);
    const std::vector<size_t> none;
    Rows rows;
    for (const Row& a : left) {
        bool matched = false;
        const auto key = join_key(op.probe_keys, a);
        const auto found = key ? by_key.find(*key) : by_key.end();
        for (const size_t j : found != by_key.end() ? found->second : none) {
            bool equal = true;
            const Row both = joined(a, right[j]);
            for (const Expr& predicate : op.predicates) equal = equal && holds(predicate, both);
            if (!equal) continue;
            matched = true;
            right_matched[j] = true;
            if (op.join == JoinType::kInner || op.join == JoinType::kLeft ||
                op.join == JoinType::kRight || op.join == JoinType::kFull)
                rows.push_back(both);
        }
        if (op.join == JoinType::kSemi && matched) rows.push_back(a);
        if (op.join == JoinType::kAnti && !matched) rows.push_back(a);
        if ((op.join == JoinType::kLeft || op.join == JoinType::kFull) && !matched)
            rows.push_back(joined(a, no_right));
        if (op.join == JoinType::kMark) rows.push_back(joined(a, {mark_of(op, a, right, matched)}));
    }
    for (size_t j = 0; j < right.size(); ++j) {
        if ((op.join == JoinType::kRight || op.join == JoinType::kFull) && !right_matched[j])
            rows.push_back(joined(no_left, right[j]));
        if (op.join == JoinType::kRightSemi && right_matched[j]) rows.push_back(right[j]);
        if (op.join == JoinType::kRightAnti && !right_matched[j]) rows.push_back(right[j]);
    }
    return rows;
}

Rows run_aggregate(const Operator& op, const Rows& input) {
    struct Group {
        std::vector<int64_t> counts;
        std::vector<std::optional<int64_t>> sums;
        std::vector<std::set<Value>> distinct;
        std::vector<Value> least;
    };
    std::map<Row, Group> groups;
    const size_t calls = op.aggregates.size();
    const auto group_of = [&](const Row& key) -> Group& {
        Group& group = groups[key];
        group.counts.resize(calls);
        group.sums.resize(calls);
        group.distinct.resize(calls);
        group.least.resize(calls);
        return group;
    };
    if (op.group_keys.empty()) group_of({});
    for (const Row& row : input) {
        Row key;
        for (const Expr& expr : op.group_keys) key.push_back(evaluate(expr, row));
        Group& group = group_of(key);
        for (size_t i = 0; i < calls; ++i) {
            const plan::Aggregate& call = op.aggregates[i];
            if (!call.filter.empty() && !holds(call.filter[0], row)) continue;
            Value value = call.args.empty() ? Value(int64_t{1}) : evaluate(call.args[0], row);
            if (is_null(value)) continue;
            if (call.args.size() == 2) value = evaluate(call.args[1], row);
            if (is_null(value)) continue;
            if (call.distinct && !group.distinct[i].insert(value).second) continue;
            ++group.counts[i];
            if (const auto* number = std::get_if<int64_t>(&value))
                group.sums[i] = group.sums[i].value_or(0) + *number;
            if (is_null(group.least[i]) || value < group.least[i]) group.least[i] = value;
        }
    }
    Rows rows;
    for (const auto& [key, group] : groups) {
        Row row = key;
        for (size_t i = 0; i < calls; ++i) {
            const uint32_t function = op.aggregates[i].function;
            if (function == 2803 || function == 2147 || function == kCountPairs)
                row.emplace_back(group.counts[i]);
            else if (function == kAverageOfX)
                row.push_back(group.sums[i] ? Value(static_cast<double>(*group.sums[i]) /
                                                    static_cast<double>(group.counts[i]))
                                            : Value());
            else if (function == 2108)
                row.push_back(group.sums[i] ? Value(*group.sums[i]) : Value());
            else
                row.push_back(group.least[i]);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Rows run_naive(const Operator& op, const std::vector<Table>& tables) {
    if (op.kind == OperatorKind::kRows) return tables[static_cast<size_t>(op.source)].rows;
    std::vector<Rows> inputs;
    for (const Operator& input : op.inputs) inputs.push_back(run_naive(input, tables));
    if (op.kind == OperatorKind::kJoin) return run_join(op, inputs[0], inputs[1]);
    if (op.kind == OperatorKind::kAggregate) return run_aggregate(op, inputs[0]);
    Rows rows;
    if (op.kind == OperatorKind::kAppend) {
        for (const Rows& input : inputs) rows.insert(rows.end(), input.begin(), input.end());
        return rows;
    }
    for (const Row& row : inputs[0]) {
        bool keep = true;
        for (const Expr& predicate : op.predicates) keep = keep && holds(predicate, row);
        if (keep) rows.push_back(row);
    }
    return rows;
}

// Random plans.

Expr as_float(Expr number) {
    return plan::make_call(kFloat8OfInt4, kFloat8, {std::move(number)});
}

class Generator {
  public:
    explicit Generator(uint64_t seed) : random_(seed) {}

    int64_t below(int64_t limit) {
        return std::uniform_int_distribution<int64_t>(0, limit - 1)(random_);
    }

    // Sizes around batches, few and many distinct values, NULLs.
    Table table(int64_t rows) {
        Table table;
        table.types = {kInt4, kInt4, kText};
        const int64_t distinct = std::max<int64_t>(1, below(2) == 0 ? 5 : rows);
        const int64_t spread = below(3) == 0 ? 100'003 : 1;
        for (int64_t i = 0; i < rows; ++i) {
            Row row;
            row.push_back(below(20) == 0 ? Value() : Value((below(distinct) - 2) * spread));
            row.push_back(below(20) == 0 ? Value() : Value(below(10)));
            row.push_back(below(20) == 0 ? Value()
                                         : Value(std::string(static_cast<size_t>(below(3)), 'x') +
                                                 std::to_string(below(distinct))));
            table.rows.push_back(std::move(row));
        }
        return table;
    }

    static Operator rows(int source, const Table& table) {
        Operator op;
        op.kind = OperatorKind::kRows;
        op.source = source;
        op.output = table.types;
        op.rows = static_cast<double>(table.rows.size());
        return op;
    }

    // Returns a column of the wanted type, of which there is always one.
    Expr column(const std::vector<plan::Type>& types, plan::Type wanted) {
        std::vector<int> candidates;
        for (size_t i = 0; i < types.size(); ++i)
            if (types[i] == wanted) candidates.push_back(static_cast<int>(i));
        return plan::make_column(
            candidates[static_cast<size_t>(below(static_cast<int64_t>(candidates.size())))],
            wanted);
    }

    // Nearly every row has keys of its own.
    Table diverse_table(int64_t rows) {
        Table table;
        table.types = {kInt4, kInt4, kText};
        for (int64_t i = 0; i < rows; ++i) {
            Row row;
            row.push_back(below(50) == 0 ? Value() : Value(below(rows) - rows / 2));
            row.push_back(below(50) == 0 ? Value() : Value(below(10)));
            row.push_back(below(50) == 0
                              ? Value()
                              : Value("a long beginning, " + std::to_string(below(rows))));
            table.rows.push_back(std::move(row));
        }
        return table;
    }

    Expr less(const std::vector<plan::Type>& types) {
        return plan::make_call(kInt4Less, plan::make_type(TypeId::kBool),
                               {column(types, kInt4), column(types, kInt4)});
    }

    Operator join(Operator left, Operator right) {
        Operator op;
        op.kind = OperatorKind::kJoin;
        op.join = static_cast<JoinType>(below(9));
        const bool keyless = below(10) == 0 && left.rows * right.rows < 3e5;
        const int64_t keys = keyless ? 0 : 1 + below(2);
        for (int64_t i = 0; i < keys; ++i) {
            const plan::Type type = below(3) == 0 ? kText : kInt4;
            op.probe_keys.push_back(column(left.output, type));
            op.build_keys.push_back(column(right.output, type));
        }
        op.inputs = {std::move(left), std::move(right)};
        std::vector<plan::Type> both = op.inputs[0].output;
        both.insert(both.end(), op.inputs[1].output.begin(), op.inputs[1].output.end());
        if (below(3) == 0) op.predicates.push_back(less(both));
        op.null_aware =
            op.join == JoinType::kMark && keys == 1 && op.predicates.empty() && below(2) == 0;
        op.output = op.join == JoinType::kSemi || op.join == JoinType::kAnti ? op.inputs[0].output
                    : op.join == JoinType::kRightSemi || op.join == JoinType::kRightAnti
                        ? op.inputs[1].output
                        : plan::joined_types(op);
        op.rows = op.inputs[0].rows;
        return op;
    }

    // Most rows have one key.
    Table skewed_table(int64_t rows) {
        Table table = diverse_table(rows);
        for (Row& row : table.rows)
            if (below(10) > 0) row[0].emplace<int64_t>(7);
        return table;
    }

    // Joins by the first or third column, whose values differ, and perhaps the second, whose do
    // not.
    Operator selective_join(Operator left, Operator right, JoinType type) {
        Operator op;
        op.kind = OperatorKind::kJoin;
        op.join = type;
        const int first = below(3) == 0 ? 2 : 0;
        for (const int key : {first, 1}) {
            if (key == 1 && below(3) > 0) break;
            op.probe_keys.push_back(plan::make_column(key, left.output[static_cast<size_t>(key)]));
            op.build_keys.push_back(plan::make_column(key, right.output[static_cast<size_t>(key)]));
        }
        op.inputs = {std::move(left), std::move(right)};
        std::vector<plan::Type> both = op.inputs[0].output;
        both.insert(both.end(), op.inputs[1].output.begin(), op.inputs[1].output.end());
        if (below(3) == 0) op.predicates.push_back(less(both));
        op.null_aware = type == JoinType::kMark && op.probe_keys.size() == 1 &&
                        op.predicates.empty() && below(2) == 0;
        op.output = type == JoinType::kSemi || type == JoinType::kAnti ? op.inputs[0].output
                    : type == JoinType::kRightSemi || type == JoinType::kRightAnti
                        ? op.inputs[1].output
                        : plan::joined_types(op);
        op.rows = op.inputs[0].rows;
        return op;
    }

    Operator filter(Operator input) {
        Operator op;
        op.kind = OperatorKind::kFilter;
        op.output = input.output;
        op.rows = input.rows;
        op.predicates = {less(input.output)};
        op.inputs = {std::move(input)};
        return op;
    }

    Operator aggregate(Operator input) {
        Operator op;
        op.kind = OperatorKind::kAggregate;
        const int64_t keys = below(4);
        for (int64_t i = 0; i < keys; ++i) {
            op.group_keys.push_back(column(input.output, below(2) == 0 ? kText : kInt4));
            op.output.push_back(op.group_keys.back().type);
        }
        op.grouped = keys > 0;
        const auto add = [&](uint32_t function, std::vector<Expr> args, plan::Type type) {
            plan::Aggregate call;
            call.function = function;
            call.args = std::move(args);
            call.type = type;
            call.distinct = call.args.size() == 1 && below(3) == 0;
            if (below(4) == 0) call.filter.push_back(less(input.output));
            op.output.push_back(type);
            op.aggregates.push_back(std::move(call));
        };
        add(2803, {}, kInt8);
        add(2108, {column(input.output, kInt4)}, kInt8);
        add(2147, {column(input.output, kText)}, kInt8);
        add(2145, {column(input.output, kText)}, kText);
        add(2132, {column(input.output, kInt4)}, kInt4);
        const auto random_float = [&] { return as_float(column(input.output, kInt4)); };
        add(kCountPairs, {random_float(), random_float()}, kInt8);
        add(kAverageOfX, {random_float(), random_float()}, kFloat8);
        op.rows = 100;
        op.inputs = {std::move(input)};
        return op;
    }

  private:
    std::mt19937_64 random_;
};

std::string describe(const Row& row) {
    std::string text;
    for (const Value& value : row)
        text += is_null(value) ? "null "
                : std::holds_alternative<int64_t>(value)
                    ? std::to_string(std::get<int64_t>(value)) + " "
                    : "'" + std::get<std::string>(value) + "' ";
    return text;
}

void compare(const Operator& root, const std::vector<Table>& tables, int64_t step, uint64_t seed) {
    Rows expected = run_naive(root, tables);
    Rows found = run_engine(root, tables, step, seed % 2 == 0 ? 1 : 3);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found.size(), expected.size()) << "seed " << seed << "\n" << to_text(root);
    for (size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(found[i], expected[i])
            << "seed " << seed << " row " << i << ": " << describe(found[i]) << "| "
            << describe(expected[i]) << "\n"
            << to_text(root);
}

}  // namespace

TEST(Query, RandomJoinsAndAggregatesGiveTheObviousAnswer) {
    constexpr int64_t kSizes[] = {0, 1, 2, 63, 64, 65, 300, 1023, 4095, 4096, 4097};
    for (uint64_t seed = 0; seed < 300; ++seed) {
        Generator make(seed);
        std::vector<Table> tables;
        for (int i = 0; i < 3; ++i) {
            // At most one large table: the obvious join is a nested loop.
            const int64_t rows = i == 0 ? kSizes[make.below(11)] : kSizes[make.below(7)];
            tables.push_back(make.table(rows));
        }
        std::vector<Operator> sources;
        sources.reserve(3);
        for (int i = 0; i < 3; ++i) sources.push_back(Generator::rows(i, tables[i]));
        Operator root = sources[0];
        if (make.below(3) == 0) root = make.filter(std::move(root));
        root = make.join(std::move(root), sources[1]);
        if (make.below(2) == 0) root = make.join(std::move(root), sources[2]);
        if (make.below(3) == 0) root = make.filter(std::move(root));
        if (make.below(2) == 0) root = make.aggregate(std::move(root));
        const int64_t steps[] = {1, 100, 1024, 4096};
        compare(root, tables, tables[0].rows.size() > 300 ? 4096 : steps[make.below(4)], seed);
        if (HasFatalFailure()) return;
    }
}

namespace {

// Behind an append, rows are stored and several workers take them.
Operator stored_rows(const Table& table) {
    Operator append;
    append.kind = OperatorKind::kAppend;
    append.output = table.types;
    append.inputs = {Generator::rows(0, table)};
    return append;
}

// The sort of SortOrdersAndLimits, and its order.
Operator three_key_sort(Operator input) {
    Operator sort;
    sort.kind = OperatorKind::kSort;
    sort.sort_keys = {{1, true, false}, {2, false, true}, {0, false, false}};
    sort.output = input.output;
    sort.inputs = {std::move(input)};
    return sort;
}

Rows in_three_key_order(Rows rows) {
    const auto part = [](const Value& x, const Value& y, bool descending, bool nulls_first) {
        if (is_null(x) || is_null(y))
            return is_null(x) == is_null(y) ? 0 : is_null(x) == nulls_first ? -1 : 1;
        const int sign = x < y ? -1 : y < x ? 1 : 0;
        return descending ? -sign : sign;
    };
    std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
        const int first = part(a[1], b[1], true, false);
        if (first != 0) return first < 0;
        const int second = part(a[2], b[2], false, true);
        if (second != 0) return second < 0;
        return part(a[0], b[0], false, false) < 0;
    });
    return rows;
}

Operator limit_of(Operator input, int64_t count, int64_t offset) {
    Operator limit;
    limit.kind = OperatorKind::kLimit;
    limit.count = {plan::make_constant(kInt8, column::Scalar::of_int(count))};
    limit.offset = {plan::make_constant(kInt8, column::Scalar::of_int(offset))};
    limit.output = input.output;
    limit.inputs = {std::move(input)};
    return limit;
}

// Groups by columns `keys`, with all kinds of aggregates.
Operator grouping(Operator input, const std::vector<int>& keys) {
    Operator op;
    op.kind = OperatorKind::kAggregate;
    for (const int key : keys) {
        op.group_keys.push_back(plan::make_column(key, input.output[static_cast<size_t>(key)]));
        op.output.push_back(op.group_keys.back().type);
    }
    op.grouped = !keys.empty();
    const auto add = [&](uint32_t function, int arg, plan::Type type, bool distinct, bool filter) {
        plan::Aggregate call;
        call.function = function;
        call.type = type;
        call.distinct = distinct;
        if (function == kCountPairs || function == kAverageOfX)
            call.args = {as_float(plan::make_column(1 - arg, kInt4)),
                         as_float(plan::make_column(arg, kInt4))};
        else if (arg >= 0)
            call.args = {plan::make_column(arg, input.output[static_cast<size_t>(arg)])};
        if (filter)
            call.filter = {
                plan::make_call(kInt4Less, plan::make_type(TypeId::kBool),
                                {plan::make_column(0, kInt4), plan::make_column(1, kInt4)})};
        op.output.push_back(type);
        op.aggregates.push_back(std::move(call));
    };
    add(2803, -1, kInt8, false, false);
    add(2108, 1, kInt8, false, true);
    add(2145, 2, kText, false, false);
    add(2147, 0, kInt8, true, false);
    add(2108, 0, kInt8, true, true);
    add(kCountPairs, 0, kInt8, false, false);
    add(kAverageOfX, 1, kFloat8, false, true);
    op.inputs = {std::move(input)};
    return op;
}

constexpr uint64_t kLittleMemory = 4 << 20;

}  // namespace

TEST(Query, ManyGroupsAreGroupedInPartitions) {
    Generator make(3);
    const std::vector<Table> tables = {make.diverse_table(200'000)};
    for (const std::vector<int>& keys : {std::vector<int>{0}, {2}, {0, 2}, {1}, {}}) {
        Operator op = grouping(stored_rows(tables[0]), keys);
        Rows expected = run_naive(op, tables);
        std::sort(expected.begin(), expected.end());
        Rows found = run_engine(op, tables, 4096, 3);
        std::sort(found.begin(), found.end());
        EXPECT_TRUE(found == expected) << keys.size() << " keys, " << found.size() << " rows";

        // The same with little memory: rows come from the host, of which nothing is stored.
        op = grouping(Generator::rows(0, tables[0]), keys);
        uint64_t temp_bytes = 0;
        // Few groups keep only the numbers of which nobody has more than one.
        const bool few = keys.empty() || keys[0] == 1;
        found =
            run_engine(op, tables, 4096, 1, few ? kLittleMemory : 2 * kLittleMemory, &temp_bytes);
        std::sort(found.begin(), found.end());
        EXPECT_TRUE(found == expected) << keys.size() << " keys, " << found.size() << " rows";
        EXPECT_GT(temp_bytes, 0U);
    }
}

// Texts of all lengths, of which many recur: rows of groups that a worker has are not scattered.
TEST(Query, GroupsOfTextsThatRecurAreNotScattered) {
    std::mt19937 random(9);
    Table table;
    table.types = {kInt4, kInt4, kText};
    for (int64_t i = 0; i < 200'000; ++i) {
        const int64_t number = static_cast<int64_t>(random() % 3 > 0 ? random() % 3000 : random());
        const auto value = [&] {
            return random() % 40 == 0 ? Value() : Value(static_cast<int64_t>(random() % 9));
        };
        table.rows.push_back({value(), value(),
                              random() % 50 == 0
                                  ? Value()
                                  : Value(std::string(number % 37, 'x') + std::to_string(number))});
    }
    const auto texts = [&](Operator input, bool extremes) {
        Operator op;
        op.kind = OperatorKind::kAggregate;
        op.group_keys = {plan::make_column(2, kText)};
        op.grouped = true;
        op.output = {kText};
        const auto add = [&](uint32_t function, int arg, plan::Type type, bool filter) {
            plan::Aggregate call;
            call.function = function;
            call.type = type;
            if (arg >= 0)
                call.args = {plan::make_column(arg, input.output[static_cast<size_t>(arg)])};
            if (filter)
                call.filter = {
                    plan::make_call(kInt4Less, plan::make_type(TypeId::kBool),
                                    {plan::make_column(0, kInt4), plan::make_column(1, kInt4)})};
            op.output.push_back(type);
            op.aggregates.push_back(std::move(call));
        };
        add(2803, -1, kInt8, false);
        add(2803, -1, kInt8, true);
        add(2108, 1, kInt8, false);
        add(2108, 0, kInt8, true);
        if (extremes) add(2145, 2, kText, false);
        op.inputs = {std::move(input)};
        return op;
    };
    for (const bool extremes : {false, true}) {
        const Operator op = texts(Generator::rows(0, table), extremes);
        Rows expected = run_naive(op, {table});
        std::sort(expected.begin(), expected.end());
        uint64_t temp_bytes = 0;
        Rows found = run_engine(op, {table}, 4096, 1, 2 * kLittleMemory, &temp_bytes);
        std::sort(found.begin(), found.end());
        EXPECT_TRUE(found == expected) << found.size() << " rows";
        EXPECT_GT(temp_bytes, 0U);
        found =
            run_engine(texts(stored_rows(table), extremes), {table}, 4096, 3, 16 * kLittleMemory);
        std::sort(found.begin(), found.end());
        EXPECT_TRUE(found == expected) << found.size() << " rows";
    }
}

// Texts of all lengths, half of which few others share: what a worker scatters, it remembers.
TEST(Query, DistinctTextsAreScatteredOnce) {
    std::mt19937 random(5);
    Table table;
    table.types = {kInt4, kInt4, kText};
    for (int64_t i = 0; i < 200'000; ++i) {
        const int64_t number = static_cast<int64_t>(random() % 2 == 0 ? random() % 3000 : random());
        const bool null = random() % 50 == 0;
        table.rows.push_back(
            {Value(number % 7), Value(number % 5),
             null ? Value() : Value(std::string(number % 37, 'x') + std::to_string(number))});
    }
    for (const int calls : {1, 2}) {
        for (const bool filter : {false, true}) {
            const auto count_texts = [&](Operator input) {
                Operator op;
                op.kind = OperatorKind::kAggregate;
                for (int i = 0; i < calls; ++i) {
                    plan::Aggregate call;
                    call.function = 2147;
                    call.type = kInt8;
                    call.distinct = true;
                    call.args = {plan::make_column(2, kText)};
                    if (filter && i == 0)
                        call.filter = {plan::make_call(
                            kInt4Less, plan::make_type(TypeId::kBool),
                            {plan::make_column(0, kInt4), plan::make_column(1, kInt4)})};
                    op.output.push_back(kInt8);
                    op.aggregates.push_back(std::move(call));
                }
                op.inputs = {std::move(input)};
                return op;
            };
            const Operator op = count_texts(Generator::rows(0, table));
            const Rows expected = run_naive(op, {table});
            uint64_t temp_bytes = 0;
            EXPECT_EQ(run_engine(op, {table}, 4096, 1, kLittleMemory, &temp_bytes), expected);
            EXPECT_GT(temp_bytes, 0U);
            EXPECT_EQ(
                run_engine(count_texts(stored_rows(table)), {table}, 4096, 3, 16 * kLittleMemory),
                expected);
        }
    }
}

TEST(Query, SortOrdersAndLimits) {
    Generator make(1);
    const Table table = make.table(20'000);
    const Operator sort = three_key_sort(Generator::rows(0, table));
    const Rows expected = in_three_key_order(table.rows);
    EXPECT_EQ(run_engine(sort, {table}, 4096, 1), expected);
    const Rows slice(expected.begin() + 4093, expected.begin() + 4100);
    EXPECT_EQ(run_engine(limit_of(sort, 7, 4093), {table}, 1000, 1), slice);
    EXPECT_EQ(run_engine(limit_of(sort, 0, 0), {table}, 1000, 1), Rows());
    const Rows rest(expected.begin() + 19'990, expected.end());
    EXPECT_EQ(run_engine(limit_of(sort, 7000, 19'990), {table}, 1000, 1), rest);
}

TEST(Query, ManyRowsAreSortedInRanges) {
    Generator make(4);
    const std::vector<Table> tables = {make.diverse_table(200'000)};
    const Rows expected = in_three_key_order(tables[0].rows);
    const Rows slice(expected.begin() + 100'000, expected.begin() + 100'010);
    const Operator stored = three_key_sort(stored_rows(tables[0]));
    EXPECT_TRUE(run_engine(stored, tables, 4096, 3) == expected);
    EXPECT_TRUE(run_engine(limit_of(stored, 10, 100'000), tables, 4096, 3) == slice);

    const Operator from_host = three_key_sort(Generator::rows(0, tables[0]));
    uint64_t temp_bytes = 0;
    EXPECT_TRUE(run_engine(from_host, tables, 4096, 1, kLittleMemory, &temp_bytes) == expected);
    EXPECT_GT(temp_bytes, 0U);
    EXPECT_TRUE(run_engine(limit_of(from_host, 10, 100'000), tables, 4096, 1, kLittleMemory,
                           &temp_bytes) == slice);
    EXPECT_GT(temp_bytes, 0U);
}

// What only the sort needs does not go on.
TEST(Query, SortsDropTheirOwnKeys) {
    Generator make(6);
    const std::vector<Table> tables = {make.diverse_table(100'000)};
    const Rows sorted = in_three_key_order(tables[0].rows);
    for (const std::vector<int>& wanted : {std::vector<int>{2}, {0}, {2, 1}}) {
        const auto some = [&](Operator input) {
            Operator op;
            op.kind = OperatorKind::kProject;
            for (const int column : wanted) {
                op.expressions.push_back(
                    plan::make_column(column, input.output[static_cast<size_t>(column)]));
                op.output.push_back(op.expressions.back().type);
            }
            op.inputs = {std::move(input)};
            return op;
        };
        Rows expected;
        for (const auto& row : sorted) {
            expected.emplace_back();
            for (const int column : wanted)
                expected.back().push_back(row[static_cast<size_t>(column)]);
        }
        const Operator stored = some(three_key_sort(stored_rows(tables[0])));
        EXPECT_TRUE(run_engine(stored, tables, 4096, 3) == expected);
        const Operator from_host = some(three_key_sort(Generator::rows(0, tables[0])));
        uint64_t temp_bytes = 0;
        EXPECT_TRUE(run_engine(from_host, tables, 4096, 1, kLittleMemory, &temp_bytes) == expected);
        EXPECT_GT(temp_bytes, 0U);
        const Rows slice(expected.begin() + 10'000, expected.begin() + 10'010);
        EXPECT_TRUE(
            run_engine(some(limit_of(three_key_sort(Generator::rows(0, tables[0])), 10, 10'000)),
                       tables, 4096, 1) == slice);
    }
}

namespace {

constexpr uint64_t kTinyMemory = 256 << 10;

void compare_spilled(const Operator& root, const std::vector<Table>& tables, uint64_t seed,
                     int* spilled) {
    Rows expected = run_naive(root, tables);
    uint64_t temp_bytes = 0;
    Rows found;
    try {
        found = run_engine(root, tables, 4096, seed % 2 == 0 ? 1 : 3, kTinyMemory, &temp_bytes);
    } catch (const base::Error& error) {
        FAIL() << "seed " << seed << ": " << error.what() << "\n" << to_text(root);
    }
    *spilled += temp_bytes > 0 ? 1 : 0;
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    ASSERT_TRUE(found == expected)
        << "seed " << seed << ": " << found.size() << " rows, expected " << expected.size() << "\n"
        << to_text(root);
}

}  // namespace

TEST(Query, JoinsBeyondMemoryGiveTheObviousAnswer) {
    int spilled = 0;
    constexpr int kCases = 72;
    for (uint64_t seed = 0; seed < kCases; ++seed) {
        Generator make(1000 + seed);
        const auto type = static_cast<JoinType>(seed % 9);
        const std::vector<Table> tables = {make.diverse_table(1 + make.below(20'000)),
                                           make.diverse_table(8'000 + make.below(20'000)),
                                           make.diverse_table(make.below(15'000))};
        Operator root = Generator::rows(0, tables[0]);
        if (make.below(3) == 0) root = make.filter(std::move(root));
        Operator build = Generator::rows(1, tables[1]);
        // The smaller side is built; this one has to be.
        build.rows = 0;
        root = make.selective_join(std::move(root), std::move(build), type);
        if (make.below(2) == 0) {
            Operator third = Generator::rows(2, tables[2]);
            third.rows = 0;
            root = make.selective_join(std::move(root), std::move(third),
                                       static_cast<JoinType>(make.below(9)));
        }
        if (make.below(3) == 0) root = make.filter(std::move(root));
        if (make.below(3) == 0) root = make.aggregate(std::move(root));
        compare_spilled(root, tables, seed, &spilled);
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(spilled, kCases);
}

TEST(Query, OneKeyBeyondMemoryIsJoinedInBlocks) {
    int spilled = 0;
    constexpr int kCases = 36;
    for (uint64_t seed = 0; seed < kCases; ++seed) {
        Generator make(2000 + seed);
        const std::vector<Table> tables = {make.diverse_table(300), make.skewed_table(25'000)};
        Operator build = Generator::rows(1, tables[1]);
        build.rows = 0;
        Operator root = Generator::rows(0, tables[0]);
        root =
            make.selective_join(std::move(root), std::move(build), static_cast<JoinType>(seed % 9));
        compare_spilled(root, tables, seed, &spilled);
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(spilled, kCases);
}

TEST(Query, TemporaryFilesHaveALimit) {
    Generator make(5);
    const std::vector<Table> tables = {make.diverse_table(100), make.diverse_table(30'000)};
    Operator build = Generator::rows(1, tables[1]);
    build.rows = 0;
    const Operator root =
        make.selective_join(Generator::rows(0, tables[0]), std::move(build), JoinType::kInner);
    TableRows left(tables[0], 4096);
    TableRows right(tables[1], 4096);
    Inputs inputs;
    inputs.rows = {&left, &right};
    Options options;
    options.memory = kTinyMemory;
    options.temp_directories = {testing::TempDir()};
    options.temp_limit = 100'000;
    Query query(root, std::move(inputs), options);
    NoHost host;
    try {
        while (query.next(host) != nullptr) {
        }
        ADD_FAILURE() << "the limit does not hold";
    } catch (const base::Error& error) {
        EXPECT_EQ(error.kind(), base::ErrorKind::kTempSpace);
    }
}

TEST(Query, SharedRowsAreReadByAll) {
    Generator make(3);
    const std::vector<Table> tables = {make.table(3000)};
    Operator shared;
    shared.kind = OperatorKind::kShared;
    shared.source = 0;
    shared.output = tables[0].types;
    shared.inputs = {make.filter(Generator::rows(0, tables[0]))};
    const Rows kept = run_engine(shared, tables, 500, 1);
    Operator join = make.join(shared, shared);
    join.join = JoinType::kSemi;
    join.output = shared.output;
    Operator append;
    append.kind = OperatorKind::kAppend;
    append.output = shared.output;
    append.inputs = {shared, shared, join};
    // The source hands out its rows once.
    EXPECT_GE(run_engine(append, tables, 500, 1).size(), kept.size() * 2);
    compare(append, tables, 500, 3);
}

TEST(Query, SingleJoinsRefuseASecondMatch) {
    Generator make(4);
    const std::vector<Table> tables = {make.table(10), make.table(300)};
    Operator join = make.join(Generator::rows(0, tables[0]), Generator::rows(1, tables[1]));
    join.join = JoinType::kLeft;
    join.null_aware = false;
    join.predicates.clear();
    join.probe_keys = {plan::make_column(0, kInt4)};
    join.build_keys = {plan::make_column(0, kInt4)};
    join.output = plan::joined_types(join);
    join.single = true;
    EXPECT_THROW(run_engine(join, tables, 100, 1), Unrepresentable);
}

TEST(Query, AppendKeepsAllRows) {
    Generator make(2);
    const std::vector<Table> tables = {make.table(5000), make.table(0), make.table(77)};
    Operator append;
    append.kind = OperatorKind::kAppend;
    append.output = tables[0].types;
    for (int i = 0; i < 3; ++i) append.inputs.push_back(Generator::rows(i, tables[i]));
    compare(append, tables, 100, 2);
}

}  // namespace loom::exec
