// Files that lie, and files that end early: an Error, never anything else.

#include <gtest/gtest.h>

#include <unistd.h>

#include "format/arrow/reader.h"
#include "format/arrow/test_columns.h"
#include "format/arrow/writer.h"

namespace loom::arrow {

using column::make_type;
using column::TypeId;

namespace {

std::string sample(bool stream, codec::Codec codec) {
    column::Schema schema;
    auto add = [&](const char* name, column::TypePtr type, column::Storage storage, int width) {
        column::Field field;
        field.name = name;
        field.type = std::move(type);
        field.storage = storage;
        field.dictionary_index_width = static_cast<uint8_t>(width);
        schema.fields.push_back(std::move(field));
    };
    using column::Storage;
    column::Field item;
    item.name = "item";
    item.type = make_type(TypeId::kUtf8);
    add("i", make_type(TypeId::kInt32), Storage::kDefault, 0);
    add("s", make_type(TypeId::kUtf8), Storage::kDefault, 0);
    add("v", make_type(TypeId::kUtf8), Storage::kView, 0);
    add("d", make_type(TypeId::kUtf8), Storage::kDefault, 4);
    add("r", make_type(TypeId::kInt32), Storage::kRunEnd, 0);
    add("l", column::make_list(item), Storage::kView, 0);
    std::vector<column::Column> columns;
    for (const column::Field& field : schema.fields)
        columns.push_back(testing::random_column(field.type, 60, 0.2, 3));
    std::string bytes;
    WriterOptions options;
    options.stream = stream;
    options.codec = codec;
    options.record_batch_rows = 40;
    Writer writer(schema, options, io::memory_sink(&bytes));
    std::vector<column::ColumnView> views;
    for (column::Column& c : columns) views.push_back(c.view());
    writer.write(views, 60);
    writer.finish();
    return bytes;
}

// Reads everything; returns the error's text, or "" if there was none.
std::string read_all(std::string bytes) {
    base::MemoryBudget budget(64 << 20);
    std::string message;
    try {
        auto table = open(io::memory_file("t", std::move(bytes)), {.budget = &budget});
        std::vector<std::string> rows;
        for (int64_t group = 0; group < table->row_group_count(); ++group) {
            for (size_t i = 0; i < table->schema().fields.size(); ++i) {
                table->statistics(group, static_cast<int>(i));
                auto reader = table->open_column(group, static_cast<int>(i), {});
                const int64_t count = std::min<int64_t>(table->row_group_rows(group), 4096);
                testing::append_rows(reader->read(0, count), rows);
            }
        }
    } catch (const base::Error& error) {
        EXPECT_NE(error.kind(), base::ErrorKind::kBug) << error.what();
        message = error.what();
    }
    EXPECT_EQ(budget.used(), 0U);
    return message;
}

TEST(Hostile, EveryTruncationIsNoticed) {
    for (codec::Codec codec : {codec::Codec::kNone, codec::Codec::kLz4Frame}) {
        const std::string file = sample(false, codec);
        ASSERT_EQ(read_all(file), "");
        for (size_t length = 0; length < file.size(); length += 7)
            EXPECT_NE(read_all(file.substr(0, length)), "") << length;
    }
    // A stream may end between two messages, so only some truncations are errors.
    const std::string stream = sample(true, codec::Codec::kNone);
    for (size_t length = 0; length < stream.size(); length += 7) read_all(stream.substr(0, length));
}

TEST(Hostile, EveryFlippedByteIsSurvived) {
    for (bool stream : {false, true}) {
        for (codec::Codec codec : {codec::Codec::kNone, codec::Codec::kZstd}) {
            const std::string good = sample(stream, codec);
            for (size_t i = 0; i < good.size(); i += 3) {
                std::string bad = good;
                bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
                read_all(bad);
                bad[i] = '\xFF';
                read_all(bad);
            }
        }
    }
}

TEST(Hostile, ErrorsNameThePlace) {
    std::string file = sample(false, codec::Codec::kNone);
    auto table = open(io::memory_file("t", file), {});
    const auto chunks = table->chunks(1);
    const format::ChunkInfo& indices = chunks[3];
    ASSERT_EQ(indices.path, "d");
    // The indices lie behind the validity bitmap; make the last rows refer far beyond the
    // dictionary.
    std::fill_n(file.begin() + static_cast<int64_t>(indices.offset) + 64, 80, '\x7F');
    const std::string message = read_all(file);
    EXPECT_NE(message.find("file \"t\", record batch 1, column \"d\""), std::string::npos)
        << message;
}

TEST(Hostile, OffsetsOfAnySizeAreSurvived) {
    // Found by fuzzing: 64-bit offsets so far apart that their difference overflows.
    column::Schema schema;
    column::Field field;
    field.name = "s";
    field.type = make_type(TypeId::kBinary);
    field.storage = column::Storage::kLarge;
    schema.fields = {field};
    auto data = testing::random_column(field.type, 4, 0, 1);
    std::string bytes;
    Writer writer(schema, {}, io::memory_sink(&bytes));
    const column::ColumnView view = data.view();
    writer.write({&view, 1}, 4);
    writer.finish();
    const auto offset = open(io::memory_file("t", bytes), {})->chunks(0)[0].offset;
    for (int64_t first : {INT64_MIN, int64_t{-1}, INT64_MAX, int64_t{0}})
        for (int64_t second : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
            std::string bad = bytes;
            base::store(bad.data() + offset, first);
            base::store(bad.data() + offset + 8, second);
            EXPECT_NE(read_all(bad), "");
        }
}

TEST(Hostile, TruncationWhileReadingIsNoticed) {
    const std::string path = ::testing::TempDir() + "loom_truncated.arrow";
    const std::string bytes = sample(false, codec::Codec::kNone);
    auto sink = io::create_local_file(path);
    sink->write(base::as_bytes(bytes));
    sink->close();
    auto table = open(io::open_local_file(path), {});
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    try {
        std::vector<std::string> rows;
        testing::append_rows(table->open_column(0, 1, {})->read(0, 40), rows);
        ADD_FAILURE() << "a truncated file was read";
    } catch (const base::Error& error) {
        EXPECT_TRUE(error.kind() == base::ErrorKind::kChanged ||
                    error.kind() == base::ErrorKind::kCorrupt)
            << error.what();
    }
    unlink(path.c_str());
}

/// A file that cannot be mapped, as object stores will be.
class UnmappedFile final : public io::File {
  public:
    explicit UnmappedFile(std::string bytes)
        : file_(io::memory_file("unmapped", std::move(bytes))) {
        path_ = "unmapped";
        identity_.size = file_->size();
    }
    void read_at(uint64_t offset, std::span<uint8_t> out) override {
        file_->read_at(offset, out);
        count_mapped(out.size());
    }

