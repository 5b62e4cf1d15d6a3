// Columns of Parquet files whose pages kernels decompress and decode: the same layout, bases and
// bytes as those that the host makes of them, and left to the host where that raises.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "exec/scan/load.h"
#include "format/parquet/write/writer.h"
#include "format/test_corpus.h"
#include "gpu/memory/raw_loader.h"
#include "gpu/memory/raw_pages.h"
#include "load_both_ways.h"

namespace loom::gpu {

namespace {

using F = column::TypeId;
using codec::Codec;

class ParquetLoaderTest : public LoadBothWays {
  protected:
    static std::string file_of(const Case& of, column::Column& column,
                               parquet::WriterOptions options) {
        std::string bytes;
        parquet::Writer writer(schema_of(of), std::move(options), io::memory_sink(&bytes));
        const column::ColumnView view = column.view();
        if (view.length > 0) writer.write({&view, 1}, view.length);
        writer.finish();
        return bytes;
    }
    std::string random_file(const Case& of, int64_t rows, int nulls, int64_t low, int64_t high,
                            const parquet::WriterOptions& options) {
        column::Column column = random_column(of, rows, nulls, low, high);
        return file_of(of, column, options);
    }
};

// Those that Parquet has, with values that it may have.
std::vector<Case> stored_cases() {
    std::vector<Case> result;
    for (Case of : cases()) {
        const bool seconds = (of.file->id == F::kTime || of.file->id == F::kTimestamp) &&
                             of.file->unit == column::TimeUnit::kSecond;
        if (of.file->id == F::kDate64 || seconds) continue;
        if (of.file->id == F::kDecimal) {
            int64_t limit = 1;
            for (int i = 0; i < of.file->precision; ++i) limit *= 10;
            of.low = 1 - limit;
            of.high = limit - 1;
        }
        result.push_back(std::move(of));
    }
    return result;
}

TEST(PageKernels, CompileForADevice) {
    expect_compiles(page_kernels_text());
}

constexpr int64_t kRowCounts[] = {1, 7, 511, 512, 513, 3000};

TEST_F(ParquetLoaderTest, AllTypes) {
    for (const Case& of : stored_cases()) {
        SCOPED_TRACE(column::to_string(*of.file) + " as " + plan::to_string(of.type));
        int made = 0;
        int count = 0;
        for (const int64_t rows : kRowCounts)
            for (const int nulls : {0, 30, 100}) {
                parquet::WriterOptions options;
                options.codec = maker_.chance(50) ? Codec::kSnappy : Codec::kNone;
                options.page_version = maker_.chance(50) ? 1 : 2;
                options.dictionary = maker_.chance(50);
                options.page_rows = 1 + static_cast<int64_t>(maker_.pick(700));
                options.row_group_rows = 1 + static_cast<int64_t>(maker_.pick(1200));
                SCOPED_TRACE(testing::Message()
                             << rows << " rows, " << nulls << " NULL, codec "
                             << codec::name(options.codec) << ", version " << options.page_version
                             << ", pages " << options.page_rows << ", groups "
                             << options.row_group_rows << ", dictionary " << options.dictionary);
                const auto [low, high] = random_bounds(of);
                made += compare_files({random_file(of, rows, nulls, low, high, options)}, of.type);
                ++count;
                if (HasFailure()) return;
            }
        EXPECT_GE(made, count / 2);
        // Timestamps of microseconds go beyond the calendar.
        if (of.file->id != F::kTimestamp) {
            EXPECT_EQ(made, count);
        }
    }
}

TEST_F(ParquetLoaderTest, EncodingsAndCodecs) {
    using parquet::ValueEncoding;
    const auto stored = stored_cases();
    const Codec codecs[] = {Codec::kNone,   Codec::kSnappy, Codec::kLz4Raw,   Codec::kGzip,
                            Codec::kBrotli, Codec::kZstd,   Codec::kLz4Hadoop};
    for (const Case& of : stored) {
        SCOPED_TRACE(column::to_string(*of.file) + " as " + plan::to_string(of.type));
        for (const ValueEncoding encoding :
             {ValueEncoding::kPlain, ValueEncoding::kRle, ValueEncoding::kDeltaBinaryPacked,
              ValueEncoding::kByteStreamSplit}) {
            const bool boolean = of.file->id == F::kBool;
            const bool fits =
                encoding == ValueEncoding::kPlain || boolean == (encoding == ValueEncoding::kRle);
            const bool fixed = column::byte_width(*of.file) == 16;
            if (!fits || (fixed && encoding == ValueEncoding::kDeltaBinaryPacked)) continue;
            for (const Codec codec : codecs)
                for (const int nulls : {0, 3, 60}) {
                    parquet::WriterOptions options;
                    options.codec = codec;
                    options.page_version = 1 + static_cast<int>(maker_.pick(2));
                    options.page_rows = 1 + static_cast<int64_t>(maker_.pick(900));
                    options.row_group_rows = 1 + static_cast<int64_t>(maker_.pick(1500));
                    options.columns["c"].encoding = encoding;
                    SCOPED_TRACE(testing::Message()
                                 << "encoding " << static_cast<int>(encoding) << ", codec "
                                 << codec::name(codec) << ", " << nulls << " NULL, version "
                                 << options.page_version << ", pages " << options.page_rows
                                 << ", groups " << options.row_group_rows);
                    const int64_t low = std::max<int64_t>(of.low, -(int64_t{1} << maker_.pick(60)));
                    const int64_t high = std::min<int64_t>(of.high, int64_t{1} << maker_.pick(60));
                    const bool made =
                        compare_files({random_file(of, 900 + static_cast<int64_t>(maker_.pick(600)),
                                                   nulls, low, high, options)},
                                      of.type);
                    // Timestamps go beyond the calendar.
                    EXPECT_TRUE(made || of.file->id == F::kTimestamp);
                    if (HasFailure()) return;
                }
        }
    }
}

TEST_F(ParquetLoaderTest, Texts) {
    const Case of{column::make_type(F::kUtf8), kText, 0, 0};
    for (const Codec codec : {Codec::kNone, Codec::kSnappy, Codec::kZstd})
        for (const int nulls : {0, 25, 100})
            for (const int version : {1, 2})
                for (const int64_t texts : {1, 2, 100, 150}) {
                    parquet::WriterOptions options;
                    options.codec = codec;
                    options.page_version = version;
                    options.page_rows = 300;
                    options.row_group_rows = 1100;
                    // Pages without values have no dictionary.
                    const std::string file = random_file(of, 2500, nulls, 0, texts - 1, options);
                    EXPECT_EQ(compare_files({file}, kText), nulls < 100)
                        << codec::name(codec) << " " << nulls << " " << version << " " << texts;
                }
    parquet::WriterOptions plain;
    plain.dictionary = false;
    EXPECT_FALSE(compare_files({random_file(of, 100, 10, 0, 20, plain)}, kText));
    // Dictionaries that were given up.
    parquet::WriterOptions given_up;
    given_up.dictionary_bytes = 200;
    given_up.page_rows = 50;
    EXPECT_FALSE(compare_files({random_file(of, 2000, 10, 0, 500, given_up)}, kText));
}

TEST_F(ParquetLoaderTest, DictionariesThatWereGivenUp) {
    for (const Case& of : stored_cases()) {
        if (of.file->id == F::kBool) continue;
        SCOPED_TRACE(column::to_string(*of.file));
        for (const int nulls : {0, 20}) {
            parquet::WriterOptions options;
            options.dictionary_bytes = 400;
            options.page_rows = 40;
            options.row_group_rows = 1500;
            const int64_t low = std::max<int64_t>(of.low, -100'000);
            const int64_t high = std::min<int64_t>(of.high, 100'000);
            EXPECT_TRUE(compare_files({random_file(of, 2500, nulls, low, high, options)}, of.type));
        }
    }
}

TEST_F(ParquetLoaderTest, EmptyFilesAndSeveral) {
    const auto all = cases();
    const Case date = all[10];
    const Case narrow = all[8];
    const Case wide = all[9];
    const parquet::WriterOptions options;
    compare_files({random_file(date, 0, 0, 0, 0, options)}, date.type);
    EXPECT_TRUE(compare_files(
        {random_file(date, 600, 0, 0, 9, options), random_file(date, 0, 0, 0, 0, options),
         random_file(date, 2000, 10, -50'000, 70'000, options)},
        date.type));
    // Files that hold the same column in other ways, one of them not in pages.
    const auto arrow = [&](const Case& of, int64_t rows) {
        column::Column column = random_column(of, rows, 15, -30, 3000);
        return arrow_file(of, column, 1 << 20);
    };
    EXPECT_TRUE(
        compare_files({random_file(narrow, 700, 10, -5, 300, options), arrow(wide, 1300),
                       random_file(wide, 900, 0, int64_t{1} << 20, int64_t{1} << 40, options),
                       arrow(narrow, 100)},
                      wide.type, 2));
}

TEST_F(ParquetLoaderTest, ValuesThatTheEngineDoesNotHave) {
    for (const Case& of : stored_cases()) {
        if (of.file->id == F::kBool || of.file->id == F::kDecimal ||
            column::is_integer(of.file->id))
            continue;
        SCOPED_TRACE(column::to_string(*of.file));
        for (column::Column& column : columns_with_ends(of, 50))
            for (const bool dictionary : {false, true}) {
                parquet::WriterOptions options;
                options.dictionary = dictionary;
                compare_files({file_of(of, column, options)}, of.type);
            }
    }
}

// The same, or the same error, whatever a file says.
TEST_F(ParquetLoaderTest, DamagedFiles) {
    const auto stored = stored_cases();
    const Codec codecs[] = {Codec::kNone, Codec::kSnappy, Codec::kLz4Raw, Codec::kZstd};
    int made = 0;
    int opened = 0;
    for (int round = 0; round < 600; ++round) {
        SCOPED_TRACE(round);
        const Case of = round % 4 == 0 ? Case{column::make_type(F::kUtf8), kText, 0, 40}
                                       : stored[maker_.pick(stored.size())];
        parquet::WriterOptions options;
        options.codec = codecs[maker_.pick(4)];
        options.page_version = 1 + static_cast<int>(maker_.pick(2));
        options.page_rows = 70;
        options.row_group_rows = 160;
        options.page_index = false;
        options.dictionary = maker_.chance(60) || of.type.id == plan::TypeId::kText;
        options.dictionary_bytes = maker_.chance(50) ? 1 << 20 : 300;
        if (!options.dictionary && column::is_integer(of.file->id))
            options.columns["c"].encoding = maker_.chance(50)
                                                ? parquet::ValueEncoding::kDeltaBinaryPacked
                                                : parquet::ValueEncoding::kByteStreamSplit;
        std::string file = random_file(of, 350, 20, std::max<int64_t>(of.low, -1'000'000),
                                       std::min<int64_t>(of.high, 1'000'000), options);
        // Mostly in pages: damage of a footer is found when a file is opened.
        damage(file, maker_.chance(80) ? file.size() * 2 / 3 : file.size(), 6);
        try {
            table_of({file});
        } catch (const base::Error&) {
            continue;
        }
        ++opened;
        made += compare_files({file}, of.type);
        if (HasFailure()) return;
    }
    EXPECT_GT(opened, 300);
    EXPECT_GT(made, opened / 5);
}

TEST_F(ParquetLoaderTest, LargePages) {
    const auto all = cases();
    for (const Codec codec : {Codec::kSnappy, Codec::kLz4Raw, Codec::kZstd, Codec::kNone}) {
        SCOPED_TRACE(codec::name(codec));
        parquet::WriterOptions options;
        options.codec = codec;
        options.page_bytes = 8 << 20;
        options.page_rows = 400'000;
        options.row_group_rows = 500'000;
        options.dictionary = false;
        // Pages, and what is compressed of them, go beyond a chunk of the ring.
        const int64_t rows = (int64_t{1} << 20) + 5;
        EXPECT_TRUE(
            compare_files({random_file(all[9], rows, 5, 0, int64_t{1} << 50, options)}, kInt8, 3));
    }
}

// Files of other writers, where there are any.
TEST_F(ParquetLoaderTest, Corpus) {
    namespace fs = std::filesystem;
    const fs::path root = format::test_corpus() / "parquet";
    if (!fs::is_directory(root)) GTEST_SKIP() << "skipped: no corpus";
    constexpr int64_t kMostRows = 5000;
    int columns = 0;
    int made = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file()) continue;
        SCOPED_TRACE(entry.path().string());
        exec::TableSource table;
        exec::ScanFile& file = table.files.emplace_back();
        try {
            file.reader = format::open_table(io::open_local_file(entry.path().string()), {});
        } catch (const base::Error&) {
            continue;
        }
        if (file.reader->row_count() > kMostRows) continue;
        const auto& fields = file.reader->schema().fields;
        for (size_t i = 0; i < fields.size(); ++i) {
            const column::DataType& type = *fields[i].type;
            for (const plan::Type& as :
                 {kBool, kInt2, kInt4, kInt8, kDate, kTime, kTimestamp,
                  plan::make_type(plan::TypeId::kTimestampTz), kText,
                  numeric(std::clamp(int{type.precision}, 1, 18), type.scale)}) {
                if (!exec::can_load(type, as)) continue;
                file.columns.resize(1);
                file.columns[0].field = static_cast<int>(i);
                made += compare(table, as);
                ++columns;
                break;
            }
            if (HasFailure()) return;
        }
    }
    std::printf("%d of %d columns by kernels\n", made, columns);
    EXPECT_GT(made, columns / 2);
}

// Blocks that are compressed well, badly, or damaged: the same bytes as the host's codec makes of
// them, or a fault. Kernels may refuse what the codec takes, not the other way round.
class PageBlocksTest : public LoadBothWays {
  protected:
    void check(Codec codec, base::ByteSpan packed, size_t size, bool damaged) {
        constexpr uint64_t kFaults = 0;
        constexpr uint64_t kFrom = 256;
        const uint64_t to = kFrom + aligned(packed.size() + kWordSlack);
        const DeviceMemory memory(*opened_.device, to + size + 256);
        const auto stream = opened_.device->make_stream();
        stream->fill(memory.address() + kFaults, 0, 4);
        stream->fill(memory.address() + to, 0x5A, size + 256);
        stream->upload(memory.address() + kFrom, packed.data(), packed.size());
        const PageBlock block{reinterpret_cast<const uint8_t*>(memory.address() + kFrom),
                              reinterpret_cast<uint8_t*>(memory.address() + to),
                              static_cast<uint32_t>(packed.size()), static_cast<uint32_t>(size),
                              codec == Codec::kSnappy ? PageCodec::kSnappy : PageCodec::kLz4};
        const DeviceMemory blocks(*opened_.device, sizeof block);
        stream->upload(blocks.address(), &block, sizeof block);
        PageParameters parameters;
        parameters.blocks = reinterpret_cast<const PageBlock*>(blocks.address());
        parameters.faults = reinterpret_cast<uint32_t*>(memory.address() + kFaults);
        parameters.block_count = 1;
        const auto module = modules_->get(page_kernels_text());
        stream->launch(module->kernel("page_blocks"), Grid{},
                       {reinterpret_cast<const uint8_t*>(&parameters), sizeof parameters});
        stream->wait();
        uint32_t fault = 0;
        std::vector<uint8_t> found(size + 256);
        stream->download(&fault, memory.address() + kFaults, sizeof fault);
        stream->download(found.data(), memory.address() + to, found.size());
        stream->wait();
        for (size_t i = size; i < found.size(); ++i) ASSERT_EQ(found[i], 0x5A);
        if (fault != 0) {
            EXPECT_TRUE(damaged);
            return;
        }
        ++good_;
        base::Buffer in;
        in.resize(packed.size());
        std::memcpy(in.data(), packed.data(), packed.size());
        base::Buffer expected;
        expected.resize(size);
        ASSERT_NO_THROW(codec::decompress(codec, in.span(), {expected.data(), size}));
        EXPECT_EQ(std::memcmp(expected.data(), found.data(), size), 0);
    }

