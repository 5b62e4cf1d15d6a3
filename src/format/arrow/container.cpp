#include "format/arrow/container.h"

#include <cstring>

#include "format/arrow/flatbuffer_access.h"
#include "ipc_generated.h"

namespace loom::arrow {

using base::corrupt;
using base::ErrorKind;

namespace {

constexpr std::string_view kMagic = "ARROW1";
constexpr std::string_view kFeatherMagic = "FEA1";

// Batches of one record must agree with int64 row numbers in sum, see read_container().
void add_batch(Container& container, const MessagePlace& place, int64_t rows, size_t seen) {
    if (rows < 0) corrupt("record batch {} has {} rows", container.batches.size(), rows);
    container.batches.push_back({place, rows, seen});
}

void set_body(const Source& source, MessagePlace& place, int64_t length) {
    if (length < 0 || static_cast<uint64_t>(length) > source.size() - place.body_offset)
        corrupt("a body of {} bytes at offset {} lies outside the file's {} bytes", length,
                place.body_offset, source.size());
    place.body_length = static_cast<uint64_t>(length);
}

class FileWalker {
  public:
    FileWalker(const Source& source, Container& out) : source_(source), out_(out) {}

    void read() {
        const Bytes footer_bytes = footer();
        const fb::Footer& footer = verify_footer(footer_bytes.span());
        if (footer.schema() == nullptr) corrupt("the footer has no schema");
        out_.schema = read_schema(*footer.schema());
        if (footer.dictionaries() != nullptr)
            for (uint32_t i = 0; i < footer.dictionaries()->size(); ++i)
                read_dictionary(struct_at(*footer.dictionaries(), i));
        if (footer.record_batches() != nullptr) {
            out_.batches.reserve(footer.record_batches()->size());
            for (uint32_t i = 0; i < footer.record_batches()->size(); ++i)
                base::with_where([&] { return fmt::format("record batch {}", i); },
                                 [&] { read_batch(struct_at(*footer.record_batches(), i)); });
        }
        append_footer_metadata(footer);
    }

  private:
    // The file ends in: footer, its length in 4 bytes, magic.
    Bytes footer() {
        constexpr uint64_t kTail = 4 + kMagic.size();
        if (source_.size() < kMagic.size() + kTail) corrupt("too short for an Arrow file");
        const uint64_t tail_at = source_.size() - kTail;
        const Bytes tail = source_.metadata_copy(tail_at, kTail);
        if (base::as_text(tail.span()).substr(4) != kMagic)
            corrupt("the file does not end in \"{}\", it may be cut short", kMagic);
        const auto length = base::load<uint32_t>(tail.data);
        if (length > tail_at - kMagic.size()) corrupt("a footer of {} bytes", length);
        return source_.metadata_copy(tail_at - length, length);
    }

    // Footers name the offset of the prefix and the length of prefix and head together.
    MessagePlace place_of(const fb::Block& block) {
        if (block.offset() < 0 || block.head_length() < 0) corrupt("a block at {}", block.offset());
        const auto offset = static_cast<uint64_t>(block.offset());
        MessagePlace place = read_prefix(source_, offset);
        const uint64_t prefix = place.head_offset - offset;
        if (place.head_length == 0 ||
            static_cast<uint64_t>(block.head_length()) < prefix + place.head_length)
            corrupt("no message at offset {} where the footer has one", offset);
        place.body_offset = offset + static_cast<uint64_t>(block.head_length());
        if (place.body_offset > source_.size())
            corrupt("a body at offset {} in a file of {} bytes", place.body_offset, source_.size());
        set_body(source_, place, block.body_length());
        return place;
    }

    void read_dictionary(const fb::Block& block) {
        const MessagePlace place = place_of(block);
        const Bytes bytes = source_.metadata(place.head_offset, place.head_length);
        const fb::MessageHead& head = verify_head(bytes.span());
        const fb::DictionaryBatch* dictionary = head.header_as_DictionaryBatch();
        if (dictionary == nullptr) corrupt("a dictionary block holds something else");
        check_body(head, place);
        out_.dictionaries.push_back({dictionary->id(), dictionary->is_delta(), place});
    }

