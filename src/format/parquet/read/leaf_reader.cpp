#include "format/parquet/read/leaf_reader.h"

#include <algorithm>
#include <cstring>

#include "format/parquet/stats/page_index.h"

namespace loom::parquet {

LeafReader::LeafReader(FileStatePtr file, int64_t row_group, int leaf,
                       const format::ReadOptions& options)
    : file_(std::move(file)), row_group_(row_group), leaf_index_(leaf),
      leaf_(file_->footer.schema().leaves[static_cast<size_t>(leaf)]), options_(options),
      row_count_(file_->footer.row_groups()[static_cast<size_t>(row_group)].rows),
      repetition_(file_->options.budget), definition_(file_->options.budget),
      values_(file_->options.budget), scratch_(file_->options.budget) {
    if (leaf_.type.conversion == Conversion::kRefused)
        base::raise(base::ErrorKind::kUnsupported, "{}", leaf_.type.refusal);
}

std::string LeafReader::where() const {
    std::string text = file_->where_leaf(row_group_, leaf_index_);
    if (chunk_) text += fmt::format(", page at offset {}", chunk_->page_offset());
    return text;
}

void LeafReader::open() {
    ChunkPlan plan = plan_chunk(file_->footer, row_group_, leaf_index_);
    if (!options_.rows.empty())
        restrict_to_rows(plan, read_page_locations(*file_, row_group_, leaf_index_), options_.rows);
    chunk_.emplace(*file_->file, std::move(plan),
                   MaxLevels{leaf_.max_definition, leaf_.max_repetition}, file_->options);
}

void LeafReader::rewind() {
    if (chunk_) chunk_->rewind();
    page_found_ = false;
    page_slots_left_ = 0;
    page_end_row_ = -1;
    position_ = batch_slots_ = batch_values_ = read_slots_ = read_values_ = 0;
}

void LeafReader::begin() {
    const auto width = static_cast<size_t>(SlotDecoder::slot_width(leaf_.type));
    const auto slots = static_cast<size_t>(read_slots_ - batch_slots_);
    const auto values = static_cast<size_t>(read_values_ - batch_values_);
    if (batch_slots_ != 0 && slots != 0) {
        if (leaf_.max_repetition > 0)
            std::memmove(repetition_.data(), repetition_.data() + batch_slots_, slots);
        std::memmove(definition_.data(), definition_.data() + batch_slots_, slots);
        if (values != 0 && width != 0)
            std::memmove(values_.data(),
                         values_.data() + static_cast<size_t>(batch_values_) * width,
                         values * width);
    }
    read_slots_ -= batch_slots_;
    read_values_ -= batch_values_;
    batch_slots_ = batch_values_ = 0;
    kept_.clear();
    if (values_decoder_ != nullptr) values_decoder_->forget();
}

// Finds the next data page. Returns false at the end of the chunk.
bool LeafReader::find_page() {
    if (page_found_) return true;
    if (!chunk_) open();
    while (chunk_->next()) {
        if (chunk_->header().is_data()) {
            page_found_ = true;
            return true;
        }
        if (!dictionary_ && leaf_.type.conversion != Conversion::kAllNull)
            dictionary_.emplace(leaf_.type, chunk_->load(), file_->options.budget);
    }
    return false;
}

// Passes a whole page in front of `row` if its rows are known. Nothing may be pending.
bool LeafReader::skip_page(int64_t row) {
    if (!find_page()) return false;
    const PlannedPage* planned = chunk_->planned_page();
    if (planned != nullptr) position_ = planned->first_row;
    const int64_t rows = planned != nullptr ? planned->row_count : chunk_->header().row_count;
    if (rows < 0 || position_ > row || rows > row - position_) return false;
    position_ += rows;
    page_found_ = false;
    ++skipped_pages_;
    return true;
}

void LeafReader::load_page() {
    if (values_decoder_ != nullptr) kept_.emplace_back(std::move(page_), std::move(values_decoder_));
    page_ = chunk_->load();
    page_found_ = false;
    page_slots_left_ = page_.header.value_count;
    const PlannedPage* planned = chunk_->planned_page();
    page_end_row_ = planned != nullptr ? planned->first_row + planned->row_count : -1;
    values_decoder_.reset();
    if (leaf_.type.conversion != Conversion::kAllNull)
        values_decoder_ = std::make_unique<SlotDecoder>(
            leaf_.type, page_, dictionary_ ? &*dictionary_ : nullptr, file_->options.budget, scratch_);
}

// Decodes another block. Returns false at the end of the chunk.
bool LeafReader::decode_more() {
    while (page_slots_left_ == 0) {
        if (!find_page()) return false;
        if (const PlannedPage* planned = chunk_->planned_page()) {
            if (read_slots_ == 0)
                position_ = planned->first_row;
            else if (planned->first_row != page_end_row_)
                base::corrupt("a page ends before row {}, where the offset index ends it",
                              page_end_row_);
        }
        load_page();
    }
    if (read_slots_ > kMaxBatchSlots)
        base::raise(base::ErrorKind::kLimit, "a batch of more than {} nested values",
                    kMaxBatchSlots);
    decode_block(std::min(kBlockSlots, page_slots_left_));
    return true;
}

void LeafReader::decode_block(int64_t slots) {
    const auto total = static_cast<uint64_t>(read_slots_ + slots);
    if (leaf_.max_repetition > 0) {
        repetition_.resize(total);
        page_.repetition.decode(slots, repetition_.data() + read_slots_);
    }
    definition_.resize(total);
    page_.definition.decode(slots, definition_.data() + read_slots_);
    if (values_decoder_ != nullptr) {
        const int64_t values = count_values(read_slots_, read_slots_ + slots);
        const auto width = static_cast<uint64_t>(SlotDecoder::slot_width(leaf_.type));
        values_.resize(static_cast<uint64_t>(read_values_ + values) * width);
        values_decoder_->decode(values, values_.data() + static_cast<uint64_t>(read_values_) * width);
        read_values_ += values;
    }
    read_slots_ += slots;
    page_slots_left_ -= slots;
}

int64_t LeafReader::count_values(int64_t begin, int64_t end) const {
    const uint8_t* levels = definition_.data();
    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i) count += levels[i] == leaf_.max_definition;
    return count;
}

