#include "io/file_cache.h"

#include <algorithm>

#include <unistd.h>

namespace loom::io {

namespace {

// Whether a kept file is still what the path names, readable, and whole.
bool is_current(const File& file) {
    if (access(file.path().c_str(), R_OK) != 0) return false;
    if (!(file.identity() == stat_local_file(file.path()))) return false;
    try {
        file.check_mapping();
    } catch (const base::Error&) {
        return false;
    }
    return true;
}

}  // namespace

std::shared_ptr<File> FileCache::open(const std::string& path, size_t limit) {
    std::shared_ptr<File> file;
    const auto known = std::find_if(files_.begin(), files_.end(),
                                    [&](const auto& kept) { return kept->path() == path; });
    if (known != files_.end()) {
        // Let go first: a file that is gone must not be kept alive here.
        file = std::move(*known);
        files_.erase(known);
        if (!is_current(*file)) file.reset();
    }
    if (file == nullptr) file = open_local_file(path);
    if (limit > 0) files_.push_front(file);
    while (files_.size() > limit) files_.pop_back();
    limit_notes();
    return file;
}

// Those of the files that were used last stay.
void FileCache::limit_notes() {
    uint64_t sum = 0;
    for (const auto& file : files_) {
        const std::shared_ptr<const FileNote> note = file->note();
        if (note == nullptr) continue;
        sum += note->bytes();
        if (sum > kMostNotes) file->keep_note(nullptr);
    }
}

}  // namespace loom::io
