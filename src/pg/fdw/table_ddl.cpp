#include "pg/fdw/table_ddl.h"

#include <map>
#include <set>

#include "pg/bridge/bridge.h"
#include "pg/types/converter.h"

extern "C" {
#include "catalog/heap.h"
#include "mb/pg_wchar.h"
}

namespace loom::pg {

using column::DataType;
using column::Field;
using column::TypeId;

std::string quote_name(const std::string& name) {
    std::string result = "\"";
    for (char c : name) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + "\"";
}

std::string quote_text(const std::string& text) {
    std::string result = text.find('\\') == std::string::npos ? "'" : " E'";
    for (char c : text) {
        if (c == '\'' || c == '\\') result += c;
        result += c;
    }
    return result + "'";
}

std::string cut_name(const std::string& name) {
    const auto size = static_cast<int>(name.size());
    if (pg_encoding_verifymbstr(GetDatabaseEncoding(), name.c_str(), size) != size)
        base::raise(base::ErrorKind::kBadText, "a name is not valid text: \"{}\"",
                    base::printable(name));
    if (name.size() < NAMEDATALEN) return name;
    return name.substr(
        0, pg_encoding_mbcliplen(GetDatabaseEncoding(), name.c_str(), size, NAMEDATALEN - 1));
}

namespace {

// Builds type names; composite types are created on the way.
struct TypeWriter {
    const std::string& schema;
    const ImportOptions& options;
    std::vector<std::string>& statements;
    std::set<std::string>& names;

    std::string unique_type_name(const std::string& wanted) {
        std::string name = cut_name(wanted);
        for (int n = 2; !names.insert(name).second; ++n)
            name = cut_name(wanted.substr(0, NAMEDATALEN - 8)) + "__" + std::to_string(n);
        return name;
    }

    std::string composite(const Field& field, const std::string& path) {
        std::string members;
        std::map<std::string, int> used;
        for (const Field& member : field.type->children) {
            std::string name = cut_name(member.name.empty() ? "column" : member.name);
            if (const int n = ++used[name]; n > 1) name += "__" + std::to_string(n);
            if (!members.empty()) members += ", ";
            members += quote_name(name) + " ";
            members += write(member, fmt::format("{}_{}", path, name));
        }
        const std::string name = unique_type_name(path);
        std::string qualified = quote_name(schema) + "." + quote_name(name);
        statements.push_back("CREATE TYPE " + qualified + " AS (" + members + ")");
        return qualified;
    }

    static bool is_list(TypeId id) { return id == TypeId::kList || id == TypeId::kFixedList; }

    static bool is_composite(const DataType& type) {
        return type.id == TypeId::kStruct && !type.children.empty();
    }

    std::string write(const Field& field, const std::string& path) {
        const DataType& type = *field.type;
        if (options.jsonb && type.annotation == column::Annotation::kJson) return "jsonb";
        if (is_composite(type)) return composite(field, path);
        if (is_list(type.id) && !is_list(type.children[0].type->id))
            return write(type.children[0], path) + "[]";
        return pg_call([&] {
            int32 typmod;
            const Oid oid = default_type(field, &typmod);
            return format_type_extended(oid, typmod, FORMAT_TYPE_TYPEMOD_GIVEN);
        });
    }
};

std::string key_type(format::PathKeyType type) {
    switch (type) {
        case format::PathKeyType::kInteger:
            return "bigint";
        case format::PathKeyType::kDate:
            return "date";
        case format::PathKeyType::kText:
            return "text";
    }
    return "text";
}

void add_option(std::string& list, const std::string& name, const std::string& value) {
    if (!list.empty()) list += ", ";
    list += name + " " + quote_text(value);
}

std::string table_options(const format::DiscoveredTable& table) {
    std::string list;
    const io::FileSetSpec& files = table.files;
    if (!files.dir.empty()) {
        add_option(list, "dir", files.dir);
    } else if (files.files.size() == 1) {
        add_option(list, "file", files.files[0]);
    } else {
        std::string joined;
        for (const std::string& file : files.files) joined += (joined.empty() ? "" : ",") + file;
        add_option(list, "files", joined);
    }
    if (!files.suffix.empty()) add_option(list, "suffix", files.suffix);
    if (!files.pattern.empty()) add_option(list, "pattern", files.pattern);
    if (files.recursive) add_option(list, "recursive", "true");
    if (files.hive) add_option(list, "hive_partitioning", "true");
    if (table.fields_differ) add_option(list, "missing_columns", "null");
    return list;
}

// Returns `name`, or another one for a name of PostgreSQL's own columns (tableoid, ctid, ...).
std::string user_name(const std::string& name) {
    return SystemAttributeByName(name.c_str()) == nullptr ? name : "__" + name;
}

// Gives the fields of a file names that PostgreSQL accepts and that are unique. A name that had to
// change gets a `field` option; of several fields with one name the nth is called NAME#n there.
struct ColumnNamer {
    const column::Schema& schema;
    std::map<std::string, int> totals;
    std::map<std::string, int> seen;
    std::set<std::string> used;

