// Prints SQL that compares every function of the engine with PostgreSQL's: calls with edge values
// of the argument types, and what the engine makes of them, errors included. The last query lists
// the calls that differ. The server must run in UTF-8 with a C collation.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "edge_values.h"
#include "exec/expression.h"
#include "exec/functions.h"
#include "regex_values.h"
#include "sql_literal.h"

namespace {

using namespace loom;
using column::Scalar;
using plan::Expr;
using plan::Type;
using plan::TypeId;

// Calls of one function with arguments of certain types, at most.
constexpr size_t kMaxCalls = 600;
// Of each function that matches regular expressions: patterns, and texts for each.
constexpr int kRegexPatterns = 600;
constexpr int kRegexSubjects = 5;

struct Counts {
    long calls = 0;
    long refused = 0;
};

// The types that an argument is tried with.
std::vector<Type> variants(TypeId id) {
    if (id != TypeId::kNumeric) return {plan::make_type(id)};
    return {plan::make_numeric(5, 2),  plan::make_numeric(18, 4),  plan::make_numeric(38, 10),
            plan::make_numeric(20, 0), plan::make_numeric(12, 12), plan::make_decimal()};
}

// Reads the only row of a result.
Scalar value_of(const exec::Vector& vector) {
    if (vector.is_null(0)) return {};
    const auto bytes = [&](size_t size) {
        return Scalar::of_bytes(std::string(vector.as<char>(), size));
    };
    switch (plan::physical(vector.type)) {
        case plan::Physical::kBool:
            return Scalar::of_int(vector.as<uint8_t>()[0]);
        case plan::Physical::kInt16:
            return Scalar::of_int(vector.as<int16_t>()[0]);
        case plan::Physical::kInt32:
            return Scalar::of_int(vector.as<int32_t>()[0]);
        case plan::Physical::kInt64:
            return Scalar::of_int(vector.as<int64_t>()[0]);
        case plan::Physical::kInt128:
            return Scalar::of_int(vector.as<column::Int128>()[0]);
        case plan::Physical::kFloat32:
            return Scalar::of_float(static_cast<double>(vector.as<float>()[0]));
        case plan::Physical::kFloat64:
            return Scalar::of_float(vector.as<double>()[0]);
        case plan::Physical::kBytes:
            return Scalar::of_bytes(std::string(vector.as<column::BytesView>()[0].text()));
        case plan::Physical::kInterval:
        case plan::Physical::kUuid:
            return bytes(16);
        case plan::Physical::kDecimal:
            return plan::decimal_scalar(vector.as<plan::Decimal>()[0]);
    }
    return {};
}

// Returns the result as SQL, an error as !SQLSTATE and message, or nothing where the engine leaves
// the call to PostgreSQL.
std::string result_of(uint32_t function, const std::vector<Expr>& args) {
    const std::optional<Type> type = exec::result_type(function, args, nullptr);
    if (!type) return "";
    const Expr expr = plan::make_call(function, *type, args);
    std::string reason;
    if (!exec::supports(expr, &reason)) return "";
    try {
        const exec::Expression expression(expr, {});
        exec::Evaluator evaluator(expression, nullptr);
        return test::sql_literal(*type, value_of(evaluator.evaluate({}, 1)));
    } catch (const exec::SqlFault& fault) {
        return fmt::format("!{} {}", fault.sqlstate(), fault.what());
    } catch (const exec::Unrepresentable&) {
        return "";
    }
}

void print_call(const exec::FunctionInfo& info, const std::vector<Type>& types,
                const std::vector<Scalar>& values, Counts& counts) {
    std::vector<Expr> args;
    std::string query = fmt::format("pg_catalog.\"{}\"(", info.name);
    for (size_t i = 0; i < types.size(); ++i) {
        args.push_back(plan::make_constant(types[i], values[i]));
        query += (i > 0 ? ", " : "") + test::sql_literal(types[i], values[i]);
    }
    const std::string result = result_of(info.oid, args);
    if (result.empty()) {
        ++counts.refused;
        return;
    }
    ++counts.calls;
    fmt::print("INSERT INTO calls VALUES ($q${})$q$, $q${}$q$);\n", query, result);
}

// Random patterns, each with some texts. The engine matches the valid ones only.
void print_regex_calls(const exec::FunctionInfo& info, std::mt19937& random, Counts& counts) {
    const std::vector<Type> types{plan::make_type(info.types[0]), plan::make_type(info.types[1])};
    for (int n = 0; n < kRegexPatterns; ++n) {
        const Scalar pattern = Scalar::of_bytes(test::random_regex(random));
        for (int i = 0; i < kRegexSubjects; ++i)
            print_call(info, types, {Scalar::of_bytes(test::random_subject(random)), pattern},
                       counts);
    }
}

void print_calls(const exec::FunctionInfo& info, const std::vector<Type>& types,
                 std::mt19937& random, Counts& counts) {
    std::vector<std::vector<Scalar>> values;
    size_t total = 1;
    for (size_t i = 0; i < types.size(); ++i) {
        values.push_back((info.constant_arguments >> i & 1) != 0
                             ? test::constant_arguments(info, static_cast<int>(i))
                             : test::edge_values(types[i]));
        total *= values.back().size();
    }
    for (size_t n = 0; n < std::min(total, kMaxCalls); ++n) {
        size_t pick = total <= kMaxCalls ? n : random() % total;
        std::vector<Scalar> picked;
        for (const std::vector<Scalar>& choices : values) {
            picked.push_back(choices[pick % choices.size()]);
            pick /= choices.size();
        }
        print_call(info, types, picked, counts);
    }
}

}  // namespace

int main() {
    std::mt19937 random(1);
    Counts counts;
    std::puts(
        "BEGIN;\n"
        "CREATE TEMP TABLE calls (query text, result text);\n"
        "CREATE FUNCTION pg_temp.outcome(call text) RETURNS text LANGUAGE plpgsql AS $f$\n"
        "DECLARE value text; message text;\n"
        "BEGIN\n"
        "    IF call LIKE '!%' THEN RETURN call; END IF;\n"
        "    EXECUTE 'SELECT (' || call || ')::text' INTO value;\n"
        "    RETURN value;\n"
        "EXCEPTION WHEN others THEN\n"
        "    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;\n"
        "    RETURN '!' || SQLSTATE || ' ' || message;\n"
        "END $f$;");
    for (const exec::FunctionInfo& info : exec::registered_functions()) {
        if (info.name.find("regex") != std::string::npos) {
            print_regex_calls(info, random, counts);
            continue;
        }
        std::vector<std::vector<Type>> combinations{{}};
        for (int i = 0; i < info.arguments; ++i) {
            std::vector<std::vector<Type>> longer;
            for (const std::vector<Type>& types : combinations)
                for (const Type type : variants(info.types[i])) {
                    longer.push_back(types);
                    longer.back().push_back(type);
                }
            combinations = std::move(longer);
        }
        for (const std::vector<Type>& types : combinations)
            print_calls(info, types, random, counts);
    }
    std::puts(
        "SELECT query, pg_temp.outcome(query) AS postgres, pg_temp.outcome(result) AS engine\n"
        "    FROM calls WHERE pg_temp.outcome(query) IS DISTINCT FROM pg_temp.outcome(result)\n"
        // The planner keeps patterns that are none from the engine.
        "        AND pg_temp.outcome(query) NOT LIKE '!2201B%';\n"
        "ROLLBACK;");
    fmt::print(stderr, "{} calls, {} left to PostgreSQL\n", counts.calls, counts.refused);
    return 0;
}
