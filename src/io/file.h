#pragma once
// Files as readers see them: a version that stays the same, positioned reads, counted bytes.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/bytes.h"

namespace loom::io {

/// Tells one version of a file from another.
struct FileIdentity {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t size = 0;
    int64_t mtime_ns = 0;
    int64_t ctime_ns = 0;
    bool operator==(const FileIdentity&) const = default;

    /// Compares without ctime, which also changes when another file is renamed over the path.
    bool same_content(const FileIdentity& other) const noexcept {
        return device == other.device && inode == other.inode && size == other.size &&
               mtime_ns == other.mtime_ns;
    }
};

/// What a reader has found out about a file and leaves with it for the next one that reads it.
class FileNote {
  public:
    virtual ~FileNote() = default;
    /// Returns the memory that it takes.
    virtual uint64_t bytes() const noexcept = 0;
};

/// An open file. Thread safe. The descriptor is kept, so a rename over the path changes nothing
/// here.
class File {
  public:
    virtual ~File() = default;

    const std::string& path() const noexcept { return path_; }
    uint64_t size() const noexcept { return identity_.size; }
    const FileIdentity& identity() const noexcept { return identity_; }

    /// Reads exactly out.size() bytes at `offset`. Raises kCorrupt if the range lies outside the
    /// size known at open, kChanged if the file has become shorter since, kIo on other failures.
    virtual void read_at(uint64_t offset, std::span<uint8_t> out) = 0;

    /// Returns the whole file as memory, or an empty span if it can't be mapped. Pages that vanish
    /// when somebody truncates the file read as zeros; check_mapping() then raises kChanged, so
    /// call it after using mapped bytes and before trusting what was computed from them.
    virtual base::ByteSpan map() { return {}; }
    virtual void check_mapping() const {}

    /// Returns the descriptor, or -1 if there is none. It stays the file's.
    virtual int descriptor() const noexcept { return -1; }

    /// Keeps a note as long as the file is open, or until another one or none comes in its place.
    /// A note may refer to the file, and must not own it.
    void keep_note(std::shared_ptr<const FileNote> note) {
        const std::scoped_lock lock(note_mutex_);
        note_.swap(note);
    }
    std::shared_ptr<const FileNote> note() const {
        const std::scoped_lock lock(note_mutex_);
        return note_;
    }

    /// Adds to the count of data bytes that a reader took from the mapping.
    void count_mapped(uint64_t bytes) noexcept {
        bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
    }
    /// Returns the bytes read so far, by read_at and count_mapped.
    uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }

  protected:
    std::string path_;
    FileIdentity identity_;
    std::atomic<uint64_t> bytes_read_{0};

  private:
    mutable std::mutex note_mutex_;
    std::shared_ptr<const FileNote> note_;
};

/// Opens a regular local file for reading. Raises kMissing, kDenied or kIo with the path; a
/// directory or a device is kIo.
std::shared_ptr<File> open_local_file(const std::string& path);

/// As open_local_file, through an already open descriptor that is duplicated (`path` is for
/// messages).
std::shared_ptr<File> open_local_file(int descriptor, const std::string& path);

/// Returns the identity of a path without opening it. Raises as open_local_file does.
FileIdentity stat_local_file(const std::string& path);

/// Keeps bytes in memory and presents them as a file; for tests and fuzzers.
std::shared_ptr<File> memory_file(std::string name, std::string bytes);

/// Where writers put bytes, front to back.
class Sink {
  public:
    virtual ~Sink() = default;
    virtual void write(base::ByteSpan bytes) = 0;
    /// Flushes to the operating system and closes. Raises kIo. No write may follow.
    virtual void close() = 0;
    uint64_t position() const noexcept { return position_; }

  protected:
    uint64_t position_ = 0;
};

/// Writes to `path` + ".tmp" and renames to `path` in close(); an unclosed sink removes its file.
std::unique_ptr<Sink> create_local_file(const std::string& path);

/// Appends to `*out`, which must outlive the sink.
std::unique_ptr<Sink> memory_sink(std::string* out);

}  // namespace loom::io
