#include "table.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace loom::datagen {

void Table::add_field(std::string name, column::TypePtr type, bool nullable) {
    column::Field field;
    field.name = std::move(name);
    field.type = std::move(type);
    field.nullable = nullable;
    schema_.fields.push_back(std::move(field));
}

void EvenTable::set_rows(int64_t rows, int64_t chunk_rows) {
    rows_ = rows;
    chunk_rows_ = chunk_rows;
    chunk_count_ = (rows + chunk_rows - 1) / chunk_rows;
}

Block EvenTable::make_chunk(int64_t chunk) const {
    const int64_t first = chunk * chunk_rows_;
    return make_rows(first, std::min(chunk_rows_, rows_ - first));
}

const std::vector<KindInfo>& kinds() {
    static const std::vector<KindInfo> all = {
        {"ssb", "Star Schema Benchmark: lineorder, customer, supplier, part, date", make_ssb},
        {"tpch", "TPC-H: region, nation, supplier, customer, part, partsupp, orders, lineitem",
         make_tpch},
        {"accesslog", "requests to a web site, in order of time", make_access_log},
        {"sensors", "readings of devices, with a JSON payload", make_sensors},
        {"wide", "2,000 columns of doubles", make_wide},
        {"devices", "positions of moving devices", make_devices},
        {"areas", "polygons in WKB", make_areas},
    };
    return all;
}

std::vector<std::unique_ptr<Table>> make_tables(const Request& request) {
    if (!(request.scale > 0 && request.scale <= 100'000))
        base::raise(base::ErrorKind::kBadOption, "the scale must be above 0 and at most 100000");
    for (const KindInfo& kind : kinds())
        if (kind.name == request.kind) return kind.make(request);
    base::raise(base::ErrorKind::kBadOption, "unknown kind of data \"{}\"", request.kind);
}

int64_t wanted_rows(const Request& request, int64_t rows_at_scale_1) {
    if (request.rows != 0) return request.rows;
    return std::max<int64_t>(1, std::llround(request.scale * static_cast<double>(rows_at_scale_1)));
}

}  // namespace loom::datagen
