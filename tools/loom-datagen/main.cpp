// loom-datagen: generates data sets as Parquet, Arrow or CSV files.

#include <csignal>
#include <exception>

#include "base/error.h"
#include "generate.h"
#include "options.h"
#include "partition.h"

namespace loom::datagen {
namespace {

std::string readable_bytes(uint64_t bytes) {
    const char* units[] = {"bytes", "kB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    int unit = 0;
    for (; value >= 1000 && unit < 4; ++unit) value /= 1000;
    return unit == 0 ? fmt::format("{} bytes", bytes)
                     : fmt::format("{:.1f} {}", value, units[unit]);
}

void check_choice(const CommandLine& line, const std::vector<std::unique_ptr<Table>>& tables) {
    bool table_found = line.table.empty();
    bool key_found = line.output.partition.empty();
    for (const auto& table : tables) {
        if (table->name() != line.table && !line.table.empty()) continue;
        table_found = true;
        key_found = key_found || PartitionKey::exists(*table, line.output.partition);
    }
    if (!table_found)
        base::raise(base::ErrorKind::kBadOption, "{} has no table \"{}\"", line.request.kind,
                    line.table);
    if (!key_found)
        base::raise(base::ErrorKind::kBadOption,
                    "no table has a column \"{}\" to be partitioned by", line.output.partition);
}

base::StopToken interrupted;

// Ends by way of an error, so that half-written files are removed.
void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted.request_stop(); };
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one kills
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

void run(CommandLine line) {
    catch_interrupts();
    line.output.stop = &interrupted;
    const auto tables = make_tables(line.request);
    check_choice(line, tables);
    Progress progress;
    for (const auto& table : tables) {
        if (table->name() != line.table && !line.table.empty()) continue;
        const Written written = generate(*table, line.output, progress);
        fmt::print("{:<12}{:>14} rows{:>12}{:>6} file{}{:>8.2f} s\n", table->name(), written.rows,
                   readable_bytes(written.bytes), written.files, written.files == 1 ? " " : "s",
                   written.seconds);
        std::fflush(stdout);
    }
}

}  // namespace
}  // namespace loom::datagen

int main(int argc, char** argv) {
    using namespace loom::datagen;
    try {
        if (auto line = parse_command_line(argc, argv)) run(std::move(*line));
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "loom-datagen: error: {}\n", error.what());
        return 1;
    }
}
