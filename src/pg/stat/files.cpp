// Functions that show what lies behind a foreign table: its files, their column chunks and
// metadata.

#include <cstring>

#include "io/path_pattern.h"
#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"
#include "pg/stat/row_set.h"

extern "C" {
#include "access/table.h"
#include "catalog/pg_class.h"
#include "mb/pg_wchar.h"
#include "utils/acl.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"
}

namespace loom::pg {

namespace {

// Opens a table's definition for a caller who may read the table.
TableDef readable_table(Oid table) {
    Relation relation = pg_call([&] {
        if (get_rel_relkind(table) != RELKIND_FOREIGN_TABLE)
            ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                            errmsg("\"%s\" is not a foreign table of arrow_fdw",
                                   get_rel_name(table) != nullptr ? get_rel_name(table) : "?")));
        const AclResult right = pg_class_aclcheck(table, GetUserId(), ACL_SELECT);
        if (right != ACLCHECK_OK) aclcheck_error(right, OBJECT_FOREIGN_TABLE, get_rel_name(table));
        Relation opened = table_open(table, AccessShareLock);
        if (GetFdwRoutineForRelation(opened, false)->IterateForeignScan != iterate_scan)
            ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                            errmsg("\"%s\" is not a foreign table of arrow_fdw",
                                   RelationGetRelationName(opened))));
        return opened;
    });
    TableDef def = read_table_def(relation);
    pg_call([&] { table_close(relation, AccessShareLock); });
    return def;
}

std::unique_ptr<format::TableReader> open_file(const io::SourceFile& file) {
    return format::open_table(io::open_local_file(file.path), {});
}

