#pragma once
// Columns whose rows are the slots of one leaf: everything that is not nested.

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "format/parquet/page/chunk_reader.h"
#include "format/parquet/read/chunk_dictionary.h"
#include "format/parquet/read/file_state.h"
#include "format/parquet/read/slot_decoder.h"
#include "simd/highest.h"

namespace loom::parquet {

/// Reads a flat column page by page. Nothing is read before the first call.
///
/// Invariants: rows [page_begin_, page_end_) are those of the current page (none before the first);
/// position_ is the next row whose level and value are not taken yet, if the page is loaded.
class FlatColumnReader final : public format::ColumnReader {
  public:
    FlatColumnReader(FileStatePtr file, int64_t row_group, int column,
                     const format::ReadOptions& options);

    column::Encoding encoding() override;
    const column::Dictionary* dictionary() override;
    column::ColumnView read(int64_t row, int64_t count) override;
    column::ColumnView gather(int64_t row, int64_t count,
                              std::span<const uint16_t> selection) override;
    format::ReadProfile profile() const override;

  private:
    template <typename Body>
    auto guarded(Body&& body) -> decltype(body());
    std::string where() const;
    void check_rows(int64_t row, int64_t count) const;
    void prepare();
    void begin_call(int64_t row);
    column::ColumnView read_batch(int64_t row, int64_t count, bool allow_runs);

    // Pages.
    void seek(int64_t row);
    void enter_page(int64_t row);
    void next_page();
    void load_page();
    void open_values();
    void skip_rows(int64_t count);
    void rewind();

    // Batches.
    column::ColumnView start_view(int64_t length) const;
    column::ColumnView read_nulls(int64_t count) const;
    void fill(int64_t row, int64_t count);
    const uint8_t* try_in_place(int64_t row, int64_t count);
    bool try_runs(int64_t row, int64_t count, column::ColumnView& view);
    int64_t take_validity(int64_t count, int64_t done);
    void fill_values(int64_t count, int64_t valid, int64_t done);
    void decode_slots(int64_t count, uint8_t* out);
    void gather_slots(int64_t count, std::span<const uint16_t> selection, uint8_t* out);
    void gather_page(int64_t count, std::span<const uint16_t> selection, int64_t done);
    template <typename T>
    void decode_codes(int64_t count, uint8_t* out);
    template <typename T>
    void gather_codes(int64_t count, std::span<const uint16_t> selection, uint8_t* out);
    template <typename T>
    void check_codes(const T* codes, int64_t count) const;
    void read_wide_codes(int64_t count, uint8_t* out);
    column::ColumnView finish(int64_t count);
    column::ColumnView pick(const column::ColumnView& full, std::span<const uint16_t> selection);
    int32_t slot_width() const noexcept;

    FileStatePtr file_;
    int64_t row_group_;
    int leaf_index_;
    const Leaf& leaf_;
    format::ReadOptions options_;
    int64_t row_count_;

    std::optional<ChunkReader> chunk_;
    std::optional<ChunkDictionary> dictionary_;
    bool prepared_ = false;
    bool codes_ = false;  // encoding() is kDictionary

    Page page_;
    bool loaded_ = false;
    int64_t page_begin_ = 0;
    int64_t page_end_ = 0;
    int64_t position_ = 0;
    bool all_defined_ = false;
    HybridDecoder page_codes_;
    bool codes_are_bounded_ = false;  // no code of the page's width can lie beyond the dictionary
    std::unique_ptr<SlotDecoder> values_;

    // Pages and decoders that the last view may point into.
    std::vector<std::pair<Page, std::unique_ptr<SlotDecoder>>> kept_;

    base::Buffer slots_;  // one batch: values or codes
    base::Buffer validity_;
    base::Buffer dense_;     // values without NULLs
    base::Buffer physical_;  // before conversion
    base::Buffer bits_;      // packed booleans, picked validity
    base::Buffer picked_;
    base::Buffer skipped_bits_;
    std::vector<int32_t> run_ends_;
    std::vector<uint16_t> dense_selection_;
    int64_t null_count_ = 0;
    int64_t skipped_pages_ = 0;
    uint64_t total_ns_ = 0;
};

// Runs a call of the interface: errors get their place, time is counted.
template <typename Body>
auto FlatColumnReader::guarded(Body&& body) -> decltype(body()) {
    const auto start = std::chrono::steady_clock::now();
    auto result = base::with_where([&] { return where(); }, std::forward<Body>(body));
    total_ns_ += static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                           std::chrono::steady_clock::now() - start)
                                           .count());
    return result;
}

template <typename T>
void FlatColumnReader::check_codes(const T* codes, int64_t count) const {
    if (codes_are_bounded_) return;
    const T highest = simd::highest(codes, count);
    if (count > 0 && highest >= dictionary_->size())
        base::corrupt("code {} in a dictionary of {} values", highest, dictionary_->size());
}

}  // namespace loom::parquet
