#include "format/arrow/batch_header.h"

#include <algorithm>

#include "format/arrow/flatbuffer_access.h"
#include "format/arrow/metadata_in_place.h"
#include "ipc_generated.h"

namespace loom::arrow {

using base::corrupt;
using base::ErrorKind;

namespace {

constexpr uint32_t kContinuation = 0xFFFFFFFF;

// Fields nest at most this deep, whatever a file says: readers recurse over them.
constexpr flatbuffers::uoffset_t kMaxDepth = 128;

template <typename Table>
const Table& verify(base::ByteSpan bytes, const char* what) {
    if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) corrupt("{} of {} bytes", what, bytes.size());
    flatbuffers::Verifier::Options options;
    options.max_depth = kMaxDepth;
    // A table takes 4 bytes or more; only a crafted file refers to one table many times.
    options.max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 4 + 1);
    flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
    if (bytes.size() < 8 || !verifier.VerifyBuffer<Table>(nullptr)) corrupt("{} is damaged", what);
    return *flatbuffers::GetRoot<Table>(bytes.data());
}

std::string_view view_of(const flatbuffers::String* text) {
    return text == nullptr ? std::string_view() : text->string_view();
}

// Returns the bytes of a vector of structs, checked against the message they lie in.
template <typename T>
base::ByteSpan structs_of(base::ByteSpan message, const flatbuffers::Vector<const T*>& vector) {
    const auto begin = reinterpret_cast<uintptr_t>(vector.Data());
    const auto start = reinterpret_cast<uintptr_t>(message.data());
    const uint64_t size = uint64_t{vector.size()} * sizeof(T);
    if (begin < start) corrupt("a vector outside its message");
    return base::checked_slice(message, begin - start, size, "vector");
}

}  // namespace

MessagePlace read_prefix(const Source& source, uint64_t offset) {
    MessagePlace place;
    const uint64_t size = source.size();
    if (offset >= size || size - offset < 4) return place;
    const Bytes first = source.metadata_copy(offset, std::min<uint64_t>(8, size - offset));
    uint32_t length = base::load<uint32_t>(first.data);
    place.head_offset = offset + 4;
    if (length == kContinuation) {
        if (first.size < 8) corrupt("message at offset {} is cut short", offset);
        length = base::load<uint32_t>(first.data + 4);
        place.head_offset = offset + 8;
    }
    if (length == 0) return place;
    if (length > size - place.head_offset)
        corrupt("message at offset {} has a head of {} bytes, {} are left", offset, length,
                size - place.head_offset);
    place.head_length = length;
    place.body_offset = place.head_offset + length;
    return place;
}

const fb::MessageHead& verify_head(base::ByteSpan bytes) {
    return verify<fb::MessageHead>(bytes, "message");
}
const fb::Message& verify_message(base::ByteSpan bytes) {
    return verify<fb::Message>(bytes, "message");
}
const fb::Footer& verify_footer(base::ByteSpan bytes) {
    return verify<fb::Footer>(bytes, "footer");
}

BatchHeader::BatchHeader(const Source& source, const MessagePlace& place)
    : source_(source),
      place_(place),
      bytes_(source.metadata(place.head_offset, place.head_length)) {
    const fb::MessageHead& message = verify_head(bytes_.span());
    const fb::Version version = message.version();
    if (version < fb::Version::V4 || version > fb::Version::V5)
        base::raise(ErrorKind::kUnsupported, "record batches of Arrow metadata version {}",
                    static_cast<int>(version) + 1);
    union_validity_ = version < fb::Version::V5;
    const fb::RecordBatch* batch = message.header_as_RecordBatch();
    if (const fb::DictionaryBatch* dictionary = message.header_as_DictionaryBatch())
        batch = dictionary->data();
    if (batch == nullptr) corrupt("message is not a record batch");
    rows_ = batch->length();
    if (rows_ < 0) corrupt("{} rows", rows_);
    if (batch->nodes() != nullptr) nodes_ = structs_of<fb::Node>(bytes_.span(), *batch->nodes());
    if (batch->buffers() != nullptr)
        buffers_ = structs_of<fb::Buffer>(bytes_.span(), *batch->buffers());
    read_view_counts(*batch);
    read_codec(*batch);
}

void BatchHeader::read_view_counts(const fb::RecordBatch& batch) {
    views_before_.push_back(0);
    if (batch.view_buffers() == nullptr) return;
    const auto limit = static_cast<int64_t>(buffers_.size() / sizeof(fb::Buffer));
    for (uint32_t i = 0; i < batch.view_buffers()->size(); ++i) {
        const auto count = scalar_at(*batch.view_buffers(), i);
        if (count < 0 || count > limit - views_before_.back())
            corrupt("{} view buffers among {} buffers", count, limit);
        views_before_.push_back(views_before_.back() + count);
    }
}

