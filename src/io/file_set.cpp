#include "io/file_set.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <sys/stat.h>

#include "base/error.h"
#include "io/path_pattern.h"

namespace loom::io {

namespace {

using base::ErrorKind;

constexpr int kMaxDepth = 32;
constexpr size_t kMaxFiles = 1'000'000;

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

struct Listing {
    const FileSetSpec& spec;
    std::optional<PathPattern> pattern;
    std::vector<SourceFile> files;

    void walk(const std::string& dir, std::vector<PathKey>& hive_keys, int depth);
    void take_directory(const std::string& path, std::string_view name,
                        std::vector<PathKey>& hive_keys, int depth);
    void take_file(const std::string& path, std::string_view name,
                   const std::vector<PathKey>& hive_keys);
};

struct Entry {
    std::string name;
    bool directory;
};

std::vector<Entry> read_directory(const std::string& dir) {
    DIR* stream = opendir(dir.c_str());
    if (stream == nullptr)
        base::raise(errno == ENOENT || errno == ENOTDIR ? ErrorKind::kMissing
                    : errno == EACCES                   ? ErrorKind::kDenied
                                                        : ErrorKind::kIo,
                    "could not open directory \"{}\": {}", dir, std::strerror(errno));
    std::vector<Entry> entries;
    while (dirent* entry = readdir(stream)) {
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_') continue;
        bool directory = entry->d_type == DT_DIR;
        if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
            struct stat st;
            if (stat((dir + "/" + entry->d_name).c_str(), &st) != 0) continue;
            directory = S_ISDIR(st.st_mode);
            if (!directory && !S_ISREG(st.st_mode)) continue;
        } else if (entry->d_type != DT_REG && !directory) {
            continue;
        }
        entries.push_back({entry->d_name, directory});
    }
    closedir(stream);
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
}

void Listing::walk(const std::string& dir, std::vector<PathKey>& hive_keys, int depth) {
    if (depth > kMaxDepth)
        base::raise(ErrorKind::kLimit, "directory \"{}\" lies more than {} levels deep", dir,
                    kMaxDepth);
    for (const Entry& entry : read_directory(dir)) {
        const std::string path = dir + "/" + entry.name;
        if (entry.directory) {
            if (spec.recursive || spec.hive) take_directory(path, entry.name, hive_keys, depth);
        } else {
            take_file(path, entry.name, hive_keys);
        }
    }
}

void Listing::take_directory(const std::string& path, std::string_view name,
                             std::vector<PathKey>& hive_keys, int depth) {
    // A folder of another kind (Paimon's buckets, say) gives no key; take_file checks that all
    // files have the same keys.
    const size_t equals = name.find('=');
    if (!spec.hive || equals == std::string_view::npos || equals == 0)
        return walk(path, hive_keys, depth + 1);
    PathKey key{percent_decode(name.substr(0, equals)), std::nullopt};
    const std::string_view value = name.substr(equals + 1);
    if (value != kHiveNull) key.value = percent_decode(value);
    for (const PathKey& outer : hive_keys)
        if (outer.name == key.name)
            base::raise(ErrorKind::kBadOption, "directory \"{}\" repeats the key \"{}\"", path,
                        key.name);
    hive_keys.push_back(std::move(key));
    walk(path, hive_keys, depth + 1);
    hive_keys.pop_back();
}

void Listing::take_file(const std::string& path, std::string_view name,
                        const std::vector<PathKey>& hive_keys) {
    if (!spec.suffix.empty()) {
        const std::string suffix = spec.suffix[0] == '.' ? spec.suffix : "." + spec.suffix;
        if (!name.ends_with(suffix)) return;
    }
    SourceFile file{path, {}};
    if (pattern) {
        auto values = pattern->match(name);
        if (!values) return;
        for (size_t i = 0; i < values->size(); ++i)
            file.keys.push_back({pattern->keys()[i].name, (*values)[i]});
    }
    file.keys.insert(file.keys.end(), hive_keys.begin(), hive_keys.end());
    if (!files.empty()) {
        const auto& first = files.front().keys;
        const bool same =
            std::equal(first.begin(), first.end(), file.keys.begin(), file.keys.end(),
                       [](const PathKey& a, const PathKey& b) { return a.name == b.name; });
        if (!same)
            base::raise(ErrorKind::kBadOption,
                        "file \"{}\" lies under other partition keys than \"{}\"", path,
                        files.front().path);
    }
    if (files.size() >= kMaxFiles)
        base::raise(ErrorKind::kLimit, "directory \"{}\" holds more than {} files", spec.dir,
                    kMaxFiles);
    files.push_back(std::move(file));
}

std::string_view base_name(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string percent_decode(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
            hex_digit(text[i + 2]) >= 0) {
            result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

std::vector<SourceFile> list_files(const FileSetSpec& spec) {
    Listing listing{spec, std::nullopt, {}};
    if (!spec.pattern.empty()) listing.pattern.emplace(spec.pattern);
    std::vector<PathKey> hive_keys;
    if (spec.dir.empty()) {
        for (const std::string& path : spec.files)
            listing.take_file(path, base_name(path), hive_keys);
        return std::move(listing.files);
    }
    std::string dir = spec.dir;
    while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
    listing.walk(dir, hive_keys, 0);
    return std::move(listing.files);
}

std::vector<std::string> pattern_keys(const FileSetSpec& spec) {
    std::vector<std::string> names;
    if (spec.pattern.empty()) return names;
    const PathPattern pattern(spec.pattern);
    for (const PathPattern::Key& key : pattern.keys()) names.push_back(key.name);
    return names;
}

}  // namespace loom::io