  private:
    std::shared_ptr<io::File> file_;
};

TEST(Reader, WorksWithoutMapping) {
    for (bool stream : {false, true}) {
        for (codec::Codec codec : {codec::Codec::kNone, codec::Codec::kZstd}) {
            const std::string bytes = sample(stream, codec);
            auto mapped = open(io::memory_file("mapped", bytes), {});
            auto unmapped = open(std::make_shared<UnmappedFile>(bytes), {});
            for (int column = 0; column < 6; ++column) {
                std::vector<std::string> a, b;
                testing::append_rows(mapped->open_column(1, column, {})->read(0, 20), a);
                testing::append_rows(unmapped->open_column(1, column, {})->read(0, 20), b);
                EXPECT_EQ(a, b);
            }
        }
    }
}

TEST(Reader, CountsTheBuffersOfTheColumnsThatAreRead) {
    auto table = open(io::memory_file("t", sample(false, codec::Codec::kNone)), {});
    const uint64_t before = table->file().bytes_read();
    auto reader = table->open_column(0, 1, {});
    reader->read(0, 20);
    reader->read(20, 20);
    EXPECT_EQ(table->file().bytes_read() - before, table->column_bytes(0, 1));
    EXPECT_EQ(reader->profile().bytes_read, table->column_bytes(0, 1));
}

TEST(Hostile, ForeignFormatsAreRefused) {
    EXPECT_NE(read_all(""), "");
    EXPECT_NE(read_all("FEA1xxxxxxxxxxxxxxxx").find("Feather"), std::string::npos);
    EXPECT_NE(read_all(std::string("ARROW1\0\0ARROW1", 14)), "");
}

}  // namespace

}  // namespace loom::arrow
