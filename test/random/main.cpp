// loom-random-queries: random queries with the engine and without it, on one server.
//
//   loom-random-queries --connect CONNINFO --dir DIR [--seed N] [--count N] [--seconds N]
//                       [--memory SIZE] [--keep-going]
//   loom-random-queries --connect CONNINFO --dir DIR --seed N --only I [--memory SIZE] [--print]
//
// Makes the tables anew (files in DIR, which the server must be able to read), then runs queries 0
// to COUNT - 1 of the seed and stops at the first that answers differently, made as small as it
// still differs. SIZE is pg_loom.memory of all of them: with little, much goes to temporary files.
// The same seed gives the same queries everywhere. Returns 0 if nothing differs.

#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string_view>

#include <fmt/core.h>

#include "comparison.h"

namespace {

using namespace loom::test;
using Clock = std::chrono::steady_clock;

struct Arguments {
    std::string connect;
    std::string dir;
    uint64_t seed = 1;
    int64_t count = 1500;
    int64_t only = -1;
    int64_t seconds = 0;  // 0: no limit
    bool keep_going = false;
    bool print = false;
    std::string memory;  // pg_loom.memory of all queries; empty: as each query says
};

struct Totals {
    int64_t queries = 0;
    int64_t in_engine = 0;
    int64_t fell_back = 0;
    int64_t errors = 0;
    int64_t empty = 0;
    int64_t timeouts = 0;
    int64_t open_errors = 0;
    int64_t differences = 0;
    std::map<std::string, int64_t> fallbacks;
};

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--keep-going") {
            arguments.keep_going = true;
            continue;
        }
        if (name == "--print") {
            arguments.print = true;
            continue;
        }
        if (i + 1 == argc) throw std::invalid_argument(fmt::format("{} needs a value", name));
        const char* value = argv[++i];
        if (name == "--connect")
            arguments.connect = value;
        else if (name == "--dir")
            arguments.dir = value;
        else if (name == "--seed")
            arguments.seed = std::stoull(value);
        else if (name == "--count")
            arguments.count = std::stoll(value);
        else if (name == "--only")
            arguments.only = std::stoll(value);
        else if (name == "--memory")
            arguments.memory = value;
        else if (name == "--seconds")
            arguments.seconds = std::stoll(value);
        else
            throw std::invalid_argument(fmt::format("no argument {}", name));
    }
    if (arguments.dir.empty()) throw std::invalid_argument("--dir is missing");
    return arguments;
}

RandomQuery query_of(const Arguments& arguments, int64_t number) {
    RandomQuery query =
        QueryMaker(arguments.seed * 1'000'003 + static_cast<uint64_t>(number)).make();
    if (arguments.memory.empty()) return query;
    std::erase_if(query.settings,
                  [](const auto& setting) { return setting.first == "pg_loom.memory"; });
    query.settings.emplace_back("pg_loom.memory", arguments.memory);
    return query;
}

void make_tables(const Arguments& arguments) {
    write_tables(arguments.dir);
    // The server may run as another user.
    namespace fs = std::filesystem;
    fs::permissions(arguments.dir, fs::perms(0755));
    Session session(arguments.connect);
    for (const std::string& statement : table_statements(arguments.dir)) session.require(statement);
}

void print_case(const Arguments& arguments, int64_t number, const RandomQuery& query,
                const std::string& difference) {
    fmt::print("\n-- difference: seed {}, query {} (--seed {} --only {})\n", arguments.seed, number,
               arguments.seed, number);
    for (const auto& [name, value] : query.settings) fmt::print("SET {} = '{}';\n", name, value);
    for (const std::string& statement : statements_of(query)) fmt::print("{};\n", statement);
    fmt::print("-- {}\n", difference);
    std::fflush(stdout);
}

