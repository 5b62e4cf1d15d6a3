#include "comparison.h"

#include <algorithm>

#include <fmt/core.h>

namespace loom::test {

namespace {

constexpr unsigned kFloat4Oid = 700;
constexpr unsigned kFloat8Oid = 701;
constexpr const char* kTimeout = "57014 canceling statement due to statement timeout";

std::string parameter_types(const Parameters& parameters) {
    std::string list;
    for (const SqlTree* parameter : parameters)
        list += (list.empty() ? "" : ", ") + type_name(*parameter->type);
    return list.empty() ? "" : "(" + list + ")";
}

std::vector<std::string> prepared(const RandomQuery& query) {
    Parameters parameters;
    const std::string text = print(query.tree, &parameters);
    std::vector<std::string> statements = {
        "DEALLOCATE ALL", fmt::format("PREPARE q{} AS {}", parameter_types(parameters), text)};
    for (size_t turn = 0; turn < 3; ++turn) {
        std::string values;
        for (const SqlTree* parameter : parameters)
            values += (values.empty() ? "" : ", ") + parameter->values[turn];
        statements.push_back("EXECUTE q" + (values.empty() ? "" : "(" + values + ")"));
    }
    return statements;
}

std::vector<std::string> by_cursor(const RandomQuery& query) {
    std::vector<std::string> statements = {
        "BEGIN", fmt::format("DECLARE c {}CURSOR FOR {}", query.scrolls ? "SCROLL " : "",
                             print(query.tree, nullptr))};
    if (query.scrolls) {
        // Which rows come first may be open; that all come backwards, too, is not.
        statements.push_back(fmt::format("MOVE {} IN c", query.fetch));
        statements.push_back("MOVE ABSOLUTE 0 IN c");
        statements.push_back(fmt::format("MOVE FORWARD {} IN c", query.fetch / 2 + 1));
        statements.push_back("MOVE FORWARD ALL IN c");
        statements.push_back("FETCH BACKWARD ALL FROM c");
    } else {
        statements.push_back(fmt::format("FETCH {} FROM c", query.fetch));
        statements.push_back(fmt::format("FETCH {} FROM c", query.fetch));
        statements.push_back("FETCH ALL FROM c");
    }
    statements.push_back("COMMIT");
    return statements;
}

// Rows as they are compared: in a text of one line.
std::vector<std::string> lines_of(const RandomQuery& query, const Answer& answer) {
    std::vector<std::string> lines;
    for (const auto& row : answer.rows) {
        std::string line;
        for (size_t c = 0; c < row.size(); ++c) {
            const unsigned type = answer.type_oids[c];
            const bool zero =
                query.zeros_alike && row[c] == "v-0" && (type == kFloat4Oid || type == kFloat8Oid);
            line += (c > 0 ? "|" : "") + (zero ? std::string("v0") : row[c]);
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

// Compares the columns that a query is ordered by, row by row.
bool same_order(const RandomQuery& query, const Answer& a, const Answer& b) {
    for (size_t row = 0; row < a.rows.size(); ++row)
        for (const size_t column : query.order) {
            if (column >= a.rows[row].size()) return true;
            if (a.rows[row][column] == b.rows[row][column]) continue;
            const unsigned type = a.type_oids[column];
            if (query.zeros_alike && (type == kFloat4Oid || type == kFloat8Oid)) continue;
            return false;
        }
    return true;
}

std::string first_difference(const std::vector<std::string>& engine,
                             const std::vector<std::string>& postgres) {
    std::string text =
        fmt::format("{} rows with the engine, {} without", engine.size(), postgres.size());
    std::vector<std::string> only;
    std::set_difference(engine.begin(), engine.end(), postgres.begin(), postgres.end(),
                        std::back_inserter(only));
    for (size_t i = 0; i < std::min<size_t>(only.size(), 3); ++i)
        text += "\n  engine only:     " + only[i];
    only.clear();
    std::set_difference(postgres.begin(), postgres.end(), engine.begin(), engine.end(),
                        std::back_inserter(only));
    for (size_t i = 0; i < std::min<size_t>(only.size(), 3); ++i)
        text += "\n  PostgreSQL only: " + only[i];
    return text;
}

bool is_value_error(const std::string& error) {
    return error.starts_with("22");
}

// Which of several rows that raise an error comes first is open where rows have no order. And which
// side of a join is read first, and whether the other one is read at all then, is open, too: the
// engine, which reads rows of PostgreSQL's own plans, does not choose the side that PostgreSQL
// does.
bool is_open(const Comparison& comparison, const std::string& plan) {
    const std::string& engine = comparison.engine.error;
    const std::string& postgres = comparison.postgres.error;
    if (is_value_error(engine) && is_value_error(postgres)) return true;
    const bool one_raised = (is_value_error(engine) && postgres.empty()) ||
                            (is_value_error(postgres) && engine.empty());
    return one_raised && (plan.find("rows of child") != std::string::npos ||
                          plan.find("InitPlan") != std::string::npos);
}

bool ran_short_of_memory(const RandomQuery& query) {
    return std::any_of(query.settings.begin(), query.settings.end(),
                       [](const auto& setting) { return setting.first == "pg_loom.memory"; });
}

}  // namespace

std::vector<std::string> statements_of(const RandomQuery& query) {
    switch (query.form) {
        case Form::kPrepared:
            return prepared(query);
        case Form::kCursor:
            return by_cursor(query);
        case Form::kPlain:
            break;
    }
    return {print(query.tree, nullptr)};
}

std::string difference_of(const RandomQuery& query, const Answer& engine, const Answer& postgres) {
    // Memory that ends when rows are out already cannot be made good.
    if (engine.error.starts_with("53200 ") && ran_short_of_memory(query)) return "";
    if (engine.error != postgres.error)
        return fmt::format("error with the engine: {}\n  without: {}",
                           engine.error.empty() ? "none" : engine.error,
                           postgres.error.empty() ? "none" : postgres.error);
    if (!engine.error.empty()) return "";
    if (engine.types != postgres.types) return "types differ";
    std::vector<std::string> a = lines_of(query, engine);
    std::vector<std::string> b = lines_of(query, postgres);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    if (a != b) return first_difference(a, b);
    if (!same_order(query, engine, postgres)) return "the order of the rows differs";
    return "";
}

void set_planner(Session& session) {
    for (const char* setting : {"enable_nestloop", "enable_mergejoin", "enable_memoize",
                                "enable_incremental_sort", "jit"})
        session.require(fmt::format("SET {} = off", setting));
    session.require("SET max_parallel_workers_per_gather = 0");
    session.require("SET DateStyle = 'ISO'");
}

Pair::Pair(const std::string& conninfo) : engine_(conninfo), postgres_(conninfo) {
    for (Session* session : {&engine_, &postgres_}) {
        set_planner(*session);
        session->require("SET statement_timeout = '20s'");
    }
    engine_.require("SET client_min_messages = debug1");
    postgres_.require("SET pg_loom.enabled = off");
}

void Pair::set_up(const RandomQuery& query) {
    std::vector<std::string> statements;
    for (const auto& [name, value] : settings_) statements.push_back("RESET " + name);
    for (const auto& [name, value] : query.settings)
        statements.push_back(fmt::format("SET {} = '{}'", name, value));
    settings_ = query.settings;
    if (statements.empty()) return;
    std::string all;
    for (const std::string& statement : statements) all += statement + ";";
    for (Session* session : {&engine_, &postgres_}) session->require(all);
}

Comparison Pair::compare(const RandomQuery& query) {
    Comparison result;
    const std::vector<std::string> statements = statements_of(query);
    engine_.send(statements);
    postgres_.send(statements);
    result.engine = engine_.receive();
    result.postgres = postgres_.receive();
    result.timed_out = result.engine.error == kTimeout || result.postgres.error == kTimeout;
    if (result.timed_out) return result;
    result.difference = difference_of(query, result.engine, result.postgres);
    if (!result.difference.empty() && is_open(result, plan_of(query))) {
        result.difference.clear();
        result.open_error = true;
    }
    return result;
}

std::string Pair::plan_of(const RandomQuery& query) {
    const Answer answer = engine_.run({"EXPLAIN (COSTS OFF) " + print(query.tree, nullptr)});
    std::string plan = answer.error;
    for (const auto& row : answer.rows) plan += row[0].substr(1) + "\n";
    return plan;
}

}  // namespace loom::test
