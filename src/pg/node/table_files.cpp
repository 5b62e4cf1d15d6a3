#include "pg/node/table_files.h"

#include "exec/scan/load_nested.h"
#include "pg/bridge/bridge.h"
#include "pg/fdw/file_binding.h"
#include "pg/fdw/kept_files.h"
#include "pg/guc/settings.h"
#include "pg/node/value.h"
#include "pg/plan/layout.h"

extern "C" {
#include "access/table.h"
}

namespace loom::pg {

namespace {

// Every file stays open while the query runs; a process has some thousand descriptors at most.
constexpr size_t kMaxFiles = 500;

TableDef read_definition(Oid oid) {
    Relation relation = pg_call([&] { return table_open(oid, NoLock); });
    TableDef def = read_table_def(relation);
    pg_call([&] { table_close(relation, NoLock); });
    return def;
}

}  // namespace

bool loads_values(const ColumnDef& column, const column::DataType& stored) {
    if (column.typmod < 0) return true;
    switch (column.type) {
        case NUMERICOID:
        case VARCHAROID:
        case BPCHAROID:
            return true;
        case TIMEOID:
        case TIMESTAMPOID:
        case TIMESTAMPTZOID: {
            const int digits = stored.unit == column::TimeUnit::kSecond  ? 0
                               : stored.unit == column::TimeUnit::kMilli ? 3
                                                                         : 6;
            return column.typmod >= digits;
        }
        default:
            return false;
    }
}

TableFiles::TableFiles(Oid relation, std::vector<AttrNumber> attributes,
                       std::vector<plan::Type> types, std::vector<PruneQual> quals,
                       base::MemoryBudget* budget, MemoryContext context)
    : def_(read_definition(relation)),
      attributes_(std::move(attributes)),
      types_(std::move(types)),
      quals_(std::move(quals)),
      budget_(budget),
      context_(context) {
    for (size_t c = 0; c < types_.size(); ++c) {
        auto layout = plan::is_opaque(types_[c]) ? nested_layout(types_[c].oid) : std::nullopt;
        layouts_.push_back(layout ? std::make_shared<plan::Layout>(std::move(*layout)) : nullptr);
    }
}

void TableFiles::list() {
    if (listed_) return;
    files_ = io::list_files(def_.options.files);
    if (files_.size() > kMaxFiles)
        throw exec::Unrepresentable(fmt::format("a table of {} files", files_.size()));
    readers_.resize(files_.size());
    listed_ = true;
}

exec::ScanFile::Column TableFiles::bind_column(size_t column, size_t file,
                                               const column::Schema& schema) {
    const ColumnDef& def = def_.columns[attributes_[column] - 1];
    exec::ScanFile::Column bound;
    if (def.source == ColumnSource::kField) {
        bound.field = bind_field(def_, def, schema);
        if (bound.field < 0) return bound;
        const column::DataType& type = *schema.fields[static_cast<size_t>(bound.field)].type;
        bound.layout = layouts_[column];
        if (def.type == VARCHAROID || def.type == BPCHAROID)
            bound.characters = std::max(def.typmod - static_cast<int32>(VARHDRSZ), -1);
        if (!loads_values(def, type) ||
            (bound.layout != nullptr ? !exec::can_load(type, *bound.layout)
                                     : !exec::can_load(type, types_[column])))
            throw exec::Unrepresentable(fmt::format("column \"{}\" is {} in file \"{}\"", def.name,
                                                    column::to_string(type), files_[file].path));
        return bound;
    }
    const auto text = file_value(def, files_[file], schema);
    if (!text) return bound;
    auto scalar = to_scalar(read_value(def, files_[file].path, *text, context_), types_[column]);
    if (!scalar)
        throw exec::Unrepresentable(
            fmt::format("the value of column \"{}\" for file \"{}\"", def.name, files_[file].path));
    bound.value = std::move(*scalar);
    return bound;
}

exec::ScanFile TableFiles::bind_file(size_t file, const std::vector<QualValue>& values) {
    std::shared_ptr<format::TableReader>& reader = readers_[file];
    if (reader == nullptr) {
        format::OpenOptions options;
        options.budget = budget_;
        options.verify_checksums = g_verify_checksums;
        reader = format::open_table(open_kept_file(files_[file].path), options);
    }
    exec::ScanFile bound;
    bound.reader = reader;
    base::with_where([&] { return fmt::format("file \"{}\"", files_[file].path); },
                     [&] {
                         for (size_t c = 0; c < attributes_.size(); ++c)
                             bound.columns.push_back(bind_column(c, file, reader->schema()));
                     });
    if (g_skip_with_statistics)
        bound.conditions = make_conditions(def_, quals_, values, reader->schema(), nullptr);
    return bound;
}

exec::TableSource TableFiles::bind(const std::vector<QualValue>& values, FileFilter filter,
                                   void* arg) {
    list();
    exec::TableSource source;
    const size_t width = def_.columns.size();
    for (size_t file = 0; file < files_.size(); ++file) {
        if (filter != nullptr && g_skip_with_statistics) {
            std::vector<Datum> keys;
            auto nulls = std::make_unique<bool[]>(width);
            read_path_keys(def_, files_[file], context_, &keys, nulls.get());
            const Datum* key_array = keys.data();
            const bool* null_array = nulls.get();
            if (!pg_call([&] { return filter(arg, key_array, null_array); })) continue;
        }
        source.files.push_back(bind_file(file, values));
    }
    return source;
}

}  // namespace loom::pg
