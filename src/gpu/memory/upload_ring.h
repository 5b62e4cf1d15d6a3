#pragma once
// Host memory through which bytes of files go to a device.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/buffer.h"
#include "format/paged_column.h"
#include "gpu/driver/device.h"
#include "io/file.h"

namespace loom::gpu {

/// Pinned memory in chunks, each with a stream: while one is on its way to the device the next is
/// filled. For one thread at a time.
class UploadRing {
  public:
    static constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
    static constexpr size_t kChunks = 2;

    explicit UploadRing(Device& device);
    UploadRing(const UploadRing&) = delete;
    UploadRing& operator=(const UploadRing&) = delete;
    /// Waits for what is on its way.
    ~UploadRing();

    struct Chunk {
        uint8_t* memory = nullptr;
        std::unique_ptr<Stream> stream;
    };
    /// Returns a chunk that is free, once there is one.
    Chunk& next();
    void wait();
    Stream& stream() { return *chunks_[0].stream; }

  private:
    Device& device_;
    Chunk chunks_[kChunks];
    size_t next_ = 0;
};

/// Rings that stay for later loads, as pinned memory takes long to make. May be used by several
/// threads.
class UploadRings {
  public:
    explicit UploadRings(Device& device) : device_(device) {}
    std::unique_ptr<UploadRing> take();
    void put_back(std::unique_ptr<UploadRing> ring) noexcept;

  private:
    Device& device_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<UploadRing>> rings_;
};

/// Bytes of a file, and where among a column's bytes they go.
struct Segment {
    uint64_t to = 0;
    format::FileRange from;
};

/// Copies segments, in the order of `to`, to device memory from `base` on. look() is called with a
/// segment's number and the bytes of it that have been read, in their order; base::kBufferSlack
/// bytes behind them can be read.
template <typename Look>
void send(io::File& file, const std::vector<Segment>& segments, DeviceAddress base,
          UploadRing& ring, const Look& look);

/// Bytes that are made one after the other, on their way to device memory from `to` on.
class Upload {
  public:
    Upload(UploadRing& ring, DeviceAddress to) : ring_(ring), to_(to) {}

    /// Returns room for `bytes`, at most a chunk's, and base::kBufferSlack behind them.
    uint8_t* room(uint64_t bytes);
    /// Says that as many bytes are there.
    void filled(uint64_t bytes) { filled_ += bytes; }
    /// Adds bytes, however many.
    void put(base::ByteSpan bytes);
    /// Sends what is there.
    void flush();

  private:
    UploadRing& ring_;
    DeviceAddress to_;
    UploadRing::Chunk* chunk_ = nullptr;
    uint64_t filled_ = 0;
};

template <typename Look>
void send(io::File& file, const std::vector<Segment>& segments, DeviceAddress base,
          UploadRing& ring, const Look& look) {
    size_t s = 0;
    uint64_t done = 0;  // of the segment
    while (s < segments.size()) {
        UploadRing::Chunk& chunk = ring.next();
        const uint64_t begin = segments[s].to + done;
        uint64_t filled = 0;
        while (s < segments.size()) {
            const uint64_t at = segments[s].to + done - begin;
            // Gaps between segments are less than what aligns them.
            if (at >= UploadRing::kChunkBytes || at - filled >= kAlignment) break;
            const uint64_t bytes =
                std::min(UploadRing::kChunkBytes - at, segments[s].from.length - done);
            file.read_at(segments[s].from.offset + done,
                         {chunk.memory + at, static_cast<size_t>(bytes)});
            look(s, base::ByteSpan{chunk.memory + at, static_cast<size_t>(bytes)});
            filled = at + bytes;
            done += bytes;
            if (done < segments[s].from.length) break;
            ++s;
            done = 0;
        }
        chunk.stream->upload(base + begin, chunk.memory, filled);
    }
}

}  // namespace loom::gpu
