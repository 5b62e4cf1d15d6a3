// Local files with pread, and in-memory stand-ins.

#include <cerrno>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "io/mapped_region.h"

namespace loom::io {

namespace {

using base::ErrorKind;

[[noreturn]] void raise_errno(const char* action, const std::string& path, int error) {
    ErrorKind kind = error == ENOENT || error == ENOTDIR ? ErrorKind::kMissing
                     : error == EACCES || error == EPERM ? ErrorKind::kDenied
                                                         : ErrorKind::kIo;
    base::raise(kind, "could not {} file \"{}\": {}", action, path, std::strerror(error));
}

FileIdentity identity_of(const struct stat& st) {
    return {st.st_dev, st.st_ino, static_cast<uint64_t>(st.st_size),
            st.st_mtim.tv_sec * 1'000'000'000LL + st.st_mtim.tv_nsec,
            st.st_ctim.tv_sec * 1'000'000'000LL + st.st_ctim.tv_nsec};
}

class LocalFile final : public File {
  public:
    LocalFile(int descriptor, std::string path) : descriptor_(descriptor) {
        path_ = std::move(path);
        struct stat st;
        if (fstat(descriptor_, &st) != 0) fail("read the state of");
        if (!S_ISREG(st.st_mode)) {
            close(descriptor_);
            base::raise(ErrorKind::kIo, "\"{}\" is not a regular file", path_);
        }
        identity_ = identity_of(st);
    }
    LocalFile(const LocalFile&) = delete;
    LocalFile& operator=(const LocalFile&) = delete;
    ~LocalFile() override { close(descriptor_); }

    void read_at(uint64_t offset, std::span<uint8_t> out) override {
        if (offset > size() || out.size() > size() - offset)
            base::corrupt("{} bytes at offset {} lie outside the file's {} bytes", out.size(),
                          offset, size());
        size_t done = 0;
        while (done < out.size()) {
            ssize_t n = pread(descriptor_, out.data() + done, out.size() - done,
                              static_cast<off_t>(offset + done));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) raise_errno("read", path_, errno);
            if (n == 0)
                base::raise(ErrorKind::kChanged, "file \"{}\" was truncated while it was read",
                            path_);
            done += static_cast<size_t>(n);
        }
        count_mapped(out.size());
    }

    int descriptor() const noexcept override { return descriptor_; }

    base::ByteSpan map() override {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!tried_) {
            tried_ = true;
            region_.map(descriptor_, size());
        }
        if (region_.data() == nullptr) return {};
        return {region_.data(), region_.size()};
    }
    void check_mapping() const override {
        if (region_.damaged())
            base::raise(ErrorKind::kChanged, "file \"{}\" was truncated while it was read", path_);
    }

  private:
    [[noreturn]] void fail(const char* action) {
        int error = errno;
        close(descriptor_);
        raise_errno(action, path_, error);
    }

    int descriptor_;
    std::mutex mutex_;
    bool tried_ = false;
    MappedRegion region_;
};

class MemoryFile final : public File {
  public:
    MemoryFile(std::string name, std::string bytes) : bytes_(std::move(bytes)) {
        path_ = std::move(name);
        identity_.size = bytes_.size();
    }
    void read_at(uint64_t offset, std::span<uint8_t> out) override {
        base::ByteSpan from =
            base::checked_slice(base::as_bytes(bytes_), offset, out.size(), "read");
        if (!out.empty()) std::memcpy(out.data(), from.data(), out.size());
        count_mapped(out.size());
    }
    base::ByteSpan map() override { return base::as_bytes(bytes_); }

  private:
    std::string bytes_;
};

class LocalSink final : public Sink {
  public:
    explicit LocalSink(std::string path) : path_(std::move(path)), temporary_(path_ + ".tmp") {
        descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (descriptor_ < 0) raise_errno("create", temporary_, errno);
    }
    LocalSink(const LocalSink&) = delete;
    LocalSink& operator=(const LocalSink&) = delete;
    ~LocalSink() override {
        if (descriptor_ < 0) return;
        ::close(descriptor_);
        unlink(temporary_.c_str());
    }
    void write(base::ByteSpan bytes) override {
        position_ += bytes.size();
        while (!bytes.empty()) {
            ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) raise_errno("write", temporary_, errno);
            bytes = bytes.subspan(static_cast<size_t>(n));
        }
    }
    void close() override {
        int descriptor = descriptor_;
        descriptor_ = -1;
        if (::close(descriptor) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) {
            int error = errno;
            unlink(temporary_.c_str());
            raise_errno("write", path_, error);
        }
    }

  private:
    std::string path_;
    std::string temporary_;
    int descriptor_;
};

class MemorySink final : public Sink {
  public:
    explicit MemorySink(std::string* out) : out_(out) {}
    void write(base::ByteSpan bytes) override {
        out_->append(base::as_text(bytes));
        position_ += bytes.size();
    }
    void close() override {}

  private:
    std::string* out_;
};

}  // namespace

std::shared_ptr<File> open_local_file(const std::string& path) {
    // O_NONBLOCK: a FIFO must not hang the server; it is refused right after as not regular.
    int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) raise_errno("open", path, errno);
    return std::make_shared<LocalFile>(descriptor, path);
}

std::shared_ptr<File> open_local_file(int descriptor, const std::string& path) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) raise_errno("open", path, errno);
    return std::make_shared<LocalFile>(copy, path);
}

FileIdentity stat_local_file(const std::string& path) {
    struct stat st;
    if (stat(path.c_str(), &st) != 0) raise_errno("open", path, errno);
    if (!S_ISREG(st.st_mode)) base::raise(ErrorKind::kIo, "\"{}\" is not a regular file", path);
    return identity_of(st);
}

std::shared_ptr<File> memory_file(std::string name, std::string bytes) {
    return std::make_shared<MemoryFile>(std::move(name), std::move(bytes));
}

std::unique_ptr<Sink> create_local_file(const std::string& path) {
    return std::make_unique<LocalSink>(path);
}

std::unique_ptr<Sink> memory_sink(std::string* out) {
    return std::make_unique<MemorySink>(out);
}

}  // namespace loom::io