// Returns the slot behind the next `records`, decoding as much as it takes to know.
int64_t LeafReader::records_end(int64_t records) {
    if (leaf_.max_repetition == 0) {
        while (read_slots_ - batch_slots_ < records)
            if (!decode_more())
                base::corrupt("the pages end before row {} of {}", position_ + records, row_count_);
        return batch_slots_ + records;
    }
    int64_t found = 0;
    for (int64_t at = batch_slots_;;) {
        const uint8_t* levels = repetition_.data();
        for (; at < read_slots_; ++at) {
            if (levels[at] != 0) continue;
            if (found == records) return at;
            ++found;
        }
        // A page of the offset index ends with a record; otherwise only the next one tells.
        const bool planned = chunk_ && chunk_->plan().by_pages;
        if (found == records && planned && page_slots_left_ == 0) return at;
        if (!decode_more()) {
            if (found < records)
                base::corrupt("the pages end before row {} of {}", position_ + records, row_count_);
            return at;
        }
        if (repetition_.data()[batch_slots_] != 0)
            base::corrupt("the first value of row {} is marked as a repetition", position_);
    }
}

void LeafReader::collect(int64_t records) {
    if (records == 0) return;
    const int64_t end = records_end(records);
    if (values_decoder_ != nullptr) batch_values_ += count_values(batch_slots_, end);
    batch_slots_ = end;
    position_ += records;
}

void LeafReader::discard(int64_t records) {
    const auto width = static_cast<size_t>(SlotDecoder::slot_width(leaf_.type));
    while (records > 0) {
        const int64_t part = std::min(records, kBlockSlots);
        const int64_t end = records_end(part);
        const int64_t values = values_decoder_ != nullptr ? count_values(batch_slots_, end) : 0;
        const auto left = static_cast<size_t>(read_slots_ - end);
        if (left != 0) {
            if (leaf_.max_repetition > 0)
                std::memmove(repetition_.data() + batch_slots_, repetition_.data() + end, left);
            std::memmove(definition_.data() + batch_slots_, definition_.data() + end, left);
        }
        const auto values_left = static_cast<size_t>(read_values_ - batch_values_ - values);
        if (values_left != 0 && width != 0)
            std::memmove(values_.data() + static_cast<size_t>(batch_values_) * width,
                         values_.data() + static_cast<size_t>(batch_values_ + values) * width,
                         values_left * width);
        read_slots_ -= end - batch_slots_;
        read_values_ -= values;
        position_ += part;
        records -= part;
    }
}

void LeafReader::seek(int64_t row) {
    if (row < position_) rewind();
    while (position_ <= row) {
        if (position_ < page_end_row_ && row >= page_end_row_) {
            // The rest of a page of the offset index need not be decoded to be passed.
            read_slots_ = read_values_ = page_slots_left_ = 0;
            position_ = page_end_row_;
        }
        const bool between_pages = read_slots_ == 0 && page_slots_left_ == 0;
        if (between_pages && skip_page(row)) continue;
        if (position_ >= row) break;
        discard(std::min(row - position_, kBlockSlots));
    }
    if (position_ > row)
        base::raise(base::ErrorKind::kBug, "row {} is not among the rows to be read", row);
}

LeafBatch LeafReader::batch() const noexcept {
    return {batch_slots_, repetition_.data(), definition_.data(), values_.data(), batch_values_};
}

format::ReadProfile LeafReader::profile() const {
    format::ReadProfile profile;
    if (chunk_) profile = chunk_->profile();
    profile.pages_skipped += skipped_pages_;
    return profile;
}

}  // namespace loom::parquet
