// Files made by the writer and by hand, read in all the ways the interface allows.

#include <random>

#include <gtest/gtest.h>

#include "column/column.h"
#include "format/parquet/reader.h"
#include "format/parquet/test/bytes.h"
#include "format/parquet/test/value_text.h"
#include "format/parquet/write/writer.h"

namespace loom::parquet::test {
namespace {

using column::Column;
using column::ColumnBuilder;
using column::Field;
using column::TypeId;

struct Table {
    column::Schema schema;
    std::vector<Column> columns;
    int64_t rows = 0;

    void add(std::string name, Column column) {
        Field field;
        field.name = std::move(name);
        field.type = column.type;
        schema.fields.push_back(field);
        rows = column.length;
        columns.push_back(std::move(column));
    }
    std::string write(WriterOptions options) {
        std::string bytes;
        std::vector<column::ColumnView> views;
        for (Column& column : columns) views.push_back(column.view());
        Writer writer(schema, std::move(options), io::memory_sink(&bytes));
        writer.write(views, rows);
        writer.finish();
        return bytes;
    }
};

// Integers, texts with few and many values, with NULLs, and lists of them.
Table sample_table(int64_t rows) {
    std::mt19937 random(11);
    ColumnBuilder sequence(column::make_type(TypeId::kInt64));
    ColumnBuilder few(column::make_type(TypeId::kUtf8));
    ColumnBuilder many(column::make_type(TypeId::kUtf8));
    ColumnBuilder flags(column::make_type(TypeId::kBool));
    ColumnBuilder decimals(column::make_decimal(25, 2));
    Field element;
    element.name = "element";
    element.type = column::make_type(TypeId::kInt32);
    ColumnBuilder lists(column::make_list(element));
    for (int64_t i = 0; i < rows; ++i) {
        sequence.append(i);
        i % 7 == 3 ? few.append_null() : few.append_bytes("value " + std::to_string(i / 500));
        i % 100 > 90 ? many.append_null() : many.append_bytes(std::to_string(random()));
        i % 5 == 0 ? flags.append_null() : flags.append_bool(random() % 2 == 0);
        decimals.append(static_cast<__int128>(i) * -1'000'000'007);
        if (i % 11 == 0) {
            lists.append_null();
            continue;
        }
        for (uint32_t k = random() % 4; k > 0; --k)
            k == 3 ? lists.child(0).append_null() : lists.child(0).append(static_cast<int32_t>(i));
        lists.append_nested();
    }
    Table table;
    table.add("sequence", sequence.finish());
    table.add("few", few.finish());
    table.add("many", many.finish());
    table.add("flags", flags.finish());
    table.add("decimals", decimals.finish());
    table.add("lists", lists.finish());
    return table;
}

std::vector<std::string> texts_of(const column::ColumnView& view) {
    std::vector<std::string> texts(static_cast<size_t>(view.length));
    for (int64_t i = 0; i < view.length; ++i) append_value(view, i, texts[static_cast<size_t>(i)]);
    return texts;
}

std::unique_ptr<format::TableReader> open_bytes(std::string bytes,
                                                format::OpenOptions options = {}) {
    return open(io::memory_file("test.parquet", std::move(bytes)), options);
}

WriterOptions small_pages(int version) {
    WriterOptions options;
    options.page_rows = 700;
    options.row_group_rows = 5000;
    options.page_version = version;
    options.checksums = true;
    return options;
}

// Reads at random places, in random ways, and compares with the table that was written.
void check_random_access(int version, const format::ReadOptions& read_options) {
    Table table = sample_table(12'000);
    format::OpenOptions open_options;
    open_options.verify_checksums = true;
    const auto file = open_bytes(table.write(small_pages(version)), open_options);
    ASSERT_EQ(file->row_count(), table.rows);
    std::mt19937 random(5);
    for (size_t c = 0; c < table.columns.size(); ++c) {
        const auto expected = texts_of(table.columns[c].view());
        int64_t first = 0;
        for (int64_t group = 0; group < file->row_group_count(); ++group) {
            const int64_t rows = file->row_group_rows(group);
            auto reader = file->open_column(group, static_cast<int>(c), read_options);
            for (int i = 0; i < 60; ++i) {
                const int64_t row = static_cast<int64_t>(random() % static_cast<uint64_t>(rows));
                const int64_t count = std::min<int64_t>(1 + random() % 1500, rows - row);
                const auto from = expected.begin() + first + row;
                if (i % 2 == 0) {
                    EXPECT_EQ(texts_of(reader->read(row, count)),
                              std::vector<std::string>(from, from + count));
                    continue;
                }
                std::vector<uint16_t> selection;
                std::vector<std::string> wanted;
                for (int64_t k = 0; k < count; k += 1 + random() % (i % 3 == 0 ? 3 : 40)) {
                    selection.push_back(static_cast<uint16_t>(k));
                    wanted.push_back(from[k]);
                }
                EXPECT_EQ(texts_of(reader->gather(row, count, selection)), wanted);
            }
            first += rows;
        }
    }
}

TEST(RoundTrip, RandomAccess) {
    check_random_access(1, {});
    check_random_access(2, {});
    format::ReadOptions plain;
    plain.decode_dictionary = true;
    check_random_access(1, plain);
}

TEST(RoundTrip, KeepsCodesAndRuns) {
    Table table = sample_table(4000);
    const auto file = open_bytes(table.write({}));
    auto codes = file->open_column(0, 1, {});
    EXPECT_EQ(codes->encoding(), column::Encoding::kDictionary);
    EXPECT_EQ(codes->dictionary()->values.length, 8);
    EXPECT_EQ(codes->read(0, 100).code_width, 1);
    EXPECT_EQ(file->open_column(0, 0, {})->encoding(), column::Encoding::kPlain);

    ColumnBuilder runs(column::make_type(TypeId::kInt32));
    for (int i = 0; i < 20000; ++i) runs.append(i / 1000);
    Table constant;
    constant.add("runs", runs.finish());
    const auto other = open_bytes(constant.write({}));
    format::ReadOptions keep;
    keep.keep_runs = true;
    auto reader = other->open_column(0, 0, keep);
    const auto expected = texts_of(constant.columns[0].view());
    bool seen = false;
    for (int64_t row = 0; row < 20000; row += 4000) {
        const auto view = reader->read(row, 4000);
        seen |= view.encoding == column::Encoding::kRuns;
        EXPECT_EQ(texts_of(view),
                  std::vector<std::string>(expected.begin() + row, expected.begin() + row + 4000));
    }
    EXPECT_TRUE(seen);
}

TEST(RoundTrip, ReadsOnlyWantedPages) {
    Table table = sample_table(5000);
    const auto file = open_bytes(table.write(small_pages(1)));
    for (const int column : {0, 1, 2, 5}) {
        format::ReadOptions options;
        options.rows = {{1500, 1600}, {4000, 4100}};
        auto reader = file->open_column(0, column, options);
        const auto expected = texts_of(table.columns[static_cast<size_t>(column)].view());
        for (const int64_t row : {1500, 4000, 1550}) {
            const int64_t count = row == 1550 ? 50 : 100;
            EXPECT_EQ(
                texts_of(reader->read(row, count)),
                std::vector<std::string>(expected.begin() + row, expected.begin() + row + count));
        }
        EXPECT_LE(reader->profile().pages_read, 5) << column;
        EXPECT_GE(reader->profile().pages_skipped, 5) << column;
        EXPECT_THROW(file->open_column(0, column, options)->read(0, 10), base::Error);
    }
}

TEST(RoundTrip, StatisticsAndPages) {
    Table table = sample_table(5000);
    WriterOptions options = small_pages(1);
    options.columns["sequence"].bloom_filter = true;
    options.columns["many"].bloom_filter = true;
    const auto file = open_bytes(table.write(options));
    const auto statistics = file->statistics(0, 0);
    EXPECT_TRUE(statistics.min.integer == 0 && statistics.max.integer == 4999);
    EXPECT_EQ(statistics.null_count, 0);
    EXPECT_TRUE(file->statistics(0, 4).min.integer == static_cast<__int128>(4999) * -1'000'000'007);
    EXPECT_FALSE(file->statistics(0, 5).min.known());
    const auto pages = file->page_statistics(0, 0);
    ASSERT_EQ(pages.size(), 8U);
    EXPECT_EQ(pages[1].first_row, 700);
    EXPECT_TRUE(pages[1].statistics.min.integer == 700 && pages[1].statistics.max.integer == 1399);

    for (int64_t i = 0; i < 5000; ++i)
        EXPECT_TRUE(file->may_contain(0, 0, column::Scalar::of_int(i)));
    int64_t wrong = 0;
    for (int64_t i = 5000; i < 6000; ++i)
        wrong += file->may_contain(0, 0, column::Scalar::of_int(i));
    EXPECT_LT(wrong, 100);
    EXPECT_FALSE(file->may_contain(0, 2, column::Scalar::of_bytes("no such text")));
    EXPECT_TRUE(file->may_contain(0, 1, column::Scalar::of_bytes("no filter here")));
    const auto chunks = file->chunks(0);
    EXPECT_TRUE(chunks[0].has_bloom_filter && chunks[0].has_page_index);
    EXPECT_EQ(chunks[5].path, "lists.list.element");
    EXPECT_GT(file->column_bytes(0, 5), 0U);
}

TEST(RoundTrip, AnOpenFileKeepsItsFooter) {
    Table table = sample_table(300);
    const auto file = io::memory_file("kept", table.write(small_pages(1)));
    base::MemoryBudget budget(1 << 20);
    format::OpenOptions options;
    options.budget = &budget;
    auto first = open(file, options);
    const auto note = file->note();
    ASSERT_NE(note, nullptr);
    EXPECT_GT(note->bytes(), 0U);
    // What is kept is nobody's in particular.
    EXPECT_EQ(budget.used(), 0U);
    first.reset();
    const auto second = open(file, {});
    EXPECT_EQ(file->note(), note);
    EXPECT_EQ(second->row_count(), 300);
    // Without the note the reader still has its footer.
    file->keep_note(nullptr);
    EXPECT_EQ(second->row_group_rows(0), 300);
    EXPECT_EQ(second->open_column(0, 0, {})->read(0, 300).length, 300);
}

TEST(RoundTrip, EveryBitFlipIsHarmless) {
    Table table = sample_table(300);
    const std::string bytes = table.write(small_pages(2));
    std::mt19937 random(17);
    for (int i = 0; i < 400; ++i) {
        std::string damaged = bytes;
        damaged[random() % damaged.size()] ^= static_cast<char>(1U << random() % 8);
        if (i % 4 == 0) damaged.resize(random() % damaged.size());
        base::MemoryBudget budget(uint64_t{64} << 20);
        format::OpenOptions options;
        options.budget = &budget;
        try {
            const auto file = open_bytes(damaged, options);
            for (int64_t group = 0; group < file->row_group_count(); ++group)
                for (size_t c = 0; c < file->schema().fields.size(); ++c)
                    texts_of(file->open_column(group, static_cast<int>(c), {})
                                 ->read(0, std::min<int64_t>(300, file->row_group_rows(group))));
        } catch (const base::Error& error) {
            EXPECT_NE(error.kind(), base::ErrorKind::kBug) << error.what();
        }
        EXPECT_EQ(budget.used(), 0U);
    }
}

TEST(RoundTrip, ChecksumsAreChecked) {
    Table table = sample_table(300);
    WriterOptions options = small_pages(1);
    options.codec = codec::Codec::kNone;
    std::string bytes = table.write(options);
    const size_t at = bytes.find("value 0");
    ASSERT_NE(at, std::string::npos);
    bytes[at] = 'V';
    format::OpenOptions verify;
    verify.verify_checksums = true;
    EXPECT_NO_THROW(open_bytes(bytes)->open_column(0, 1, {})->read(0, 10));
    try {
        open_bytes(bytes, verify)->open_column(0, 1, {})->read(0, 10);
        ADD_FAILURE();
    } catch (const base::Error& error) {
        EXPECT_EQ(error.kind(), base::ErrorKind::kCorrupt);
        EXPECT_NE(error.where().find(
                      "file \"test.parquet\", row group 0, column \"few\", page at offset"),
                  std::string::npos)
            << error.what();
    }
}

// A file of one INT32 column with the given page bytes (header and body).
std::string hand_made(const Bytes& pages, int64_t rows, int repetition) {
    std::string file = "PAR1";
    Bytes copy = pages;
    file += base::as_text(copy.span());
    Bytes footer;
    footer.put(0x15).zigzag(1);  // version
    footer.put(0x19).put(0x2C);  // schema of two elements
    footer.put(0x48).varint(6).text("schema").put(0x15).zigzag(1).put(0);
    footer.put(0x15).zigzag(1).put(0x25).zigzag(repetition).put(0x18).varint(1).text("x").put(0);
    footer.put(0x16).zigzag(rows);
    footer.put(0x19).put(0x1C);  // one row group
    footer.put(0x19).put(0x1C);  // one chunk
    footer.put(0x26).zigzag(4).put(0x1C);
    footer.put(0x15).zigzag(1).put(0x19).put(0x15).zigzag(0).put(0x19).put(0x18).varint(1).text(
        "x");
    footer.put(0x15).zigzag(0).put(0x16).zigzag(rows);
    footer.put(0x16).zigzag(static_cast<int64_t>(pages.size()));
    footer.put(0x16).zigzag(static_cast<int64_t>(pages.size()));
    footer.put(0x26).zigzag(4).put(0).put(0);
    footer.put(0x16).zigzag(100).put(0x16).zigzag(rows).put(0).put(0);
    file += base::as_text(footer.span());
    Bytes trailer;
    trailer.raw(static_cast<uint32_t>(footer.size())).text("PAR1");
    return file + std::string(base::as_text(trailer.span()));
}

Bytes page_header(int32_t values, size_t bytes) {
    Bytes page;
    page.put(0x15).zigzag(0).put(0x15).zigzag(static_cast<int64_t>(bytes));
    page.put(0x15).zigzag(static_cast<int64_t>(bytes)).put(0x2C).put(0x15).zigzag(values);
    return page.put(0x15).zigzag(0).put(0x15).zigzag(3).put(0x15).zigzag(3).put(0).put(0);
}

TEST(HandMade, EnormousRowCountsAreStreamed) {
    // 2^31 - 1 NULLs in a page of a few bytes, and far more rows than that promised.
    Bytes levels;
    levels.varint(uint64_t{INT32_MAX} << 1).put(0);
    Bytes page;
    page.raw(static_cast<uint32_t>(levels.size())).append(levels);
    Bytes pages = page_header(INT32_MAX, page.size());
    pages.append(page);
    base::MemoryBudget budget(uint64_t{8} << 20);
    format::OpenOptions options;
    options.budget = &budget;
    const auto file = open_bytes(hand_made(pages, 600'000'000'000'000, 1), options);
    EXPECT_EQ(file->row_count(), 600'000'000'000'000);
    auto reader = file->open_column(0, 0, {});
    EXPECT_EQ(reader->read(0, 1).null_count, 1);
    EXPECT_EQ(reader->read(2'000'000'000, 4096).null_count, 4096);
    EXPECT_THROW(reader->read(3'000'000'000, 1), base::Error);
}

TEST(HandMade, ListsOfEnormousLength) {
    Bytes repetition, definition;
    repetition.varint(1 << 1).put(0).varint(uint64_t{INT32_MAX - 1} << 1).put(1);
    definition.varint(uint64_t{INT32_MAX} << 1).put(0);
    Bytes page;
    page.raw(static_cast<uint32_t>(repetition.size())).append(repetition);
    page.raw(static_cast<uint32_t>(definition.size())).append(definition);
    Bytes pages = page_header(INT32_MAX, page.size());
    pages.append(page);
    base::MemoryBudget budget(uint64_t{64} << 20);
    format::OpenOptions options;
    options.budget = &budget;
    const auto file = open_bytes(hand_made(pages, 1, 2), options);
    EXPECT_THROW(file->open_column(0, 0, {})->read(0, 1), base::Error);
}

TEST(HandMade, TooFewValues) {
    Bytes values;
    values.raw(1).raw(2).raw(3);
    Bytes pages = page_header(3, values.size());
    pages.append(values);
    const auto file = open_bytes(hand_made(pages, 5, 0));
    auto reader = file->open_column(0, 0, {});
    EXPECT_EQ(reader->read(0, 3).as<int32_t>()[2], 3);
    EXPECT_THROW(reader->read(0, 5), base::Error);
    Bytes lying = page_header(5, values.size());
    lying.append(values);
    EXPECT_THROW(open_bytes(hand_made(lying, 5, 0))->open_column(0, 0, {})->read(0, 5),
                 base::Error);
}

TEST(HandMade, NotParquet) {
    EXPECT_THROW(open_bytes("PAR1PAR1"), base::Error);
    EXPECT_THROW(open_bytes("PAR1"), base::Error);
    EXPECT_THROW(open_bytes(std::string("PAR1") + std::string("\xFF\xFF\xFF\xFFPAR1")),
                 base::Error);
    try {
        open_bytes(std::string("PARE\0\0\0\0", 8) + std::string("\4\0\0\0PARE", 8));
        ADD_FAILURE();
    } catch (const base::Error& error) {
        EXPECT_EQ(error.kind(), base::ErrorKind::kUnsupported);
        EXPECT_NE(error.message().find("encrypted"), std::string::npos);
    }
}

}  // namespace
}  // namespace loom::parquet::test
