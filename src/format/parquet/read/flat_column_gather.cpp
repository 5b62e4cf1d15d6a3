// FlatColumnReader: selected rows only, and batches of runs.

#include <algorithm>
#include <bit>
#include <cstring>

#include "format/parquet/decode/expand.h"
#include "format/parquet/read/flat_column_reader.h"

namespace loom::parquet {

using column::ColumnView;
using column::Encoding;

namespace {

// Decoding everything is cheaper than walking from one wanted row to the next when more than every
// fourth row is wanted (cpu-prototype.md, section 9).
constexpr size_t kDenseFactor = 4;

// Number of set bits among bits[0, row); counts on from an earlier row.
struct Rank {
    const uint8_t* bits;
    int64_t row = 0;
    int64_t rank = 0;

    int64_t at(int64_t target) noexcept {
        rank += base::count_bits(bits, row, target - row);
        row = target;
        return rank;
    }
};

}  // namespace

ColumnView FlatColumnReader::gather(int64_t row, int64_t count,
                                    std::span<const uint16_t> selection) {
    return guarded([&] {
        if (selection.size() * kDenseFactor > static_cast<size_t>(count) ||
            leaf_.type.conversion == Conversion::kAllNull)
            return pick(read_batch(row, count, false), selection);
        check_rows(row, count);
        prepare();
        const auto wanted = static_cast<int64_t>(selection.size());
        if (wanted == 0) return start_view(0);
        if (selection.back() >= count)
            base::raise(base::ErrorKind::kBug, "a selected row lies outside the batch");
        begin_call(row + selection.front());
        slots_.resize_discarding(static_cast<uint64_t>(wanted) *
                                 static_cast<uint64_t>(slot_width()));
        validity_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(wanted)));
        null_count_ = 0;
        for (int64_t done = 0; done < wanted;) {
            enter_page(row + selection[static_cast<size_t>(done)]);
            // From here to the page's end, rows relative to the position.
            const int64_t shift = position_ - row;
            size_t stop = static_cast<size_t>(done);
            dense_selection_.clear();
            for (; stop < selection.size() && row + selection[stop] < page_end_; ++stop)
                dense_selection_.push_back(static_cast<uint16_t>(selection[stop] - shift));
            gather_page(dense_selection_.back() + 1, dense_selection_, done);
            done = static_cast<int64_t>(stop);
        }
        return finish(wanted);
    });
}

// Takes `count` rows of the page, of which `selection` is wanted, to output rows from `done` on.
void FlatColumnReader::gather_page(int64_t count, std::span<const uint16_t> selection,
                                   int64_t done) {
    const auto wanted = static_cast<int64_t>(selection.size());
    const int32_t width = slot_width();
    uint8_t* out = slots_.data() + done * width;
    position_ += count;
    if (all_defined_) {
        base::fill_bits(validity_.data(), done, wanted, true);
        return gather_slots(count, selection, out);
    }
    bits_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
    const int64_t values = page_.definition.decode_bits(count, bits_.data(), 0);
    Rank rank{bits_.data()};
    std::vector<uint16_t> ranks;
    for (int64_t i = 0; i < wanted; ++i) {
        const int64_t at = selection[static_cast<size_t>(i)];
        const bool valid = base::bit_at(bits_.data(), at);
        base::put_bit(validity_.data(), done + i, valid);
        if (valid) ranks.push_back(static_cast<uint16_t>(rank.at(at)));
    }
    const auto valid = static_cast<int64_t>(ranks.size());
    null_count_ += wanted - valid;
    dense_.resize_discarding(static_cast<uint64_t>(valid) * static_cast<uint64_t>(width));
    gather_slots(values, ranks, dense_.data());
    expand_slots(dense_.data(), width, validity_.data(), done, wanted, out);
}

