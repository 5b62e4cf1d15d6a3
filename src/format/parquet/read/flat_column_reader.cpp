#include "format/parquet/read/flat_column_reader.h"

#include <algorithm>
#include <cstring>

#include "format/parquet/decode/convert.h"
#include "format/parquet/decode/expand.h"
#include "format/parquet/stats/page_index.h"

namespace loom::parquet {

using base::ErrorKind;
using column::ColumnView;
using column::Encoding;

FlatColumnReader::FlatColumnReader(FileStatePtr file, int64_t row_group, int column,
                                   const format::ReadOptions& options)
    : file_(std::move(file)),
      row_group_(row_group),
      leaf_index_(file_->footer.schema().columns[static_cast<size_t>(column)].leaf),
      leaf_(file_->footer.schema().leaves[static_cast<size_t>(leaf_index_)]),
      options_(options),
      row_count_(file_->footer.row_groups()[static_cast<size_t>(row_group)].rows),
      slots_(file_->options.budget),
      validity_(file_->options.budget),
      dense_(file_->options.budget),
      physical_(file_->options.budget),
      bits_(file_->options.budget),
      picked_(file_->options.budget),
      skipped_bits_(file_->options.budget) {
    if (leaf_.type.conversion == Conversion::kRefused)
        base::raise(ErrorKind::kUnsupported, "{}", leaf_.type.refusal);
}

std::string FlatColumnReader::where() const {
    std::string text = file_->where_leaf(row_group_, leaf_index_);
    if (chunk_) text += fmt::format(", page at offset {}", chunk_->page_offset());
    return text;
}

// Opens the chunk and finds out how its values are encoded.
void FlatColumnReader::prepare() {
    if (prepared_) return;
    if (leaf_.type.conversion != Conversion::kAllNull && row_count_ > 0) {
        ChunkPlan plan = plan_chunk(file_->footer, row_group_, leaf_index_);
        if (!options_.rows.empty())
            restrict_to_rows(plan, read_page_locations(*file_, row_group_, leaf_index_),
                             options_.rows);
        chunk_.emplace(*file_->file, std::move(plan),
                       MaxLevels{leaf_.max_definition, leaf_.max_repetition}, file_->options);
        if (!options_.decode_dictionary && leaf_.type.physical != PhysicalType::kBoolean)
            codes_ = chunk_->all_pages_are_codes();
        if (codes_) {
            while (!dictionary_ && chunk_->next() && !chunk_->header().is_data())
                dictionary_.emplace(leaf_.type, chunk_->load(), file_->options.budget);
            if (!dictionary_) base::corrupt("dictionary codes without a dictionary");
            chunk_->rewind();
        }
    }
    prepared_ = true;
}

Encoding FlatColumnReader::encoding() {
    return guarded([&] {
        prepare();
        return codes_ ? Encoding::kDictionary : Encoding::kPlain;
    });
}

const column::Dictionary* FlatColumnReader::dictionary() {
    return guarded([&]() -> const column::Dictionary* {
        prepare();
        return codes_ ? &dictionary_->dictionary() : nullptr;
    });
}

void FlatColumnReader::check_rows(int64_t row, int64_t count) const {
    if (row < 0 || count < 0 || count > column::kBatchRows || row > row_count_ - count)
        base::raise(ErrorKind::kBug, "rows {} to {} of {} were asked for", row, row + count,
                    row_count_);
}

int32_t FlatColumnReader::slot_width() const noexcept {
    if (codes_) return dictionary_->code_width();
    return SlotDecoder::slot_width(leaf_.type);
}

ColumnView FlatColumnReader::start_view(int64_t length) const {
    ColumnView view;
    view.type = leaf_.type.type.get();
    view.length = length;
    if (codes_) {
        view.encoding = Encoding::kDictionary;
        view.code_width = dictionary_->code_width();
        view.dictionary = &dictionary_->dictionary();
    }
    return view;
}

ColumnView FlatColumnReader::read_nulls(int64_t count) const {
    ColumnView view = start_view(count);
    view.null_count = count;
    return view;
}

// Lets go of what the last view pointed to and moves to `row`.
void FlatColumnReader::begin_call(int64_t row) {
    kept_.clear();
    if (values_ != nullptr) values_->forget();
    seek(row);
}

ColumnView FlatColumnReader::read(int64_t row, int64_t count) {
    return guarded([&] { return read_batch(row, count, options_.keep_runs); });
}

ColumnView FlatColumnReader::read_batch(int64_t row, int64_t count, bool allow_runs) {
    check_rows(row, count);
    prepare();
    if (leaf_.type.conversion == Conversion::kAllNull) return read_nulls(count);
    if (count == 0) return start_view(0);
    begin_call(row);
    ColumnView view;
    if (const uint8_t* values = try_in_place(row, count)) {
        view = start_view(count);
        view.values = values;
        return view;
    }
    if (allow_runs && codes_ && try_runs(row, count, view)) return view;
    fill(row, count);
    return finish(count);
}

// A batch within one page, without NULLs and without a conversion, is handed out where it lies.
const uint8_t* FlatColumnReader::try_in_place(int64_t row, int64_t count) {
    if (codes_) return nullptr;
    enter_page(row);
    if (count > page_end_ - row) return nullptr;
    if (!all_defined_ || values_ == nullptr) return nullptr;
    const auto width = static_cast<uintptr_t>(leaf_.type.logical_width());
    const uint8_t* values = values_->take_in_place(0);
    // Types wider than 16 bytes are bytes to their users; the others need their own alignment.
    const uintptr_t alignment = width <= 16 && std::has_single_bit(width) ? width : 1;
    if (values == nullptr || reinterpret_cast<uintptr_t>(values) % alignment != 0) return nullptr;
    values = values_->take_in_place(count);
    position_ += count;
    return values;
}

// Fills slots_ and validity_ with rows [row, row + count), page by page.
void FlatColumnReader::fill(int64_t row, int64_t count) {
    const auto bytes = static_cast<uint64_t>(count) * static_cast<uint64_t>(slot_width());
    slots_.resize_discarding(bytes);
    validity_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
    null_count_ = 0;
    for (int64_t done = 0; done < count;) {
        enter_page(row + done);
        const int64_t part = std::min(count - done, page_end_ - position_);
        const int64_t valid = take_validity(part, done);
        fill_values(part, valid, done);
        null_count_ += part - valid;
        position_ += part;
        done += part;
    }
}

// Decodes definition levels of `count` rows to validity_[done, ...); returns how many rows have a
// value.
int64_t FlatColumnReader::take_validity(int64_t count, int64_t done) {
    if (all_defined_) {
        base::fill_bits(validity_.data(), done, count, true);
        return count;
    }
    return page_.definition.decode_bits(count, validity_.data(), done);
}

void FlatColumnReader::fill_values(int64_t count, int64_t valid, int64_t done) {
    const int32_t width = slot_width();
    uint8_t* out = slots_.data() + done * width;
    if (valid == count) return decode_slots(count, out);
    if (valid == 0) {
        std::memset(out, 0, static_cast<size_t>(count) * static_cast<size_t>(width));
        return;
    }
    dense_.resize_discarding(static_cast<uint64_t>(valid) * static_cast<uint64_t>(width));
    decode_slots(valid, dense_.data());
    expand_slots(dense_.data(), width, validity_.data(), done, count, out);
}

// Decodes `count` values (or codes) to dense slots of slot_width().
void FlatColumnReader::decode_slots(int64_t count, uint8_t* out) {
    if (codes_) {
        switch (dictionary_->code_width()) {
            case 1:
                return decode_codes<uint8_t>(count, out);
            case 2:
                return decode_codes<uint16_t>(count, out);
            default:
                return decode_codes<uint32_t>(count, out);
        }
    }
    values_->decode(count, out);
}

template <typename T>
void FlatColumnReader::decode_codes(int64_t count, uint8_t* out) {
    if (page_codes_.width() > static_cast<int>(8 * sizeof(T))) return read_wide_codes(count, out);
    auto* codes = reinterpret_cast<T*>(out);
    page_codes_.decode(count, codes);
    check_codes(codes, count);
}

// Codes stored wider than the dictionary needs: they have to be checked before they are narrowed.
void FlatColumnReader::read_wide_codes(int64_t count, uint8_t* out) {
    physical_.resize_discarding(static_cast<uint64_t>(count) * sizeof(uint32_t));
    auto* wide = physical_.as<uint32_t>();
    page_codes_.decode(count, wide);
    check_codes(wide, count);
    if (dictionary_->code_width() == 1)
        for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(wide[i]);
    else
        for (int64_t i = 0; i < count; ++i)
            base::store(out + 2 * i, static_cast<uint16_t>(wide[i]));
}

// Turns what fill() left into a view.
ColumnView FlatColumnReader::finish(int64_t count) {
    ColumnView view = start_view(count);
    view.null_count = null_count_;
    view.validity = null_count_ == 0 ? nullptr : validity_.data();
    view.values = slots_.data();
    if (!codes_ && leaf_.type.conversion == Conversion::kBool) {
        bits_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
        pack_booleans(slots_.data(), count, bits_.data(), 0);
        view.values = bits_.data();
    }
    return view;
}

format::ReadProfile FlatColumnReader::profile() const {
    format::ReadProfile profile;
    if (chunk_) profile = chunk_->profile();
    profile.pages_skipped += skipped_pages_;
    const uint64_t io = chunk_ ? chunk_->io_ns() : 0;
    profile.decode_ns = total_ns_ > io ? total_ns_ - io : 0;
    return profile;
}

}  // namespace loom::parquet
