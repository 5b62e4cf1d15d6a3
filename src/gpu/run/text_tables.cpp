#include "gpu/run/text_tables.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "exec/expression.h"
#include "exec/fault.h"
#include "gpu/codegen/expression_text.h"

namespace loom::gpu {

namespace {

// What faults for some text is left to the CPU engine: no row may have it.
exec::Vector evaluate(exec::Evaluator& evaluator, std::span<const exec::Vector> columns,
                      int64_t rows) {
    try {
        return evaluator.evaluate(columns, rows);
    } catch (const exec::SqlFault& fault) {
        throw NotInKernels{fault.what()};
    } catch (const exec::Unrepresentable& fault) {
        throw NotInKernels{fault.what()};
    }
}

// Calls `take` with the results and how many of them there are, batch by batch.
template <typename Take>
void for_all_texts(const plan::Expr& expr, int slot, const DeviceColumn& column,
                   std::span<const plan::ParameterValue> parameters, const Take& take) {
    const uint32_t count = column.texts->size();
    plan::Expr evaluated = expr;
    const exec::Expression expression(evaluated, parameters);
    exec::Evaluator evaluator(expression, nullptr);
    std::vector<exec::Vector> columns(static_cast<size_t>(slot) + 1);
    std::vector<column::BytesView> views;
    for (uint32_t first = 0; first <= count; first += exec::kBatchRows) {
        const uint32_t rows = std::min<uint32_t>(exec::kBatchRows, count + 1 - first);
        views.assign(rows + base::kBufferSlack, {});
        std::vector<uint8_t> validity(rows / 8 + 1 + base::kBufferSlack, 0);
        for (uint32_t i = 0; i < rows && first + i < count; ++i) {
            const std::string_view text = column.texts->text(first + i);
            views[i] = {reinterpret_cast<const uint8_t*>(text.data()),
                        static_cast<int64_t>(text.size())};
            validity[i / 8] |= static_cast<uint8_t>(1U << i % 8);
        }
        exec::Vector input;
        input.type = column.facts.type;
        input.length = rows;
        input.values = views.data();
        input.validity = validity.data();
        columns[static_cast<size_t>(slot)] = input;
        take(evaluate(evaluator, columns, rows), rows);
    }
}

std::string_view text_at(const exec::Vector& vector, int64_t row) {
    const bool coded = vector.form == exec::Form::kCodes;
    const exec::Vector& values = coded ? vector.dictionary->values : vector;
    const int64_t at = coded ? vector.code(row) : vector.form == exec::Form::kConstant ? 0 : row;
    return values.as<column::BytesView>()[at].text();
}

}  // namespace

std::vector<uint8_t> answers_of(const plan::Expr& condition, int slot, const DeviceColumn& column,
                                std::span<const plan::ParameterValue> parameters) {
    std::vector<uint8_t> answers;
    for_all_texts(
        condition, slot, column, parameters, [&](const exec::Vector& result, uint32_t rows) {
            for (uint32_t i = 0; i < rows; ++i) {
                const int64_t at = result.form == exec::Form::kConstant ? 0 : i;
                answers.push_back(result.is_null(i) ? 2 : result.as<uint8_t>()[at] != 0 ? 1 : 0);
            }
        });
    return answers;
}

ComputedTexts texts_of(const plan::Expr& expr, int slot, const DeviceColumn& column,
                       std::span<const plan::ParameterValue> parameters) {
    constexpr uint32_t kNull = UINT32_MAX;
    ComputedTexts made;
    std::unordered_map<std::string, uint32_t> known;
    for_all_texts(expr, slot, column, parameters, [&](const exec::Vector& result, uint32_t rows) {
        for (uint32_t i = 0; i < rows; ++i) {
            if (result.is_null(i)) {
                made.codes.push_back(kNull);
                made.has_null = true;
                continue;
            }
            const auto [at, fresh] = known.emplace(std::string(text_at(result, i)),
                                                   static_cast<uint32_t>(made.texts.size()));
            if (fresh) made.texts.push_back(at->first);
            made.codes.push_back(at->second);
        }
    });
    std::replace(made.codes.begin(), made.codes.end(), kNull,
                 static_cast<uint32_t>(made.texts.size()));
    return made;
}

}  // namespace loom::gpu
