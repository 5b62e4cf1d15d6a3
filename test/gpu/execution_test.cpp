// Random aggregates over random star schemas: kernels on the device that is the host's processor,
// compared with the CPU engine.

#include "gpu/run/execution.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "column/column.h"
#include "compare.h"
#include "format/parquet/write/writer.h"
#include "gpu/codegen/expression_text.h"
#include "gpu/driver/host_compiler.h"
#include "gpu/driver/host_device.h"

namespace loom::gpu {
namespace {

namespace fs = std::filesystem;
using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;
using plan::TypeId;

constexpr plan::Type kBool = plan::make_type(TypeId::kBool);
constexpr plan::Type kInt2 = plan::make_type(TypeId::kInt2);
constexpr plan::Type kInt4 = plan::make_type(TypeId::kInt4);
constexpr plan::Type kInt8 = plan::make_type(TypeId::kInt8);
constexpr plan::Type kDate = plan::make_type(TypeId::kDate);
constexpr plan::Type kText = plan::make_type(TypeId::kText);

// A column of a table that is made up: integers between two bounds, or one of some texts.
struct ColumnPlan {
    plan::Type type;
    int64_t low = 0;
    int64_t high = 0;
    int nulls = 0;  // of 100
    bool unique = false;
};

class Maker {
  public:
    explicit Maker(uint64_t seed) : random_(seed) {}

    uint64_t pick(uint64_t count) { return random_() % count; }
    bool chance(int of_100) { return static_cast<int>(pick(100)) < of_100; }
    int64_t between(int64_t low, int64_t high) {
        const uint64_t reach = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
        const uint64_t above = reach == UINT64_MAX ? random_() : random_() % (reach + 1);
        return static_cast<int64_t>(static_cast<uint64_t>(low) + above);
    }

    column::TypePtr file_type(plan::Type type) {
        switch (type.id) {
            case TypeId::kBool:
                return column::make_type(column::TypeId::kBool);
            case TypeId::kInt2:
                return column::make_type(column::TypeId::kInt16);
            case TypeId::kInt8:
                return column::make_type(column::TypeId::kInt64);
            case TypeId::kDate:
                return column::make_type(column::TypeId::kDate32);
            case TypeId::kText:
                return column::make_type(column::TypeId::kUtf8);
            default:
                return column::make_type(column::TypeId::kInt32);
        }
    }

    column::Column make_column(const ColumnPlan& plan, int64_t rows) {
        column::ColumnBuilder builder(file_type(plan.type));
        std::vector<int64_t> keys;
        if (plan.unique) {
            for (int64_t key = plan.low; key <= plan.high; ++key) keys.push_back(key);
            std::shuffle(keys.begin(), keys.end(), random_);
        }
        for (int64_t row = 0; row < rows; ++row) {
            if (chance(plan.nulls)) {
                builder.append_null();
                continue;
            }
            const int64_t value =
                plan.unique ? keys[static_cast<size_t>(row)] : between(plan.low, plan.high);
            switch (plan.type.id) {
                case TypeId::kBool:
                    builder.append_bool(value != 0);
                    break;
                case TypeId::kInt2:
                    builder.append<int16_t>(static_cast<int16_t>(value));
                    break;
                case TypeId::kInt8:
                    builder.append<int64_t>(value);
                    break;
                case TypeId::kText:
                    builder.append_bytes(text(value));
                    break;
                default:
                    builder.append<int32_t>(static_cast<int32_t>(value));
            }
        }
        return builder.finish();
    }
    static std::string text(int64_t value) {
        static const char* const kTexts[] = {"",     "a", "é",    "ab", "Zürich",
                                             "ab c", "b", "日本", "c"};
        return value < 9 ? kTexts[value] : "text " + std::to_string(value);
    }

    exec::TableSource make_table(const std::vector<ColumnPlan>& plans, int64_t rows,
                                 const std::string& path) {
        column::Schema schema;
        std::vector<column::Column> columns;
        for (size_t i = 0; i < plans.size(); ++i) {
            columns.push_back(make_column(plans[i], rows));
            column::Field field;
            field.name = "c" + std::to_string(i);
            field.type = columns.back().type;
            schema.fields.push_back(std::move(field));
        }
        std::vector<column::ColumnView> views;
        for (column::Column& column : columns) views.push_back(column.view());
        parquet::WriterOptions options;
        options.row_group_rows = 700;
        parquet::Writer writer(schema, options, io::create_local_file(path));
        if (rows > 0) writer.write(views, rows);
        writer.finish();
        exec::ScanFile file;
        file.reader = format::open_table(io::open_local_file(path), {});
        for (size_t i = 0; i < plans.size(); ++i) {
            exec::ScanFile::Column column;
            column.field = static_cast<int>(i);
            file.columns.push_back(std::move(column));
        }
        exec::TableSource table;
        table.files.push_back(std::move(file));
        return table;
    }

