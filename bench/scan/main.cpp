// loom-scan-bench: scans columns on command, one JSON line per answer.
//
// Reads lines "FILE COLUMN THREADS MEASURE" (tab separated; MEASURE is sum, groups or length) from
// standard input until its end. bench/scan/drive.mjs drives it in turn with another engine.

#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "column_scan.h"

namespace loom::bench {
namespace {

Measure parse_measure(const std::string& text) {
    if (text == "groups") return Measure::kGroups;
    if (text == "length") return Measure::kLength;
    return Measure::kSum;
}

std::string to_json(const ScanResult& result) {
    std::string groups;
    for (const auto& [word, count] : result.groups)
        groups += fmt::format("{}\"{}\":{}", groups.empty() ? "" : ",", word, count);
    return fmt::format(
        R"({{"ms":{:.3f},"rows":{},"nulls":{},"bytes":{},"sum":"{}","float_sum":{},"groups":{{{}}}}})",
        result.milliseconds, result.rows, result.nulls, result.decoded_bytes,
        column::to_string(result.sum), result.float_sum, groups);
}

std::string answer(const std::string& line) {
    std::istringstream fields(line);
    std::string file, column, threads, measure;
    std::getline(fields, file, '\t');
    std::getline(fields, column, '\t');
    std::getline(fields, threads, '\t');
    std::getline(fields, measure, '\t');
    return to_json(scan_column(file, column, std::stoi(threads), parse_measure(measure)));
}

}  // namespace
}  // namespace loom::bench

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        try {
            std::cout << loom::bench::answer(line) << std::endl;
        } catch (const std::exception& error) {
            std::cerr << "loom-scan-bench: error: " << error.what() << '\n';
            return 1;
        }
    }
    return 0;
}