// Prints the query that differs and the least of it that still does.
void report(const Arguments& arguments, Pair& pair, int64_t number, RandomQuery query,
            const Comparison& comparison) {
    print_case(arguments, number, query, comparison.difference);
    auto differs = [&](const RandomQuery& candidate) { return pair.compare(candidate).difference; };
    std::string difference = comparison.difference;
    auto try_it = [&](const RandomQuery& candidate) {
        std::string found = differs(candidate);
        if (found.empty()) return false;
        difference = std::move(found);
        query = candidate;
        return true;
    };
    RandomQuery plain = query;
    plain.form = Form::kPlain;
    try_it(plain);
    const auto end = Clock::now() + std::chrono::seconds(60);
    reduce(query.tree, [&](const SqlTree& tree) {
        if (Clock::now() > end) return false;
        RandomQuery candidate = query;
        candidate.tree = tree;
        // Output columns may be gone.
        candidate.order.clear();
        std::string found = differs(candidate);
        if (found.empty()) return false;
        difference = std::move(found);
        return true;
    });
    query.order.clear();
    fmt::print("-- the least of it that differs:");
    print_case(arguments, number, query, difference);
    fmt::print("{}", pair.plan_of(query));
    std::fflush(stdout);
}

void count_answer(Totals& totals, const Comparison& comparison) {
    totals.errors += comparison.postgres.error.empty() ? 0 : 1;
    totals.empty += comparison.postgres.error.empty() && comparison.postgres.rows.empty() ? 1 : 0;
    totals.timeouts += comparison.timed_out ? 1 : 0;
    totals.open_errors += comparison.open_error ? 1 : 0;
    totals.fell_back += comparison.engine.fallbacks.empty() ? 0 : 1;
    for (const std::string& reason : comparison.engine.fallbacks) ++totals.fallbacks[reason];
}

void print_totals(const Totals& totals, double seconds) {
    const auto percent = [&](int64_t part) {
        return totals.queries == 0
                   ? 0.0
                   : 100.0 * static_cast<double>(part) / static_cast<double>(totals.queries);
    };
    fmt::print(
        "random queries: {} in {:.0f} s, {} planned with LoomScan ({:.0f}%), {} of them fell "
        "back, {} raised errors ({} another one), {} without rows, {} timed out, {} differ\n",
        totals.queries, seconds, totals.in_engine, percent(totals.in_engine), totals.fell_back,
        totals.errors, totals.open_errors, totals.empty, totals.timeouts, totals.differences);
    std::fflush(stdout);
}

int run(const Arguments& arguments) {
    if (arguments.print && arguments.only >= 0) {
        for (const auto& statement : statements_of(query_of(arguments, arguments.only)))
            fmt::print("{};\n", statement);
        return 0;
    }
    make_tables(arguments);
    auto pair = std::make_unique<Pair>(arguments.connect);
    Totals totals;
    const auto begin = Clock::now();
    auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    const int64_t first = std::max<int64_t>(arguments.only, 0);
    const int64_t end = arguments.only >= 0 ? first + 1 : arguments.count;
    double shown = 0;
    for (int64_t number = first; number < end; ++number) {
        if (arguments.seconds > 0 && seconds() > static_cast<double>(arguments.seconds)) break;
        const RandomQuery query = query_of(arguments, number);
        pair->set_up(query);
        Comparison comparison;
        try {
            const std::string plan = pair->plan_of(query);
            totals.in_engine += plan.find("LoomScan") != std::string::npos ? 1 : 0;
            comparison = pair->compare(query);
            // Whatever a query is, EXPLAIN meets no internal error.
            if (plan.starts_with("XX")) comparison.difference = "EXPLAIN: " + plan;
        } catch (const std::runtime_error&) {
            // What the server died of is the answer that matters.
            print_case(arguments, number, query, "the connection was lost");
            throw;
        }
        ++totals.queries;
        count_answer(totals, comparison);
        if (!comparison.difference.empty()) {
            ++totals.differences;
            report(arguments, *pair, number, query, comparison);
            if (!arguments.keep_going) break;
        }
        if (seconds() - shown > 15) {
            shown = seconds();
            print_totals(totals, shown);
        }
    }
    print_totals(totals, seconds());
    for (const auto& [reason, count] : totals.fallbacks)
        fmt::print("  fell back {} times: {}\n", count, reason);
    return totals.differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(parse(argc, argv));
    } catch (const std::exception& error) {
        fmt::print(stderr, "loom-random-queries: {}\n", error.what());
        return 2;
    }
}
