#pragma once
// Files that stay open, and mapped, from one query to the next.

#include <list>
#include <memory>
#include <string>

#include "io/file.h"

namespace loom::io {

/// Keeps the files that were opened last. What it hands out is always the version that the path has
/// now: a file that was replaced or changed is opened again. A mapping that is kept costs no page
/// faults the second time, and what readers have noted of a file need not be found out again. Not
/// thread safe.
class FileCache {
  public:
    /// As much may notes of the files that are kept take together.
    static constexpr uint64_t kMostNotes = uint64_t{64} << 20;

    /// Returns the local file at `path`, keeping at most `limit` files afterwards; with 0 the file
    /// is opened afresh. Raises as open_local_file does.
    std::shared_ptr<File> open(const std::string& path, size_t limit);

    size_t size() const noexcept { return files_.size(); }

  private:
    void limit_notes();

    std::list<std::shared_ptr<File>> files_;  ///< used last first
};

}  // namespace loom::io
