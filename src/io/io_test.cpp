#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/file.h"
#include "io/file_cache.h"

namespace loom::io {
namespace {

std::string scratch_path(const char* name) {
    return testing::TempDir() + "loom_io_" + std::to_string(getpid()) + "_" + name;
}

std::string kind_message(const std::string& path) {
    try {
        open_local_file(path);
    } catch (const base::Error& error) {
        return error.what();
    }
    return "opened";
}

TEST(LocalFile, ReadsWhatASinkWroteAndCountsIt) {
    std::string path = scratch_path("roundtrip");
    auto sink = create_local_file(path);
    sink->write(base::as_bytes("hello world"));
    EXPECT_EQ(sink->position(), 11U);
    sink->close();
    auto file = open_local_file(path);
    uint8_t bytes[5];
    file->read_at(6, bytes);
    EXPECT_EQ(base::as_text(bytes), "world");
    EXPECT_EQ(file->bytes_read(), 5U);
    EXPECT_THROW(file->read_at(8, bytes), base::Error);
    EXPECT_EQ(base::as_text(file->map()), "hello world");
    unlink(path.c_str());
}

TEST(LocalFile, KeepsItsVersionWhenThePathIsReplaced) {
    std::string path = scratch_path("replace");
    auto put = [&](const char* text) {
        auto sink = create_local_file(path);
        sink->write(base::as_bytes(text));
        sink->close();
    };
    put("old");
    auto file = open_local_file(path);
    put("new!");
    uint8_t bytes[3];
    file->read_at(0, bytes);
    EXPECT_EQ(base::as_text(bytes), "old");
    EXPECT_FALSE(stat_local_file(path) == file->identity());
    unlink(path.c_str());
}

TEST(LocalFile, SurvivesTruncationOfAMapping) {
    std::string path = scratch_path("truncate");
    auto sink = create_local_file(path);
    sink->write(base::as_bytes(std::string(100'000, 'x')));
    sink->close();
    auto file = open_local_file(path);
    base::ByteSpan bytes = file->map();
    ASSERT_EQ(bytes.size(), 100'000U);
    ASSERT_EQ(truncate(path.c_str(), 10), 0);
    volatile uint8_t lost = bytes[90'000];  // SIGBUS without the handler
    EXPECT_EQ(lost, 0);
    EXPECT_THROW(file->check_mapping(), base::Error);
    uint8_t out[4];
    EXPECT_THROW(file->read_at(50'000, out), base::Error);
    unlink(path.c_str());
}

TEST(LocalFile, NamesPathAndReason) {
    EXPECT_NE(kind_message("/nonexistent/x").find("No such file"), std::string::npos);
    EXPECT_NE(kind_message("/tmp").find("not a regular file"), std::string::npos);
}

TEST(LocalFile, AnUnclosedSinkLeavesNothing) {
    std::string path = scratch_path("unclosed");
    { create_local_file(path)->write(base::as_bytes("x")); }
    EXPECT_NE(access(path.c_str(), F_OK), 0);
    EXPECT_NE(access((path + ".tmp").c_str(), F_OK), 0);
}

TEST(FileCache, KeepsAFileUntilThePathNamesAnother) {
    const std::string path = scratch_path("cache");
    const auto put = [&](const std::string& text) {
        auto sink = create_local_file(path);
        sink->write(base::as_bytes(text));
        sink->close();
    };
    put("old");
    FileCache cache;
    const auto first = cache.open(path, 2);
    EXPECT_EQ(cache.open(path, 2), first);
    put("new one");
    const auto second = cache.open(path, 2);
    EXPECT_NE(second, first);
    EXPECT_EQ(base::as_text(second->map()), "new one");
    EXPECT_EQ(base::as_text(first->map()), "old");
    // A mapping that lost pages is not handed out again, even if the file looks the same.
    EXPECT_EQ(truncate(path.c_str(), 3), 0);
    EXPECT_NE(cache.open(path, 2), second);
    // With no room nothing is kept.
    EXPECT_NE(cache.open(path, 0), cache.open(path, 0));
    EXPECT_EQ(cache.size(), 0U);
    // Nor is a file that is gone kept alive.
    const std::weak_ptr<File> gone = cache.open(path, 2);
    unlink(path.c_str());
    EXPECT_THROW(cache.open(path, 2), base::Error);
    EXPECT_TRUE(gone.expired());
}

TEST(FileCache, LetsGoOfTheFileUsedLongestAgo) {
    const std::string paths[] = {scratch_path("a"), scratch_path("b"), scratch_path("c")};
    for (const std::string& path : paths) {
        auto sink = create_local_file(path);
        sink->write(base::as_bytes(path));
        sink->close();
    }
    FileCache cache;
    const auto a = cache.open(paths[0], 2);
    const auto b = cache.open(paths[1], 2);
    EXPECT_EQ(cache.open(paths[0], 2), a);
    cache.open(paths[2], 2);
    EXPECT_EQ(cache.size(), 2U);
    EXPECT_EQ(cache.open(paths[0], 2), a);
    EXPECT_NE(cache.open(paths[1], 2), b);
    for (const std::string& path : paths) unlink(path.c_str());
}

TEST(FileCache, KeepsNotesOfTheFilesUsedLast) {
    struct Note final : FileNote {
        uint64_t bytes() const noexcept override { return FileCache::kMostNotes / 2; }
    };
    const std::string paths[] = {scratch_path("a"), scratch_path("b"), scratch_path("c")};
    FileCache cache;
    for (const std::string& path : paths) {
        auto sink = create_local_file(path);
        sink->write(base::as_bytes(path));
        sink->close();
        cache.open(path, 3)->keep_note(std::make_shared<Note>());
    }
    const auto b = cache.open(paths[1], 3);
    EXPECT_NE(b->note(), nullptr);
    EXPECT_NE(cache.open(paths[2], 3)->note(), nullptr);
    EXPECT_EQ(cache.open(paths[0], 3)->note(), nullptr);
    EXPECT_NE(b->note(), nullptr);
    b->keep_note(nullptr);
    EXPECT_EQ(b->note(), nullptr);
    for (const std::string& path : paths) unlink(path.c_str());
}

}  // namespace
}  // namespace loom::io