    void read_batch(const fb::Block& block) {
        const MessagePlace place = place_of(block);
        const Bytes bytes = source_.metadata(place.head_offset, place.head_length);
        const fb::MessageHead& head = verify_head(bytes.span());
        const fb::RecordBatch* batch = head.header_as_RecordBatch();
        if (batch == nullptr) corrupt("a record batch block holds something else");
        check_body(head, place);
        add_batch(out_, place, batch->length(), out_.dictionaries.size());
    }

    static void check_body(const fb::MessageHead& head, const MessagePlace& place) {
        if (head.body_length() < 0 || static_cast<uint64_t>(head.body_length()) > place.body_length)
            corrupt("a body of {} bytes where the footer has {}", head.body_length(),
                    place.body_length);
    }

    void append_footer_metadata(const fb::Footer& footer) {
        if (footer.metadata() == nullptr) return;
        for (const fb::KeyValue* entry : *footer.metadata())
            out_.schema.schema.metadata.push_back(
                {entry->key() == nullptr ? "" : entry->key()->str(),
                 entry->value() == nullptr ? "" : entry->value()->str()});
    }

    const Source& source_;
    Container& out_;
};

class StreamWalker {
  public:
    StreamWalker(const Source& source, Container& out) : source_(source), out_(out) {}

    void read(const base::StopToken* stop) {
        bool first = true;
        for (uint64_t offset = 0;; first = false) {
            base::check_stop(stop);
            MessagePlace place = read_prefix(source_, offset);
            if (place.head_length == 0) break;
            base::with_where([&] { return fmt::format("message at offset {}", offset); },
                             [&] { first ? read_first(place) : read_next(place); });
            offset = place.body_offset + place.body_length;
        }
        if (first) corrupt("the stream is empty");
    }

  private:
    void read_first(MessagePlace& place) {
        const Bytes bytes = source_.metadata_copy(place.head_offset, place.head_length);
        const fb::Message& message = verify_message(bytes.span());
        const fb::Schema* schema = message.header_as_Schema();
        if (schema == nullptr) corrupt("the stream does not begin with a schema");
        set_body(source_, place, message.body_length());
        out_.schema = read_schema(*schema);
    }

    void read_next(MessagePlace& place) {
        const Bytes bytes = source_.metadata(place.head_offset, place.head_length);
        const fb::MessageHead& head = verify_head(bytes.span());
        set_body(source_, place, head.body_length());
        if (const fb::RecordBatch* batch = head.header_as_RecordBatch())
            add_batch(out_, place, batch->length(), out_.dictionaries.size());
        else if (const fb::DictionaryBatch* dictionary = head.header_as_DictionaryBatch())
            out_.dictionaries.push_back({dictionary->id(), dictionary->is_delta(), place});
        else if (head.header_type() == fb::Header::Tensor ||
                 head.header_type() == fb::Header::SparseTensor)
            base::raise(ErrorKind::kUnsupported, "a tensor in an Arrow stream");
        else
            corrupt("neither a record batch nor a dictionary");
    }

    const Source& source_;
    Container& out_;
};

}  // namespace

bool looks_like_container(base::ByteSpan bytes) noexcept {
    if (bytes.size() < 8) return false;
    if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0) return true;
    if (std::memcmp(bytes.data(), kFeatherMagic.data(), kFeatherMagic.size()) == 0) return true;
    // A stream: [marker] length, then the flatbuffer, which begins with the offset of its root.
    const auto first = base::load<uint32_t>(bytes.data());
    const auto second = base::load<uint32_t>(bytes.data() + 4);
    constexpr uint32_t kMaxHead = 1U << 28;
    if (first == 0xFFFFFFFF) return second != 0 && second < kMaxHead;
    return first >= 8 && first < kMaxHead && second >= 4 && second < first;
}

Container read_container(const Source& source, const base::StopToken* stop) {
    Container container;
    const Bytes start = source.metadata_copy(0, std::min<uint64_t>(8, source.size()));
    const std::string_view text = base::as_text(start.span());
    if (text.starts_with(kFeatherMagic))
        base::raise(ErrorKind::kUnsupported, "Feather version 1, which is not Arrow IPC");
    if (text.starts_with(kMagic)) {
        FileWalker(source, container).read();
    } else {
        container.is_stream = true;
        StreamWalker(source, container).read(stop);
    }
    int64_t total = 0;
    for (const BatchPlace& batch : container.batches)
        total = base::checked_add(total, batch.rows, "row count");
    source.check();
    return container;
}

}  // namespace loom::arrow
