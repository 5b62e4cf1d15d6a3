#pragma once
// Nameless files for what does not fit into memory.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace loom::io {

/// Where temporary files go, and how much may lie in them at once.
struct TempSpace {
    std::vector<std::string> directories;  ///< taken in turn; created if absent; none: no files
    std::string name_prefix;  ///< of a file in the moment between its creation and its unlinking
    uint64_t limit = UINT64_MAX;  ///< bytes over all files of this space

    std::atomic<uint64_t> used{0};   ///< bytes in files that exist now
    std::atomic<uint64_t> total{0};  ///< bytes ever written
    std::atomic<uint64_t> files{0};  ///< files ever made
};

/// A file without a name: it is gone with the descriptor, whatever happens to the process.
class TempFile {
  public:
    /// Creates one. Raises kIo, or kDenied, naming the directory.
    explicit TempFile(TempSpace& space);
    ~TempFile();
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;

    /// Writes at the end and returns the offset of the first byte. Raises kIo if the disk refuses
    /// and kLimit if the space's limit would be passed. One thread at a time.
    uint64_t append(std::span<const uint8_t> bytes);
    /// Reads exactly out.size() bytes. Thread safe.
    void read_at(uint64_t offset, std::span<uint8_t> out) const;

  private:
    TempSpace& space_;
    int descriptor_ = -1;
    uint64_t size_ = 0;
};

}  // namespace loom::io
