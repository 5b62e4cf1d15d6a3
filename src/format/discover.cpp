#include "format/discover.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <dirent.h>
#include <sys/stat.h>

namespace loom::format {

using base::ErrorKind;
using column::DataType;
using column::Field;
using column::TypeId;

namespace {

// The type that holds both, or null.
column::TypePtr wider(const column::TypePtr& a, const column::TypePtr& b) {
    if (column::equal(*a, *b)) return a;
    if (a->id == TypeId::kNull) return b;
    if (b->id == TypeId::kNull) return a;
    if (column::is_signed_integer(a->id) && column::is_signed_integer(b->id))
        return a->id > b->id ? a : b;
    auto is_float = [](TypeId id) { return id >= TypeId::kFloat16 && id <= TypeId::kFloat64; };
    if (is_float(a->id) && is_float(b->id)) return a->id > b->id ? a : b;
    if (a->id == TypeId::kDecimal && b->id == TypeId::kDecimal) {
        const int scale = std::max(a->scale, b->scale);
        const int digits = std::max(a->precision - a->scale, b->precision - b->scale);
        return digits + scale <= 76 ? column::make_decimal(digits + scale, scale) : nullptr;
    }
    // One PostgreSQL type for every unit.
    if (a->id == TypeId::kTimestamp && b->id == TypeId::kTimestamp &&
        a->timezone.empty() == b->timezone.empty())
        return a->unit > b->unit ? a : b;
    if (a->id == b->id && (a->id == TypeId::kTime || a->id == TypeId::kDuration))
        return a->unit > b->unit ? a : b;
    return nullptr;
}

void merge(column::Schema& into, const column::Schema& from, const std::string& path,
           bool* differ) {
    size_t common = 0;
    for (const Field& field : from.fields) {
        const int index = into.find(field.name);
        if (index < 0) {
            into.fields.push_back(field);
            *differ = true;
            continue;
        }
        ++common;
        column::TypePtr type = wider(into.fields[index].type, field.type);
        if (type == nullptr)
            base::raise(ErrorKind::kTypeMismatch,
                        "field \"{}\" is {} in file \"{}\" but {} in the files before", field.name,
                        column::to_string(*field.type), path,
                        column::to_string(*into.fields[index].type));
        into.fields[index].type = std::move(type);
    }
    if (common < into.fields.size()) *differ = true;
}

bool is_integer_text(const std::string& text) {
    if (text.empty() || text.size() > 18) return false;
    const size_t digits = text[0] == '-' ? 1 : 0;
    if (digits == text.size()) return false;
    if (text[digits] == '0' && text.size() > 1) return false;  // 01 and -0 are text
    return std::all_of(text.begin() + static_cast<ptrdiff_t>(digits), text.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
}

bool is_date_text(const std::string& text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    for (int i : {0, 1, 2, 3, 5, 6, 8, 9})
        if (text[i] < '0' || text[i] > '9') return false;
    const int month = (text[5] - '0') * 10 + text[6] - '0';
    const int day = (text[8] - '0') * 10 + text[9] - '0';
    const int year =
        (text[0] - '0') * 1000 + (text[1] - '0') * 100 + (text[2] - '0') * 10 + text[3] - '0';
    if (month < 1 || month > 12 || year == 0) return false;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return day >= 1 && day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

PathKeyType key_type(const std::vector<io::SourceFile>& files, size_t index) {
    bool integer = true;
    bool date = true;
    bool any = false;
    for (const io::SourceFile& file : files) {
        const auto& value = file.keys[index].value;
        if (!value) continue;
        any = true;
        integer = integer && is_integer_text(*value);
        date = date && is_date_text(*value);
    }
    return any && integer ? PathKeyType::kInteger
           : any && date  ? PathKeyType::kDate
                          : PathKeyType::kText;
}

bool has_suffix(std::string_view path, std::initializer_list<std::string_view> suffixes) {
    return std::any_of(suffixes.begin(), suffixes.end(),
                       [&](std::string_view suffix) { return path.ends_with(suffix); });
}

struct Entries {
    std::vector<std::string> files;
    std::vector<std::string> folders;
};

Entries list(const std::string& dir) {
    DIR* stream = opendir(dir.c_str());
    if (stream == nullptr)
        base::raise(errno == EACCES ? ErrorKind::kDenied : ErrorKind::kMissing,
                    "could not open directory \"{}\": {}", dir, std::strerror(errno));
    Entries entries;
    while (dirent* entry = readdir(stream)) {
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_') continue;
        struct stat st;
        if (stat((dir + "/" + entry->d_name).c_str(), &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) entries.folders.emplace_back(entry->d_name);
        if (S_ISREG(st.st_mode)) entries.files.emplace_back(entry->d_name);
    }
    closedir(stream);
    std::sort(entries.files.begin(), entries.files.end());
    std::sort(entries.folders.begin(), entries.folders.end());
    return entries;
}

std::string stem(const std::string& name) {
    const size_t dot = name.rfind('.');
    return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

struct Discovery {
    std::vector<DiscoveredTable> tables;
    std::vector<std::string>* problems;
    std::set<std::string> names;

    std::string unique(const std::string& name) {
        std::string result = name;
        for (int n = 2; !names.insert(result).second; ++n) result = name + "__" + std::to_string(n);
        return result;
    }

    bool add(const std::string& name, const io::FileSetSpec& spec) {
        try {
            DiscoveredTable table = describe_files(name, spec);
            table.name = unique(name);
            tables.push_back(std::move(table));
            return true;
        } catch (const base::Error& error) {
            problems->push_back(error.what());
            return false;
        }
    }

    static bool is_hive(const Entries& entries) {
        return !entries.folders.empty() &&
               std::all_of(entries.folders.begin(), entries.folders.end(),
                           [](const std::string& name) {
                               const size_t equals = name.find('=');
                               return equals != std::string::npos && equals > 0;
                           });
    }

    bool add_folder_as_one(const std::string& dir, const std::string& name, bool hive) {
        io::FileSetSpec spec;
        spec.dir = dir;
        spec.hive = hive;
        try {
            DiscoveredTable table = describe_files(name, spec);
            if (!hive && table.fields_differ) return false;
            table.name = unique(name);
            tables.push_back(std::move(table));
            return true;
        } catch (const base::Error& error) {
            if (hive) problems->push_back(error.what());
            return hive;
        }
    }

    void walk(const std::string& dir, const std::string& prefix, int depth) {
        if (depth > 16) return;
        const Entries entries = list(dir);
        std::vector<std::string> data_files;
        for (const std::string& file : entries.files)
            if (is_data_file(fmt::format("{}/{}", dir, file))) data_files.push_back(file);
        if (data_files.empty() && is_hive(entries)) {
            const std::string name = prefix.empty() ? dir.substr(dir.rfind('/') + 1) : prefix;
            add_folder_as_one(dir, name, true);
            return;
        }
        const bool whole = depth > 0 && data_files.size() >= 2 &&
                           data_files.size() == entries.files.size() && entries.folders.empty();
        if (!whole || !add_folder_as_one(dir, prefix, false))
            for (const std::string& file : data_files) {
                io::FileSetSpec spec;
                spec.files = {fmt::format("{}/{}", dir, file)};
                add(prefix.empty() ? stem(file) : fmt::format("{}_{}", prefix, stem(file)), spec);
            }
        for (const std::string& folder : entries.folders)
            walk(fmt::format("{}/{}", dir, folder),
                 prefix.empty() ? folder : fmt::format("{}_{}", prefix, folder), depth + 1);
    }
};

}  // namespace

bool is_data_file(const std::string& path) {
    if (has_suffix(path, {".arrows", ".arrow_stream", ".stream"})) return true;
    try {
        auto file = io::open_local_file(path);
        uint8_t magic[8] = {};
        if (file->size() < sizeof magic) return false;
        file->read_at(0, magic);
        return std::memcmp(magic, "PAR1", 4) == 0 || std::memcmp(magic, "PARE", 4) == 0 ||
               std::memcmp(magic, "ARROW1", 6) == 0 ||
               (has_suffix(path, {".arrow", ".feather", ".ipc"}) && magic[0] == 0xFF);
    } catch (const base::Error&) {
        return false;
    }
}

DiscoveredTable describe_files(std::string name, const io::FileSetSpec& spec) {
    DiscoveredTable table;
    table.name = std::move(name);
    table.files = spec;
    const std::vector<io::SourceFile> files = io::list_files(spec);
    if (files.empty())
        base::raise(ErrorKind::kMissing, "no file in directory \"{}\" belongs to the table",
                    spec.dir);
    bool first = true;
    for (const io::SourceFile& file : files) {
        const auto reader = open_table(io::open_local_file(file.path), {});
        if (first)
            table.schema = reader->schema();
        else
            merge(table.schema, reader->schema(), file.path, &table.fields_differ);
        first = false;
    }
    for (size_t i = 0; i < files[0].keys.size(); ++i)
        table.keys.push_back({files[0].keys[i].name, key_type(files, i)});
    return table;
}

std::vector<DiscoveredTable> discover_tables(const std::string& dir,
                                             std::vector<std::string>* problems) {
    Discovery discovery;
    discovery.problems = problems;
    std::string root = dir;
    while (root.size() > 1 && root.back() == '/') root.pop_back();
    discovery.walk(root, "", 0);
    return std::move(discovery.tables);
}

}  // namespace loom::format
