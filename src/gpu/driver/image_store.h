#pragma once
// Compiled kernels on disk: one file an image, named by its key.

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace loom::gpu {

/// What an image is known by: 128 bits of a hash of all that it was made from.
struct ImageKey {
    uint64_t low = 0;
    uint64_t high = 0;
    bool operator==(const ImageKey&) const = default;
};

/// Returns the key of `bytes`, by XXH3.
ImageKey key_of(base::ByteSpan bytes) noexcept;

/// A folder of images. Several threads and processes may use one: files appear whole, and those
/// that do not verify count as missing. Nothing raises: without the folder, images are made anew.
class ImageStore {
  public:
    /// Creates the folder, for this user alone. One that others may write to is not used, since
    /// images are code; neither is the name "". `limit` bounds the bytes of all files.
    ImageStore(std::string folder, uint64_t limit);

    /// Why the folder is not used; empty if it is.
    const std::string& problem() const noexcept { return problem_; }

    /// Returns an image and marks it as used now. A file that does not verify is removed, and
    /// counted in `*damaged`.
    std::optional<std::string> read(const ImageKey& key, uint64_t* damaged);
    /// Keeps an image, and removes those whose last use is longest ago if there are too many bytes.
    void write(const ImageKey& key, base::ByteSpan image);
    void remove(const ImageKey& key);

  private:
    std::string path(const ImageKey& key) const;
    void trim();

    std::string folder_;
    uint64_t limit_;
    std::string problem_;
};

}  // namespace loom::gpu
