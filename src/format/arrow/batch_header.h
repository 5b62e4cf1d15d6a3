#pragma once
// Messages of Arrow IPC: framing, verification, and the header of one record or dictionary batch.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/arrow/layout.h"
#include "format/arrow/source.h"
#include "format/codec/codec.h"

namespace loom::arrow::fb {
struct Message;
struct MessageHead;
struct RecordBatch;
struct Footer;
}  // namespace loom::arrow::fb

namespace loom::arrow {

/// Where one message lies in the file. `body` is what the container or the message says, checked
/// against the file's size.
struct MessagePlace {
    uint64_t head_offset = 0;  ///< of the flatbuffer, behind its length prefix
    uint64_t head_length = 0;
    uint64_t body_offset = 0;
    uint64_t body_length = 0;
};

/// Reads the length prefix of a message (old: 4 bytes, new: a marker and 4 bytes). Returns the
/// place of its head, with body_offset behind it; head_length 0 means end of stream or end of file.
MessagePlace read_prefix(const Source& source, uint64_t offset);

/// Verifies a message without its metadata, or raises kCorrupt. Constant time for batches.
const fb::MessageHead& verify_head(base::ByteSpan bytes);
/// Verifies a whole message.
const fb::Message& verify_message(base::ByteSpan bytes);
/// Verifies a footer.
const fb::Footer& verify_footer(base::ByteSpan bytes);

struct BufferPlace {
    uint64_t offset = 0;  ///< in the file
    uint64_t length = 0;
};

/// The header of one record batch (or of the batch inside a dictionary batch). Thread safe. Nodes
/// and buffers are read where they lie, each value once and checked, so that a file that changes
/// under its mapping can't lead astray. Metadata, which may be long, is read when somebody asks for
/// it.
class BatchHeader {
  public:
    BatchHeader(const Source& source, const MessagePlace& place);

    int64_t rows() const noexcept { return rows_; }
    codec::Codec codec() const noexcept { return codec_; }

    struct Node {
        int64_t length = 0;
        int64_t null_count = 0;
    };
    /// Returns node `index`, checked.
    Node node(int32_t index) const;
    /// Returns buffer `index`, checked to lie in the body.
    BufferPlace buffer(int32_t index) const;
    /// Returns the index of the first buffer of `layout`.
    int32_t first_buffer(const Layout& layout) const {
        return buffer_at(layout.first_buffer, layout.unions_before, layout.views_before);
    }
    /// Returns the buffer index that a cursor stands for in this batch.
    int32_t buffer_at(int32_t buffers, int32_t unions, int32_t views) const;
    /// Returns how many data buffers the view field number `view` has.
    int64_t view_buffers(int32_t view) const;
    /// Returns whether unions have a validity buffer (before metadata V5).
    bool union_validity() const noexcept { return union_validity_; }

    /// Returns the metadata value of `key`. `*guess` is where the key may stand, such as where it
    /// stood in another batch, and becomes where it does; of keys that are there twice any may
    /// count.
    std::optional<std::string> metadata(std::string_view key, uint32_t* guess) const;
    std::vector<column::KeyValue> all_metadata() const;

  private:
    /// The key-value pairs of the message, as an own copy.
    struct Metadata {
        Bytes bytes;
        std::vector<std::pair<std::string_view, std::string_view>> entries;
        std::unordered_map<std::string_view, std::string_view>
            by_key;  ///< made by the first look-up
    };

    void read_codec(const fb::RecordBatch& batch);
    void read_view_counts(const fb::RecordBatch& batch);
    Metadata& loaded_metadata() const;  ///< under mutex_

    const Source& source_;
    MessagePlace place_;
    Bytes bytes_;
    base::ByteSpan nodes_;
    base::ByteSpan buffers_;
    int64_t rows_ = 0;
    codec::Codec codec_ = codec::Codec::kNone;
    bool union_validity_ = false;
    std::vector<int64_t> views_before_;  ///< prefix sums of view buffer counts
    mutable std::mutex mutex_;
    mutable std::unique_ptr<Metadata> metadata_;  ///< made after a few look-ups
    mutable int lookups_ = 0;
};

}  // namespace loom::arrow
