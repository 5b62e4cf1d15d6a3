#include "gpu/run/text_tables.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "exec/expression.h"
#include "exec/fault.h"
#include "gpu/codegen/expression_text.h"
#include "plan/serialise.h"

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

TextTables::Answers answers_of(const plan::Expr& condition, int slot, const DeviceColumn& column,
                               std::span<const plan::ParameterValue> parameters) {
    TextTables::Answers answers;
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

// A table is told by its expression, the values of all parameters, and the dictionary, which may
// have grown.
std::string key_of(char kind, const plan::Expr& expr, const DeviceColumn& column,
                   std::span<const plan::ParameterValue> parameters) {
    plan::Operator all;
    all.kind = plan::OperatorKind::kProject;
    all.expressions.push_back(expr);
    std::string kinds(1, kind);
    for (const plan::ParameterValue& parameter : parameters) {
        plan::Expr value = plan::make_constant(column.facts.type, parameter.value);
        value.list = parameter.list;
        all.expressions.push_back(std::move(value));
        kinds += parameter.list_null ? 'n' : 'v';
    }
    return fmt::format("{} {} {} ", kinds, static_cast<const void*>(column.texts.get()),
                       column.texts->size()) +
           plan::serialise(all);
}

uint64_t bytes_of(const ComputedTexts& texts) {
    uint64_t bytes = texts.codes.size() * sizeof texts.codes[0];
    for (const std::string& text : texts.texts) bytes += sizeof text + text.size();
    return bytes;
}

}  // namespace

std::shared_ptr<const TextTables::Answers> TextTables::answers(
    const plan::Expr& condition, int slot, const DeviceColumn& column,
    std::span<const plan::ParameterValue> parameters) {
    Table table = find(key_of('c', condition, column, parameters), column.texts);
    if (table.answers != nullptr) return table.answers;
    table.answers =
        std::make_shared<const Answers>(answers_of(condition, slot, column, parameters));
    table.bytes = table.answers->size();
    keep(table);
    return table.answers;
}

std::shared_ptr<const ComputedTexts> TextTables::texts(
    const plan::Expr& expr, int slot, const DeviceColumn& column,
    std::span<const plan::ParameterValue> parameters) {
    Table table = find(key_of('t', expr, column, parameters), column.texts);
    if (table.texts != nullptr) return table.texts;
    table.texts = std::make_shared<const ComputedTexts>(texts_of(expr, slot, column, parameters));
    table.bytes = bytes_of(*table.texts);
    keep(table);
    return table.texts;
}

uint64_t TextTables::hits() const {
    const std::scoped_lock lock(mutex_);
    return hits_;
}

// Returns a table that is there, or one of that key with nothing in it.
TextTables::Table TextTables::find(const std::string& key,
                                   const std::shared_ptr<TextDictionary>& dictionary) {
    const std::scoped_lock lock(mutex_);
    const auto at = by_key_.find(key);
    if (at != by_key_.end() && at->second->dictionary.lock() == dictionary) {
        ++hits_;
        tables_.splice(tables_.begin(), tables_, at->second);
        return tables_.front();
    }
    // Another dictionary was at that address.
    if (at != by_key_.end()) drop(at->second);
    Table made;
    made.key = key;
    made.dictionary = dictionary;
    return made;
}

void TextTables::keep(Table table) {
    // Keys hold lists of constants.
    table.bytes += 2 * table.key.size() + sizeof(Table);
    if (table.bytes > most_bytes_) return;
    const std::scoped_lock lock(mutex_);
    // Another thread may have made it too.
    if (by_key_.contains(table.key)) return;
    bytes_ += table.bytes;
    tables_.push_front(std::move(table));
    by_key_.emplace(tables_.front().key, tables_.begin());
    while (bytes_ > most_bytes_) drop(std::prev(tables_.end()));
}

void TextTables::drop(std::list<Table>::iterator at) {
    bytes_ -= at->bytes;
    by_key_.erase(at->key);
    tables_.erase(at);
}

}  // namespace loom::gpu
