// Checks options when a foreign table, its columns or the server are made or changed.

#include "pg/bridge/bridge.h"
#include "pg/fdw/table_def.h"

extern "C" {
#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
}

namespace loom::pg {

namespace {

struct KnownOption {
    const char* name;
    Oid catalog;
    bool names_files;  ///< may be set only by those who may read the server's files
};

constexpr KnownOption kOptions[] = {
    {"file", ForeignTableRelationId, true},
    {"files", ForeignTableRelationId, true},
    {"dir", ForeignTableRelationId, true},
    {"suffix", ForeignTableRelationId, false},
    {"pattern", ForeignTableRelationId, false},
    {"recursive", ForeignTableRelationId, false},
    {"hive_partitioning", ForeignTableRelationId, false},
    {"missing_columns", ForeignTableRelationId, false},
    {"parallel_workers", ForeignTableRelationId, false},
    {"field", AttributeRelationId, false},
    {"virtual", AttributeRelationId, false},
    {"virtual_metadata", AttributeRelationId, false},
    {"virtual_metadata_split", AttributeRelationId, false},
};

const KnownOption* find_option(const char* name, Oid catalog) {
    for (const KnownOption& option : kOptions)
        if (option.catalog == catalog && strcmp(option.name, name) == 0) return &option;
    return nullptr;
}

[[noreturn]] void report_unknown(const char* name, Oid catalog) {
    StringInfoData valid;
    initStringInfo(&valid);
    for (const KnownOption& option : kOptions)
        if (option.catalog == catalog)
            appendStringInfo(&valid, "%s%s", valid.len == 0 ? "" : ", ", option.name);
    ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME), errmsg("invalid option \"%s\"", name),
                    valid.len == 0 ? errhint("There are no valid options in this context.")
                                   : errhint("Valid options in this context are: %s", valid.data)));
}

void check_file_right(const char* name) {
    if (may_read_server_files()) return;
    ereport(
        ERROR,
        (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
         errmsg("permission denied to set the \"%s\" option of an arrow_fdw foreign table", name),
         errdetail("Only roles with privileges of the \"pg_read_server_files\" role may set "
                   "this option.")));
}

void validate_maylongjmp(List* options, Oid catalog) {
    int column_sources = 0;
    const ListCell* cell;
    foreach (cell, options) {
        auto* option = static_cast<DefElem*>(lfirst(cell));
        const KnownOption* known = find_option(option->defname, catalog);
        if (known == nullptr) report_unknown(option->defname, catalog);
        if (known->names_files) check_file_right(known->name);
        if (catalog == AttributeRelationId && ++column_sources > 1)
            ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
                            errmsg("a column has only one of the options \"field\", \"virtual\", "
                                   "\"virtual_metadata\" and \"virtual_metadata_split\"")));
    }
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(loom_arrow_fdw_validator);
Datum loom_arrow_fdw_validator(PG_FUNCTION_ARGS) {
    return pg_entry([fcinfo] {
        const Oid catalog = PG_GETARG_OID(1);
        List* options = pg_call([fcinfo, catalog] {
            List* list = untransformRelOptions(PG_GETARG_DATUM(0));
            validate_maylongjmp(list, catalog);
            return list;
        });
        if (catalog == ForeignTableRelationId) parse_table_options(options);
        return Datum{0};
    });
}

}  // extern "C"

}  // namespace loom::pg