    std::string content() {
        std::string bytes;
        const size_t size = 1 + maker_.pick(3000);
        const uint64_t kind = maker_.pick(4);
        while (bytes.size() < size) {
            if (kind == 0 || (kind == 1 && maker_.chance(20))) {
                bytes.push_back(static_cast<char>(maker_.pick(256)));
            } else if (kind == 2 || bytes.empty()) {
                bytes.append(1 + maker_.pick(200), static_cast<char>(maker_.pick(3)));
            } else {
                const size_t from = maker_.pick(bytes.size());
                bytes += bytes.substr(from, 1 + maker_.pick(90));
            }
        }
        bytes.resize(size);
        return bytes;
    }

    int good_ = 0;
};

TEST_F(PageBlocksTest, AreAsTheHostsCodecMakesThem) {
    for (int round = 0; round < 400; ++round) {
        SCOPED_TRACE(round);
        const Codec codec = round % 2 == 0 ? Codec::kSnappy : Codec::kLz4Raw;
        const std::string plain = content();
        base::Buffer packed;
        codec::compress(codec, base::as_bytes(plain), 0, packed);
        check(codec, packed.span(), plain.size(), false);
        for (int i = 0; i < 3; ++i) {
            base::Buffer damaged;
            damaged.resize(packed.size());
            std::memcpy(damaged.data(), packed.data(), packed.size());
            for (uint64_t k = 0; k <= maker_.pick(3); ++k)
                damaged.data()[maker_.pick(damaged.size())] =
                    static_cast<uint8_t>(maker_.pick(256));
            const size_t length =
                maker_.chance(30) ? maker_.pick(packed.size() + 1) : packed.size();
            check(codec, damaged.span().first(length),
                  maker_.chance(20) ? maker_.pick(4000) : plain.size(), true);
        }
        if (HasFailure()) return;
    }
    EXPECT_GE(good_, 400);
}

}  // namespace

}  // namespace loom::gpu
