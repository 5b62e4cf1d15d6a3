// loom-cancel-queries: ends queries of the engine at random moments.
//
//   loom-cancel-queries --connect CONNINFO --schema NAME [--count N] [--seed N] [--memory SIZE]
//
// NAME holds the tables of the Star Schema Benchmark as file tables (loom-datagen ssb). Each query
// is timed; then it is cancelled at moments spread over that time, in planning, in opening
// files, in scans, builds, probes, groups, sorts and while rows go to the client. A cancelled
// statement has to end within 200 ms; in the end the session must have no thread, no file and no
// memory more than after its first queries, and still answer. What a thread computes between two
// looks for a cancellation is measured, too (pg_loom.watch_polls): unlike the time until the end it
// does not depend on what else the machine does. SIZE is pg_loom.memory: with little, temporary
// files are written and read. Returns 0 if all of that holds.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <fmt/core.h>

#include "random.h"
#include "session.h"

namespace {

using namespace loom::test;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr double kMostMilliseconds = 200;
// On a busy machine a session may wait for a processor. Then it is the time that it computes for
// after the cancellation that counts, all its threads together.
constexpr double kMostCpuMilliseconds = 100;
constexpr double kMostStretch = 50;
// What a session's memory may grow by: allocators keep what was freed.
constexpr long kMostGrowthKb = 64 * 1024;

struct Phase {
    const char* name;
    const char* query;
};

constexpr Phase kPhases[] = {
    {"planning",
     "SELECT count(*) FROM lineorder a JOIN lineorder b ON a.lo_orderkey = b.lo_orderkey JOIN part "
     "c "
     "ON a.lo_partkey = c.p_partkey JOIN part d ON b.lo_partkey = d.p_partkey JOIN supplier e ON "
     "a.lo_suppkey = e.s_suppkey JOIN supplier f ON b.lo_suppkey = f.s_suppkey JOIN date g ON "
     "a.lo_orderdate = g.d_datekey JOIN date h ON b.lo_orderdate = h.d_datekey JOIN customer i ON "
     "a.lo_custkey = i.c_custkey WHERE false OR a.lo_orderkey < 0"},
    {"scan",
     "SELECT count(*) FROM lineorder WHERE lo_extendedprice * 7::bigint % 11 = lo_orderkey % 13 - "
     "20"},
    {"rows to the client",
     "SELECT lo_orderkey, lo_shipmode, lo_revenue FROM lineorder WHERE lo_tax >= 0"},
    {"build and probe",
     "SELECT count(*) FROM lineorder a JOIN lineorder b ON a.lo_orderkey = b.lo_orderkey AND "
     "a.lo_linenumber = b.lo_linenumber AND a.lo_revenue = b.lo_revenue"},
    {"pairs",
     "SELECT count(*) FROM lineorder a JOIN lineorder b ON a.lo_partkey = b.lo_partkey WHERE "
     "a.lo_quantity < b.lo_quantity"},
    {"groups",
     "SELECT count(*) FROM (SELECT lo_orderkey, lo_partkey, sum(lo_tax) FROM lineorder GROUP BY 1, "
     "2) s"},
    {"distinct", "SELECT count(DISTINCT lo_revenue), count(DISTINCT lo_partkey) FROM lineorder"},
    {"sort",
     "SELECT count(x) FROM (SELECT lo_revenue AS x FROM lineorder ORDER BY lo_revenue, lo_orderkey "
     "OFFSET 1000) s"},
    {"joins and groups",
     "SELECT c_nation, d_year, sum(lo_revenue) FROM lineorder JOIN customer ON lo_custkey = "
     "c_custkey JOIN date ON lo_orderdate = d_datekey GROUP BY 1, 2"},
};

struct Tally {
    int cancelled = 0;
    int completed = 0;
    double slowest = 0;
    double most_cpu = 0;
    std::vector<std::string> faults;
};

// Returns the processor time that a process has used, in milliseconds.
double cpu_time(long pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    return (user + system) * 1000 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double run_once(Session& session, const char* query) {
    const auto begin = Clock::now();
    const Answer answer = session.run({query});
    if (!answer.error.empty()) throw std::runtime_error(fmt::format("{}: {}", query, answer.error));
    return Milliseconds(Clock::now() - begin).count();
}

// Returns the longest that a thread of the query computes without looking for a cancellation.
double longest_stretch(Session& session, const char* query, std::string* line) {
    session.require("SET pg_loom.watch_polls = on");
    const Answer plan = session.run({std::string("EXPLAIN (ANALYZE) ") + query});
    session.require("RESET pg_loom.watch_polls");
    double longest = 0;
    for (const auto& row : plan.rows) {
        const size_t at = row[0].find("Longest Stretch: ");
        if (at == std::string::npos) continue;
        const double found = std::stod(row[0].substr(at + 17));
        if (found <= longest) continue;
        longest = found;
        *line = row[0].substr(at + 17);
    }
    return longest;
}

// Cancels one run after `delay`, and returns how long the statement went on then.
void cancel_once(Session& session, long pid, const Phase& phase, Milliseconds delay, Tally& tally) {
    session.send({phase.query});
    Clock::time_point asked;
    double cpu = 0;
    std::thread canceller([&] {
        std::this_thread::sleep_for(delay);
        cpu = cpu_time(pid);
        asked = Clock::now();
        session.cancel();
    });
    const Answer answer = session.receive();
    const auto end = Clock::now();
    canceller.join();
    const double took = Milliseconds(end - asked).count();
    if (answer.error.starts_with("57014 ")) {
        ++tally.cancelled;
        cpu = cpu_time(pid) - cpu;
        tally.slowest = std::max(tally.slowest, took);
        tally.most_cpu = std::max(tally.most_cpu, cpu);
        if (took > kMostMilliseconds && cpu > kMostCpuMilliseconds)
            tally.faults.push_back(
                fmt::format("{}: cancelled after {:.1f} ms, ended {:.1f} ms later", phase.name,
                            delay.count(), took));
    } else if (answer.error.empty()) {
        ++tally.completed;
        // A cancellation that comes late hits the next statement: let it.
        session.run({"SELECT 1"});
    } else {
        tally.faults.push_back(fmt::format("{}: {}", phase.name, answer.error));
    }
}

struct Footprint {
    long threads = 0;
    long files = 0;  ///< open ones that are not of PostgreSQL's own data
    long kilobytes = 0;
};

Footprint footprint(Session& session, long pid) {
    namespace fs = std::filesystem;
    Footprint found;
    const fs::path process = fmt::format("/proc/{}", pid);
    for (const auto& task : fs::directory_iterator(process / "task"))
        found.threads += task.exists();
    const std::string data = session.value_of("SHOW data_directory");
    for (const auto& entry : fs::directory_iterator(process / "fd")) {
        std::error_code gone;
        const std::string target = fs::read_symlink(entry.path(), gone).string();
        found.files += !gone && !target.starts_with(data);
    }
    std::ifstream status(process / "status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:")) found.kilobytes = std::stol(line.substr(8));
    return found;
}

int run(const std::string& connect, const std::string& schema, int count, uint64_t seed,
        const std::string& memory) {
    Session session(connect);
    session.require("SET search_path = " + schema);
    session.require("SET work_mem = '256MB'");
    if (!memory.empty()) session.require("SET pg_loom.memory = '" + memory + "'");
    const long pid = std::stol(session.value_of("SELECT pg_backend_pid()"));
    Random random(seed);
    std::vector<double> durations;
    std::vector<double> stretches;
    for (const Phase& phase : kPhases) {
        // The first run opens files and fills caches.
        run_once(session, phase.query);
        durations.push_back(run_once(session, phase.query));
        const Answer plan = session.run({std::string("EXPLAIN ") + phase.query});
        const bool in_engine = std::any_of(plan.rows.begin(), plan.rows.end(), [](const auto& row) {
            return row[0].find("LoomScan") != std::string::npos;
        });
        if (!in_engine) throw std::runtime_error(fmt::format("{}: no LoomScan", phase.name));
        std::string line;
        stretches.push_back(longest_stretch(session, phase.query, &line));
        fmt::print("cancel {}: longest computing without a look {}\n", phase.name, line);
        std::fflush(stdout);
    }
    const std::string sum = session.value_of("SELECT sum(lo_revenue) FROM lineorder");
    const Footprint before = footprint(session, pid);
    Tally all;
    for (size_t i = 0; i < std::size(kPhases); ++i) {
        Tally tally;
        const int share = count / static_cast<int>(std::size(kPhases)) +
                          (i < static_cast<size_t>(count) % std::size(kPhases) ? 1 : 0);
        for (int n = 0; n < share; ++n)
            cancel_once(session, pid, kPhases[i],
                        Milliseconds(durations[i] * static_cast<double>(random.below(1000)) / 1000),
                        tally);
        fmt::print(
            "cancel {}: {} cancelled, {} had ended, slowest end {:.1f} ms, at most {:.0f} ms "
            "computing (a whole run: {:.0f} ms)\n",
            kPhases[i].name, tally.cancelled, tally.completed, tally.slowest, tally.most_cpu,
            durations[i]);
        std::fflush(stdout);
        all.cancelled += tally.cancelled;
        all.completed += tally.completed;
        all.slowest = std::max(all.slowest, tally.slowest);
        all.most_cpu = std::max(all.most_cpu, tally.most_cpu);
        all.faults.insert(all.faults.end(), tally.faults.begin(), tally.faults.end());
        if (stretches[i] > kMostStretch)
            all.faults.push_back(fmt::format("{}: computes for {:.1f} ms without a look",
                                             kPhases[i].name, stretches[i]));
    }
    const Footprint after = footprint(session, pid);
    if (after.threads != 1) all.faults.push_back(fmt::format("{} threads are left", after.threads));
    if (after.files > before.files)
        all.faults.push_back(fmt::format("{} files open, {} before", after.files, before.files));
    if (after.kilobytes > before.kilobytes + kMostGrowthKb)
        all.faults.push_back(
            fmt::format("{} kB of memory, {} kB before", after.kilobytes, before.kilobytes));
    if (session.value_of("SELECT sum(lo_revenue) FROM lineorder") != sum)
        all.faults.push_back("the session answers wrongly");
    for (const std::string& fault : all.faults) fmt::print("  {}\n", fault);
    fmt::print(
        "cancels: {} cancelled, {} had ended, slowest end {:.1f} ms, at most {:.0f} ms computing; "
        "threads {}, files {} "
        "(before {}), anonymous memory {} kB (before {}); {} faults\n",
        all.cancelled, all.completed, all.slowest, all.most_cpu, after.threads, after.files,
        before.files, after.kilobytes, before.kilobytes, all.faults.size());
    return all.faults.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::string connect;
    std::string schema = "public";
    std::string memory;
    int count = 500;
    uint64_t seed = 1;
    try {
        for (int i = 1; i + 1 < argc; i += 2) {
            const std::string_view name = argv[i];
            const char* value = argv[i + 1];
            if (name == "--connect")
                connect = value;
            else if (name == "--schema")
                schema = value;
            else if (name == "--memory")
                memory = value;
            else if (name == "--count")
                count = std::stoi(value);
            else if (name == "--seed")
                seed = std::stoull(value);
            else
                throw std::invalid_argument(fmt::format("no argument {}", name));
        }
        return run(connect, schema, count, seed, memory);
    } catch (const std::exception& error) {
        fmt::print(stderr, "loom-cancel-queries: {}\n", error.what());
        return 2;
    }
}
