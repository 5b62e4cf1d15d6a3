// What SQL is told of devices, and of the columns that they hold.

#include "pg/bridge/bridge.h"
#include "pg/device/device_parts.h"
#include "pg/stat/row_set.h"

namespace loom::pg {

namespace {

// Facts of the process, so many a row.
std::vector<TextRow> rows_of(const std::string& facts, size_t columns) {
    std::vector<TextRow> rows;
    TextRow row;
    for (std::string& field : gpu::split_fields(facts)) {
        row.emplace_back(std::move(field));
        if (row.size() < columns) continue;
        rows.push_back(std::move(row));
        row.clear();
    }
    return rows;
}

std::vector<TextRow> list_devices() {
    std::string reason;
    const auto facts = device_facts(gpu::FrameKind::kInfo, {}, &reason);
    if (!facts) {
        TextRow row(gpu::kDeviceFacts);
        row.emplace_back(reason);
        return {row};
    }
    std::vector<TextRow> rows = rows_of(*facts, gpu::kDeviceFacts);
    for (TextRow& row : rows) row.emplace_back();
    return rows;
}

// Without a process there are no columns.
std::vector<TextRow> list_columns() {
    std::string reason;
    const auto facts = device_facts(gpu::FrameKind::kColumns, {}, &reason);
    return facts ? rows_of(*facts, gpu::kColumnFacts) : std::vector<TextRow>();
}

int64_t evict_file(const std::string& path) {
    std::string reason;
    const auto facts =
        device_facts(gpu::FrameKind::kEvict,
                     path.empty() ? std::string() : gpu::join_fields({&path, 1}), &reason);
    return facts ? std::stoll(*facts) : 0;
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

PG_FUNCTION_INFO_V1(loom_gpu_cache);
Datum loom_gpu_cache(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] {
        return_rows(fcinfo, list_columns());
        return Datum{0};
    });
}

PG_FUNCTION_INFO_V1(loom_gpu_evict_file);
Datum loom_gpu_evict_file(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] {
        const text* path = pg_call([fcinfo] { return PG_GETARG_TEXT_PP(0); });
        return Int64GetDatum(evict_file(std::string(VARDATA_ANY(path), VARSIZE_ANY_EXHDR(path))));
    });
}

}  // extern "C"
