#include "gpu/memory/upload_ring.h"

#include <cstring>
#include <new>
#include <utility>

namespace loom::gpu {

UploadRing::UploadRing(Device& device) : device_(device) {
    try {
        for (Chunk& chunk : chunks_) {
            chunk.stream = device.make_stream();
            chunk.memory = static_cast<uint8_t*>(device.pin(kChunkBytes + base::kBufferSlack));
        }
    } catch (...) {
        for (const Chunk& chunk : chunks_) device_.unpin(chunk.memory);
        throw;
    }
}

UploadRing::~UploadRing() {
    try {
        wait();
    } catch (...) {
        // The device is lost, and copies nothing.
    }
    for (const Chunk& chunk : chunks_) device_.unpin(chunk.memory);
}

UploadRing::Chunk& UploadRing::next() {
    Chunk& chunk = chunks_[next_];
    next_ = (next_ + 1) % kChunks;
    chunk.stream->wait();
    return chunk;
}

void UploadRing::wait() {
    for (const Chunk& chunk : chunks_) chunk.stream->wait();
}

std::unique_ptr<UploadRing> UploadRings::take() {
    {
        const std::scoped_lock lock(mutex_);
        if (!rings_.empty()) {
            std::unique_ptr<UploadRing> ring = std::move(rings_.back());
            rings_.pop_back();
            return ring;
        }
    }
    return std::make_unique<UploadRing>(device_);
}

void UploadRings::put_back(std::unique_ptr<UploadRing> ring) noexcept {
    try {
        const std::scoped_lock lock(mutex_);
        rings_.push_back(std::move(ring));
    } catch (const std::bad_alloc&) {
        // Then it is gone.
    }
}

uint8_t* Upload::room(uint64_t bytes) {
    if (chunk_ != nullptr && bytes > UploadRing::kChunkBytes - filled_) flush();
    if (chunk_ == nullptr) chunk_ = &ring_.next();
    return chunk_->memory + filled_;
}

void Upload::put(base::ByteSpan bytes) {
    while (!bytes.empty()) {
        const auto part = static_cast<size_t>(std::min<uint64_t>(
            bytes.size(), filled_ < UploadRing::kChunkBytes ? UploadRing::kChunkBytes - filled_
                                                            : UploadRing::kChunkBytes));
        std::memcpy(room(part), bytes.data(), part);
        filled(part);
        bytes = bytes.subspan(part);
    }
}

void Upload::flush() {
    if (chunk_ == nullptr) return;
    chunk_->stream->upload(to_, chunk_->memory, filled_);
    to_ += filled_;
    filled_ = 0;
    chunk_ = nullptr;
}

}  // namespace loom::gpu
