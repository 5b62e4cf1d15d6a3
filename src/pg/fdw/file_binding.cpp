#include "pg/fdw/file_binding.h"

#include "pg/bridge/bridge.h"
#include "pg/fdw/error_place.h"

namespace loom::pg {

using base::ErrorKind;

std::vector<format::PruneCondition> make_conditions(const TableDef& def,
                                                    const std::vector<PruneQual>& quals,
                                                    const std::vector<QualValue>& values,
                                                    const column::Schema& schema,
                                                    std::vector<size_t>* origins) {
    std::vector<format::PruneCondition> conditions;
    for (size_t i = 0; i < quals.size(); ++i) {
        const ColumnDef& column = def.columns[quals[i].attribute - 1];
        if (column.source != ColumnSource::kField) continue;
        const int field = find_field(schema, column.source_name);
        if (field < 0) continue;
        format::PruneCondition condition;
        if (!make_condition(quals[i], values, *schema.fields[field].type, field, &condition))
            continue;
        conditions.push_back(std::move(condition));
        if (origins != nullptr) origins->push_back(i);
    }
    return conditions;
}

int bind_field(const TableDef& def, const ColumnDef& column, const column::Schema& schema) {
    const int field = find_field(schema, column.source_name);
    if (field < 0 && !def.options.missing_columns_null)
        throw base::Error(ErrorKind::kBadName,
                          fmt::format("the file has no field \"{}\" for column \"{}\"",
                                      column.source_name, column.name));
    return field;
}

std::optional<std::string> file_value(const ColumnDef& column, const io::SourceFile& file,
                                      const column::Schema& schema) {
    if (column.source == ColumnSource::kPathKey) return path_key_value(file, column.source_name);
    if (column.source != ColumnSource::kMetadata) return std::nullopt;
    const std::string* value = find_metadata(schema, column.source_name);
    return value != nullptr ? std::optional(*value) : std::nullopt;
}

Datum read_value(const ColumnDef& column, const std::string& path, const std::string& text,
                 MemoryContext target) {
    const char* bytes = text.c_str();
    const Place place{path.c_str(), -1, column.name.c_str()};
    return pg_call([&] {
        return at_place_maylongjmp(place, target, [&] {
            Oid input;
            Oid parameter;
            getTypeInputInfo(column.type, &input, &parameter);
            return OidInputFunctionCall(input, const_cast<char*>(bytes), parameter, column.typmod);
        });
    });
}

void read_path_keys(const TableDef& def, const io::SourceFile& file, MemoryContext target,
                    std::vector<Datum>* values, bool* nulls) {
    const size_t width = def.columns.size();
    values->assign(width, 0);
    for (size_t i = 0; i < width; ++i) {
        nulls[i] = true;
        const ColumnDef& column = def.columns[i];
        if (column.source != ColumnSource::kPathKey) continue;
        const auto text = path_key_value(file, column.source_name);
        if (!text) continue;
        (*values)[i] = read_value(column, file.path, *text, target);
        nulls[i] = false;
    }
}

}  // namespace loom::pg
