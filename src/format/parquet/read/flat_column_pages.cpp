// FlatColumnReader: moving among pages.

#include <algorithm>

#include "format/parquet/read/flat_column_reader.h"

namespace loom::parquet {

void FlatColumnReader::rewind() {
    chunk_->rewind();
    loaded_ = false;
    page_begin_ = page_end_ = position_ = 0;
}

// Moves to `row`; going back within the page restarts the page, further back the chunk.
void FlatColumnReader::seek(int64_t row) {
    if (row < page_begin_) {
        rewind();
    } else if (loaded_ && row < position_ && row < page_end_) {
        loaded_ = false;
    }
    enter_page(row);
}

// Makes the page of `row` current and takes the levels and values in front of the row.
void FlatColumnReader::enter_page(int64_t row) {
    while (row >= page_end_) next_page();
    if (row < page_begin_)
        base::raise(base::ErrorKind::kBug, "row {} is not among the rows to be read", row);
    if (!loaded_) load_page();
    if (position_ < row) skip_rows(row - position_);
}

void FlatColumnReader::next_page() {
    if (loaded_)
        kept_.emplace_back(std::move(page_), std::move(values_));
    else if (page_end_ > page_begin_)
        ++skipped_pages_;
    loaded_ = false;
    page_begin_ = page_end_;
    do {
        if (!chunk_->next())
            base::corrupt("the pages end after {} of {} rows", page_end_, row_count_);
        if (!chunk_->header().is_data() && !dictionary_)
            dictionary_.emplace(leaf_.type, chunk_->load(), file_->options.budget);
    } while (!chunk_->header().is_data());
    const int64_t rows = chunk_->header().value_count;
    if (chunk_->planned_page() != nullptr) {
        page_begin_ = chunk_->planned_page()->first_row;
        if (rows != chunk_->planned_page()->row_count)
            base::corrupt("a page of {} rows where the offset index has {}", rows,
                          chunk_->planned_page()->row_count);
    }
    page_end_ = page_begin_ + rows;
}

void FlatColumnReader::load_page() {
    page_ = chunk_->load();
    loaded_ = true;
    position_ = page_begin_;
    all_defined_ = page_.definition.next_are_all_max(page_.header.value_count);
    open_values();
}

void FlatColumnReader::open_values() {
    values_.reset();
    if (codes_) {
        if (!is_dictionary(page_.header.encoding))
            base::corrupt("a page with the encoding {} among pages of dictionary codes",
                          name(page_.header.encoding));
        page_codes_ = open_codes(page_.values);
        codes_are_bounded_ = (int64_t{1} << page_codes_.width()) <= dictionary_->size() &&
                             page_codes_.width() % 8 == 0;
        return;
    }
    values_ = std::make_unique<SlotDecoder>(
        leaf_.type, page_, dictionary_ ? &*dictionary_ : nullptr, file_->options.budget, physical_);
}

void FlatColumnReader::skip_rows(int64_t count) {
    position_ += count;
    while (count > 0) {
        const int64_t part = std::min(count, column::kBatchRows);
        int64_t valid = part;
        if (!all_defined_) {
            skipped_bits_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(part)));
            valid = page_.definition.decode_bits(part, skipped_bits_.data(), 0);
        }
        if (codes_)
            page_codes_.skip(valid);
        else
            values_->skip(valid);
        count -= part;
    }
}

}  // namespace loom::parquet
