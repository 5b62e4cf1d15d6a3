#include "gpu/memory/column_store.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "gpu/memory/file_loader.h"

namespace loom::gpu {

namespace {

// Files of one column in one folder, but for what its partitions add to the path, most likely share
// texts.
std::string dictionary_name(const exec::ScanFile& file, int column) {
    const exec::ScanFile::Column& bound = file.columns[static_cast<size_t>(column)];
    std::filesystem::path folder = std::filesystem::path(file.reader->file().path()).parent_path();
    while (folder.filename().string().find('=') != std::string::npos) folder = folder.parent_path();
    const std::string field =
        bound.field < 0 ? std::string()
                        : file.reader->schema().fields[static_cast<size_t>(bound.field)].name;
    return folder.string() + "\n" + field;
}

// Of the memory that is free: for bytes of files that are to be encoded.
constexpr uint64_t kRawShare = 4;
// Columns of files whose size is remembered.
constexpr size_t kMostSizes = 1'000'000;

bool same_encoding(const ColumnLayout& a, const ColumnLayout& b) {
    return a.encoding == b.encoding && a.bits == b.bits;
}

// The layout that files have already, if it has room for all; else the best for all.
ColumnLayout choose_layout(const ColumnShape& shape,
                           const std::vector<std::shared_ptr<const FileColumn>>& files) {
    std::optional<ColumnLayout> common;
    for (const auto& file : files) {
        if (file == nullptr) continue;
        if (common && !same_encoding(*common, file->layout)) return shape.layout();
        common = file->layout;
    }
    if (!common) return shape.layout();
    common->nullable = true;
    return shape.fits(*common) ? *common : shape.layout();
}

}  // namespace

ColumnStore::ColumnStore(Device& device, int threads, uint64_t most_bytes, ModuleCache* modules)
    : device_(device),
      threads_(threads),
      most_bytes_(most_bytes),
      modules_(modules),
      rings_(device) {}

std::vector<ColumnStore::Key> ColumnStore::keys_of(const exec::TableSource& table, int column,
                                                   plan::Type type) {
    std::vector<Key> keys;
    const std::string type_name = plan::to_string(type);
    for (const exec::ScanFile& file : table.files) {
        const io::FileIdentity& identity = file.reader->file().identity();
        const exec::ScanFile::Column& bound = file.columns[static_cast<size_t>(column)];
        Key& key = keys.emplace_back(Key{identity.device,
                                         identity.inode,
                                         identity.size,
                                         identity.mtime_ns,
                                         bound.field,
                                         bound.characters,
                                         type_name,
                                         {}});
        if (bound.field < 0)
            key.value = bound.value.known()
                            ? fmt::format("{}:{}", column::to_string(bound.value.integer),
                                          bound.value.bytes)
                            : "NULL";
    }
    return keys;
}

// Returns the columns that are there, null for others.
ColumnStore::Files ColumnStore::held(const std::vector<Key>& keys) {
    Files files;
    const std::scoped_lock lock(mutex_);
    for (const Key& key : keys) {
        const auto found = entries_.find(key);
        files.push_back(found == entries_.end() ? nullptr : found->second.column);
    }
    return files;
}

std::shared_ptr<const DeviceColumn> ColumnStore::find(const std::vector<Key>& keys,
                                                      plan::Type type) {
    Files files = held(keys);
    for (const auto& file : files)
        if (file == nullptr || !same_encoding(file->layout, files[0]->layout) ||
            file->texts != files[0]->texts)
            return nullptr;
    {
        const std::scoped_lock lock(mutex_);
        const Clock::time_point now = Clock::now();
        ++uses_;
        for (const Key& key : keys) {
            const auto found = entries_.find(key);
            if (found == entries_.end()) continue;
            ++found->second.uses;
            found->second.last = uses_;
            found->second.used = now;
        }
    }
    return make_column(type, std::move(files));
}

std::shared_ptr<const DeviceColumn> ColumnStore::find(const exec::TableSource& table, int column,
                                                      plan::Type type) {
    return find(keys_of(table, column, type), type);
}

uint64_t ColumnStore::most_value_bytes(plan::Type type) {
    // Texts are codes.
    return plan::physical(type) == plan::Physical::kInt64 ? 8 : 4;
}

std::vector<ColumnStore::Size> ColumnStore::sizes_of(const exec::TableSource& table, int column,
                                                     plan::Type type) {
    std::vector<Size> sizes;
    const std::vector<Key> keys = keys_of(table, column, type);
    const std::scoped_lock lock(mutex_);
    for (size_t i = 0; i < keys.size(); ++i) {
        const auto rows = static_cast<uint64_t>(table.files[i].reader->row_count());
        const auto known = sizes_.find(keys[i]);
        sizes.push_back(known != sizes_.end() ? Size{known->second, known->second}
                                              : Size{rows, rows * most_value_bytes(type)});
    }
    return sizes;
}

std::shared_ptr<const DeviceColumn> ColumnStore::get(const exec::TableSource& table, int column,
                                                     plan::Type type, const Check& check) {
    return get_all({{&table, column, type}}, check)[0];
}

std::vector<std::shared_ptr<const DeviceColumn>> ColumnStore::get_all(
    const std::vector<Wanted>& wanted, const Check& check) {
    std::vector<std::shared_ptr<const DeviceColumn>> result(wanted.size());
    const auto find_all = [&] {
        for (size_t i = 0; i < wanted.size(); ++i)
            if (result[i] == nullptr)
                result[i] = find(*wanted[i].table, wanted[i].column, wanted[i].type);
        return std::find(result.begin(), result.end(), nullptr) == result.end();
    };
    if (find_all()) return result;
    const std::scoped_lock loading(loading_);
    // Somebody else may have been waiting for the same.
    if (find_all()) return result;
    const Check called = check != nullptr ? check : [] {};
    if (modules_ != nullptr) {
        load_raw(wanted, result, called);
        if (find_all()) return result;
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (result[i] != nullptr) continue;
        const auto& [table, column, type] = wanted[i];
        const std::vector<Key> keys = keys_of(*table, column, type);
        result[i] = find(keys, type);
        if (result[i] == nullptr) result[i] = load(*table, column, type, keys, called);
    }
    return result;
}

// Loads what kernels can encode. Whatever is missing then, also where a program of kernels cannot
// be had, is loaded by load().
void ColumnStore::load_raw(const std::vector<Wanted>& wanted,
                           const std::vector<std::shared_ptr<const DeviceColumn>>& there_already,
                           const Check& check) {
    std::vector<RawRequest> requests;
    std::vector<std::vector<Key>> keys;
    std::vector<Files> files;
    for (size_t w = 0; w < wanted.size(); ++w) {
        const Wanted& each = wanted[w];
        std::vector<Key> of = keys_of(*each.table, each.column, each.type);
        if (there_already[w] != nullptr || std::find(keys.begin(), keys.end(), of) != keys.end())
            continue;
        Files there = held(of);
        RawRequest request;
        request.table = each.table;
        request.column = each.column;
        request.type = each.type;
        if (each.type.id == plan::TypeId::kText)
            request.texts = dictionary(*each.table, each.column, there);
        for (size_t i = 0; i < there.size(); ++i)
            if (there[i] == nullptr) request.files.push_back(static_cast<int>(i));
        requests.push_back(std::move(request));
        keys.push_back(std::move(of));
        files.push_back(std::move(there));
    }
    RawLoader::Hooks hooks;
    hooks.check = check;
    hooks.choose = [&](size_t request, ColumnShape shape) {
        for (const auto& file : files[request])
            if (file != nullptr) shape.add(file->shape);
        return choose_layout(shape, files[request]);
    };
    hooks.make_room = [&](uint64_t bytes) { make_room(bytes); };
    hooks.made = [&](size_t request) {
        Files& of = files[request];
        for (size_t i = 0; i < requests[request].files.size(); ++i)
            of[static_cast<size_t>(requests[request].files[i])] = requests[request].made[i];
        keep(*requests[request].table, requests[request].column, keys[request], of, 0);
    };
    try {
        RawLoader loader(device_, *modules_, rings_, threads_, device_.memory().free / kRawShare,
                         hooks);
        loader.load(requests);
    } catch (const DeviceError& error) {
        if (error.kind() == DeviceError::Kind::kLost) throw;
    }
}

std::shared_ptr<const DeviceColumn> ColumnStore::load(const exec::TableSource& table, int column,
                                                      plan::Type type, const std::vector<Key>& keys,
                                                      const Check& check) {
    Files files = held(keys);
    std::shared_ptr<TextDictionary> texts;
    if (type.id == plan::TypeId::kText) texts = dictionary(table, column, files);
    ColumnShape shape;
    for (const auto& file : files)
        if (file != nullptr) shape.add(file->shape);
    const auto missing = [&] {
        std::vector<int> result;
        for (size_t i = 0; i < files.size(); ++i)
            if (files[i] == nullptr) result.push_back(static_cast<int>(i));
        return result;
    };
    FileLoader loader(device_, table, column, type, texts, threads_, check);
    loader.sample(missing(), shape);
    bool again = false;
    for (;;) {
        const ColumnLayout layout = choose_layout(shape, files);
        for (auto& file : files)
            if (file != nullptr && !same_encoding(file->layout, layout)) file = nullptr;
        const std::vector<int> wanted = missing();
        make_room(loader.bytes(wanted, layout));
        try {
            auto loaded = loader.load(wanted, layout, shape);
            if (!loaded) continue;  // `shape` has grown
            for (size_t i = 0; i < wanted.size(); ++i)
                files[static_cast<size_t>(wanted[i])] = std::move((*loaded)[i]);
            break;
        } catch (const DeviceError& error) {
            // Others may use the device too.
            if (error.kind() != DeviceError::Kind::kMemory || again) throw;
            again = true;
            drop(UINT64_MAX);
        }
    }
    keep(table, column, keys, files, 1);
    return make_column(type, std::move(files));
}

// Returns the dictionary that files have, or that others like them have. Forgets files that have
// another one.
std::shared_ptr<TextDictionary> ColumnStore::dictionary(const exec::TableSource& table, int column,
                                                        Files& files) {
    std::shared_ptr<TextDictionary> texts;
    for (const auto& file : files)
        if (texts == nullptr && file != nullptr) texts = file->texts;
    if (texts == nullptr && !table.files.empty()) {
        const std::scoped_lock lock(mutex_);
        std::weak_ptr<TextDictionary>& known =
            dictionaries_[dictionary_name(table.files[0], column)];
        texts = known.lock();
        if (texts == nullptr) known = texts = std::make_shared<TextDictionary>();
    }
    for (auto& file : files)
        if (file != nullptr && file->texts != texts) file = nullptr;
    return texts;
}

void ColumnStore::keep(const exec::TableSource& table, int column, const std::vector<Key>& keys,
                       const Files& files, uint64_t uses) {
    Files old;  // is gone when the lock is
    const std::scoped_lock lock(mutex_);
    const Clock::time_point now = Clock::now();
    ++uses_;
    for (size_t i = 0; i < keys.size(); ++i) {
        Entry& entry = entries_[keys[i]];
        if (entry.column != files[i]) {
            if (entry.column != nullptr) bytes_ -= entry.column->bytes;
            bytes_ += files[i]->bytes;
            old.push_back(std::exchange(entry.column, files[i]));
        }
        if (sizes_.size() >= kMostSizes) sizes_.clear();
        sizes_[keys[i]] = files[i]->bytes;
        const exec::ScanFile& file = table.files[i];
        const int field = file.columns[static_cast<size_t>(column)].field;
        entry.path = file.reader->file().path();
        entry.field =
            field < 0 ? "" : file.reader->schema().fields[static_cast<size_t>(field)].name;
        entry.uses += uses;
        entry.last = uses_;
        entry.used = now;
    }
    std::erase_if(dictionaries_, [](const auto& known) { return known.second.expired(); });
}

void ColumnStore::make_room(uint64_t bytes) {
    const uint64_t there = this->bytes();
    if (bytes <= most_bytes_ && there <= most_bytes_ - bytes) return;
    const uint64_t too_many = bytes > most_bytes_ ? there : there - (most_bytes_ - bytes);
    if (bytes > most_bytes_ || drop(too_many) < too_many)
        throw DeviceError(DeviceError::Kind::kMemory,
                          "columns take more than the device's memory for them");
}

// Drops the entries that choose(candidates) keeps in its list, which are those that nobody uses.
// Their memory is released without the lock, since a device may take its time.
template <typename Choose>
uint64_t ColumnStore::drop_some(const Choose& choose) {
    Files dropped;
    uint64_t bytes = 0;
    {
        const std::scoped_lock lock(mutex_);
        std::vector<Entries::iterator> unused;
        for (auto at = entries_.begin(); at != entries_.end(); ++at)
            if (at->second.column.use_count() == 1) unused.push_back(at);
        choose(unused);
        for (const auto& at : unused) {
            bytes += at->second.column->bytes;
            dropped.push_back(std::move(at->second.column));
            entries_.erase(at);
        }
        bytes_ -= bytes;
    }
    return bytes;
}

uint64_t ColumnStore::drop(uint64_t bytes) {
    return drop_some([&](std::vector<Entries::iterator>& unused) {
        std::sort(unused.begin(), unused.end(), [](const auto& a, const auto& b) {
            const auto rank = [](const Entry& entry) {
                return std::pair(entry.uses > 1, entry.last);
            };
            return rank(a->second) < rank(b->second);
        });
        uint64_t sum = 0;
        size_t count = 0;
        while (count < unused.size() && sum < bytes) sum += unused[count++]->second.column->bytes;
        unused.resize(count);
    });
}

uint64_t ColumnStore::drop_files(const std::vector<std::string>& paths) {
    return drop_some([&](std::vector<Entries::iterator>& unused) {
        std::erase_if(unused, [&](const auto& at) {
            return !paths.empty() &&
                   std::find(paths.begin(), paths.end(), at->second.path) == paths.end();
        });
    });
}

std::vector<ColumnStore::Held> ColumnStore::list() const {
    const std::scoped_lock lock(mutex_);
    const Clock::time_point now = Clock::now();
    std::vector<Held> result;
    for (const auto& [key, entry] : entries_) {
        Held& held = result.emplace_back();
        held.path = entry.path;
        held.field = entry.field;
        held.type = key.type;
        held.encoding = encoding_name(entry.column->layout);
        held.rows = entry.column->rows;
        held.bytes = entry.column->bytes;
        held.uses = entry.uses;
        held.idle = std::chrono::duration<double>(now - entry.used).count();
        held.in_use = entry.column.use_count() > 1;
    }
    return result;
}

uint64_t ColumnStore::bytes_of(const exec::TableSource& table) const {
    uint64_t sum = 0;
    const std::scoped_lock lock(mutex_);
    if (entries_.empty()) return 0;
    for (const exec::ScanFile& file : table.files) {
        const io::FileIdentity& identity = file.reader->file().identity();
        const auto version = [](const auto& of) {
            return std::tuple(of.device, of.inode, of.size, of.mtime_ns);
        };
        const Key first{.device = identity.device,
                        .inode = identity.inode,
                        .size = identity.size,
                        .mtime_ns = identity.mtime_ns,
                        .field = INT_MIN};
        for (auto at = entries_.lower_bound(first);
             at != entries_.end() && version(at->first) == version(identity); ++at)
            sum += at->second.column->bytes;
    }
    return sum;
}

uint64_t ColumnStore::bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

}  // namespace loom::gpu
