#include "format/arrow/metadata_in_place.h"

#include "ipc_generated.h"

namespace loom::arrow {

namespace {

template <typename T>
T load_at(base::ByteSpan message, uint64_t position) {
    return base::load<T>(
        base::checked_slice(message, position, sizeof(T), "message metadata").data());
}

}  // namespace

MetadataInPlace::MetadataInPlace(base::ByteSpan message) : message_(message) {
    const uint64_t vector = field(follow(0), fb::Message::VT_METADATA);
    if (vector == 0) return;
    const uint64_t start = follow(vector);
    size_ = load_at<uint32_t>(message_, start);
    elements_ = start + sizeof(uint32_t);
    base::checked_slice(message_, elements_, uint64_t{size_} * sizeof(uint32_t), "metadata");
}

// Positions stay below the size of a message plus 2^32, so that sums don't overflow.
uint64_t MetadataInPlace::follow(uint64_t position) const {
    return position + load_at<uint32_t>(message_, position);
}

// Returns the position of a table's field, or 0 if the table lacks it. A table begins with the
// distance back to its list of fields, which begins with its own size.
uint64_t MetadataInPlace::field(uint64_t table, uint16_t slot) const {
    const auto back = int64_t{load_at<int32_t>(message_, table)};
    const auto list = static_cast<uint64_t>(static_cast<int64_t>(table) - back);
    if (load_at<uint16_t>(message_, list) < slot + sizeof(uint16_t)) return 0;
    const auto distance = load_at<uint16_t>(message_, list + slot);
    return distance == 0 ? 0 : table + distance;
}

std::string_view MetadataInPlace::text(uint32_t i, uint16_t slot) const {
    const uint64_t position = field(follow(elements_ + uint64_t{i} * sizeof(uint32_t)), slot);
    if (position == 0) return {};
    const uint64_t start = follow(position);
    const auto length = load_at<uint32_t>(message_, start);
    return base::as_text(
        base::checked_slice(message_, start + sizeof(uint32_t), length, "message metadata"));
}

bool MetadataInPlace::has_key(uint32_t i, std::string_view key) const {
    return text(i, fb::KeyValue::VT_KEY) == key;
}

std::string MetadataInPlace::value(uint32_t i) const {
    return std::string(text(i, fb::KeyValue::VT_VALUE));
}

uint32_t MetadataInPlace::find(std::string_view key, uint32_t guess) const {
    if (guess < size_ && has_key(guess, key)) return guess;
    uint32_t i = 0;
    while (i < size_ && !has_key(i, key)) ++i;
    return i;
}

}  // namespace loom::arrow
