#include "random_plans.h"

#include <array>
#include <optional>

#include "exec/functions.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;
using plan::TypeId;

Expr constant(plan::Type type, int64_t value) {
    // Files count from 1970, PostgreSQL from 2000.
    constexpr int64_t kEpochDays = 10957;
    switch (type.id) {
        case TypeId::kText:
            return plan::make_constant(type, column::Scalar::of_bytes(Maker::text(value)));
        case TypeId::kDate:
            return plan::make_constant(type, column::Scalar::of_int(value - kEpochDays));
        case TypeId::kTimestamp:
            return plan::make_constant(type,
                                       column::Scalar::of_int(value - kEpochDays * 86'400'000'000));
        default:
            return plan::make_constant(type, column::Scalar::of_int(value));
    }
}

plan::Aggregate aggregate_call(uint32_t function, std::vector<Expr> args) {
    plan::Aggregate call;
    call.function = function;
    std::vector<plan::Type> types;
    for (const Expr& arg : args) types.push_back(arg.type);
    call.type = exec::aggregate_type(function, types).value();
    call.args = std::move(args);
    return call;
}

Expr function_call(uint32_t function, std::vector<Expr> args) {
    const plan::Type type = exec::result_type(function, args, nullptr).value();
    return plan::make_call(function, type, std::move(args));
}

uint32_t comparison(plan::Type type, uint64_t which) {
    switch (type.id) {
        case TypeId::kBool:
            return std::array{60U, 84U, 56U, 1691U, 57U, 1692U}[which];
        case TypeId::kInt2:
            return std::array{63U, 145U, 64U, 148U, 146U, 151U}[which];
        case TypeId::kInt4:
            return std::array{65U, 144U, 66U, 149U, 147U, 150U}[which];
        case TypeId::kInt8:
            return std::array{467U, 468U, 469U, 471U, 470U, 472U}[which];
        case TypeId::kDate:
            return std::array{1086U, 1091U, 1087U, 1088U, 1089U, 1090U}[which];
        case TypeId::kTime:
            return std::array{1145U, 1106U, 1102U, 1103U, 1104U, 1105U}[which];
        case TypeId::kTimestamp:
            return std::array{2052U, 2053U, 2054U, 2055U, 2057U, 2056U}[which];
        case TypeId::kNumeric:
            return std::array{1718U, 1719U, 1722U, 1723U, 1720U, 1721U}[which];
        default:
            return std::array{67U, 157U, 740U, 741U, 742U, 743U}[which];
    }
}

namespace {

Expr logical(ExprKind kind, std::vector<Expr> args) {
    Expr expr;
    expr.kind = kind;
    expr.type = kBool;
    expr.args = std::move(args);
    return expr;
}

// A constant, or a parameter of its value.
Expr given(Maker& maker, Expr value) {
    if (!maker.chance(20)) return value;
    plan::ParameterValue parameter;
    parameter.value = value.value;
    maker.parameters.push_back(std::move(parameter));
    value.kind = ExprKind::kParameter;
    value.index = static_cast<int>(maker.parameters.size()) - 1;
    value.value = {};
    return value;
}

// A random condition over the columns from `first` on.
Expr condition(Maker& maker, const std::vector<ColumnPlan>& plans, int first, int depth) {
    if (depth > 0 && maker.chance(40)) {
        const uint64_t kind = maker.pick(4);
        std::vector<Expr> args{condition(maker, plans, first, depth - 1)};
        if (kind == 2) return logical(ExprKind::kNot, std::move(args));
        if (kind == 3) return logical(ExprKind::kIsNotTrue, std::move(args));
        args.push_back(condition(maker, plans, first, depth - 1));
        return logical(kind == 0 ? ExprKind::kAnd : ExprKind::kOr, std::move(args));
    }
    const auto at = maker.pick(plans.size());
    const ColumnPlan& plan = plans[at];
    Expr column = plan::make_column(first + static_cast<int>(at), plan.type);
    // substring() faults where texts shall be shorter than nothing.
    if (plan.type.id == TypeId::kText && maker.chance(25))
        column = function_call(877, {column, constant(kInt4, maker.between(0, 2)),
                                     constant(kInt4, maker.between(maker.chance(10) ? -1 : 0, 3))});
    if (maker.chance(15))
        return logical(maker.chance(50) ? ExprKind::kIsNull : ExprKind::kIsNotNull, {column});
    if (maker.chance(15) && plan.type.id != TypeId::kText) {
        // Two columns of a type.
        std::vector<int> alike;
        for (size_t i = 0; i < plans.size(); ++i)
            if (plans[i].type == plan.type) alike.push_back(first + static_cast<int>(i));
        return plan::make_call(
            comparison(plan.type, maker.pick(6)), kBool,
            {column, plan::make_column(alike[maker.pick(alike.size())], plan.type)});
    }
    Expr value = constant(plan.type, maker.between(plan.low, plan.high));
    if (maker.chance(5)) {
        Expr distinct = logical(ExprKind::kIsDistinct, {column, value});
        distinct.function = comparison(plan.type, 0);
        return distinct;
    }
    if (maker.chance(5)) value = plan::make_constant(plan.type, {});
    if (maker.chance(20)) {
        const bool all = maker.chance(30);
        Expr any = logical(all ? ExprKind::kAllOf : ExprKind::kAnyOf, {column});
        any.function = comparison(plan.type, all ? 1 : 0);
        for (int i = 0; i < 3; ++i)
            any.list.push_back(constant(plan.type, maker.between(plan.low, plan.high)).value);
        if (maker.chance(20)) any.list.emplace_back();
        return any;
    }
    // Numerics are compared in any scale.
    if (plan.type.id == TypeId::kNumeric && value.value.known() && maker.chance(50))
        value = plan::make_constant(
            maker.chance(50) ? plan::make_numeric(4, 1) : plan::make_numeric(25, 8),
            column::Scalar::of_int(maker.between(-9999, 9999)));
    value = given(maker, std::move(value));
    const uint32_t function = comparison(plan.type, maker.pick(6));
    return maker.chance(20) ? plan::make_call(function, kBool, {value, column})
                            : plan::make_call(function, kBool, {column, value});
}

// The columns that expressions are made of.
struct Columns {
    std::vector<ColumnPlan> all;

    // A random one of those that `wanted` takes; -1: there is none.
    template <typename Wanted>
    int pick(Maker& maker, const Wanted& wanted) const {
        std::vector<int> of;
        for (size_t i = 0; i < all.size(); ++i)
            if (wanted(all[i].type)) of.push_back(static_cast<int>(i));
        return of.empty() ? -1 : of[maker.pick(of.size())];
    }
    Expr column(int at) const { return plan::make_column(at, all[static_cast<size_t>(at)].type); }
    Expr of_type(Maker& maker, plan::Type type) const {
        return column(pick(maker, [&](plan::Type each) { return each == type; }));
    }
};

Expr choice(Maker& maker, const Columns& columns, ExprKind kind, std::vector<Expr> args) {
    Expr expr;
    expr.kind = kind;
    expr.type = args[0].type;
    if (kind == ExprKind::kCase) args.insert(args.begin(), condition(maker, columns.all, 0, 1));
    if (kind == ExprKind::kGreatest || kind == ExprKind::kLeast)
        expr.function = expr.type.id == TypeId::kNumeric ? 1769 : 351;
    if (kind == ExprKind::kNullIf) expr.function = comparison(expr.type, 0);
    expr.args = std::move(args);
    return expr;
}

ExprKind any_choice(Maker& maker) {
    return std::array{ExprKind::kCase, ExprKind::kCoalesce, ExprKind::kGreatest, ExprKind::kLeast,
                      ExprKind::kNullIf}[maker.pick(5)];
}

Expr numeric_value(Maker& maker, const Columns& columns, int depth);

// A random int4, mostly without faults.
Expr integer_value(Maker& maker, const Columns& columns, int depth) {
    if (depth == 0 || maker.chance(30)) {
        if (maker.chance(15)) return given(maker, constant(kInt4, maker.between(-100, 100)));
        if (maker.chance(10)) return function_call(1744, {numeric_value(maker, columns, depth)});
        return columns.of_type(maker, kInt4);
    }
    const Expr a = integer_value(maker, columns, depth - 1);
    const Expr b = integer_value(maker, columns, depth - 1);
    switch (maker.pick(6)) {
        case 0:
            return choice(maker, columns, any_choice(maker), {a, b});
        case 1:
            return function_call(156, {a, constant(kInt4, maker.between(1, 9))});  // a % 7
        case 2:
            // Division by a column may fault.
            return function_call(154,
                                 {a, maker.chance(20) ? b : constant(kInt4, maker.between(1, 9))});
        default:
            return function_call(std::array{177U, 181U, 141U}[maker.pick(3)],
                                 {columns.column(0), b.kind == ExprKind::kCall ? a : b});
    }
}

// A random numeric with a scale; nothing that is a Decimal.
Expr numeric_value(Maker& maker, const Columns& columns, int depth) {
    const auto is_numeric = [](plan::Type type) { return type.id == TypeId::kNumeric; };
    if (depth == 0 || maker.chance(25)) {
        if (maker.chance(20))
            return given(maker,
                         plan::make_constant(plan::make_numeric(3, 2),
                                             column::Scalar::of_int(maker.between(-999, 999))));
        if (maker.chance(15)) return function_call(1740, {columns.of_type(maker, kInt4)});
        return columns.column(columns.pick(maker, is_numeric));
    }
    const Expr a = numeric_value(maker, columns, depth - 1);
    const Expr b = numeric_value(maker, columns, depth - 1);
    const auto call = [&](uint32_t function, std::vector<Expr> args) {
        const auto type = exec::result_type(function, args, nullptr);
        return type && !plan::is_decimal(*type) ? plan::make_call(function, *type, std::move(args))
                                                : a;
    };
    switch (maker.pick(8)) {
        case 0:
            return a.type == b.type ? choice(maker, columns, any_choice(maker), {a, b}) : a;
        case 1:
            return call(maker.chance(50) ? 1771 : 1705, {a});
        case 2:
            return maker.chance(50)
                       ? call(maker.chance(50) ? 1707 : 1709,
                              {a, constant(kInt4, maker.between(-2, 3))})
                       : call(std::array{1708U, 1710U, 1711U, 1712U}[maker.pick(4)], {a});
        case 4: {
            // numeric(p, s): what has more digits before the point faults.
            const int64_t scale = maker.between(0, 5);
            const int64_t precision = scale + maker.between(maker.chance(90) ? 12 : 3, 30);
            return call(1703, {a, constant(kInt4, (precision << 16 | scale) + 4)});
        }
        case 3:
            return call(1728,
                        {a, maker.chance(20) ? b
                                             : plan::make_constant(plan::make_numeric(3, 1),
                                                                   column::Scalar::of_int(70))});
        default:
            return call(std::array{1724U, 1725U, 1726U}[maker.pick(3)], {a, b});
    }
}

Expr field_of(Maker& maker, const Columns& columns) {
    static const char* const kNames[] = {"year", "month", "dow",  "quarter", "week",
                                         "doy",  "epoch", "hour", "second"};
    const bool date = maker.chance(60) ||
                      columns.pick(maker, [](plan::Type each) { return each == kTimestamp; }) < 0;
    const Expr name = plan::make_constant(
        kText, column::Scalar::of_bytes(kNames[maker.chance(60) ? 0 : maker.pick(date ? 7 : 9)]));
    return function_call(date ? 6199 : 6202,
                         {name, columns.of_type(maker, date ? kDate : kTimestamp)});
}

Expr group_key(Maker& maker, const Columns& columns, size_t own, bool many) {
    // A column with few values of the facts, or one of a dimension.
    static constexpr int kFew[] = {0, 2, 3, 4, 5};
    if (maker.chance(15)) return field_of(maker, columns);
    if (maker.chance(10)) return integer_value(maker, columns, 2);
    if (maker.chance(5)) return numeric_value(maker, columns, 1);
    if (many && maker.chance(50))
        return columns.column(static_cast<int>(maker.pick(columns.all.size())));
    if (columns.all.size() > own && maker.chance(60))
        return columns.column(static_cast<int>(own + maker.pick(columns.all.size() - own)));
    return columns.column(kFew[maker.pick(std::size(kFew))]);
}

plan::Aggregate aggregate_of(Maker& maker, const Columns& columns) {
    switch (maker.pick(13)) {
        case 0:
            return aggregate_call(2803, {});
        case 1:
            return aggregate_call(
                2147, {columns.column(static_cast<int>(maker.pick(columns.all.size())))});
        case 2:
            return aggregate_call(2147, {integer_value(maker, columns, 2)});
        case 3:
            return aggregate_call(maker.chance(50) ? 2109 : 2102, {columns.of_type(maker, kInt2)});
        case 4:
        case 5:
            return aggregate_call(maker.chance(70) ? 2108 : 2101,
                                  {integer_value(maker, columns, static_cast<int>(maker.pick(3)))});
        case 6:
            return aggregate_call(maker.chance(60) ? 2107 : 2100, {columns.of_type(maker, kInt8)});
        case 7:
        case 8:
        case 9:
            return aggregate_call(maker.chance(70) ? 2114 : 2103,
                                  {numeric_value(maker, columns, static_cast<int>(maker.pick(4)))});
        case 10:
            return aggregate_call(std::array{2517U, 2518U, 2519U}[maker.pick(3)],
                                  {condition(maker, columns.all, 0, 1)});
        case 11:
            return aggregate_call(maker.chance(50) ? 2130 : 2146,
                                  {numeric_value(maker, columns, 1)});
        default: {
            struct Extreme {
                plan::Type type;
                uint32_t largest;
                uint32_t least;
            };
            static constexpr Extreme kExtremes[] = {{kInt2, 2117, 2133},      {kInt4, 2116, 2132},
                                                    {kInt8, 2115, 2131},      {kDate, 2122, 2138},
                                                    {kTimestamp, 2126, 2142}, {kTime, 2123, 2139}};
            const Extreme& of = kExtremes[maker.pick(std::size(kExtremes))];
            Expr value = columns.of_type(maker, of.type);
            if (of.type == kTimestamp && maker.chance(50))
                value = function_call(
                    2020, {plan::make_constant(kText, column::Scalar::of_bytes("month")), value});
            return aggregate_call(maker.chance(50) ? of.largest : of.least, {value});
        }
    }
}

// Columns of the fact table. Some positions have names in what follows.
std::vector<ColumnPlan> fact_columns(Maker& maker) {
    const auto nulls = [&](int often) {
        return maker.chance(3) ? 100 : maker.chance(30) ? often : 0;
    };
    constexpr int64_t kDay = 86'400'000'000;
    constexpr int64_t kEnd18 = 1'000'000'000'000'000'000;
    std::vector<ColumnPlan> facts = {
        {kInt4, -20, 100, nulls(10)},
        {kInt4, 1'000, 300'000, nulls(10)},
        {kInt2, -300, 300, nulls(50)},
        {kDate, 8'000, 9'000, nulls(10)},
        {kText, 0, 8, nulls(20)},
        {kBool, 0, 1, nulls(20)},
        {kInt4, maker.chance(30) ? INT32_MIN : -1'000'000'000, 1'000'000'000, 0},
        {kInt8, INT64_MIN, INT64_MAX, nulls(10)},
        {kInt8, -1'000'000'000'000, 5, nulls(10)},
        {plan::make_numeric(15, 2), -100'000'000, 9'000'000'000, nulls(10)},
        {plan::make_numeric(15, 2), 0, 10, nulls(10)},
        {plan::make_numeric(9, 4), -20'000, 30'000, nulls(10)},
        {plan::make_numeric(18, 0), 1 - kEnd18, kEnd18 - 1, nulls(10)},
        {kTimestamp, 8'000 * kDay, 20'000 * kDay, nulls(10)},
        {kTime, 0, kDay - 1, nulls(10)}};
    if (maker.chance(20)) facts[2] = {kInt2, INT16_MIN, INT16_MAX, nulls(10)};
    return facts;
}

Operator filtered(Maker& maker, Operator below, const std::vector<ColumnPlan>& plans) {
    Operator op;
    op.kind = OperatorKind::kFilter;
    op.output = below.output;
    op.rows = below.rows * 0.3;
    for (uint64_t i = maker.pick(2) + 1; i > 0; --i)
        op.predicates.push_back(condition(maker, plans, 0, 2));
    op.inputs = {std::move(below)};
    return op;
}

// The same columns, and some that are computed.
Operator projected(Maker& maker, Operator below, std::vector<ColumnPlan>& columns) {
    Operator op;
    op.kind = OperatorKind::kProject;
    op.rows = below.rows;
    op.output = below.output;
    for (size_t i = 0; i < columns.size(); ++i)
        op.expressions.push_back(plan::make_column(static_cast<int>(i), columns[i].type));
    std::vector<Expr> made = {field_of(maker, {columns}), numeric_value(maker, {columns}, 1)};
    for (Expr& value : made) {
        columns.push_back({value.type, -100, 100'000});
        op.output.push_back(value.type);
        op.expressions.push_back(std::move(value));
    }
    op.inputs = {std::move(below)};
    return op;
}

// A table that others are joined with, and perhaps tables that it is joined with itself.
struct Dimension {
    Operator op;
    std::vector<ColumnPlan> columns;
    std::vector<int> keys;            // among them
    std::vector<ColumnPlan> foreign;  // as the keys of those who look for them
};

int nulls(Maker& maker) {
    return maker.chance(30) ? 10 : 0;
}

// Mostly one key that is unique; or several, or one that is spread widely, or rows of equal keys.
void add_keys(Maker& maker, Dimension& to, int64_t rows) {
    const plan::Type type = maker.chance(50) ? kInt4 : kInt8;
    const int64_t low = maker.between(-1'000'000, 1'000'000);
    ColumnPlan key{type, low, low + rows - 1, 0, true};
    if (maker.chance(20)) {
        key.type = kInt8;
        key.step = int64_t{1} << maker.between(20, 48);
        key.low *= 1'000'000;
        key.high = key.low + (rows - 1) * key.step;
    } else if (maker.chance(25)) {
        key.high += maker.between(0, rows);
    }
    if (maker.chance(12)) key.unique = false;
    ColumnPlan foreign = key;
    foreign.unique = false;
    foreign.nulls = nulls(maker);
    if (maker.chance(60)) {
        // Some keys of facts are none of the dimension's, and some lie outside of its range.
        foreign.low -= maker.between(0, 50) * key.step;
        foreign.high += maker.between(0, 50) * key.step;
    }
    if (maker.chance(25)) {
        // One by one neither is unique.
        const int64_t each = maker.between(1, 4);
        key.unique = false;
        key.every = each;
        foreign.low = key.low;
        foreign.high = key.low + std::max<int64_t>(0, (rows - 1) / each) * key.step;
        ColumnPlan second{maker.chance(50) ? kInt2 : kDate, 8'000, 8'000 + each - 1};
        second.cycle = each;
        to.keys.push_back(static_cast<int>(to.columns.size()));
        to.columns.push_back(second);
        to.foreign.push_back({second.type, second.low, second.high + 1, nulls(maker)});
    }
    if (!key.unique && key.every == 0) key.nulls = nulls(maker);
    to.keys.push_back(static_cast<int>(to.columns.size()));
    to.columns.push_back(key);
    to.foreign.push_back(foreign);
}

// Joins the rows of `probe`, whose columns are `columns`; the keys begin at `foreign` among them.
Operator joined(Maker& maker, Operator probe, std::vector<ColumnPlan>& columns, size_t foreign,
                Dimension build) {
    using plan::JoinType;
    Operator join;
    join.kind = OperatorKind::kJoin;
    const bool unique =
        build.keys.size() > 1 || build.columns[static_cast<size_t>(build.keys[0])].unique;
    join.join = maker.chance(unique ? 65 : 10) ? JoinType::kInner
                : maker.chance(40)             ? JoinType::kSemi
                : maker.chance(60)             ? JoinType::kAnti
                                               : JoinType::kLeft;
    for (size_t i = 0; i < build.keys.size(); ++i) {
        join.probe_keys.push_back(
            plan::make_column(static_cast<int>(foreign + i), build.foreign[i].type));
        join.build_keys.push_back(plan::make_column(build.keys[i], build.foreign[i].type));
    }
    std::vector<ColumnPlan> both = columns;
    both.insert(both.end(), build.columns.begin(), build.columns.end());
    if (maker.chance(unique ? 25 : 5))
        for (uint64_t i = maker.pick(2) + 1; i > 0; --i)
            join.predicates.push_back(
                maker.chance(50)
                    ? condition(maker, build.columns, static_cast<int>(columns.size()), 1)
                    : condition(maker, both, 0, 2));
    join.rows = probe.rows * (maker.chance(50) && join.join != JoinType::kLeft ? 0.1 : 1);
    join.output = probe.output;
    const bool mirrored = join.join != JoinType::kInner && maker.chance(30);
    if (join.join == JoinType::kInner || join.join == JoinType::kLeft) {
        columns = both;
        join.output.insert(join.output.end(), build.op.output.begin(), build.op.output.end());
    }
    join.inputs = {std::move(probe), std::move(build.op)};
    if (!mirrored || join.join == JoinType::kLeft || !join.predicates.empty()) return join;
    join.join = join.join == JoinType::kSemi ? JoinType::kRightSemi : JoinType::kRightAnti;
    std::swap(join.inputs[0], join.inputs[1]);
    std::swap(join.probe_keys, join.build_keys);
    return join;
}

Dimension make_dimension(Maker& maker, Star& star, const std::string& directory, int depth) {
    Dimension made;
    const int64_t keys = maker.between(1, 2'000);
    const int64_t rows = maker.chance(10) ? 0 : maker.between(keys / 2, keys);
    add_keys(maker, made, keys);
    for (const ColumnPlan& column : std::vector<ColumnPlan>{
             {kText, 0, maker.between(0, maker.chance(20) ? 5'000 : 30), nulls(maker)},
             {kInt4, -5, maker.between(0, 500), nulls(maker)},
             {plan::make_numeric(15, 2), -500, maker.between(0, 1'000'000), nulls(maker)},
             {kDate, 8'000, maker.between(8'000, 12'000), nulls(maker)},
             {kInt8, INT64_MIN / 2, INT64_MAX / 3, nulls(maker)}})
        made.columns.push_back(column);
    const size_t foreign = made.columns.size();
    std::optional<Dimension> below;
    if (depth > 0 && maker.chance(35)) {
        below = make_dimension(maker, star, directory, depth - 1);
        made.columns.insert(made.columns.end(), below->foreign.begin(), below->foreign.end());
    }
    const size_t source = star.inputs.tables.size();
    star.inputs.tables.push_back(maker.make_table(
        made.columns, rows, directory + "/dimension" + std::to_string(source) + ".parquet"));
    made.op = scan(static_cast<int>(source), made.columns, static_cast<double>(rows));
    if (maker.chance(30)) made.op = filtered(maker, std::move(made.op), made.columns);
    if (below)
        made.op = joined(maker, std::move(made.op), made.columns, foreign, std::move(*below));
    if (maker.chance(15)) made.op = projected(maker, std::move(made.op), made.columns);
    return made;
}

}  // namespace

Star make_star(Maker& maker, const std::string& directory) {
    constexpr int64_t kRows[] = {0, 1, 255, 511, 512, 513, 1025, 4096, 9000, 9000, 9000, 9000};
    const int64_t fact_rows = kRows[maker.pick(std::size(kRows))];
    std::vector<ColumnPlan> facts = fact_columns(maker);
    const size_t own = facts.size();
    Star star;
    star.inputs.tables.emplace_back();
    std::vector<Dimension> dimensions;
    for (uint64_t d = maker.pick(4); d > 0; --d) {
        dimensions.push_back(make_dimension(maker, star, directory, 2));
        const auto& foreign = dimensions.back().foreign;
        facts.insert(facts.end(), foreign.begin(), foreign.end());
    }
    star.inputs.tables[0] = maker.make_table(facts, fact_rows, directory + "/facts.parquet");
    // Several files; with a maker of their own, so that all else is as it would be without them.
    Maker more(static_cast<uint64_t>(fact_rows) * 31 + facts.size());
    for (uint64_t i = more.pick(4); i > 0; --i)
        star.inputs.tables[0].files.push_back(
            more.make_table(facts, kRows[more.pick(std::size(kRows))] / 3,
                            directory + "/facts" + std::to_string(i) + ".parquet")
                .files[0]);
    Operator tree = scan(0, facts, static_cast<double>(fact_rows));
    Columns columns{facts};
    if (maker.chance(35)) tree = filtered(maker, std::move(tree), facts);
    size_t foreign = own;
    for (Dimension& dimension : dimensions) {
        const size_t keys = dimension.keys.size();
        tree = joined(maker, std::move(tree), columns.all, foreign, std::move(dimension));
        foreign += keys;
        if (maker.chance(15)) tree = filtered(maker, std::move(tree), columns.all);
        if (maker.chance(15)) tree = projected(maker, std::move(tree), columns.all);
    }

    Operator& aggregate = star.aggregate;
    aggregate.kind = OperatorKind::kAggregate;
    const bool many = maker.chance(40);
    for (uint64_t i = maker.pick(4); i > 0; --i) {
        aggregate.group_keys.push_back(group_key(maker, columns, facts.size(), many));
        aggregate.output.push_back(aggregate.group_keys.back().type);
    }
    aggregate.grouped = !aggregate.group_keys.empty();
    aggregate.rows = maker.chance(50) ? 0 : static_cast<double>(maker.between(1, 20'000));
    for (uint64_t i = maker.pick(5) + 1; i > 0; --i) {
        plan::Aggregate call = aggregate_of(maker, columns);
        if (maker.chance(20)) call.filter = {condition(maker, columns.all, 0, 1)};
        aggregate.output.push_back(call.type);
        aggregate.aggregates.push_back(std::move(call));
    }
    aggregate.inputs = {std::move(tree)};
    star.inputs.parameters = maker.parameters;
    return star;
}

}  // namespace loom::gpu
