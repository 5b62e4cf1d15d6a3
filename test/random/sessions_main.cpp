// loom-many-sessions: random queries in many sessions at once.
//
//   loom-many-sessions --connect CONNINFO [--sessions N] [--seconds N] [--seed N]
//
// The tables are those that loom-random-queries has made. A few hundred random queries are first
// answered by one session without the engine; then N sessions run them with it, each in an order
// of its own. Returns 0 if every answer was right.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <fmt/core.h>

#include "comparison.h"

namespace {

using namespace loom::test;
using Clock = std::chrono::steady_clock;

constexpr int kQueries = 300;

struct Case {
    RandomQuery query;
    std::vector<std::string> statements;
    Answer answer;
};

struct Totals {
    std::mutex mutex;
    std::vector<double> milliseconds;
    std::vector<std::string> faults;
};

// Queries that PostgreSQL answers soon.
std::vector<Case> make_cases(const std::string& connect, uint64_t seed) {
    Pair pair(connect);
    std::vector<Case> cases;
    for (uint64_t number = 0; cases.size() < kQueries; ++number) {
        Case made;
        made.query = QueryMaker(seed * 1'000'003 + number).make();
        made.query.settings.clear();
        pair.set_up(made.query);
        const auto begin = Clock::now();
        const Comparison comparison = pair.compare(made.query);
        if (comparison.timed_out || Clock::now() - begin > std::chrono::milliseconds(300)) continue;
        if (!comparison.difference.empty())
            throw std::runtime_error("one session alone differs; see loom-random-queries");
        made.statements = statements_of(made.query);
        made.answer = comparison.postgres;
        cases.push_back(std::move(made));
    }
    return cases;
}

void work(const std::string& connect, const std::vector<Case>& cases, uint64_t seed,
          Clock::time_point end, Totals& totals) {
    try {
        Session session(connect);
        set_planner(session);
        Random random(seed);
        std::vector<double> milliseconds;
        while (Clock::now() < end) {
            const Case& chosen = random.pick(cases);
            const auto begin = Clock::now();
            const Answer answer = session.run(chosen.statements);
            milliseconds.push_back(
                std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
            const std::string difference = difference_of(chosen.query, answer, chosen.answer);
            if (difference.empty()) continue;
            const std::lock_guard lock(totals.mutex);
            totals.faults.push_back(print(chosen.query.tree, nullptr) + "\n  " + difference);
        }
        const std::lock_guard lock(totals.mutex);
        totals.milliseconds.insert(totals.milliseconds.end(), milliseconds.begin(),
                                   milliseconds.end());
    } catch (const std::exception& error) {
        const std::lock_guard lock(totals.mutex);
        totals.faults.push_back(error.what());
    }
}

int run(const std::string& connect, int sessions, int seconds, uint64_t seed) {
    const std::vector<Case> cases = make_cases(connect, seed);
    fmt::print("sessions: {} queries, {} sessions for {} s\n", cases.size(), sessions, seconds);
    std::fflush(stdout);
    Totals totals;
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(sessions));
    for (int i = 0; i < sessions; ++i)
        threads.emplace_back(work, connect, std::cref(cases), seed + 1 + static_cast<uint64_t>(i),
                             end, std::ref(totals));
    for (std::thread& thread : threads) thread.join();
    std::sort(totals.milliseconds.begin(), totals.milliseconds.end());
    const auto quantile = [&](double part) {
        return totals.milliseconds.empty()
                   ? 0.0
                   : totals.milliseconds[static_cast<size_t>(
                         part * static_cast<double>(totals.milliseconds.size() - 1))];
    };
    for (size_t i = 0; i < std::min<size_t>(totals.faults.size(), 10); ++i)
        fmt::print("  {}\n", totals.faults[i]);
    fmt::print(
        "sessions: {} queries in {} sessions, median {:.0f} ms, 99% within {:.0f} ms, longest "
        "{:.0f} ms, {} faults\n",
        totals.milliseconds.size(), sessions, quantile(0.5), quantile(0.99), quantile(1),
        totals.faults.size());
    return totals.faults.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::string connect;
    int sessions = 100;
    int seconds = 60;
    uint64_t seed = 1;
    try {
        for (int i = 1; i + 1 < argc; i += 2) {
            const std::string_view name = argv[i];
            const char* value = argv[i + 1];
            if (name == "--connect")
                connect = value;
            else if (name == "--sessions")
                sessions = std::stoi(value);
            else if (name == "--seconds")
                seconds = std::stoi(value);
            else if (name == "--seed")
                seed = std::stoull(value);
            else
                throw std::invalid_argument(fmt::format("no argument {}", name));
        }
        return run(connect, sessions, seconds, seed);
    } catch (const std::exception& error) {
        fmt::print(stderr, "loom-many-sessions: {}\n", error.what());
        return 2;
    }
}
