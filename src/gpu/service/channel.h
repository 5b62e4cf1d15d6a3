#pragma once
// Frames on a local stream socket.

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "gpu/service/message.h"

namespace loom::gpu {

struct Frame {
    FrameKind kind = FrameKind::kDeclined;
    std::string body;
};

/// A connected socket with an owner. Writing is for several threads, reading for one.
class Channel {
  public:
    explicit Channel(int descriptor) noexcept : descriptor_(descriptor) {}
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    /// Writes a frame. Returns false if the other side is gone or takes nothing for `patience`.
    bool write(FrameKind kind, std::string_view body, std::chrono::milliseconds patience);

    enum class Got : uint8_t { kFrame, kEnd, kSilence };
    /// Reads a frame. kEnd: the other side is gone, or what it sends is no frame of this build.
    /// kSilence: it sent nothing for `patience`. `waiting` is called several times a second
    /// meanwhile and may throw.
    Got read(Frame& frame, std::chrono::milliseconds patience,
             const std::function<void()>& waiting);

    /// Whether the other side has closed its end.
    bool is_closed() const noexcept;
    /// Ends reads and writes of all threads.
    void shut() noexcept;

  private:
    Got receive(void* to, size_t bytes, std::chrono::milliseconds patience,
                const std::function<void()>& waiting);

    int descriptor_;
    std::mutex writing_;
};

/// Returns a socket that listens at `path`, which is replaced if it is a socket; only this account
/// may connect. Raises kIo.
int listen_at(const std::string& path);
/// Returns a socket connected to the one at `path`, or -1.
int connect_to(const std::string& path) noexcept;

}  // namespace loom::gpu
