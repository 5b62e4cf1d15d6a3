#include "exec/partition/scattered_rows.h"

namespace loom::exec {

namespace {

constexpr int64_t kChunkRows = 1024;
constexpr int64_t kMinChunkRows = 64;
constexpr int kMinBits = 3;

bool may_be_null(const Vector& vector) {
    return vector.validity != nullptr ||
           (vector.form == Form::kCodes && vector.dictionary->values.validity != nullptr);
}

}  // namespace

int64_t ScatteredRows::rows(int64_t partition) const noexcept {
    int64_t rows = 0;
    for (const auto& part : parts) rows += part->rows(partition);
    return rows;
}

int64_t ScatteredRows::rows() const noexcept {
    int64_t all = 0;
    for (int64_t partition = 0; partition < range.count(); ++partition) all += rows(partition);
    return all;
}

uint64_t ScatteredRows::bytes(int64_t partition) const noexcept {
    uint64_t bytes = 0;
    for (const auto& part : parts) bytes += part->bytes(partition);
    return bytes;
}

void ScatteredRows::release(int64_t partition) {
    for (const auto& part : parts) part->release(partition);
}

int64_t ScatteredCursor::next(std::vector<Vector>& columns) {
    for (; part_ < rows_.parts.size(); ++part_, cursor_.reset()) {
        if (cursor_ == nullptr)
            cursor_ =
                std::make_unique<PartitionCursor>(*rows_.parts[part_], partition_, budget_, drain_);
        if (const int64_t count = cursor_->next(columns); count > 0) return count;
    }
    return 0;
}

ScatterShape scatter_shape(const std::vector<plan::Type>& types, HashRange range, uint64_t memory,
                           size_t workers) {
    int64_t row_bytes = 1;
    for (const plan::Type type : types) row_bytes += plan::width(plan::physical(type));
    const uint64_t limit = memory / (4 * static_cast<uint64_t>(workers));
    int64_t chunk_rows = kChunkRows;
    const auto least = [&] {
        return static_cast<uint64_t>(row_bytes * chunk_rows * range.count());
    };
    while (least() > limit && chunk_rows > kMinChunkRows) chunk_rows /= 2;
    while (least() > limit && range.bits > kMinBits) {
        --range.bits;
        ++range.shift;
    }
    return {range, chunk_rows};
}

KeyScatter::KeyScatter(const std::vector<plan::Type>& types,
                       const std::vector<plan::Type>& key_types, const ScatterShape& shape,
                       const Resources& resources, size_t workers)
    : resources_(resources),
      workers_(workers),
      rows_(
          std::make_unique<RowPartitions>(types, shape.range, shape.chunk_rows, resources.budget)),
      hasher_(key_types, resources.budget),
      hashes_(kBatchRows) {}

void KeyScatter::add(std::span<const Vector> columns, std::span<const Vector> keys, int64_t count) {
    hasher_.hash(keys, count, hashes_.data());
    for (const Vector& key : keys) {
        if (!may_be_null(key)) continue;
        for (int64_t i = 0; i < count; ++i) {
            if (!is_null_row(key, i)) continue;
            null_key_ = true;
            hashes_[i] = mix(static_cast<uint64_t>(count_ + i));
        }
    }
    count_ += count;
    rows_->append(columns, hashes_.data(), count);
    if (resources_.is_full(rows_->held(), workers_)) spill();
}

}  // namespace loom::exec
