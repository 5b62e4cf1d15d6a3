#include "gpu/memory/column_store.h"

#include <fmt/core.h>

namespace loom::gpu {

ColumnStore::Key ColumnStore::key(const exec::TableSource& table, int column, plan::Type type) {
    Key key = plan::to_string(type);
    for (const exec::ScanFile& file : table.files) {
        const io::FileIdentity& identity = file.reader->file().identity();
        const exec::ScanFile::Column& bound = file.columns[static_cast<size_t>(column)];
        key += fmt::format(";{} {} {} {} {} {}", identity.device, identity.inode, identity.size,
                           identity.mtime_ns, bound.field, bound.characters);
        // Of a file without the field a value stands for all rows. Its bytes may be any.
        if (bound.field < 0)
            key += bound.value.known()
                       ? fmt::format(" {} {}:{}", column::to_string(bound.value.integer),
                                     bound.value.bytes.size(), bound.value.bytes)
                       : " NULL";
    }
    return key;
}

std::shared_ptr<const DeviceColumn> ColumnStore::get(Stream& stream, const exec::TableSource& table,
                                                     const std::vector<BlockRows>& blocks,
                                                     int column, plan::Type type) {
    const Key name = key(table, column, type);
    std::shared_ptr<Entry> entry;
    {
        const std::scoped_lock lock(mutex_);
        std::shared_ptr<Entry>& held = columns_[name];
        if (held == nullptr) held = std::make_shared<Entry>();
        entry = held;
    }
    const std::scoped_lock loading(entry->loading);
    if (entry->column != nullptr) return entry->column;
    auto loaded = load_column(device_, stream, table, blocks, column, type, threads_);
    const std::scoped_lock lock(mutex_);
    entry->column = std::move(loaded);
    return entry->column;
}

std::shared_ptr<const DeviceColumn> ColumnStore::find(const exec::TableSource& table, int column,
                                                      plan::Type type) const {
    const Key name = key(table, column, type);
    const std::scoped_lock lock(mutex_);
    const auto found = columns_.find(name);
    return found == columns_.end() ? nullptr : found->second->column;
}

uint64_t ColumnStore::bytes() const {
    const std::scoped_lock lock(mutex_);
    uint64_t bytes = 0;
    for (const auto& [name, entry] : columns_)
        bytes += entry->column == nullptr ? 0 : entry->column->bytes;
    return bytes;
}

}  // namespace loom::gpu
