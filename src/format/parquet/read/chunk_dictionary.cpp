#include "format/parquet/read/chunk_dictionary.h"

#include "format/parquet/decode/convert.h"
#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

namespace {

// Every entry takes bytes, so that the number of entries can't ask for more memory than a small
// multiple of the page.
void check_entries(const LeafType& leaf, int64_t entries, uint64_t bytes) {
    if (leaf.physical == PhysicalType::kBoolean)
        base::raise(base::ErrorKind::kUnsupported, "a dictionary of booleans is not supported");
    const int64_t least =
        leaf.physical == PhysicalType::kByteArray ? 4 : std::max(1, leaf.physical_width());
    if (static_cast<uint64_t>(entries) > bytes / static_cast<uint64_t>(least))
        base::corrupt("a dictionary of {} values in {} bytes", entries, bytes);
}

}  // namespace

ChunkDictionary::ChunkDictionary(const LeafType& leaf, Page page, base::MemoryBudget* budget)
    : page_(std::move(page)), type_(leaf.type), values_(budget) {
    const PageEncoding encoding = page_.header.encoding;
    if (encoding != PageEncoding::kPlain && encoding != PageEncoding::kPlainDictionary)
        base::raise(base::ErrorKind::kUnsupported, "a dictionary with the encoding {}",
                    name(encoding));
    const int64_t entries = page_.header.value_count;
    check_entries(leaf, entries, page_.values.size());
    DecoderInput input;
    input.leaf = &leaf;
    input.bytes = page_.values;
    const auto decoder = make_plain_decoder(input);
    const auto count = static_cast<uint64_t>(entries);
    values_.resize_discarding(count * static_cast<uint64_t>(leaf.logical_width()));
    if (leaf.conversion == Conversion::kNone) {
        decoder->decode(entries, values_.data());
    } else {
        base::Buffer physical(budget);
        physical.resize_discarding(count * static_cast<uint64_t>(leaf.physical_width()));
        decoder->decode(entries, physical.data());
        convert_values(leaf, physical.data(), entries, values_.data());
    }
    dictionary_.version = column::next_dictionary_version();
    dictionary_.values.type = type_.get();
    dictionary_.values.length = entries;
    dictionary_.values.values = values_.data();
}

}  // namespace loom::parquet
