// IMPORT FOREIGN SCHEMA: from one set of files, as PG-Strom's users write it, or from a folder.
//
//   IMPORT FOREIGN SCHEMA name FROM SERVER arrow_fdw INTO s OPTIONS (file '...')   one table,
//   `name` IMPORT FOREIGN SCHEMA "/folder" FROM SERVER arrow_fdw INTO s                   a table
//   per file or
//                                                                                  partitioned
//                                                                                  folder

#include <set>

#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"
#include "pg/fdw/table_ddl.h"
#include "pg/sql/run_sql.h"

namespace loom::pg {

namespace {

void check_import_right_maylongjmp() {
    if (may_read_server_files()) return;
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
             errmsg("permission denied to import files into foreign tables"),
             errdetail("Only roles with privileges of the \"pg_read_server_files\" role may import "
                       "files.")));
}

constexpr const char* kTableOptions[] = {"file",
                                         "files",
                                         "dir",
                                         "suffix",
                                         "pattern",
                                         "recursive",
                                         "hive_partitioning",
                                         "missing_columns",
                                         "parallel_workers"};

ImportOptions parse_import_options(List* options, List** table_options) {
    ImportOptions result;
    const ListCell* cell;
    foreach (cell, options) {
        auto* option = static_cast<DefElem*>(lfirst(cell));
        const std::string name = option->defname;
        if (name == "json_type") {
            const std::string value = option->arg == nullptr ? "" : strVal(option->arg);
            if (value != "text" && value != "jsonb")
                base::raise(base::ErrorKind::kBadOption,
                            "option \"json_type\" is \"text\" or \"jsonb\", not \"{}\"", value);
            result.jsonb = value == "jsonb";
            continue;
        }
        bool known = false;
        for (const char* candidate : kTableOptions) known = known || name == candidate;
        if (!known)
            pg_call([&] {
                ereport(ERROR,
                        (errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
                         errmsg("invalid option \"%s\"", option->defname),
                         errhint("Valid options in this context are: file, files, dir, suffix, "
                                 "pattern, recursive, hive_partitioning, missing_columns, "
                                 "parallel_workers, json_type")));
            });
        *table_options = pg_call([&] { return lappend(*table_options, option); });
    }
    return result;
}

std::vector<format::DiscoveredTable> find_tables(const ImportForeignSchemaStmt* statement,
                                                 List* table_options, int* parallel_workers) {
    const std::string remote = statement->remote_schema;
    if (table_options == NIL) {
        if (remote.empty() || remote[0] != '/')
            base::raise(base::ErrorKind::kBadOption,
                        "IMPORT FOREIGN SCHEMA needs one of the options \"file\", \"files\" and "
                        "\"dir\", or a folder's absolute path as the schema's name");
        std::vector<std::string> problems;
        auto tables = format::discover_tables(remote, &problems);
        for (const std::string& problem : problems) {
            const char* text = problem.c_str();
            pg_call([&] { ereport(WARNING, (errmsg("skipped: %s", text))); });
        }
        return tables;
    }
    const TableOptions options = parse_table_options(table_options);
    *parallel_workers = options.parallel_workers;
    std::vector<format::DiscoveredTable> tables;
    tables.push_back(format::describe_files(remote, options.files));
    tables.back().fields_differ = tables.back().fields_differ || options.missing_columns_null;
    return tables;
}

}  // namespace

List* import_schema(ImportForeignSchemaStmt* statement, Oid) {
    return pg_entry([=] {
        pg_call([] { check_import_right_maylongjmp(); });
        List* table_options = NIL;
        const ImportOptions options = parse_import_options(statement->options, &table_options);
        int workers = -1;
        List* commands = NIL;
        std::set<std::string> names;
        for (format::DiscoveredTable& table : find_tables(statement, table_options, &workers)) {
            // Long names of a folder's tables may become equal when they are cut.
            const std::string wanted = table.name;
            for (int n = 2; !names.insert(cut_name(table.name)).second; ++n)
                table.name = cut_name(wanted.substr(0, NAMEDATALEN - 8)) + "__" + std::to_string(n);
            TableDdl ddl = make_table_ddl(table, statement->local_schema, options);
            if (workers >= 0) ddl.options += ", parallel_workers '" + std::to_string(workers) + "'";
            const char* name = ddl.name.c_str();
            if (!pg_call([&] { return IsImportableForeignTable(name, statement); })) continue;
            for (const std::string& type : ddl.types) run_sql(type);
            const std::string command = create_statement(ddl, "", statement->server_name, SIZE_MAX);
            const char* text = command.c_str();
            commands = pg_call([&] { return lappend(commands, pstrdup(text)); });
        }
        return commands;
    });
}

}  // namespace loom::pg