std::string timestamp_text(int64_t unix_ns) {
    const TimestampTz time =
        unix_ns / 1000 - (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
    return pg_call([&] { return timestamptz_to_str(time); });
}

std::vector<TextRow> list_files(Oid table) {
    std::vector<TextRow> rows;
    for (const io::SourceFile& file : io::list_files(readable_table(table).options.files)) {
        const auto reader = open_file(file);
        rows.push_back({file.path, std::string(reader->format_name()),
                        std::to_string(reader->file().size()), std::to_string(reader->row_count()),
                        std::to_string(reader->row_group_count()),
                        std::to_string(reader->schema().fields.size()),
                        timestamp_text(reader->file().identity().mtime_ns)});
    }
    return rows;
}

// Prints a bound as PostgreSQL prints the value: a column of one row goes through the converter.
std::optional<std::string> bound_text(const column::Field& field, const column::Scalar& bound) {
    using column::Scalar;
    const column::DataType& type = *field.type;
    if (!bound.known() || type.id == column::TypeId::kFloat16) return std::nullopt;
    uint8_t bytes[32] = {};
    column::BytesView text;
    column::ColumnView view;
    view.type = &type;
    view.length = 1;
    view.values = bytes;
    if (bound.kind == Scalar::Kind::kInt) {
        std::memset(bytes, bound.integer < 0 ? 0xFF : 0, sizeof bytes);
        std::memcpy(bytes, &bound.integer, sizeof bound.integer);
    } else if (bound.kind == Scalar::Kind::kFloat) {
        const auto narrow = static_cast<float>(bound.number);
        if (type.id == column::TypeId::kFloat32)
            std::memcpy(bytes, &narrow, sizeof narrow);
        else
            std::memcpy(bytes, &bound.number, sizeof bound.number);
    } else if (type.id == column::TypeId::kFixedBinary) {
        if (bound.bytes.size() != static_cast<size_t>(type.fixed_width)) return std::nullopt;
        view.values = bound.bytes.data();
    } else {
        text = {reinterpret_cast<const uint8_t*>(bound.bytes.data()),
                static_cast<int64_t>(bound.bytes.size())};
        view.values = &text;
    }
    // A bound cut in the middle of a character is no text: show its bytes.
    column::Field shown = field;
    if (type.id == column::TypeId::kUtf8) {
        shown.type = column::make_type(column::TypeId::kBinary);
        view.type = shown.type.get();
    }
    const char* printed = pg_call([&] {
        int32 typmod;
        const Oid oid = default_type(shown, &typmod);
        Converter* converter = make_converter(shown, oid, typmod, field.name.c_str());
        Datum value;
        bool null;
        convert_rows(*converter, view, 0, 1, &value, &null);
        if (type.id == column::TypeId::kUtf8) {
            const auto* data = reinterpret_cast<struct varlena*>(DatumGetPointer(value));
            if (pg_verifymbstr(VARDATA_ANY(data), static_cast<int>(VARSIZE_ANY_EXHDR(data)), true))
                return text_to_cstring(reinterpret_cast<const struct varlena*>(data));
        }
        Oid output;
        bool is_varlena;
        getTypeOutputInfo(oid, &output, &is_varlena);
        return OidOutputFunctionCall(output, value);
    });
    return std::string(printed);
}

std::optional<std::string> known(int64_t count) {
    return count < 0 ? std::nullopt : std::optional(std::to_string(count));
}

void list_chunks_of(const format::TableReader& reader, const std::string& path,
                    std::vector<TextRow>& rows) {
    for (int64_t group = 0; group < reader.row_group_count(); ++group) {
        for (const format::ChunkInfo& chunk : reader.chunks(group)) {
            format::ColumnStatistics statistics;
            const int column = reader.schema().find(chunk.path);
            std::optional<std::string> min;
            std::optional<std::string> max;
            if (column >= 0 && !column::is_nested(reader.schema().fields[column].type->id)) {
                statistics = reader.statistics(group, column);
                min = bound_text(reader.schema().fields[column], statistics.min);
                max = bound_text(reader.schema().fields[column], statistics.max);
            }
            auto flag = [](bool value) { return std::string(value ? "t" : "f"); };
            rows.push_back({path,
                            std::to_string(group),
                            std::to_string(reader.row_group_rows(group)),
                            chunk.path,
                            chunk.type,
                            chunk.encodings,
                            chunk.codec,
                            std::to_string(chunk.offset),
                            std::to_string(chunk.compressed_bytes),
                            std::to_string(chunk.uncompressed_bytes),
                            std::to_string(chunk.values),
                            min,
                            max,
                            flag(statistics.min_exact),
                            flag(statistics.max_exact),
                            known(statistics.null_count),
                            known(statistics.distinct_count),
                            flag(chunk.has_dictionary),
                            flag(chunk.has_page_index),
                            flag(chunk.has_bloom_filter)});
        }
    }
}

std::vector<TextRow> list_chunks(Oid table) {
    std::vector<TextRow> rows;
    for (const io::SourceFile& file : io::list_files(readable_table(table).options.files))
        list_chunks_of(*open_file(file), file.path, rows);
    return rows;
}

std::vector<TextRow> list_metadata(Oid table) {
    std::vector<TextRow> rows;
    const std::string oid = std::to_string(table);
    for (const io::SourceFile& file : io::list_files(readable_table(table).options.files)) {
        const auto reader = open_file(file);
        for (const column::KeyValue& entry : reader->schema().metadata)
            rows.push_back({oid, file.path, std::nullopt, entry.key, entry.value});
        for (const column::Field& field : reader->schema().fields)
            for (const column::KeyValue& entry : field.metadata)
                rows.push_back({oid, file.path, field.name, entry.key, entry.value});
    }
    return rows;
}

// `true {@[ymd]=[202408], $[region]=[tokyo]}`, as PG-Strom's function prints it.
std::string check_pattern(const std::string& name, const std::string& pattern_text) {
    const io::PathPattern pattern(pattern_text);
    const auto values = pattern.match(name);
    if (!values) return "false";
    std::string result = "true";
    for (size_t i = 0; i < values->size(); ++i)
        result +=
            fmt::format("{}{}[{}]=[{}]", i == 0 ? " {" : ", ", pattern.keys()[i].digits ? '@' : '$',
                        pattern.keys()[i].name, (*values)[i]);
    return values->empty() ? result : result + "}";
}

}  // namespace

}  // namespace loom::pg

extern "C" {

PG_FUNCTION_INFO_V1(loom_files);
Datum loom_files(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] {
        return_rows(fcinfo, list_files(PG_GETARG_OID(0)));
        return Datum{0};
    });
}

PG_FUNCTION_INFO_V1(loom_column_chunks);
Datum loom_column_chunks(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] {
        return_rows(fcinfo, list_chunks(PG_GETARG_OID(0)));
        return Datum{0};
    });
}

PG_FUNCTION_INFO_V1(loom_arrow_fdw_metadata_info);
Datum loom_arrow_fdw_metadata_info(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] {
        return_rows(fcinfo, list_metadata(PG_GETARG_OID(0)));
        return Datum{0};
    });
}

PG_FUNCTION_INFO_V1(loom_arrow_fdw_check_pattern);
Datum loom_arrow_fdw_check_pattern(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] {
        const char* name = pg_call([&] { return text_to_cstring(PG_GETARG_TEXT_PP(0)); });
        const char* pattern = pg_call([&] { return text_to_cstring(PG_GETARG_TEXT_PP(1)); });
        const std::string result = check_pattern(name, pattern);
        const char* line = result.c_str();
        return pg_call([&] { return PointerGetDatum(cstring_to_text(line)); });
    });
}

}  // extern "C"