    std::mt19937_64 random_;
};

Operator scan(int source, const std::vector<ColumnPlan>& plans, double rows) {
    Operator op;
    op.kind = OperatorKind::kScan;
    op.source = source;
    op.name = "t" + std::to_string(source);
    op.rows = rows;
    for (size_t i = 0; i < plans.size(); ++i) {
        op.columns.push_back("c" + std::to_string(i));
        op.output.push_back(plans[i].type);
    }
    return op;
}

Expr constant(plan::Type type, int64_t value) {
    if (type.id == TypeId::kText)
        return plan::make_constant(type, column::Scalar::of_bytes(Maker::text(value)));
    return plan::make_constant(type, column::Scalar::of_int(value));
}

Expr logical(ExprKind kind, std::vector<Expr> args) {
    Expr expr;
    expr.kind = kind;
    expr.type = kBool;
    expr.args = std::move(args);
    return expr;
}

// The operators =, <>, <, <=, >, >= of a type with itself.
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
        default:
            return std::array{67U, 157U, 740U, 741U, 742U, 743U}[which];
    }
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
    if (maker.chance(15))
        return logical(maker.chance(50) ? ExprKind::kIsNull : ExprKind::kIsNotNull, {column});
    Expr value = constant(plan.type, maker.between(plan.low, plan.high));
    if (maker.chance(5)) value = plan::make_constant(plan.type, {});
    if (maker.chance(20)) {
        Expr any = logical(ExprKind::kAnyOf, {column});
        any.function = comparison(plan.type, 0);
        for (int i = 0; i < 3; ++i)
            any.list.push_back(constant(plan.type, maker.between(plan.low, plan.high)).value);
        if (maker.chance(20)) any.list.emplace_back();
        return any;
    }
    const uint32_t function = comparison(plan.type, maker.pick(6));
    return maker.chance(20) ? plan::make_call(function, kBool, {value, column})
                            : plan::make_call(function, kBool, {column, value});
}

struct Star {
    Operator aggregate;
    exec::Inputs inputs;
};

// A fact table, up to three dimensions, conditions, groups.
Star make_star(Maker& maker, const std::string& directory) {
    constexpr int64_t kRows[] = {0, 1, 511, 513, 1025, 4096, 9000, 9000, 9000, 9000};
    const int64_t fact_rows = kRows[maker.pick(std::size(kRows))];
    const size_t dimensions = maker.pick(4);
    std::vector<ColumnPlan> facts = {
        {kInt4, -20, 100, maker.chance(30) ? 10 : 0},
        {kInt4, 1'000, 300'000, maker.chance(30) ? 10 : 0},
        {kInt2, -300, 300, maker.chance(30) ? 50 : 0},
        {kDate, 8'000, 9'000, 0},
        {kText, 0, 8, maker.chance(30) ? 20 : 0},
        {kBool, 0, 1, maker.chance(30) ? 20 : 0},
        {kInt4, maker.chance(30) ? INT32_MIN : -1'000'000'000, 1'000'000'000, 0},
        {kInt8, INT64_MIN, INT64_MAX, 0}};
    const size_t own = facts.size();
    Star star;
    std::vector<std::vector<ColumnPlan>> dims;
    std::vector<int64_t> dim_rows;
    for (size_t d = 0; d < dimensions; ++d) {
        const plan::Type key = maker.chance(50) ? kInt4 : kInt8;
        const int64_t low = maker.between(-1'000'000, 1'000'000);
        const int64_t high = low + maker.between(0, 2'000);
        dims.push_back({{key, low, high, 0, true},
                        {kText, 0, maker.between(0, 30), maker.chance(30) ? 10 : 0},
                        {kInt4, -5, maker.between(0, 500), maker.chance(30) ? 10 : 0}});
        dim_rows.push_back(maker.chance(10) ? 0 : maker.between((high - low) / 2, high - low + 1));
        // Some keys of facts are none of the dimension's, and some lie outside of its range.
        facts.push_back({key, low - maker.between(0, 50), high + maker.between(0, 50),
                         maker.chance(30) ? 10 : 0});
    }
    star.inputs.tables.push_back(maker.make_table(facts, fact_rows, directory + "/facts.parquet"));
    Operator tree = scan(0, facts, static_cast<double>(fact_rows));
    std::vector<ColumnPlan> all = facts;
    const auto add_filter = [&](Operator below, const std::vector<ColumnPlan>& plans) {
        Operator op;
        op.kind = OperatorKind::kFilter;
        op.output = below.output;
        op.rows = below.rows * 0.3;
        for (uint64_t i = maker.pick(2) + 1; i > 0; --i)
            op.predicates.push_back(condition(maker, plans, 0, 2));
        op.inputs = {std::move(below)};
        return op;
    };
    if (maker.chance(50)) tree = add_filter(std::move(tree), facts);
    for (size_t d = 0; d < dimensions; ++d) {
        star.inputs.tables.push_back(maker.make_table(
            dims[d], dim_rows[d], directory + "/dimension" + std::to_string(d) + ".parquet"));
        Operator build = scan(static_cast<int>(d) + 1, dims[d], static_cast<double>(dim_rows[d]));
        if (maker.chance(30)) build = add_filter(std::move(build), dims[d]);
        Operator join;
        join.kind = OperatorKind::kJoin;
        join.join = maker.chance(80) ? plan::JoinType::kInner : plan::JoinType::kSemi;
        join.probe_keys = {plan::make_column(static_cast<int>(own + d), dims[d][0].type)};
        join.build_keys = {plan::make_column(0, dims[d][0].type)};
        join.rows = tree.rows * (maker.chance(50) ? 0.1 : 1);
        join.output = tree.output;
        if (join.join == plan::JoinType::kInner) {
            join.output.insert(join.output.end(), build.output.begin(), build.output.end());
            all.insert(all.end(), dims[d].begin(), dims[d].end());
        }
        join.inputs = {std::move(tree), std::move(build)};
        tree = std::move(join);
    }

    Operator& aggregate = star.aggregate;
    aggregate.kind = OperatorKind::kAggregate;
    for (uint64_t i = maker.pick(4); i > 0; --i) {
        // A key: a column with few values of the facts, or one of a dimension.
        static constexpr int kFew[] = {0, 2, 3, 4, 5};
        int column = kFew[maker.pick(std::size(kFew))];
        if (all.size() > facts.size() && maker.chance(60))
            column = static_cast<int>(facts.size() + maker.pick(all.size() - facts.size()));
        aggregate.group_keys.push_back(
            plan::make_column(column, all[static_cast<size_t>(column)].type));
        aggregate.output.push_back(aggregate.group_keys.back().type);
    }
    aggregate.grouped = !aggregate.group_keys.empty();
    for (uint64_t i = maker.pick(3) + 1; i > 0; --i) {
        plan::Aggregate call;
        call.type = kInt8;
        const Expr a = plan::make_column(0, kInt4);
        const Expr b = plan::make_column(maker.chance(85) ? 1 : 6, kInt4);
        switch (maker.pick(4)) {
            case 0:
                call.function = 2803;
                break;
            case 1:
                call.function = 2147;
                call.args = {maker.chance(50) ? a : plan::make_column(4, kText)};
                break;
            case 2:
                call.function = 2109;
                call.args = {plan::make_column(2, kInt2)};
                break;
            default:
                call.function = 2108;
                call.args = {maker.chance(50)
                                 ? b
                                 : plan::make_call(std::array{177U, 181U, 141U}[maker.pick(3)],
                                                   kInt4, {b, a})};
        }
        if (maker.chance(20)) call.filter = {condition(maker, facts, 0, 1)};
        aggregate.output.push_back(call.type);
        aggregate.aggregates.push_back(std::move(call));
    }
    aggregate.inputs = {std::move(tree)};
    return star;
}

}  // namespace

