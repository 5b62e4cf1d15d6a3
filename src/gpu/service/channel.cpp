#include "gpu/service/channel.h"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace loom::gpu {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Before a frame's body. The version keeps builds apart: a server may be upgraded while the process
// of the old one still ends.
struct Header {
    char magic[8];
    char version[16];
    uint32_t kind;
    uint32_t unused;
    uint64_t bytes;
};
constexpr char kMagic[8] = {'l', 'o', 'o', 'm', 'g', 'p', 'u', '1'};
constexpr uint64_t kMostBytes = uint64_t{4} << 30;
// How long a wait goes without looking around.
constexpr milliseconds kLook{100};

Header header_of(FrameKind kind, uint64_t bytes) {
    Header header = {};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    std::strncpy(header.version, LOOM_VERSION, sizeof header.version - 1);
    header.kind = static_cast<uint32_t>(kind);
    header.bytes = bytes;
    return header;
}

bool is_ours(const Header& header) {
    const Header same = header_of(static_cast<FrameKind>(header.kind), header.bytes);
    return std::memcmp(&same, &header, sizeof header) == 0 && header.bytes <= kMostBytes &&
           header.kind <= static_cast<uint32_t>(FrameKind::kFacts);
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() < sizeof address.sun_path)
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

}  // namespace

Channel::~Channel() {
    ::close(descriptor_);
}

bool Channel::write(FrameKind kind, std::string_view body, milliseconds patience) {
    const std::scoped_lock lock(writing_);
    const Header header = header_of(kind, body.size());
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += body;
    size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t count = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent,
                                     MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            sent += static_cast<size_t>(count);
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
        pollfd waited{descriptor_, POLLOUT, 0};
        if (::poll(&waited, 1, static_cast<int>(patience.count())) == 0) return false;
    }
    return true;
}

Channel::Got Channel::receive(void* to, size_t bytes, milliseconds patience,
                              const std::function<void()>& waiting) {
    auto* place = static_cast<char*>(to);
    Clock::time_point until = Clock::now() + patience;
    while (bytes > 0) {
        const ssize_t count = ::recv(descriptor_, place, bytes, MSG_DONTWAIT);
        if (count == 0) return Got::kEnd;
        if (count > 0) {
            place += count;
            bytes -= static_cast<size_t>(count);
            until = Clock::now() + patience;
            continue;
        }
        if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) return Got::kEnd;
        waiting();
        if (Clock::now() >= until) return Got::kSilence;
        pollfd waited{descriptor_, POLLIN, 0};
        ::poll(&waited, 1, static_cast<int>(kLook.count()));
    }
    return Got::kFrame;
}

Channel::Got Channel::read(Frame& frame, milliseconds patience,
                           const std::function<void()>& waiting) {
    Header header;
    Got got = receive(&header, sizeof header, patience, waiting);
    if (got != Got::kFrame) return got;
    if (!is_ours(header)) return Got::kEnd;
    frame.kind = static_cast<FrameKind>(header.kind);
    frame.body.resize(header.bytes);
    return receive(frame.body.data(), frame.body.size(), patience, waiting);
}

bool Channel::is_closed() const noexcept {
    pollfd waited{descriptor_, POLLRDHUP, 0};
    return ::poll(&waited, 1, 0) > 0 && (waited.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void Channel::shut() noexcept {
    ::shutdown(descriptor_, SHUT_RDWR);
}

int listen_at(const std::string& path) {
    const sockaddr_un address = address_of(path);
    if (address.sun_path[0] == 0)
        base::raise(base::ErrorKind::kIo, "the path \"{}\" is too long for a socket", path);
    const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stat there = {};
    if (::lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) ::unlink(path.c_str());
    // A socket's rights are those that bind() leaves.
    const mode_t mask = ::umask(0177);
    const bool bound =
        made >= 0 &&
        ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(made, SOMAXCONN) == 0;
    const int problem = errno;
    ::umask(mask);
    if (bound) return made;
    if (made >= 0) ::close(made);
    base::raise(base::ErrorKind::kIo, "could not listen at \"{}\": {}", path, strerror(problem));
}

int connect_to(const std::string& path) noexcept {
    const sockaddr_un address = address_of(path);
    if (address.sun_path[0] == 0) return -1;
    // Not blocking: a process that stands still must not hold up those who come.
    const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return -1;
    if (::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        return made;
    ::close(made);
    return -1;
}

}  // namespace loom::gpu
