#include "gpu/memory/device_table.h"

#include <algorithm>

namespace loom::gpu {

namespace {

// Rows of a block at most, but for larger row groups: enough that all warps of a block of threads
// go round many times, and few enough that blocks come and go one by one.
constexpr int64_t kBlockRows = int64_t{1} << 20;

template <typename T>
uint64_t bytes_of(const std::vector<T>& values) {
    return values.size() * sizeof(T);
}

}  // namespace

std::vector<BlockRows> blocks_of(const exec::TableSource& table) {
    std::vector<BlockRows> blocks;
    for (size_t f = 0; f < table.files.size(); ++f) {
        const format::TableReader& reader = *table.files[f].reader;
        BlockRows block;
        const auto end = [&] {
            if (block.rows > 0) blocks.push_back(block);
        };
        for (int64_t group = 0; group < reader.row_group_count(); ++group) {
            const int64_t rows = reader.row_group_rows(group);
            if (block.groups == 0 || block.rows + rows > kBlockRows) {
                end();
                block = {static_cast<int>(f), group, 0, 0};
            }
            ++block.groups;
            block.rows += rows;
        }
        end();
    }
    return blocks;
}

bool can_hold(plan::Type type) {
    if (type.id == plan::TypeId::kText) return true;
    if (plan::is_opaque(type)) return false;
    switch (plan::physical(type)) {
        case plan::Physical::kBool:
        case plan::Physical::kInt16:
        case plan::Physical::kInt32:
        case plan::Physical::kInt64:
            return true;
        default:
            return false;
    }
}

FileColumn::Block upload_block(Device& device, Stream& stream, const EncodedBlock& block) {
    const uint64_t bases_at = aligned(bytes_of(block.data));
    const uint64_t valid_at = bases_at + aligned(bytes_of(block.tile_bases));
    const uint64_t bytes = valid_at + aligned(bytes_of(block.valid));
    FileColumn::Block made;
    made.memory = DeviceMemory(device, std::max<uint64_t>(bytes, 256));
    const auto put = [&](uint64_t at, const auto& values) -> DeviceAddress {
        if (values.empty()) return 0;
        stream.upload(made.memory.address() + at, values.data(), bytes_of(values));
        return made.memory.address() + at;
    };
    made.view.data = reinterpret_cast<const uint8_t*>(put(0, block.data));
    made.view.tile_bases = reinterpret_cast<const uint32_t*>(put(bases_at, block.tile_bases));
    made.view.valid = reinterpret_cast<const uint16_t*>(put(valid_at, block.valid));
    made.has_values = block.min <= block.max;
    made.base = block.base;
    stream.wait();
    return made;
}

std::shared_ptr<const DeviceColumn> make_column(
    plan::Type type, std::vector<std::shared_ptr<const FileColumn>> files) {
    auto made = std::make_shared<DeviceColumn>();
    ColumnShape shape;
    for (const auto& file : files) shape.add(file->shape);
    ScanColumn& facts = made->facts;
    facts.type = type;
    facts.layout = files.empty() ? shape.layout() : files[0]->layout;
    facts.layout.nullable = shape.has_nulls();
    if (shape.has_values()) {
        facts.min = shape.min();
        facts.max = shape.max();
        facts.origin = facts.layout.encoding == Encoding::kWide ? 0 : shape.min() & ~int64_t{31};
    }
    if (type.id == plan::TypeId::kText) {
        facts.dictionary = true;
        made->texts = files.empty() ? std::make_shared<TextDictionary>() : files[0]->texts;
    }
    for (const auto& file : files)
        for (const FileColumn::Block& block : file->blocks) {
            BlockView& view = made->views.emplace_back(block.view);
            if (block.has_values && facts.layout.encoding != Encoding::kWide)
                view.base = static_cast<uint32_t>(static_cast<uint64_t>(block.base) -
                                                  static_cast<uint64_t>(facts.origin));
        }
    made->files = std::move(files);
    return made;
}

}  // namespace loom::gpu
