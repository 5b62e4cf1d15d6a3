#include "gpu/driver/image_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace loom::gpu {

namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'l', 'o', 'o', 'm', 'i', 'm', 'g', '1'};
constexpr std::string_view kSuffix = ".image";
constexpr std::string_view kTemporary = ".part";
// A file that some process did not come to rename is nobody's after that time.
constexpr time_t kTemporarySeconds = 600;

struct FileHeader {
    char magic[8];
    ImageKey key;
    uint64_t bytes;  // of the image, which follows
    ImageKey sum;    // of the image
};
static_assert(sizeof(FileHeader) == 48);

class Descriptor {
  public:
    explicit Descriptor(int number) noexcept : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const noexcept { return number_; }

  private:
    int number_;
};

bool read_all(int descriptor, void* to, size_t bytes) {
    auto* at = static_cast<uint8_t*>(to);
    while (bytes != 0) {
        const ssize_t got = ::read(descriptor, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= static_cast<size_t>(got);
    }
    return true;
}

bool write_all(int descriptor, const void* from, size_t bytes) {
    const auto* at = static_cast<const uint8_t*>(from);
    while (bytes != 0) {
        const ssize_t put = ::write(descriptor, at, bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        bytes -= static_cast<size_t>(put);
    }
    return true;
}

// Why a folder may not be trusted with code.
std::string problem_of(const std::string& folder) {
    std::error_code error;
    fs::create_directories(fs::path(folder).parent_path(), error);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return fmt::format("could not create \"{}\": {}", folder, std::strerror(errno));
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0)
        return fmt::format("could not look at \"{}\": {}", folder, std::strerror(errno));
    if (!S_ISDIR(status.st_mode)) return fmt::format("\"{}\" is no directory", folder);
    if (status.st_uid != ::geteuid()) return fmt::format("\"{}\" is somebody else's", folder);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fmt::format("others may write to \"{}\"", folder);
    return {};
}

// Reads what follows a good header, if it is what that says.
std::optional<std::string> read_image(int descriptor, const ImageKey& key, uint64_t limit) {
    struct stat status {};
    FileHeader header{};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (!read_all(descriptor, &header, sizeof header)) return std::nullopt;
    const auto size = static_cast<uint64_t>(status.st_size);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || !(header.key == key) ||
        header.bytes > limit || header.bytes + sizeof header != size)
        return std::nullopt;
    std::string image(header.bytes, 0);
    if (!read_all(descriptor, image.data(), image.size())) return std::nullopt;
    if (!(key_of(base::as_bytes(image)) == header.sum)) return std::nullopt;
    return image;
}

}  // namespace

ImageKey key_of(base::ByteSpan bytes) noexcept {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.low64, hash.high64};
}

ImageStore::ImageStore(std::string folder, uint64_t limit)
    : folder_(std::move(folder)), limit_(limit) {
    while (folder_.size() > 1 && folder_.back() == '/') folder_.pop_back();
    problem_ = folder_.empty() ? "no folder is given" : problem_of(folder_);
}

std::string ImageStore::path(const ImageKey& key) const {
    return fmt::format("{}/{:016x}{:016x}{}", folder_, key.high, key.low, kSuffix);
}

std::optional<std::string> ImageStore::read(const ImageKey& key, uint64_t* damaged) {
    if (!problem_.empty()) return std::nullopt;
    const Descriptor file(::open(path(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (file.number() < 0) return std::nullopt;
    std::optional<std::string> image = read_image(file.number(), key, limit_);
    if (image) {
        ::futimens(file.number(), nullptr);
    } else {
        ++*damaged;
        remove(key);
    }
    return image;
}

void ImageStore::write(const ImageKey& key, base::ByteSpan image) {
    static std::atomic<uint64_t> number{0};
    if (!problem_.empty() || image.size() + sizeof(FileHeader) > limit_) return;
    FileHeader header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.key = key;
    header.bytes = image.size();
    header.sum = key_of(image);

    const std::string name = path(key);
    const std::string temporary =
        fmt::format("{}/{}.{}{}", folder_, ::getpid(), number.fetch_add(1), kTemporary);
    bool whole = false;
    {
        const Descriptor file(
            ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (file.number() < 0) return;
        whole = write_all(file.number(), &header, sizeof header) &&
                write_all(file.number(), image.data(), image.size());
    }
    // Not forced to disk: what a crash leaves of it does not verify.
    if (!whole || ::rename(temporary.c_str(), name.c_str()) != 0) ::unlink(temporary.c_str());
    trim();
}

void ImageStore::remove(const ImageKey& key) {
    if (problem_.empty()) ::unlink(path(key).c_str());
}

void ImageStore::trim() {
    struct Found {
        std::string path;
        uint64_t bytes;
        timespec used;
    };
    std::vector<Found> files;
    uint64_t total = 0;
    std::error_code error;
    for (auto at = fs::directory_iterator(folder_, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
        const std::string path = at->path().string();
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        if (path.ends_with(kTemporary)) {
            if (status.st_mtim.tv_sec + kTemporarySeconds < ::time(nullptr)) ::unlink(path.c_str());
        } else if (path.ends_with(kSuffix)) {
            files.push_back({path, static_cast<uint64_t>(status.st_size), status.st_mtim});
            total += files.back().bytes;
        }
    }
    std::sort(files.begin(), files.end(), [](const Found& a, const Found& b) {
        return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    for (const Found& file : files) {
        if (total <= limit_) return;
        ::unlink(file.path.c_str());
        total -= file.bytes;
    }
}

}  // namespace loom::gpu
