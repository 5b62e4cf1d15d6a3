#include "pg/fdw/table_def.h"

#include <algorithm>

#include "pg/bridge/bridge.h"

namespace loom::pg {

using base::ErrorKind;

namespace {

// A DefElem's value without defGetString, which can raise errors: FDW options are always strings.
std::string option_value(DefElem* option) {
    return option->arg == nullptr ? std::string() : std::string(strVal(option->arg));
}

bool parse_bool_option(DefElem* option) {
    const std::string text = option_value(option);
    bool value;
    if (option->arg == nullptr) return true;
    if (!parse_bool(text.c_str(), &value))
        base::raise(ErrorKind::kBadOption, "option \"{}\" needs a boolean, not \"{}\"",
                    option->defname, text);
    return value;
}

int parse_workers(DefElem* option) {
    const std::string text = option_value(option);
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || value < 0 || value > 1024)
        base::raise(ErrorKind::kBadOption,
                    "option \"parallel_workers\" needs a number from 0 to 1024, not \"{}\"", text);
    return static_cast<int>(value);
}

// Splits PG-Strom's comma-separated list; blanks around the names do not count.
std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts;
    size_t begin = 0;
    while (begin <= text.size()) {
        size_t end = text.find(',', begin);
        if (end == std::string::npos) end = text.size();
        std::string part = text.substr(begin, end - begin);
        part.erase(0, part.find_first_not_of(" \t\n"));
        part.erase(part.find_last_not_of(" \t\n") + 1);
        if (!part.empty()) parts.push_back(std::move(part));
        begin = end + 1;
    }
    return parts;
}

void check_path(const char* option, const std::string& path) {
    if (path.empty() || path[0] != '/')
        base::raise(ErrorKind::kBadOption, "option \"{}\" needs an absolute path, not \"{}\"",
                    option, path);
}

void check_combination(const TableOptions& options, bool has_files) {
    const io::FileSetSpec& files = options.files;
    if (has_files == !files.dir.empty())
        base::raise(ErrorKind::kBadOption,
                    "a table needs exactly one of the options \"file\", \"files\" and \"dir\"");
    if (files.dir.empty() && (!files.suffix.empty() || files.recursive || files.hive))
        base::raise(ErrorKind::kBadOption,
                    "the options \"suffix\", \"recursive\" and \"hive_partitioning\" need \"dir\"");
}

void set_column_source(ColumnDef& column, DefElem* option) {
    const std::string name = option->defname;
    if (name == "field") {
        column.source = ColumnSource::kField;
    } else if (name == "virtual") {
        column.source = ColumnSource::kPathKey;
    } else if (name == "virtual_metadata") {
        column.source = ColumnSource::kMetadata;
    } else if (name == "virtual_metadata_split") {
        column.source = ColumnSource::kMetadataSplit;
    } else {
        return;
    }
    column.source_name = option_value(option);
}

}  // namespace

TableOptions parse_table_options(List* options) {
    TableOptions result;
    bool has_files = false;
    const ListCell* cell;
    foreach (cell, options) {
        auto* option = static_cast<DefElem*>(lfirst(cell));
        const std::string name = option->defname;
        if (name == "file" || name == "files") {
            if (has_files)
                base::raise(ErrorKind::kBadOption,
                            "the options \"file\" and \"files\" exclude each other");
            has_files = true;
            result.files.files = name == "file" ? std::vector<std::string>{option_value(option)}
                                                : split_list(option_value(option));
            if (result.files.files.empty())
                base::raise(ErrorKind::kBadOption, "option \"files\" names no file");
            for (const std::string& path : result.files.files) check_path(name.c_str(), path);
        } else if (name == "dir") {
            result.files.dir = option_value(option);
            check_path("dir", result.files.dir);
        } else if (name == "suffix") {
            result.files.suffix = option_value(option);
        } else if (name == "pattern") {
            result.files.pattern = option_value(option);
            io::pattern_keys(result.files);  // raises if it can't be parsed
        } else if (name == "recursive") {
            result.files.recursive = parse_bool_option(option);
        } else if (name == "hive_partitioning") {
            result.files.hive = parse_bool_option(option);
        } else if (name == "parallel_workers") {
            result.parallel_workers = parse_workers(option);
        } else if (name == "missing_columns") {
            const std::string value = option_value(option);
            if (value != "null" && value != "error")
                base::raise(ErrorKind::kBadOption,
                            "option \"missing_columns\" is \"null\" or \"error\", not \"{}\"",
                            value);
            result.missing_columns_null = value == "null";
        }
    }
    check_combination(result, has_files);
    return result;
}

