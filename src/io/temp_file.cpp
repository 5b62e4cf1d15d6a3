#include "io/temp_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace loom::io {

namespace {

using base::ErrorKind;

constexpr int kMode = 0600;
constexpr int kDirectoryMode = 0700;

// Creates a file that nothing names any more; -1 and errno if that fails.
int create_nameless(const std::string& directory, const std::string& prefix, uint64_t number) {
    const int flags = O_RDWR | O_CLOEXEC;
    int descriptor = open(directory.c_str(), flags | O_TMPFILE, kMode);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
    // A file system without nameless files.
    const std::string path = fmt::format("{}/{}.loom.{}", directory, prefix, number);
    descriptor = open(path.c_str(), flags | O_CREAT | O_EXCL, kMode);
    if (descriptor >= 0) unlink(path.c_str());
    return descriptor;
}

}  // namespace

TempFile::TempFile(TempSpace& space) : space_(space) {
    if (space.directories.empty())
        base::raise(ErrorKind::kMemory, "there is no place for temporary files");
    const uint64_t number = space.files.fetch_add(1, std::memory_order_relaxed);
    const std::string& directory = space.directories[number % space.directories.size()];
    descriptor_ = create_nameless(directory, space.name_prefix, number);
    if (descriptor_ < 0 && errno == ENOENT) {
        mkdir(directory.c_str(), kDirectoryMode);
        descriptor_ = create_nameless(directory, space.name_prefix, number);
    }
    if (descriptor_ < 0)
        base::raise(errno == EACCES || errno == EPERM ? ErrorKind::kDenied : ErrorKind::kIo,
                    "could not create a temporary file in \"{}\": {}", directory,
                    std::strerror(errno));
}

TempFile::~TempFile() {
    if (descriptor_ >= 0) close(descriptor_);
    space_.used.fetch_sub(size_, std::memory_order_relaxed);
}

uint64_t TempFile::append(std::span<const uint8_t> bytes) {
    const uint64_t used = space_.used.fetch_add(bytes.size(), std::memory_order_relaxed);
    if (used + bytes.size() > space_.limit) {
        space_.used.fetch_sub(bytes.size(), std::memory_order_relaxed);
        // PostgreSQL's own words for this limit.
        base::raise(ErrorKind::kTempSpace, "temporary file size exceeds temp_file_limit ({}kB)",
                    space_.limit / 1024);
    }
    const uint64_t begin = size_;
    size_ += bytes.size();
    space_.total.fetch_add(bytes.size(), std::memory_order_relaxed);
    uint64_t offset = begin;
    while (!bytes.empty()) {
        const ssize_t written =
            pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            base::raise(ErrorKind::kIo, "could not write to a temporary file: {}",
                        std::strerror(written < 0 ? errno : ENOSPC));
        bytes = bytes.subspan(static_cast<size_t>(written));
        offset += static_cast<uint64_t>(written);
    }
    return begin;
}

void TempFile::read_at(uint64_t offset, std::span<uint8_t> out) const {
    while (!out.empty()) {
        const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            base::raise(ErrorKind::kIo, "could not read from a temporary file: {}",
                        std::strerror(errno));
        if (got == 0) base::raise(ErrorKind::kIo, "a temporary file is shorter than it was");
        out = out.subspan(static_cast<size_t>(got));
        offset += static_cast<uint64_t>(got);
    }
}

}  // namespace loom::io
