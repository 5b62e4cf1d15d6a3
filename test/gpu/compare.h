#pragma once
// An aggregate's groups, computed by kernels and by the CPU engine.

#include <algorithm>
#include <string>
#include <vector>

#include "exec/query.h"
#include "gpu/run/execution.h"

namespace loom::gpu {

class NobodyToAsk final : public exec::Host {
  public:
    void check_interrupts() override {}
    exec::Vector evaluate(int, std::span<const exec::Vector>, int64_t) override {
        throw exec::Unrepresentable("there is nobody to ask");
    }
};

inline std::string text_of(const exec::Vector& vector, int64_t row) {
    if (vector.is_null(row)) return "NULL";
    const int64_t at = vector.form == exec::Form::kConstant ? 0 : row;
    const exec::Vector& values =
        vector.form == exec::Form::kCodes ? vector.dictionary->values : vector;
    const int64_t place = vector.form == exec::Form::kCodes ? vector.code(row) : at;
    switch (plan::physical(vector.type)) {
        case plan::Physical::kBool:
            return values.as<uint8_t>()[place] != 0 ? "t" : "f";
        case plan::Physical::kInt16:
            return std::to_string(values.as<int16_t>()[place]);
        case plan::Physical::kInt32:
            return std::to_string(values.as<int32_t>()[place]);
        case plan::Physical::kInt64:
            return std::to_string(values.as<int64_t>()[place]);
        case plan::Physical::kInt128:
            return column::to_string(values.as<__int128>()[place]);
        case plan::Physical::kDecimal: {
            const plan::Decimal& decimal = values.as<plan::Decimal>()[place];
            return column::to_string(decimal.unscaled) + "e-" + std::to_string(decimal.scale);
        }
        case plan::Physical::kBytes:
            return "'" + std::string(values.as<column::BytesView>()[place].text()) + "'";
        default:
            return "?";
    }
}

inline void add_rows(std::span<const exec::Vector> columns, int64_t rows,
                     std::vector<std::string>& out) {
    for (int64_t i = 0; i < rows; ++i) {
        std::string& line = out.emplace_back();
        for (const exec::Vector& column : columns) line += text_of(column, i) + " ";
    }
}

/// Returns the groups as lines, in order.
inline std::vector<std::string> rows_of(exec::RowSource& rows, size_t columns) {
    std::vector<std::string> lines;
    std::vector<exec::Vector> vectors(columns);
    while (const int64_t count = rows.fetch(vectors)) add_rows(vectors, count, lines);
    std::sort(lines.begin(), lines.end());
    return lines;
}

inline std::vector<std::string> rows_on_cpu(const plan::Operator& root, exec::Inputs inputs,
                                            int threads = 1) {
    exec::Options options;
    options.threads = threads;
    exec::Query query(root, std::move(inputs), options);
    NobodyToAsk host;
    std::vector<std::string> lines;
    while (const exec::Batch* batch = query.next(host))
        add_rows(batch->columns, batch->rows, lines);
    std::sort(lines.begin(), lines.end());
    return lines;
}

}  // namespace loom::gpu
