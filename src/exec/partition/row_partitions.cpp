#include "exec/partition/row_partitions.h"

#include <algorithm>
#include <cstring>

#include "base/bitmap.h"
#include "base/copy_short.h"
#include "exec/row_store.h"

namespace loom::exec {

using column::BytesView;

namespace {

// Capacities are multiples of this, so that columns and bitmaps stay aligned.
constexpr int64_t kCapacityStep = 64;

bool is_bytes(plan::Type type) {
    return plan::physical(type) == plan::Physical::kBytes;
}

template <int width>
void scatter_fixed(const uint8_t* values, const uint16_t* targets, const uint32_t* places,
                   uint8_t* const* destinations, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
        std::memcpy(destinations[targets[i]] + uint64_t{places[i]} * width, values + i * width,
                    width);
}

}  // namespace

RowPartitions::RowPartitions(std::vector<plan::Type> types, HashRange range, int64_t chunk_rows,
                             base::MemoryBudget* budget)
    : types_(std::move(types)),
      nullable_(types_.size(), 0),
      range_(range),
      chunk_rows_((chunk_rows + kCapacityStep - 1) / kCapacityStep * kCapacityStep),
      own_(0, budget),
      partitions_(static_cast<size_t>(range.count())),
      targets_(kBatchRows),
      places_(kBatchRows),
      counts_(partitions_.size(), 0),
      current_(partitions_.size(), nullptr),
      destinations_(partitions_.size(), nullptr),
      values_(budget),
      validity_(budget) {
    for (const plan::Type type : types_) {
        widths_.push_back(plan::width(plan::physical(type)));
        offsets_.push_back(row_bytes_);
        row_bytes_ += widths_.back();
    }
}

uint64_t RowPartitions::value_offset(size_t column, int64_t capacity) const noexcept {
    return static_cast<uint64_t>(offsets_[column] * capacity);
}

uint64_t RowPartitions::bitmap_offset(size_t column, int64_t capacity) const noexcept {
    return static_cast<uint64_t>(row_bytes_ * capacity) +
           column * static_cast<uint64_t>(capacity / 8);
}

// Returns the partition's last chunk, with room for `rows` more.
RowPartitions::Chunk& RowPartitions::room(Partition& partition, int64_t rows) {
    if (!partition.chunks.empty()) {
        Chunk& last = partition.chunks.back();
        if (last.block.size() > 0 && last.rows + rows <= last.capacity) return last;
    }
    Chunk& chunk = partition.chunks.emplace_back(&own_);
    chunk.capacity =
        std::max(chunk_rows_, (rows + kCapacityStep - 1) / kCapacityStep * kCapacityStep);
    chunk.block.resize(bitmap_offset(types_.size(), chunk.capacity));
    std::memset(chunk.block.data() + bitmap_offset(0, chunk.capacity), 0xff,
                types_.size() * static_cast<size_t>(chunk.capacity / 8));
    return chunk;
}

void RowPartitions::append(std::span<const Vector> columns, const uint64_t* hashes, int64_t count) {
    std::fill(counts_.begin(), counts_.end(), 0);
    for (int64_t i = 0; i < count; ++i) {
        targets_[i] = static_cast<uint16_t>(range_.partition(hashes[i]));
        places_[i] = counts_[targets_[i]]++;
    }
    for (size_t p = 0; p < partitions_.size(); ++p)
        current_[p] = counts_[p] > 0 ? &room(partitions_[p], counts_[p]) : nullptr;
    for (int64_t i = 0; i < count; ++i)
        places_[i] += static_cast<uint32_t>(current_[targets_[i]]->rows);
    for (size_t c = 0; c < columns.size(); ++c) {
        const Vector plain = to_plain(columns[c], values_, validity_);
        if (is_bytes(types_[c]))
            scatter_bytes(c, plain, count);
        else
            scatter(c, plain, count);
        if (plain.validity != nullptr) scatter_validity(c, plain, count);
    }
    for (size_t p = 0; p < partitions_.size(); ++p)
        if (current_[p] != nullptr) current_[p]->rows += counts_[p];
    all_rows_ += count;
}

void RowPartitions::scatter(size_t column, const Vector& plain, int64_t count) {
    for (size_t p = 0; p < partitions_.size(); ++p)
        if (Chunk* chunk = current_[p]; chunk != nullptr)
            destinations_[p] = chunk->block.data() + value_offset(column, chunk->capacity);
    const uint8_t* values = plain.as<uint8_t>();
    const uint16_t* targets = targets_.data();
    const uint32_t* places = places_.data();
    uint8_t* const* out = destinations_.data();
    switch (widths_[column]) {
        case 1:
            return scatter_fixed<1>(values, targets, places, out, count);
        case 2:
            return scatter_fixed<2>(values, targets, places, out, count);
        case 4:
            return scatter_fixed<4>(values, targets, places, out, count);
        case 8:
            return scatter_fixed<8>(values, targets, places, out, count);
        case 16:
            return scatter_fixed<16>(values, targets, places, out, count);
        default:
            return scatter_fixed<32>(values, targets, places, out, count);
    }
}

void RowPartitions::scatter_validity(size_t column, const Vector& plain, int64_t count) {
    if (base::count_bits(plain.validity, 0, count) == count) return;
    nullable_[column] = 1;
    for (int64_t i = 0; i < count; ++i) {
        if (base::bit_at(plain.validity, i)) continue;
        Chunk& chunk = *current_[targets_[i]];
        base::put_bit(chunk.block.data() + bitmap_offset(column, chunk.capacity), places_[i],
                      false);
    }
}

// Most often enough for all texts of a chunk, so that they need not move as it fills.
uint64_t RowPartitions::expected_heap(const Chunk& chunk) const noexcept {
    if (all_rows_ == 0) return 0;
    const auto capacity = static_cast<uint64_t>(chunk.capacity);
    return capacity * all_heap_ / static_cast<uint64_t>(all_rows_) * 9 / 8;
}

// Texts are copied; their views hold offsets into the chunk's heap, which may move as it grows.
void RowPartitions::scatter_bytes(size_t column, const Vector& plain, int64_t count) {
    const auto* views = plain.as<BytesView>();
    for (int64_t i = 0; i < count; ++i) {
        Chunk& chunk = *current_[targets_[i]];
        const int64_t size = plain.is_null(i) ? 0 : views[i].size;
        const uint64_t end = chunk.heap_used + static_cast<uint64_t>(size);
        if (end > chunk.heap.size())
            chunk.heap.resize(std::max<uint64_t>(
                end, chunk.heap.size() > 0 ? chunk.heap.size() * 2 : expected_heap(chunk)));
        if (size > 0)
            base::copy_short(chunk.heap.data() + chunk.heap_used, views[i].data,
                             static_cast<size_t>(size));
        const uint64_t stored[2] = {chunk.heap_used, static_cast<uint64_t>(size)};
        std::memcpy(chunk.block.data() + value_offset(column, chunk.capacity) +
                        uint64_t{places_[i]} * sizeof stored,
                    stored, sizeof stored);
        chunk.heap_used = end;
        all_heap_ += static_cast<uint64_t>(size);
    }
}

// Leaves a chunk no more room than its rows take, so that what goes to the file is rows.
void RowPartitions::compact(Chunk& chunk) {
    const int64_t capacity = (chunk.rows + kCapacityStep - 1) / kCapacityStep * kCapacityStep;
    if (capacity * 4 > chunk.capacity * 3) return;
    base::Buffer block(&own_);
    block.resize(bitmap_offset(types_.size(), capacity));
    for (size_t c = 0; c < types_.size(); ++c) {
        std::memcpy(block.data() + value_offset(c, capacity),
                    chunk.block.data() + value_offset(c, chunk.capacity),
                    static_cast<size_t>(widths_[c] * capacity));
        std::memcpy(block.data() + bitmap_offset(c, capacity),
                    chunk.block.data() + bitmap_offset(c, chunk.capacity),
                    static_cast<size_t>(capacity / 8));
    }
    chunk.block = std::move(block);
    chunk.capacity = capacity;
}

void RowPartitions::spill(io::TempSpace& space) {
    if (file_ == nullptr) file_ = std::make_unique<io::TempFile>(space);
    for (Partition& partition : partitions_) {
        for (Chunk& chunk : partition.chunks) {
            if (chunk.block.size() == 0) continue;
            compact(chunk);
            chunk.block_bytes = chunk.block.size();
            chunk.offset = file_->append(chunk.block.span());
            if (chunk.heap_used > 0)
                file_->append(chunk.heap.span().first(static_cast<size_t>(chunk.heap_used)));
            chunk.block = base::Buffer(&own_);
            chunk.heap = base::Buffer(&own_);
        }
    }
}

int64_t RowPartitions::rows(int64_t partition) const noexcept {
    int64_t rows = 0;
    for (const Chunk& chunk : partitions_[partition].chunks) rows += chunk.rows;
    return rows;
}

uint64_t RowPartitions::bytes(int64_t partition) const noexcept {
    uint64_t bytes = 0;
    for (const Chunk& chunk : partitions_[partition].chunks)
        bytes += static_cast<uint64_t>(chunk.rows * row_bytes_) + chunk.heap_used;
    return bytes;
}

void RowPartitions::read(int64_t partition, base::MemoryBudget* budget, const Visit& visit) {
    PartitionCursor cursor(*this, partition, budget, false);
    std::vector<Vector> columns;
    while (const int64_t count = cursor.next(columns)) visit(columns, count);
}

void RowPartitions::drain(int64_t partition, base::MemoryBudget* budget, const Visit& visit) {
    PartitionCursor cursor(*this, partition, budget, true);
    std::vector<Vector> columns;
    while (const int64_t count = cursor.next(columns)) visit(columns, count);
    release(partition);
}

void RowPartitions::release(int64_t partition) {
    partitions_[partition].chunks.clear();
}

}  // namespace loom::exec
