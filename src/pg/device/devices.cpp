// What SQL is told of devices.

#include <sstream>

#include "pg/bridge/bridge.h"
#include "pg/device/device_parts.h"
#include "pg/stat/row_set.h"

namespace loom::pg {

namespace {

// A line of the process: fields between tabs.
TextRow fields_of(const std::string& line) {
    TextRow row;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '\t');) row.push_back(field);
    return row;
}

std::vector<TextRow> list_devices() {
    constexpr size_t kFacts = 5;
    std::string reason;
    std::istringstream facts(device_facts(&reason));
    std::vector<TextRow> rows;
    for (std::string line; std::getline(facts, line);) {
        TextRow row = fields_of(line);
        row.resize(kFacts);
        row.emplace_back();
        rows.push_back(std::move(row));
    }
    if (rows.empty()) {
        TextRow row(kFacts);
        row.emplace_back(reason);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

}  // namespace loom::pg

extern "C" {

PG_FUNCTION_INFO_V1(loom_gpu_devices);
Datum loom_gpu_devices(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] {
        return_rows(fcinfo, list_devices());
        return Datum{0};
    });
}

}  // extern "C"
