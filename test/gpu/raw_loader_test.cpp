// Columns that kernels encode from bytes of Arrow files: the same layout, bases and bytes as those
// that the host encodes, and left to the host where that raises.

#include "gpu/memory/raw_loader.h"

#include <cstring>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "exec/fault.h"
#include "format/arrow/writer.h"
#include "gpu/memory/column_store.h"
#include "made_tables.h"
#include "plan_device.h"

namespace loom::gpu {

namespace {

using column::TimeUnit;
using F = column::TypeId;

struct Case {
    column::TypePtr file;
    plan::Type type;
    int64_t low = 0;  // that the engine has, in the file's domain
    int64_t high = 0;
};

plan::Type numeric(int precision, int scale) {
    plan::Type type = plan::make_type(plan::TypeId::kNumeric);
    type.precision = static_cast<uint8_t>(precision);
    type.scale = static_cast<int16_t>(scale);
    return type;
}

std::vector<Case> cases() {
    const auto of = [](F id) { return column::make_type(id); };
    const plan::Type tz = plan::make_type(plan::TypeId::kTimestampTz);
    constexpr int64_t kDay = 86'400;
    return {
        {of(F::kBool), kBool, 0, 1},
        {of(F::kInt8), kInt2, -128, 127},
        {of(F::kUInt8), kInt2, 0, 255},
        {of(F::kInt16), kInt2, -32'768, 32'767},
        {of(F::kInt8), kInt4, -128, 127},
        {of(F::kUInt16), kInt4, 0, 65'535},
        {of(F::kInt32), kInt4, INT32_MIN, INT32_MAX},
        {of(F::kUInt32), kInt8, 0, UINT32_MAX},
        {of(F::kInt16), kInt8, -32'768, 32'767},
        {of(F::kInt64), kInt8, INT64_MIN, INT64_MAX},
        {of(F::kDate32), kDate, -2'440'588, 2'145'042'905},
        {of(F::kDate64), kDate, -2'440'588 * kDay * 1'000, 2'000'000'000 * kDay * 1'000},
        {column::make_time(TimeUnit::kSecond), kTime, 0, kDay},
        {column::make_time(TimeUnit::kMilli), kTime, 0, kDay * 1'000},
        {column::make_time(TimeUnit::kMicro), kTime, 0, kDay * 1'000'000},
        {column::make_time(TimeUnit::kNano), kTime, 0, kDay * 1'000'000'000},
        {column::make_timestamp(TimeUnit::kSecond), kTimestamp, -210'866'803'200,
         9'224'318'015'999},
        {column::make_timestamp(TimeUnit::kMilli, "UTC"), tz, -210'866'803'200'000,
         9'224'318'015'999'999},
        {column::make_timestamp(TimeUnit::kMicro), kTimestamp, -210'866'803'200'000'000, INT64_MAX},
        {column::make_timestamp(TimeUnit::kNano, "UTC"), tz, INT64_MIN, INT64_MAX},
        {column::make_decimal(9, 2, 4), numeric(9, 2), -999'999'999, 999'999'999},
        {column::make_decimal(18, 3, 8), numeric(18, 3), -999'999'999'999'999'999,
         999'999'999'999'999'999},
        {column::make_decimal(12, 2, 16), numeric(15, 2), -999'999'999'999'999,
         999'999'999'999'999}};
}

class RawLoaderTest : public testing::Test {
  protected:
    void SetUp() override {
        opened_ = open_plan_device();
        if (opened_.compiler == nullptr) GTEST_SKIP() << "skipped: " << opened_.reason;
        modules_ =
            std::make_unique<ModuleCache>(*opened_.device, *opened_.compiler, ModuleCacheOptions());
    }

    void append(column::ColumnBuilder& builder, const Case& of, int64_t value) {
        if (of.file->id == F::kBool) return builder.append_bool(value != 0);
        if (of.file->id == F::kUtf8) return builder.append_bytes(Maker::text(value));
        const __int128 wide = value;
        builder.append_fixed(&wide, static_cast<size_t>(column::byte_width(*of.file)));
    }

    std::string file_of(const Case& of, column::ColumnView view, int64_t batch, int index_width) {
        column::Field field;
        field.name = "c";
        field.type = of.file;
        field.dictionary_index_width = static_cast<uint8_t>(index_width);
        column::Schema schema;
        schema.fields.push_back(field);
        std::string bytes;
        arrow::WriterOptions options;
        options.record_batch_rows = batch;
        arrow::Writer writer(schema, options, io::memory_sink(&bytes));
        if (view.length > 0) writer.write({&view, 1}, view.length);
        writer.finish();
        return bytes;
    }

    static exec::TableSource table_of(const std::vector<std::string>& files) {
        exec::TableSource table;
        for (size_t i = 0; i < files.size(); ++i) {
            exec::ScanFile file;
            file.reader =
                format::open_table(io::memory_file("f" + std::to_string(i), files[i]), {});
            exec::ScanFile::Column column;
            column.field = 0;
            file.columns.push_back(std::move(column));
            table.files.push_back(std::move(file));
        }
        return table;
    }

    // Values between two bounds that lie somewhere within those of the type.
    std::string random_file(const Case& of, int64_t rows, int nulls, int64_t low, int64_t high,
                            int64_t batch, int index_width = 0) {
        column::ColumnBuilder builder(of.file);
        const bool sorted = maker_.chance(20) && high - low > 1000 && high > low;
        for (int64_t row = 0; row < rows; ++row) {
            if (maker_.chance(nulls))
                builder.append_null();
            else
                append(builder, of,
                       sorted ? low + (high - low) / 1'000'000 * row : maker_.between(low, high));
        }
        column::Column column = builder.finish();
        return file_of(of, column.view(), batch, index_width);
    }

    struct Loaded {
        std::shared_ptr<const DeviceColumn> column;
        std::string problem;
    };
    static Loaded load(ColumnStore& store, const exec::TableSource& table, plan::Type type) {
        try {
            return {store.get(table, 0, type), ""};
        } catch (const exec::Unrepresentable& error) {
            return {nullptr, error.what()};
        } catch (const base::Error& error) {
            return {nullptr, error.what()};
        }
    }

    std::vector<uint8_t> download(const void* from, uint64_t bytes) {
        std::vector<uint8_t> result(from == nullptr ? 0 : bytes);
        const auto stream = opened_.device->make_stream();
        if (!result.empty())
            stream->download(result.data(), reinterpret_cast<DeviceAddress>(from), bytes);
        stream->wait();
        return result;
    }

    // Loads a table in both ways. Returns whether kernels did it.
    bool compare(const exec::TableSource& table, plan::Type type, int threads = 1) {
        ColumnStore by_host(*opened_.device, threads);
        ColumnStore by_kernels(*opened_.device, threads, UINT64_MAX, modules_.get());
        const Loaded expected = load(by_host, table, type);
        const Loaded found = load(by_kernels, table, type);
        EXPECT_EQ(found.problem, expected.problem);
        if (expected.column == nullptr || found.column == nullptr) return false;
        same(*expected.column, *found.column);
        bool raw = !found.column->files.empty();
        for (const auto& file : found.column->files)
            raw = raw && (file->memory.bytes() > 0 || file->rows == 0);
        return raw;
    }

    void same(const DeviceColumn& a, const DeviceColumn& b) {
        EXPECT_EQ(a.facts.layout, b.facts.layout);
        EXPECT_EQ(a.facts.origin, b.facts.origin);
        EXPECT_EQ(a.facts.min, b.facts.min);
        EXPECT_EQ(a.facts.max, b.facts.max);
        ASSERT_EQ(a.files.size(), b.files.size());
        if (a.texts != nullptr) {
            ASSERT_EQ(a.texts->size(), b.texts->size());
            for (uint32_t i = 0; i < a.texts->size(); ++i)
                EXPECT_EQ(a.texts->text(i), b.texts->text(i));
        }
        size_t view = 0;
        for (size_t f = 0; f < a.files.size(); ++f) {
            const FileColumn& x = *a.files[f];
            const FileColumn& y = *b.files[f];
            EXPECT_EQ(x.layout, y.layout);
            EXPECT_EQ(x.rows, y.rows);
            EXPECT_EQ(x.shape.has_nulls(), y.shape.has_nulls());
            EXPECT_EQ(x.shape.layout(), y.shape.layout());
            ASSERT_EQ(x.blocks.size(), y.blocks.size());
            for (size_t i = 0; i < x.blocks.size(); ++i, ++view) {
                EXPECT_EQ(x.blocks[i].base, y.blocks[i].base);
                EXPECT_EQ(x.blocks[i].has_values, y.blocks[i].has_values);
                EXPECT_EQ(a.views[view].base, b.views[view].base);
                same(a.views[view], b.views[view], x.layout, tiles_.at(view));
            }
        }
    }
    void same(const BlockView& a, const BlockView& b, const ColumnLayout& layout, uint64_t tiles) {
        EXPECT_EQ(a.tile_bases == nullptr, b.tile_bases == nullptr);
        EXPECT_EQ(a.valid == nullptr, b.valid == nullptr);
        EXPECT_EQ(download(a.data, tiles * tile_bytes(layout)),
                  download(b.data, tiles * tile_bytes(layout)));
        EXPECT_EQ(download(a.tile_bases, tiles * 4), download(b.tile_bases, tiles * 4));
        EXPECT_EQ(download(a.valid, tiles * kWarp * 2), download(b.valid, tiles * kWarp * 2));
    }
    bool compare_files(const std::vector<std::string>& files, plan::Type type, int threads = 1) {
        const exec::TableSource table = table_of(files);
        tiles_.clear();
        for (const BlockRows& block : blocks_of(table))
            tiles_.push_back((static_cast<uint64_t>(block.rows) + kTileRows - 1) / kTileRows);
        return compare(table, type, threads);
    }

    PlanDevice opened_;
    std::unique_ptr<ModuleCache> modules_;
    Maker maker_{5};
    std::vector<uint64_t> tiles_;  // by block
};

TEST(RawKernels, CompileForADevice) {
    std::string reason;
    const std::unique_ptr<Compiler> nvrtc = make_nvrtc_compiler(&reason);
    if (nvrtc == nullptr) GTEST_SKIP() << "skipped: " << reason;
    EXPECT_NO_THROW(nvrtc->compile(raw_kernels_text(), "sm_90"));
}

constexpr int64_t kRowCounts[] = {1, 7, 511, 512, 513, 1024, 3000};

TEST_F(RawLoaderTest, AllTypes) {
    for (const Case& of : cases()) {
        SCOPED_TRACE(column::to_string(*of.file) + " as " + plan::to_string(of.type));
        int raw = 0;
        int count = 0;
        for (const int64_t rows : kRowCounts)
            for (const int nulls : {0, 30, 100}) {
                SCOPED_TRACE(testing::Message() << rows << " rows, " << nulls << " NULL");
                const uint64_t spread = uint64_t{1} << maker_.pick(64);
                const uint64_t reach =
                    static_cast<uint64_t>(of.high) - static_cast<uint64_t>(of.low);
                const uint64_t taken = std::min(spread, reach);
                const auto low =
                    static_cast<int64_t>(static_cast<uint64_t>(of.low) +
                                         (reach == taken ? 0 : maker_.random_() % (reach - taken)));
                const auto high = static_cast<int64_t>(static_cast<uint64_t>(low) + taken);
                const int64_t batch = 1 + static_cast<int64_t>(maker_.pick(1200));
                raw += compare_files({random_file(of, rows, nulls, low, high, batch)}, of.type);
                ++count;
                if (HasFailure()) return;
            }
        // Timestamps of microseconds go beyond the calendar.
        EXPECT_GE(raw, count / 2);
        if (of.file->id != F::kTimestamp) {
            EXPECT_EQ(raw, count);
        }
    }
}

TEST_F(RawLoaderTest, EmptyFilesAndSeveral) {
    const Case of = cases()[6];
    EXPECT_FALSE(compare_files({}, of.type));
    compare_files({random_file(of, 0, 0, 0, 0, 100)}, of.type);
    EXPECT_TRUE(compare_files({random_file(of, 600, 0, 0, 9, 100), random_file(of, 0, 0, 0, 0, 100),
                               random_file(of, 2000, 10, -50'000, 70'000, 333)},
                              of.type));
    // Files that hold the same column in other ways.
    const Case narrow = cases()[8];
    const Case wide = cases()[9];
    EXPECT_TRUE(compare_files({random_file(narrow, 700, 10, -5, 300, 200),
                               random_file(wide, 900, 0, int64_t{1} << 20, int64_t{1} << 40, 500)},
                              wide.type));
}

TEST_F(RawLoaderTest, Texts) {
    const Case of{column::make_type(F::kUtf8), kText, 0, 0};
    for (const int width : {1, 2, 4, 8})
        for (const int nulls : {0, 25, 100})
            EXPECT_TRUE(compare_files({random_file(of, 2500, nulls, 0, 100, 700, width)}, kText))
                << width << " " << nulls;
    // Not in dictionaries.
    EXPECT_FALSE(compare_files({random_file(of, 100, 10, 0, 20, 70)}, kText));
}

TEST_F(RawLoaderTest, ValuesThatTheEngineDoesNotHave) {
    for (const Case& of : cases()) {
        if (of.file->id == F::kBool || column::is_integer(of.file->id)) continue;
        SCOPED_TRACE(column::to_string(*of.file));
        const int width = column::byte_width(*of.file);
        const int64_t beyond = width == 4 ? INT32_MAX : INT64_MAX;
        for (const int64_t value : {beyond, -beyond - 1, of.high, of.low}) {
            column::ColumnBuilder builder(of.file);
            for (int i = 0; i < 600; ++i) append(builder, of, of.low / 2 + i);
            append(builder, of, value);
            column::Column column = builder.finish();
            compare_files({file_of(of, column.view(), 500, 0)}, of.type);
        }
    }
}

// The same, or the same error, whatever a file says.
TEST_F(RawLoaderTest, DamagedFiles) {
    int raw = 0;
    int opened = 0;
    for (int round = 0; round < 400; ++round) {
        SCOPED_TRACE(round);
        const bool text = round % 3 == 0;
        const std::vector<Case> all = cases();
        const Case of =
            text ? Case{column::make_type(F::kUtf8), kText, 0, 40} : all[maker_.pick(all.size())];
        std::string file = random_file(of, 300, 20, std::max<int64_t>(of.low, -1'000'000),
                                       std::min<int64_t>(of.high, 1'000'000), 130, text ? 1 : 0);
        for (uint64_t i = 0; i <= maker_.pick(8); ++i)
            file[maker_.pick(file.size())] = static_cast<char>(maker_.pick(256));
        try {
            table_of({file});
        } catch (const base::Error&) {
            continue;
        }
        ++opened;
        raw += compare_files({file}, of.type);
        if (HasFailure()) return;
    }
    EXPECT_GT(opened, 100);
    EXPECT_GT(raw, opened / 4);
}

TEST_F(RawLoaderTest, LargeBlocks) {
    const Case of = cases()[6];
    const int64_t rows = (int64_t{1} << 20) + 5;
    EXPECT_TRUE(compare_files({random_file(of, rows, 5, 0, 200'000, 100'001)}, of.type, 3));
}

// Many columns at once, with memory for the bytes of few.
TEST_F(RawLoaderTest, SeveralColumnsOfOneRequest) {
    const Case of = cases()[9];
    std::vector<exec::TableSource> tables;
    for (int i = 0; i < 12; ++i)
        tables.push_back(table_of({random_file(of, 4000, 10, 0, int64_t{1} << (3 * i + 4), 900),
                                   random_file(of, 1000, 0, -9, 9, 1000)}));
    for (const uint64_t most : {uint64_t{45'000}, uint64_t{100'000}, uint64_t{10'000'000}}) {
        SCOPED_TRACE(most);
        UploadRings rings(*opened_.device);
        std::vector<RawRequest> requests;
        for (const exec::TableSource& table : tables)
            requests.push_back({&table, 0, of.type, {0, 1}, nullptr, {}});
        std::vector<int> made(tables.size());
        RawLoader::Hooks hooks;
        hooks.check = [] {};
        hooks.choose = [](size_t, const ColumnShape& shape) { return shape.layout(); };
        hooks.make_room = [](uint64_t) {};
        hooks.made = [&](size_t request) { ++made[request]; };
        {
            RawLoader loader(*opened_.device, *modules_, rings, 4, most, hooks);
            loader.load(requests);
        }
        for (size_t i = 0; i < tables.size(); ++i) {
            EXPECT_EQ(made[i], 1);
            ASSERT_EQ(requests[i].made.size(), 2U);
            ColumnStore store(*opened_.device, 1);
            tiles_ = {8, 2};
            same(*store.get(tables[i], 0, of.type), *make_column(of.type, requests[i].made));
        }
    }
    // What throws in the middle ends all of it.
    struct Enough {};
    UploadRings rings(*opened_.device);
    std::vector<RawRequest> requests;
    for (const exec::TableSource& table : tables)
        requests.push_back({&table, 0, of.type, {0, 1}, nullptr, {}});
    std::atomic<int> looks = 0;
    RawLoader::Hooks hooks;
    hooks.check = [&] {
        if (++looks == 9) throw Enough{};
    };
    hooks.choose = [](size_t, const ColumnShape& shape) { return shape.layout(); };
    hooks.make_room = [](uint64_t) {};
    hooks.made = [](size_t) {};
    RawLoader loader(*opened_.device, *modules_, rings, 4, 45'000, hooks);
    EXPECT_THROW(loader.load(requests), Enough);
}

}  // namespace

}  // namespace loom::gpu
