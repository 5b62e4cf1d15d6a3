#include "pg/fdw/scan.h"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "pg/bridge/bridge.h"
#include "pg/fdw/error_place.h"
#include "pg/fdw/file_binding.h"
#include "pg/guc/settings.h"

namespace loom::pg {

using base::ErrorKind;
using column::kBatchRows;

namespace {

// Files kept open after a scan has passed them, for restarts; more are opened again when needed.
constexpr size_t kMaxOpenTables = 200;

// Rows a batch may have so that very wide tables don't need gigabytes of datums.
int64_t batch_rows_for(size_t columns) {
    constexpr int64_t kMaxCells = 1 << 20;
    return std::clamp<int64_t>(kMaxCells / std::max<int64_t>(1, static_cast<int64_t>(columns)), 64,
                               kBatchRows);
}

format::OpenOptions open_options(base::MemoryBudget* budget) {
    format::OpenOptions options;
    options.budget = budget;
    options.verify_checksums = g_verify_checksums;
    return options;
}

}  // namespace

FileScan::FileScan(TableDef def, std::vector<AttrNumber> referenced, std::vector<PruneQual> quals,
                   MemoryContext context)
    : budget_(std::make_unique<base::MemoryBudget>(uint64_t{1024} * 1024 * g_scan_memory_mb)),
      def_(std::move(def)),
      referenced_(std::move(referenced)),
      quals_(std::move(quals)),
      context_(context),
      batch_rows_(batch_rows_for(referenced_.size())) {
    pg_call([&] {
        file_context_ = AllocSetContextCreate(context_, "pg_loom file", ALLOCSET_DEFAULT_SIZES);
        batch_context_ = AllocSetContextCreate(context_, "pg_loom batch", ALLOCSET_DEFAULT_SIZES);
    });
    for (AttrNumber attribute : referenced_) {
        Column column;
        column.attribute = attribute;
        column.def = &def_.columns[attribute - 1];
        pg_call([&] {
            column.values =
                static_cast<Datum*>(MemoryContextAllocZero(context_, sizeof(Datum) * batch_rows_));
            column.nulls = static_cast<bool*>(MemoryContextAlloc(context_, batch_rows_));
            memset(column.nulls, 1, batch_rows_);
        });
        columns_.push_back(std::move(column));
    }
    excluded_by_.resize(quals_.size());
    column_bytes_.resize(columns_.size());
}

void FileScan::restart(std::vector<QualValue> values) {
    leave_row_group();
    values_ = std::move(values);
    current_file_ = kNoFile;
    restricted_ = false;
    own_counter_.store(0);
}

const std::vector<io::SourceFile>& FileScan::files() {
    if (!listed_) set_files(io::list_files(def_.options.files));
    return files_;
}

void FileScan::set_files(std::vector<io::SourceFile> files) {
    files_ = std::move(files);
    listed_ = true;
    tables_.clear();
    tables_.resize(files_.size());
    open_tables_ = 0;
    identities_.assign(files_.size(), {});
    file_bytes_.assign(files_.size(), 0);
    counters_.files = static_cast<int64_t>(files_.size());
}

void FileScan::set_shared_versions(std::vector<SharedVersion> versions) {
    shared_versions_ = std::move(versions);
}

void FileScan::open_all() {
    const size_t count = std::min(files().size(), kMaxOpenTables);
    for (size_t i = 0; i < count; ++i)
        if (!skipped_by_path(i)) table(i);
}

std::vector<FileScan::SharedVersion> FileScan::shared_versions() {
    std::vector<SharedVersion> versions(files().size());
    for (size_t i = 0; i < files_.size(); ++i) {
        if (tables_[i] != nullptr) {
            io::File& file = tables_[i]->file();
            versions[i] = {MyProcPid, file.descriptor(), file.identity()};
        } else if (!skipped_by_path(i)) {
            versions[i] = {MyProcPid, -1, io::stat_local_file(files_[i].path)};
        }
    }
    return versions;
}

namespace {

// Opens the version of a file that the leader has: through its descriptor where it holds one.
std::shared_ptr<io::File> open_shared(const FileScan::SharedVersion& version,
                                      const std::string& path) {
    if (version.fd >= 0) {
        const std::string link = fmt::format("/proc/{}/fd/{}", version.pid, version.fd);
        const int fd = open(link.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            std::shared_ptr<io::File> file;
            try {
                file = io::open_local_file(fd, path);
            } catch (...) {
                close(fd);
                throw;
            }
            close(fd);
            return file;
        }
    }
    return io::open_local_file(path);
}

}  // namespace

format::TableReader& FileScan::table(size_t file) {
    files();
    if (tables_[file] != nullptr) return *tables_[file];
    const std::string& path = files_[file].path;
    const bool shared = file < shared_versions_.size();
    std::shared_ptr<io::File> handle =
        shared ? open_shared(shared_versions_[file], path) : io::open_local_file(path);
    const io::FileIdentity expected = shared ? shared_versions_[file].identity : identities_[file];
    if (expected.inode != 0 && !expected.same_content(handle->identity()))
        base::raise(ErrorKind::kChanged,
                    "file \"{}\" was replaced or changed while it was being read", path);
    identities_[file] = handle->identity();
    tables_[file] = format::open_table(std::move(handle), open_options(budget_.get()));
    ++open_tables_;
    return *tables_[file];
}

bool FileScan::skipped_by_path(size_t file) {
    if (file_filter_ == nullptr || !g_skip_with_statistics) return false;
    const size_t width = def_.columns.size();
    std::vector<Datum> values;
    auto nulls = std::make_unique<bool[]>(width);
    read_path_keys(def_, files_[file], file_context_, &values, nulls.get());
    const Datum* value_array = values.data();
    const bool* null_array = nulls.get();
    const bool keep =
        pg_call([&] { return file_filter_(file_filter_arg_, value_array, null_array); });
    return !keep;
}

void FileScan::bind_virtual_column(Column& column, const std::optional<std::string>& value) {
    column.constant = true;
    column.constant_null = !value.has_value();
    column.constant_value =
        value ? read_value(*column.def, files_[current_file_].path, *value, file_context_) : 0;
}

void FileScan::bind_field_column(Column& column, const column::Schema& schema) {
    column.field = bind_field(def_, *column.def, schema);
    if (column.field < 0) {
        column.constant = true;
        column.constant_null = true;
        return;
    }
    const column::Field& field = schema.fields[column.field];
    const char* name = column.def->name.c_str();
    const Place place{files_[current_file_].path.c_str(), -1, column.def->name.c_str()};
    column.converter = pg_call([&] {
        return at_place_maylongjmp(place, file_context_, [&] {
            return make_converter(field, column.def->type, column.def->typmod, name);
        });
    });
}

void FileScan::enter_file(size_t file) {
    if (current_file_ == file) return;
    leave_row_group();
    if (current_file_ != kNoFile && open_tables_ > kMaxOpenTables) {
        tables_[current_file_].reset();
        --open_tables_;
    }
    current_file_ = file;
    pg_call([&] { MemoryContextReset(file_context_); });
    format::TableReader& reader = table(file);
    const column::Schema& schema = reader.schema();
    base::with_where(
        [&] { return fmt::format("file \"{}\"", files_[file].path); },
        [&] {
            for (Column& column : columns_) {
                column.converter = nullptr;
                column.constant = false;
                column.field = -1;
                column.split_list.clear();
                switch (column.def->source) {
                    case ColumnSource::kField:
                        bind_field_column(column, schema);
                        break;
                    case ColumnSource::kPathKey:
                    case ColumnSource::kMetadata:
                        bind_virtual_column(column, file_value(*column.def, files_[file], schema));
                        break;
                    case ColumnSource::kMetadataSplit:
                        if (const auto* value = find_metadata(schema, column.def->source_name))
                            column.split_list = *value;
                        break;
                    case ColumnSource::kDropped:
                        bind_virtual_column(column, std::nullopt);
                        break;
                }
            }
        });
    conditions_.clear();
    condition_quals_.clear();
    if (!g_skip_with_statistics) return;
    conditions_ = make_conditions(def_, quals_, values_, schema, &condition_quals_);
}

bool FileScan::claim(size_t* file, int64_t* row_group) {
    for (;;) {
        uint64_t seen = counter_->load();
        *file = seen >> 32;
        *row_group = static_cast<int64_t>(seen & UINT32_MAX);
        if (*file >= files().size()) return false;
        const bool skip = *row_group == 0 && skipped_by_path(*file);
        const bool passed = skip || *row_group >= table(*file).row_group_count();
        const uint64_t next = passed ? (uint64_t{*file} + 1) << 32 : seen + 1;
        if (!counter_->compare_exchange_strong(seen, next)) continue;
        if (skip) ++counters_.files_skipped;
        if (!passed) return true;
        pg_call([] { CHECK_FOR_INTERRUPTS(); });
    }
}

bool FileScan::enter_row_group(int64_t row_group) {
    format::TableReader& reader = table(current_file_);
    const int64_t rows = reader.row_group_rows(row_group);
    ++counters_.row_groups;
    current_row_group_ = row_group;
    range_ = 0;
    ranges_.clear();
    if (rows == 0) return false;
    if (const auto excluded = format::excluding_condition(reader, row_group, conditions_)) {
        ++counters_.row_groups_skipped;
        ++excluded_by_[condition_quals_[*excluded]];
        return false;
    }
    ranges_ = conditions_.empty() ? format::RowRanges{{0, rows}}
                                  : format::matching_rows(reader, row_group, conditions_);
    if (ranges_.empty()) {
        ++counters_.row_groups_skipped;
        return false;
    }
    position_ = ranges_[0].begin;
    for (Column& column : columns_) {
        if (column.def->source != ColumnSource::kMetadataSplit) continue;
        bind_virtual_column(column, column.split_list.empty()
                                        ? std::nullopt
                                        : split_element(column.split_list, row_group));
    }
    return true;
}

void FileScan::leave_row_group() {
    bool read = false;
    for (size_t c = 0; c < columns_.size(); ++c) {
        if (columns_[c].reader == nullptr) continue;
        const format::ReadProfile profile = columns_[c].reader->profile();
        columns_[c].reader.reset();
        read = true;
        counters_.bytes_read += static_cast<int64_t>(profile.bytes_read);
        counters_.pages_read += profile.pages_read;
        counters_.pages_skipped += profile.pages_skipped;
        counters_.decode_ns += static_cast<int64_t>(profile.decode_ns);
        column_bytes_[c] += static_cast<int64_t>(profile.bytes_read);
        if (file_bytes_[current_file_] == 0) ++counters_.files_read;
        file_bytes_[current_file_] += static_cast<int64_t>(profile.bytes_read);
    }
    if (read) ++counters_.row_groups_read;
    ranges_.clear();
    range_ = 0;
    current_row_group_ = -1;
}

void FileScan::load(int64_t row, int64_t count) {
    format::TableReader& reader = table(current_file_);
    pg_call([&] {
        CHECK_FOR_INTERRUPTS();
        MemoryContextReset(batch_context_);
    });
    for (Column& column : columns_) {
        if (column.constant) {
            std::fill_n(column.values, count, column.constant_value);
            std::fill_n(column.nulls, count, column.constant_null);
            continue;
        }
        if (column.converter == nullptr) {  // kMetadataSplit without a list
            std::fill_n(column.nulls, count, true);
            continue;
        }
        if (column.reader == nullptr) {
            format::ReadOptions options;
            if (ranges_.size() != 1 ||
                ranges_[0].end - ranges_[0].begin != reader.row_group_rows(current_row_group_))
                options.rows = ranges_;
            column.reader = reader.open_column(current_row_group_, column.field, options);
        }
        const column::ColumnView view = column.reader->read(row, count);
        const Place place{files_[current_file_].path.c_str(), current_row_group_,
                          column.def->name.c_str()};
        pg_call([&] {
            at_place_maylongjmp(place, batch_context_, [&] {
                convert_rows(*column.converter, view, 0, count, column.values, column.nulls);
                return true;
            });
        });
    }
    reader.file().check_mapping();
}

int64_t FileScan::next_batch() {
    for (;;) {
        while (range_ < ranges_.size() && position_ >= ranges_[range_].end)
            if (++range_ < ranges_.size()) position_ = ranges_[range_].begin;
        if (range_ < ranges_.size()) {
            const int64_t row = position_;
            const int64_t count = std::min(ranges_[range_].end - row, batch_rows_);
            position_ += count;
            load(row, count);
            return count;
        }
        leave_row_group();
        if (restricted_) return 0;
        size_t file;
        int64_t row_group;
        if (!claim(&file, &row_group)) return 0;
        enter_file(file);
        enter_row_group(row_group);
    }
}

void FileScan::plan_only() {
    for (size_t file = 0; file < files().size(); ++file) {
        if (skipped_by_path(file)) {
            ++counters_.files_skipped;
            continue;
        }
        enter_file(file);
        for (int64_t group = 0; group < table(file).row_group_count(); ++group)
            enter_row_group(group);
    }
    leave_row_group();
}

int64_t FileScan::count_rows() {
    int64_t rows = 0;
    for (size_t file = 0; file < files().size(); ++file) {
        rows += table(file).row_count();
        if (open_tables_ > kMaxOpenTables) {
            tables_[file].reset();
            --open_tables_;
        }
    }
    return rows;
}

void FileScan::restrict_to(size_t file, int64_t row_group, format::RowRange range) {
    enter_file(file);
    enter_row_group(row_group);
    ranges_ = {range};
    range_ = 0;
    position_ = range.begin;
    restricted_ = true;
}

int64_t FileScan::row_groups_of(size_t file) {
    return table(file).row_group_count();
}

int64_t FileScan::rows_of(size_t file, int64_t row_group) {
    return table(file).row_group_rows(row_group);
}

const ScanCounters& FileScan::counters() {
    return counters_;
}
const std::vector<int64_t>& FileScan::column_bytes() {
    return column_bytes_;
}
const std::vector<int64_t>& FileScan::file_bytes() {
    return file_bytes_;
}

namespace {

void put_text(std::string& out, const std::string& text) {
    const uint64_t size = text.size();
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out += text;
}

std::string take_text(base::ByteReader& in) {
    const auto size = in.read<uint64_t>("shared file list");
    return std::string(base::as_text(in.take(size, "shared file list")));
}

}  // namespace

std::string serialise(const std::vector<io::SourceFile>& files) {
    std::string out;
    const uint64_t count = files.size();
    out.append(reinterpret_cast<const char*>(&count), sizeof count);
    for (const io::SourceFile& file : files) {
        put_text(out, file.path);
        out += static_cast<char>(file.keys.size());
        for (const io::PathKey& key : file.keys) {
            put_text(out, key.name);
            out += key.value.has_value() ? '\1' : '\0';
            if (key.value) put_text(out, *key.value);
        }
    }
    return out;
}

std::vector<io::SourceFile> deserialise_files(const char* bytes, size_t size) {
    base::ByteReader in({reinterpret_cast<const uint8_t*>(bytes), size});
    std::vector<io::SourceFile> files(in.read<uint64_t>("shared file list"));
    for (io::SourceFile& file : files) {
        file.path = take_text(in);
        file.keys.resize(in.read<uint8_t>("shared file list"));
        for (io::PathKey& key : file.keys) {
            key.name = take_text(in);
            if (in.read<uint8_t>("shared file list") != 0) key.value = take_text(in);
        }
    }
    return files;
}

}  // namespace loom::pg