    explicit ColumnNamer(const column::Schema& file_schema) : schema(file_schema) {
        for (const Field& field : schema.fields) ++totals[field.name];
    }

    ColumnDdl name(const Field& field, size_t position) {
        ColumnDdl column;
        std::string wanted = user_name(
            cut_name(field.name.empty() ? "column_" + std::to_string(position + 1) : field.name));
        const int n = ++seen[field.name];
        if (n > 1) wanted = cut_name("__" + wanted + "_" + std::to_string(n));
        column.name = wanted;
        for (int k = 2; !used.insert(column.name).second; ++k)
            column.name = cut_name(wanted.substr(0, NAMEDATALEN - 8)) + "__" + std::to_string(k);
        std::string source = field.name;
        if (totals[field.name] > 1) source += "#" + std::to_string(n);
        if (source != column.name) column.options = " OPTIONS (field " + quote_text(source) + ")";
        return column;
    }
};

}  // namespace

TableDdl make_table_ddl(const format::DiscoveredTable& table, const std::string& schema,
                        const ImportOptions& options) {
    TableDdl ddl;
    ddl.name = cut_name(table.name);
    ddl.options = table_options(table);
    std::set<std::string> type_names;
    TypeWriter types{schema, options, ddl.types, type_names};
    ColumnNamer namer(table.schema);
    auto is_key = [&](const std::string& name) {
        for (const format::PathKeyColumn& key : table.keys)
            if (key.name == name) return true;
        return false;
    };
    for (size_t i = 0; i < table.schema.fields.size(); ++i) {
        const Field& field = table.schema.fields[i];
        if (is_key(field.name)) continue;  // the path's value is the one that skips files
        ColumnDdl column = namer.name(field, i);
        column.type = types.write(field, ddl.name + "_" + column.name);
        ddl.columns.push_back(std::move(column));
    }
    for (const format::PathKeyColumn& key : table.keys)
        ddl.columns.push_back({user_name(cut_name(key.name)), key_type(key.type),
                               " OPTIONS (virtual " + quote_text(key.name) + ")"});
    return ddl;
}

std::string create_statement(const TableDdl& table, const std::string& schema,
                             const std::string& server, size_t limit) {
    std::string columns;
    for (size_t i = 0; i < table.columns.size() && i < limit; ++i) {
        const ColumnDdl& column = table.columns[i];
        columns += (i == 0 ? "\n  " : ",\n  ") + quote_name(column.name) + " " + column.type +
                   column.options;
    }
    const std::string name =
        schema.empty() ? quote_name(table.name) : quote_name(schema) + "." + quote_name(table.name);
    return "CREATE FOREIGN TABLE " + name + " (" + columns + "\n) SERVER " + quote_name(server) +
           " OPTIONS (" + table.options + ")";
}

}  // namespace loom::pg
