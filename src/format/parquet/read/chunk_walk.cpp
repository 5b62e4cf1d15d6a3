#include "format/parquet/read/chunk_walk.h"

#include <algorithm>
#include <cstring>

#include "format/codec/codec.h"

namespace loom::parquet {

using base::ErrorKind;
using format::EncodedPage;
using format::PagedColumn;

namespace {

// Headers with longer bounds than this are left to readers.
constexpr uint64_t kMaxHeaderBytes = 64 << 10;
constexpr int kMaxFixedBytes = 16;

// Sets `values`, `step` and `width`; false if a type's values are not made in one of those ways.
bool set_values(const LeafType& leaf, PagedColumn& column) {
    using Values = PagedColumn::Values;
    using Step = PagedColumn::Step;
    column.width = leaf.physical_width();
    switch (leaf.physical) {
        case PhysicalType::kBoolean:
            column.values = Values::kBits;
            column.width = 0;
            return leaf.conversion == Conversion::kBool;
        case PhysicalType::kInt32:
            column.values = Values::kInt32;
            break;
        case PhysicalType::kInt64:
            column.values = Values::kInt64;
            break;
        case PhysicalType::kFixedLenByteArray:
            column.values = Values::kFixed;
            column.step = Step::kNumber;
            return leaf.conversion == Conversion::kBytesToDecimal && column.width >= 1 &&
                   column.width <= kMaxFixedBytes && leaf.logical_width() <= kMaxFixedBytes;
        case PhysicalType::kByteArray:
            column.values = Values::kBytes;
            column.width = 0;
            return leaf.conversion == Conversion::kNone;
        default:
            return false;
    }
    if (leaf.conversion == Conversion::kNarrowInt) column.step = Step::kLowBits;
    if (leaf.conversion == Conversion::kIntToDecimal) column.step = Step::kNumber;
    return (leaf.conversion == Conversion::kNone || column.step != Step::kSame) &&
           leaf.logical_width() <= kMaxFixedBytes;
}

}  // namespace

std::optional<PagedColumn> paged_column(const FileState& file, int64_t row_group, int leaf_index) {
    const Leaf& leaf = file.footer.schema().leaves[static_cast<size_t>(leaf_index)];
    PagedColumn column;
    // Nobody but readers checks sums.
    if (file.options.verify_checksums || leaf.max_repetition != 0 || leaf.max_definition > 1 ||
        !set_values(leaf.type, column))
        return std::nullopt;
    try {
        const ChunkPlan plan = plan_chunk(file.footer, row_group, leaf_index);
        const int64_t plain = file.footer.chunk(row_group, leaf_index).uncompressed_size;
        if (plain < 0) return std::nullopt;
        column.bytes = {plan.begin, plan.end - plan.begin};
        column.page_bytes = static_cast<uint64_t>(plain);
        column.codec = plan.codec;
    } catch (const base::Error&) {
        return std::nullopt;
    }
    column.nullable = leaf.max_definition == 1;
    return column;
}

ChunkWalk::ChunkWalk(FileStatePtr file, int64_t row_group, int leaf)
    : file_(std::move(file)),
      leaf_(file_->footer.schema().leaves[static_cast<size_t>(leaf)]),
      plan_(plan_chunk(file_->footer, row_group, leaf)),
      size_(plan_.end - plan_.begin),
      header_bytes_(file_->options.budget) {}

void ChunkWalk::take(base::ByteSpan bytes) {
    if (bytes.size() > size_ - taken_)
        base::raise(ErrorKind::kBug, "more bytes than the column chunk has");
    taken_ += bytes.size();
    keep_dictionary(bytes);
    // What lies behind the last row is nobody's.
    while (!done() && position_ < taken_ && next_header(bytes)) {
        add_page();
        position_ = body_ + static_cast<uint64_t>(header_.compressed_size);
        keep_dictionary(bytes);
    }
}

// Reads the header at position_; false if it goes on behind `bytes`.
bool ChunkWalk::next_header(base::ByteSpan bytes) {
    const uint64_t begin = taken_ - bytes.size();
    base::ByteSpan there;
    if (position_ >= begin) {
        there = bytes.subspan(static_cast<size_t>(position_ - begin));
    } else {
        const uint64_t kept = begin - position_;
        const uint64_t more = std::min<uint64_t>(bytes.size(), kMaxHeaderBytes);
        header_bytes_.resize(kept + more);
        std::memcpy(header_bytes_.data() + kept, bytes.data(), static_cast<size_t>(more));
        there = header_bytes_.span();
    }
    thrift::CompactReader in(there);
    try {
        header_ = read_page_header(in);
    } catch (const base::Error&) {
        // Cut off, or damaged.
        if (taken_ == size_ || there.size() >= kMaxHeaderBytes) throw;
        if (position_ >= begin) {
            header_bytes_.resize_discarding(there.size());
            std::memcpy(header_bytes_.data(), there.data(), there.size());
        }
        return false;
    }
    body_ = position_ + in.position();
    return true;
}

EncodedPage::Encoding ChunkWalk::encoding() const {
    using Encoding = EncodedPage::Encoding;
    const bool integer =
        leaf_.type.physical == PhysicalType::kInt32 || leaf_.type.physical == PhysicalType::kInt64;
    const bool boolean = leaf_.type.physical == PhysicalType::kBoolean;
    switch (header_.encoding) {
        case PageEncoding::kPlain:
            return Encoding::kPlain;
        case PageEncoding::kPlainDictionary:
        case PageEncoding::kRleDictionary:
            if (!boolean) return Encoding::kCodes;
            break;
        case PageEncoding::kRle:
            if (boolean) return Encoding::kRuns;
            break;
        case PageEncoding::kDeltaBinaryPacked:
            if (integer) return Encoding::kDelta;
            break;
        case PageEncoding::kByteStreamSplit:
            if (integer || leaf_.type.physical == PhysicalType::kFixedLenByteArray)
                return Encoding::kSplit;
            break;
        default:
            break;
    }
    base::raise(ErrorKind::kUnsupported, "values with the encoding {} are not read here",
                name(header_.encoding));
}

void ChunkWalk::add_page() {
    if (header_.compressed_size < 0 || header_.uncompressed_size < 0 || header_.value_count < 0 ||
        header_.definition_bytes < 0 || header_.repetition_bytes != 0)
        base::corrupt("a page header has a wrong size");
    if (static_cast<uint64_t>(header_.compressed_size) > size_ - body_)
        base::corrupt("a page of {} bytes where the column chunk has {}", header_.compressed_size,
                      size_ - body_);
    const bool is_dictionary_page = header_.type == PageType::kDictionary;
    if (!header_.is_data() && !is_dictionary_page) return;
    if (header_.is_data() && header_.value_count == 0) return;
    EncodedPage page;
    page.kind = is_dictionary_page                  ? EncodedPage::Kind::kDictionary
                : header_.type == PageType::kDataV2 ? EncodedPage::Kind::kDataV2
                                                    : EncodedPage::Kind::kData;
    page.offset = body_;
    page.bytes = static_cast<uint32_t>(header_.compressed_size);
    page.plain_bytes = static_cast<uint32_t>(header_.uncompressed_size);
    page.count = static_cast<uint32_t>(header_.value_count);
    page.compressed = plan_.codec != codec::Codec::kNone;
    page.encoding = encoding();
    if (page.kind == EncodedPage::Kind::kDataV2) {
        page.level_bytes = static_cast<uint32_t>(header_.definition_bytes);
        page.compressed = page.compressed && (header_.is_compressed || plan_.v2_always_compressed);
        if (page.level_bytes > page.bytes || page.level_bytes > page.plain_bytes)
            base::corrupt("levels of {} bytes in a page of {} bytes", page.level_bytes, page.bytes);
    }
    if (page.compressed)
        check_expansion(plan_.codec, page.bytes - page.level_bytes,
                        page.plain_bytes - page.level_bytes);
    else
        page.plain_bytes = page.bytes;
    if (is_dictionary_page) {
        if (!pages_.empty()) base::corrupt("a dictionary behind other pages");
        if (header_.encoding != PageEncoding::kPlain &&
            header_.encoding != PageEncoding::kPlainDictionary)
            base::raise(ErrorKind::kUnsupported, "a dictionary with the encoding {}",
                        name(header_.encoding));
        page.encoding = EncodedPage::Encoding::kPlain;
        dictionary_header_ = header_;
        dictionary_at_ = body_;
        if (leaf_.type.physical == PhysicalType::kByteArray) {
            dictionary_bytes_ = std::make_shared<base::Buffer>(file_->options.budget);
        } else if (leaf_.type.physical == PhysicalType::kBoolean ||
                   page.count >
                       page.plain_bytes / static_cast<uint32_t>(leaf_.type.physical_width())) {
            base::corrupt("a dictionary of {} values in {} bytes", page.count, page.plain_bytes);
        }
    } else {
        if (page.kind == EncodedPage::Kind::kData && leaf_.max_definition > 0 &&
            header_.definition_encoding != PageEncoding::kRle)
            base::raise(ErrorKind::kUnsupported, "levels with the encoding {} are not read here",
                        name(header_.definition_encoding));
        if (page.encoding == EncodedPage::Encoding::kCodes &&
            (pages_.empty() || pages_.front().kind != EncodedPage::Kind::kDictionary))
            base::corrupt("dictionary codes without a dictionary");
        if (header_.value_count > plan_.row_count - rows_)
            base::corrupt("pages of more than {} rows", plan_.row_count);
        rows_ += header_.value_count;
    }
    pages_.push_back(page);
}

// Keeps those of a dictionary's bytes that are among the ones that came by last.
void ChunkWalk::keep_dictionary(base::ByteSpan bytes) {
    if (dictionary_bytes_ == nullptr) return;
    const uint64_t begin = taken_ - bytes.size();
    const uint64_t wanted = dictionary_at_ + dictionary_bytes_->size();
    const uint64_t end = dictionary_at_ + static_cast<uint64_t>(dictionary_header_.compressed_size);
    if (wanted < begin || wanted >= taken_ || wanted >= end) return;
    const base::ByteSpan here = bytes.subspan(static_cast<size_t>(wanted - begin),
                                              static_cast<size_t>(std::min(end, taken_) - wanted));
    const size_t kept = dictionary_bytes_->size();
    dictionary_bytes_->resize(kept + here.size());
    std::memcpy(dictionary_bytes_->data() + kept, here.data(), here.size());
}

std::span<const EncodedPage> ChunkWalk::finish() {
    if (taken_ != size_ || !done())
        base::corrupt("the pages end after {} of {} rows", rows_, plan_.row_count);
    return pages_;
}

const column::Dictionary& ChunkWalk::dictionary() {
    if (dictionary_) return dictionary_->dictionary();
    if (dictionary_bytes_ == nullptr) base::corrupt("dictionary codes without a dictionary");
    Page page;
    page.header = dictionary_header_;
    page.owner = dictionary_bytes_;
    if (plan_.codec != codec::Codec::kNone) {
        const auto size = static_cast<uint64_t>(dictionary_header_.uncompressed_size);
        page.owner = std::make_shared<base::Buffer>(file_->options.budget);
        page.owner->resize_discarding(size);
        if (size > 0)
            codec::decompress(plan_.codec, dictionary_bytes_->span(), {page.owner->data(), size});
    }
    page.values = page.owner->span();
    dictionary_.emplace(leaf_.type, std::move(page), file_->options.budget);
    return dictionary_->dictionary();
}

}  // namespace loom::parquet