void FlatColumnReader::gather_slots(int64_t count, std::span<const uint16_t> selection,
                                    uint8_t* out) {
    if (codes_) {
        switch (dictionary_->code_width()) {
            case 1:
                return gather_codes<uint8_t>(count, selection, out);
            case 2:
                return gather_codes<uint16_t>(count, selection, out);
            default:
                return gather_codes<uint32_t>(count, selection, out);
        }
    }
    values_->gather(count, selection, out);
}

template <typename T>
void FlatColumnReader::gather_codes(int64_t count, std::span<const uint16_t> selection,
                                    uint8_t* out) {
    if (page_codes_.width() <= static_cast<int>(8 * sizeof(T))) {
        auto* codes = reinterpret_cast<T*>(out);
        page_codes_.gather(count, selection, codes);
        return check_codes(codes, static_cast<int64_t>(selection.size()));
    }
    base::Buffer all(file_->options.budget);
    all.resize_discarding(static_cast<uint64_t>(count) * sizeof(T));
    read_wide_codes(count, all.data());
    pick_slots(all.data(), sizeof(T), selection, out);
}

// Picks rows of a plain or dictionary view.
ColumnView FlatColumnReader::pick(const ColumnView& full, std::span<const uint16_t> selection) {
    const auto wanted = static_cast<int64_t>(selection.size());
    ColumnView view = full;
    view.length = wanted;
    if (full.type->id == column::TypeId::kNull) {
        view.null_count = wanted;
        return view;
    }
    if (full.encoding == Encoding::kRuns)
        base::raise(base::ErrorKind::kBug, "runs can't be picked from");
    const bool boolean =
        full.encoding == Encoding::kPlain && full.type->id == column::TypeId::kBool;
    const auto bitmap = static_cast<uint64_t>(base::bitmap_bytes(wanted));
    if (boolean) {
        picked_.resize_discarding(bitmap);
        for (int64_t i = 0; i < wanted; ++i)
            base::put_bit(picked_.data(), i,
                          base::bit_at(full.as<uint8_t>(), selection[static_cast<size_t>(i)]));
    } else {
        const int32_t width = slot_width();
        picked_.resize_discarding(static_cast<uint64_t>(wanted) * static_cast<uint64_t>(width));
        pick_slots(full.as<uint8_t>(), width, selection, picked_.data());
    }
    view.values = picked_.data();
    if (full.validity == nullptr) return view;
    dense_.resize_discarding(bitmap);
    view.null_count = 0;
    for (int64_t i = 0; i < wanted; ++i) {
        const bool null = full.is_null(selection[static_cast<size_t>(i)]);
        base::put_bit(dense_.data(), i, !null);
        view.null_count += null;
    }
    view.validity = view.null_count == 0 ? nullptr : dense_.data();
    return view;
}

// Hands out runs instead of rows where a batch has few of them: at least kRowsPerRun rows each.
bool FlatColumnReader::try_runs(int64_t row, int64_t count, ColumnView& view) {
    constexpr int64_t kRowsPerRun = 64;
    enter_page(row);
    if (!all_defined_ || count > page_end_ - row) return false;
    HybridDecoder codes = page_codes_;
    const int32_t width = dictionary_->code_width();
    slots_.resize_discarding(static_cast<uint64_t>(count) * static_cast<uint64_t>(width));
    run_ends_.clear();
    int64_t done = 0;
    while (done < count) {
        uint32_t code;
        const int64_t run = std::min(codes.peek_run(code), count - done);
        if (run == 0 || (static_cast<int64_t>(run_ends_.size()) + 1) * kRowsPerRun > count)
            return false;
        check_codes(&code, 1);
        std::memcpy(slots_.data() + static_cast<int64_t>(run_ends_.size()) * width, &code,
                    static_cast<size_t>(width));
        codes.skip(run);
        done += run;
        run_ends_.push_back(static_cast<int32_t>(done));
    }
    page_codes_ = codes;
    position_ += count;
    view = start_view(count);
    view.encoding = Encoding::kRuns;
    view.values = slots_.data();
    view.run_count = static_cast<int32_t>(run_ends_.size());
    view.run_ends = run_ends_.data();
    return true;
}

}  // namespace loom::parquet
