#include "gpu/memory/file_loader.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "base/parallel.h"

namespace loom::gpu {

namespace {

// Blocks that are looked at before a layout is chosen: the ends, and some between.
constexpr size_t kSampled = 8;

}  // namespace

FileLoader::FileLoader(Device& device, const exec::TableSource& table, int column, plan::Type type,
                       std::shared_ptr<TextDictionary> texts, int threads, const Check& check)
    : device_(device),
      table_(table),
      column_(column),
      type_(type),
      texts_(std::move(texts)),
      threads_(threads),
      check_(check),
      blocks_(blocks_of(table)),
      sampled_(blocks_.size()) {}

std::vector<size_t> FileLoader::blocks_of_files(const std::vector<int>& files) const {
    std::vector<bool> wanted(table_.files.size());
    for (const int file : files) wanted[static_cast<size_t>(file)] = true;
    std::vector<size_t> result;
    for (size_t i = 0; i < blocks_.size(); ++i)
        if (wanted[static_cast<size_t>(blocks_[i].file)]) result.push_back(i);
    return result;
}

void FileLoader::sample(const std::vector<int>& files, ColumnShape& shape) {
    const std::vector<size_t> all = blocks_of_files(files);
    std::vector<size_t> chosen = all;
    if (all.size() > kSampled) {
        chosen.clear();
        for (size_t i = 0; i < kSampled; ++i)
            chosen.push_back(all[i * (all.size() - 1) / (kSampled - 1)]);
    }
    base::in_parallel(threads_, static_cast<int64_t>(chosen.size()), [&] {
        return [&, decoder = BlockDecoder(type_, texts_.get())](int64_t i) mutable {
            check_();
            const size_t at = chosen[static_cast<size_t>(i)];
            const BlockRows& block = blocks_[at];
            sampled_[at] =
                decoder.decode(table_.files[static_cast<size_t>(block.file)], block, column_);
        };
    });
    for (const size_t i : chosen) shape.add(sampled_[i]->shape);
}

uint64_t FileLoader::bytes(const std::vector<int>& files, const ColumnLayout& layout) const {
    // A tile's values, its base, and a bit a row.
    const uint64_t tile = uint64_t{tile_bytes(layout)} + sizeof(uint32_t) + kTileRows / 8;
    uint64_t result = 0;
    for (const size_t i : blocks_of_files(files)) {
        const auto rows = static_cast<uint64_t>(blocks_[i].rows);
        result += aligned((rows + kTileRows - 1) / kTileRows * tile) + 512;
    }
    return result;
}

std::optional<std::vector<std::shared_ptr<const FileColumn>>> FileLoader::load(
    const std::vector<int>& files, const ColumnLayout& layout, ColumnShape& shape) {
    const std::vector<size_t> wanted = blocks_of_files(files);
    std::map<int, std::shared_ptr<FileColumn>> made;
    for (const int file : files) {
        auto& column = made[file] = std::make_shared<FileColumn>();
        column->layout = layout;
        column->texts = texts_;
    }
    std::vector<size_t> place(blocks_.size());  // of a block in its file's column
    for (const size_t i : wanted) {
        place[i] = made[blocks_[i].file]->blocks.size();
        made[blocks_[i].file]->blocks.emplace_back();
    }
    // Blocks without NULLs have no bits, whatever others have.
    ColumnLayout with_nulls = layout;
    with_nulls.nullable = true;
    std::mutex mutex;
    std::atomic<bool> fits = true;
    base::in_parallel(threads_, static_cast<int64_t>(wanted.size()), [&] {
        return [&, decoder = BlockDecoder(type_, texts_.get()),
                stream = std::shared_ptr(device_.make_stream())](int64_t i) mutable {
            check_();
            if (!fits) return;
            const size_t at = wanted[static_cast<size_t>(i)];
            const BlockRows& rows = blocks_[at];
            std::optional<DecodedBlock>& sampled = sampled_[at];
            const DecodedBlock fresh =
                sampled
                    ? std::move(*sampled)
                    : decoder.decode(table_.files[static_cast<size_t>(rows.file)], rows, column_);
            sampled.reset();
            {
                const std::scoped_lock lock(mutex);
                shape.add(fresh.shape);
                fits = fits && shape.fits(with_nulls);
            }
            if (!fits) return;
            FileColumn::Block block =
                upload_block(device_, *stream, encode(fresh.view(), with_nulls));
            const std::scoped_lock lock(mutex);
            FileColumn& column = *made[rows.file];
            column.shape.add(fresh.shape);
            column.rows += rows.rows;
            column.bytes += block.memory.bytes();
            column.blocks[place[at]] = std::move(block);
        };
    });
    if (!fits) return std::nullopt;
    std::vector<std::shared_ptr<const FileColumn>> result;
    for (const int file : files) result.push_back(std::move(made[file]));
    return result;
}

}  // namespace loom::gpu