TableDef read_table_def(Relation relation) {
    TableDef result;
    ForeignTable* table = pg_call([&] { return GetForeignTable(RelationGetRelid(relation)); });
    result.options = parse_table_options(table->options);
    TupleDesc descriptor = RelationGetDescr(relation);
    for (int i = 0; i < descriptor->natts; ++i) {
        Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
        ColumnDef column;
        if (attribute->attisdropped) {
            column.source = ColumnSource::kDropped;
        } else {
            column.name = column.source_name = NameStr(attribute->attname);
            column.type = attribute->atttypid;
            column.typmod = attribute->atttypmod;
            column.collation = attribute->attcollation;
            List* options = pg_call([&] {
                return GetForeignColumnOptions(RelationGetRelid(relation),
                                               static_cast<AttrNumber>(i + 1));
            });
            const ListCell* cell;
            foreach (cell, options) set_column_source(column, static_cast<DefElem*>(lfirst(cell)));
        }
        result.columns.push_back(std::move(column));
    }
    return result;
}

namespace {

bool equal_ignoring_case(const std::string& a, const std::string& b) {
    return pg_strcasecmp(a.c_str(), b.c_str()) == 0;
}

template <typename Matches>
int only_match(const column::Schema& schema, const std::string& name, Matches matches) {
    int found = -1;
    std::string candidates;
    int count = 0;
    for (size_t i = 0; i < schema.fields.size(); ++i) {
        if (!matches(schema.fields[i].name)) continue;
        found = static_cast<int>(i);
        candidates += (count++ == 0 ? "\"" : ", \"") + schema.fields[i].name + "\"";
    }
    if (count > 1)
        base::raise(ErrorKind::kBadName, "column \"{}\" may refer to any of the fields {}", name,
                    candidates);
    return found;
}

// NAME#n is the nth field called NAME: the only way to tell fields of one name apart.
int find_numbered(const column::Schema& schema, const std::string& name) {
    const size_t hash = name.rfind('#');
    if (hash == std::string::npos || hash + 1 == name.size()) return -1;
    int number = 0;
    for (size_t i = hash + 1; i < name.size(); ++i) {
        if (name[i] < '0' || name[i] > '9' || number > 99'999) return -1;
        number = number * 10 + name[i] - '0';
    }
    const std::string base = name.substr(0, hash);
    for (size_t i = 0; i < schema.fields.size(); ++i)
        if (schema.fields[i].name == base && --number == 0) return static_cast<int>(i);
    return -1;
}

}  // namespace

int find_field(const column::Schema& schema, const std::string& name) {
    int index = only_match(schema, name, [&](const std::string& field) { return field == name; });
    if (index < 0)
        index = only_match(schema, name, [&](const std::string& field) {
            return equal_ignoring_case(field, name);
        });
    if (index < 0 && name.size() >= NAMEDATALEN - 4)
        index = only_match(schema, name, [&](const std::string& field) {
            return field.size() >= NAMEDATALEN && field.starts_with(name);
        });
    return index >= 0 ? index : find_numbered(schema, name);
}

std::optional<std::string> path_key_value(const io::SourceFile& file, const std::string& key) {
    if (key == "@pathname") return file.path;
    if (key == "@filename") return file.path.substr(file.path.rfind('/') + 1);
    for (const io::PathKey& entry : file.keys)
        if (entry.name == key) return entry.value;
    base::raise(ErrorKind::kBadName, "the path gives no key \"{}\"", key);
}

const std::string* find_metadata(const column::Schema& schema, const std::string& key) {
    for (const column::KeyValue& entry : schema.metadata)
        if (entry.key == key) return &entry.value;
    for (const column::Field& field : schema.fields)
        if (key.size() > field.name.size() + 1 && key.starts_with(field.name) &&
            key[field.name.size()] == '.')
            if (const std::string* value = field.find_metadata(key.substr(field.name.size() + 1)))
                return value;
    return nullptr;
}

std::optional<std::string> split_element(const std::string& list, int64_t index) {
    size_t begin = 0;
    for (; index > 0; --index) {
        begin = list.find(',', begin);
        if (begin == std::string::npos) return std::nullopt;
        ++begin;
    }
    return list.substr(begin, list.find(',', begin) - begin);
}

}  // namespace loom::pg