TEST(Execution, RandomStarsAreAsOnTheCpu) {
    constexpr int kQueries = 30;
    std::string reason;
    const std::unique_ptr<Compiler> compiler = make_host_compiler(&reason);
    if (compiler == nullptr) GTEST_SKIP() << "skipped: " << reason;
    const fs::path directory =
        fs::temp_directory_path() / ("loom-gpu-stars-" + std::to_string(getpid()));
    const std::unique_ptr<Device> device = open_host_device();
    ModuleCache modules(*device, *compiler, {});
    int refused = 0;
    int faults = 0;
    int with_rows = 0;
    const char* wanted = std::getenv("LOOM_GPU_SEED");
    const uint64_t first = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1;
    const char* many = std::getenv("LOOM_GPU_QUERIES");
    const uint64_t count = many != nullptr ? std::strtoull(many, nullptr, 10) : kQueries;
    for (uint64_t seed = first; seed < first + count; ++seed) {
        SCOPED_TRACE(testing::Message() << "LOOM_GPU_SEED=" << seed);
        fs::remove_all(directory);
        fs::create_directories(directory);
        Maker maker(seed);
        const Star star = make_star(maker, directory);
        SCOPED_TRACE(plan::to_text(star.aggregate));
        ColumnStore columns(*device, 2);
        DeviceContext context{*device, modules, columns};
        std::unique_ptr<DeviceRows> rows;
        bool fault = false;
        try {
            rows = run_aggregate(context, star.aggregate, star.inputs);
        } catch (const NotInKernels&) {
            ++refused;
            continue;
        } catch (const exec::SqlFault&) {
            fault = true;
        }
        try {
            const auto expected = rows_on_cpu(star.aggregate, star.inputs);
            EXPECT_FALSE(fault) << "a fault that the CPU engine has not";
            if (rows != nullptr) {
                EXPECT_EQ(rows_of(*rows, star.aggregate.output.size()), expected);
            }
            with_rows += expected.size() > 1 ? 1 : 0;
        } catch (const exec::SqlFault&) {
            EXPECT_TRUE(fault) << "the CPU engine raises a fault";
            ++faults;
        }
        if (HasFailure()) break;
    }
    fs::remove_all(directory);
    std::printf("%llu stars: %d refused, %d faults, %d of several groups\n",
                static_cast<unsigned long long>(count), refused, faults, with_rows);
    if (wanted == nullptr && many == nullptr) {
        EXPECT_LT(refused, kQueries / 3);
        EXPECT_GT(with_rows, kQueries / 4);
    }
}

}  // namespace loom::gpu
