#pragma once
// Tables that are made up, as files, and scans of them.

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "column/column.h"
#include "exec/query.h"
#include "format/parquet/write/writer.h"
#include "format/table_reader.h"
#include "io/file.h"
#include "plan/operator.h"

namespace loom::gpu {

inline constexpr plan::Type kBool = plan::make_type(plan::TypeId::kBool);
inline constexpr plan::Type kInt2 = plan::make_type(plan::TypeId::kInt2);
inline constexpr plan::Type kInt4 = plan::make_type(plan::TypeId::kInt4);
inline constexpr plan::Type kInt8 = plan::make_type(plan::TypeId::kInt8);
inline constexpr plan::Type kDate = plan::make_type(plan::TypeId::kDate);
inline constexpr plan::Type kTime = plan::make_type(plan::TypeId::kTime);
inline constexpr plan::Type kTimestamp = plan::make_type(plan::TypeId::kTimestamp);
inline constexpr plan::Type kText = plan::make_type(plan::TypeId::kText);

/// A column: integers between two bounds, in the file's domain, or one of some texts.
struct ColumnPlan {
    plan::Type type;
    int64_t low = 0;
    int64_t high = 0;
    int nulls = 0;  // of 100
    bool unique = false;
    int64_t step = 1;   // between neighbours
    int64_t every = 0;  // so many rows, one after the other, have the same value
    int64_t cycle = 0;  // values follow one another, and begin anew after so many

    int64_t count() const {
        return static_cast<int64_t>((static_cast<uint64_t>(high) - static_cast<uint64_t>(low)) /
                                    static_cast<uint64_t>(step)) +
               1;
    }
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

    static column::TypePtr file_type(plan::Type type) {
        using plan::TypeId;
        switch (type.id) {
            case TypeId::kBool:
                return column::make_type(column::TypeId::kBool);
            case TypeId::kInt2:
                return column::make_type(column::TypeId::kInt16);
            case TypeId::kInt8:
                return column::make_type(column::TypeId::kInt64);
            case TypeId::kDate:
                return column::make_type(column::TypeId::kDate32);
            case TypeId::kTime:
                return column::make_time(column::TimeUnit::kMicro);
            case TypeId::kTimestamp:
                return column::make_timestamp(column::TimeUnit::kMicro);
            case TypeId::kNumeric:
                return column::make_decimal(type.precision, type.scale, 8);
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
            for (int64_t i = 0; i < plan.count(); ++i) keys.push_back(plan.low + i * plan.step);
            std::shuffle(keys.begin(), keys.end(), random_);
        }
        for (int64_t row = 0; row < rows; ++row) {
            if (chance(plan.nulls)) {
                builder.append_null();
                continue;
            }
            const int64_t value = plan.unique      ? keys[static_cast<size_t>(row)]
                                  : plan.every > 0 ? plan.low + row / plan.every * plan.step
                                  : plan.cycle > 0 ? plan.low + row % plan.cycle * plan.step
                                  : plan.step > 1
                                      ? plan.low + between(0, plan.count() - 1) * plan.step
                                      : between(plan.low, plan.high);
            using plan::TypeId;
            switch (plan.type.id) {
                case TypeId::kBool:
                    builder.append_bool(value != 0);
                    break;
                case TypeId::kInt2:
                    builder.append<int16_t>(static_cast<int16_t>(value));
                    break;
                case TypeId::kInt8:
                case TypeId::kTime:
                case TypeId::kTimestamp:
                case TypeId::kNumeric:
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
    std::vector<plan::ParameterValue> parameters;  ///< of the plan that is being made
};

inline plan::Operator scan(int source, const std::vector<ColumnPlan>& plans, double rows) {
    plan::Operator op;
    op.kind = plan::OperatorKind::kScan;
    op.source = source;
    op.name = "t" + std::to_string(source);
    op.rows = rows;
    for (size_t i = 0; i < plans.size(); ++i) {
        op.columns.push_back("c" + std::to_string(i));
        op.output.push_back(plans[i].type);
    }
    return op;
}

}  // namespace loom::gpu
