#pragma once
// The DDL of foreign tables made from files: columns, composite types, options.

#include "pg/compat/backend.h"

#include <string>
#include <vector>

#include "format/discover.h"

namespace loom::pg {

/// One column of a table to be made.
struct ColumnDdl {
    std::string name;     ///< as it will be called, not quoted
    std::string type;     ///< SQL text
    std::string options;  ///< `OPTIONS (...)` or empty
};

/// A table to be made. `types` holds CREATE TYPE statements that must run first.
struct TableDdl {
    std::string name;
    std::vector<ColumnDdl> columns;
    std::string options;  ///< `file '...'`, ... for OPTIONS (...)
    std::vector<std::string> types;
};

/// Options of an import beyond those of a table.
struct ImportOptions {
    bool jsonb = false;  ///< JSON columns become jsonb instead of text
};

/// Writes the DDL of `table`; composite types go to `schema` and are called TABLE_COLUMN.
TableDdl make_table_ddl(const format::DiscoveredTable& table, const std::string& schema,
                        const ImportOptions& options);

/// Returns `CREATE FOREIGN TABLE schema.name (...) SERVER server OPTIONS (...)` for the columns
/// [0, limit). An empty schema leaves the name unqualified.
std::string create_statement(const TableDdl& table, const std::string& schema,
                             const std::string& server, size_t limit);

/// Quotes an identifier and a literal as SQL wants them.
std::string quote_name(const std::string& name);
std::string quote_text(const std::string& text);

/// Cuts a name to what PostgreSQL keeps, at a character boundary. Raises kBadText if it is not text
/// in the database's encoding.
std::string cut_name(const std::string& name);

}  // namespace loom::pg