void BatchHeader::read_codec(const fb::RecordBatch& batch) {
    if (const fb::BodyCompression* compression = batch.compression()) {
        if (compression->method() != fb::BodyMethod::PerBuffer)
            base::raise(ErrorKind::kUnsupported, "body compression method {}",
                        static_cast<int>(compression->method()));
        switch (compression->codec()) {
            case fb::BodyCodec::Lz4Frame:
                codec_ = codec::Codec::kLz4Frame;
                return;
            case fb::BodyCodec::Zstd:
                codec_ = codec::Codec::kZstd;
                return;
        }
        base::raise(ErrorKind::kUnsupported, "body codec {}",
                    static_cast<int>(compression->codec()));
    }
    // Writers of 0.17, which was before V5, named the codec in the message's metadata.
    if (!union_validity_) return;
    uint32_t guess = 0;
    const auto old = metadata("ARROW:experimental_compression", &guess);
    if (!old) return;
    if (old == "ZSTD" || old == "zstd")
        codec_ = codec::Codec::kZstd;
    else if (old == "LZ4" || old == "lz4" || old == "LZ4_FRAME" || old == "lz4_frame")
        codec_ = codec::Codec::kLz4Frame;
    else
        base::raise(ErrorKind::kUnsupported, "body codec \"{}\"", *old);
}

BatchHeader::Node BatchHeader::node(int32_t index) const {
    if (static_cast<size_t>(index) >= nodes_.size() / sizeof(fb::Node))
        corrupt("the batch has no node {}", index);
    const auto node =
        base::load<fb::Node>(nodes_.data() + static_cast<size_t>(index) * sizeof(fb::Node));
    if (node.length() < 0 || node.null_count() > node.length())
        corrupt("{} values with {} NULLs", node.length(), node.null_count());
    return {node.length(), node.null_count()};
}

BufferPlace BatchHeader::buffer(int32_t index) const {
    if (static_cast<size_t>(index) >= buffers_.size() / sizeof(fb::Buffer))
        corrupt("the batch has no buffer {}", index);
    const auto buffer =
        base::load<fb::Buffer>(buffers_.data() + static_cast<size_t>(index) * sizeof(fb::Buffer));
    const auto offset = static_cast<uint64_t>(buffer.offset());
    const auto length = static_cast<uint64_t>(buffer.length());
    // An absent buffer may state any offset.
    if (length == 0) return {place_.body_offset, 0};
    if (offset > place_.body_length || length > place_.body_length - offset)
        corrupt("buffer {} of {} bytes at {} lies outside the body's {} bytes", index,
                buffer.length(), buffer.offset(), place_.body_length);
    return {place_.body_offset + offset, length};
}

int32_t BatchHeader::buffer_at(int32_t buffers, int32_t unions, int32_t views) const {
    if (static_cast<size_t>(views) >= views_before_.size())
        corrupt("the batch states the buffers of {} view fields only", views_before_.size() - 1);
    return buffers + (union_validity_ ? unions : 0) +
           static_cast<int32_t>(views_before_[static_cast<size_t>(views)]);
}

int64_t BatchHeader::view_buffers(int32_t view) const {
    if (static_cast<size_t>(view) + 1 >= views_before_.size())
        corrupt("the batch states the buffers of {} view fields only", views_before_.size() - 1);
    return views_before_[static_cast<size_t>(view) + 1] - views_before_[static_cast<size_t>(view)];
}

BatchHeader::Metadata& BatchHeader::loaded_metadata() const {
    if (metadata_ != nullptr) return *metadata_;
    auto fresh = std::make_unique<Metadata>();
    fresh->bytes = source_.metadata_copy(place_.head_offset, place_.head_length);
    const fb::Message& message = verify_message(fresh->bytes.span());
    if (message.metadata() != nullptr)
        for (const fb::KeyValue* entry : *message.metadata())
            fresh->entries.emplace_back(view_of(entry->key()), view_of(entry->value()));
    metadata_ = std::move(fresh);
    return *metadata_;
}

std::optional<std::string> BatchHeader::metadata(std::string_view key, uint32_t* guess) const {
    // Looking through the pairs is faster than making a map, unless somebody wants many.
    constexpr int kLookupsBeforeMap = 8;
    std::lock_guard<std::mutex> lock(mutex_);
    if (metadata_ == nullptr && ++lookups_ < kLookupsBeforeMap) {
        const MetadataInPlace pairs(bytes_.span());
        const uint32_t found = pairs.find(key, *guess);
        if (found == pairs.size()) return std::nullopt;
        *guess = found;
        return pairs.value(found);
    }
    Metadata& metadata = loaded_metadata();
    if (metadata.by_key.empty())
        metadata.by_key.insert(metadata.entries.begin(), metadata.entries.end());
    auto found = metadata.by_key.find(key);
    if (found == metadata.by_key.end()) return std::nullopt;
    return std::string(found->second);
}

std::vector<column::KeyValue> BatchHeader::all_metadata() const {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<column::KeyValue> result;
    for (const auto& [name, value] : loaded_metadata().entries)
        result.push_back({std::string(name), std::string(value)});
    return result;
}

}  // namespace loom::arrow
