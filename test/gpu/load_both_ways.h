#pragma once
// Columns of files loaded by the host and by kernels, which must come out the same.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exec/fault.h"
#include "format/arrow/writer.h"
#include "gpu/memory/column_store.h"
#include "made_tables.h"
#include "plan_device.h"

namespace loom::gpu {

/// A type of a file, and of the engine.
struct Case {
    column::TypePtr file;
    plan::Type type;
    int64_t low = 0;  // that the engine has, in the file's domain
    int64_t high = 0;
};

inline plan::Type numeric(int precision, int scale) {
    plan::Type type = plan::make_type(plan::TypeId::kNumeric);
    type.precision = static_cast<uint8_t>(precision);
    type.scale = static_cast<int16_t>(scale);
    return type;
}

/// Types of files that kernels know.
inline std::vector<Case> cases() {
    using column::TimeUnit;
    using F = column::TypeId;
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

/// Expects that a device's compiler takes the text of kernels.
inline void expect_compiles(const char* text) {
    std::string reason;
    const std::unique_ptr<Compiler> nvrtc = make_nvrtc_compiler(&reason);
    if (nvrtc == nullptr) GTEST_SKIP() << "skipped: " << reason;
    EXPECT_NO_THROW(nvrtc->compile(text, "sm_90"));
}

/// Loads columns as the host does and as kernels do.
class LoadBothWays : public testing::Test {
  protected:
    void SetUp() override {
        opened_ = open_plan_device();
        if (opened_.compiler == nullptr) GTEST_SKIP() << "skipped: " << opened_.reason;
        modules_ =
            std::make_unique<ModuleCache>(*opened_.device, *opened_.compiler, ModuleCacheOptions());
    }

    void append(column::ColumnBuilder& builder, const Case& of, int64_t value) {
        if (of.file->id == column::TypeId::kBool) return builder.append_bool(value != 0);
        if (of.file->id == column::TypeId::kUtf8) return builder.append_bytes(Maker::text(value));
        const __int128 wide = value;
        builder.append_fixed(&wide, static_cast<size_t>(column::byte_width(*of.file)));
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

    static column::Schema schema_of(const Case& of, int index_width = 0) {
        column::Field field;
        field.name = "c";
        field.type = of.file;
        field.dictionary_index_width = static_cast<uint8_t>(index_width);
        column::Schema schema;
        schema.fields.push_back(field);
        return schema;
    }
    static std::string arrow_file(const Case& of, column::Column& column, int64_t batch,
                                  int index_width = 0) {
        std::string bytes;
        arrow::WriterOptions options;
        options.record_batch_rows = batch;
        arrow::Writer writer(schema_of(of, index_width), options, io::memory_sink(&bytes));
        const column::ColumnView view = column.view();
        if (view.length > 0) writer.write({&view, 1}, view.length);
        writer.finish();
        return bytes;
    }

    // Bounds that lie somewhere within those of the type, near one another or far apart.
    std::pair<int64_t, int64_t> random_bounds(const Case& of) {
        const uint64_t spread = uint64_t{1} << maker_.pick(64);
        const uint64_t reach = static_cast<uint64_t>(of.high) - static_cast<uint64_t>(of.low);
        const uint64_t taken = std::min(spread, reach);
        const uint64_t above = reach == taken ? 0 : maker_.random_() % (reach - taken);
        const auto low = static_cast<int64_t>(static_cast<uint64_t>(of.low) + above);
        return {low, static_cast<int64_t>(static_cast<uint64_t>(low) + taken)};
    }

    // Columns of some values that the engine has, and one at the end of those or beyond.
    std::vector<column::Column> columns_with_ends(const Case& of, int64_t distinct) {
        const int64_t beyond = column::byte_width(*of.file) == 4 ? INT32_MAX : INT64_MAX;
        std::vector<column::Column> result;
        for (const int64_t value : {beyond, -beyond - 1, of.high, of.low}) {
            column::ColumnBuilder builder(of.file);
            for (int64_t i = 0; i < 600; ++i) append(builder, of, of.low / 2 + i % distinct);
            append(builder, of, value);
            result.push_back(builder.finish());
        }
        return result;
    }

    column::Column random_column(const Case& of, int64_t rows, int nulls, int64_t low,
                                 int64_t high) {
        column::ColumnBuilder builder(of.file);
        const bool sorted = maker_.chance(20) && high - low > 1000 && high > low;
        for (int64_t row = 0; row < rows; ++row) {
            if (maker_.chance(nulls))
                builder.append_null();
            else
                append(builder, of,
                       sorted ? low + (high - low) / 1'000'000 * row : maker_.between(low, high));
        }
        return builder.finish();
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
        tiles_.clear();
        for (const BlockRows& block : blocks_of(table))
            tiles_.push_back((static_cast<uint64_t>(block.rows) + kTileRows - 1) / kTileRows);
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
        return compare(table, type, threads);
    }

    // Changes up to `most` bytes before `reach`.
    void damage(std::string& file, size_t reach, uint64_t most) {
        for (uint64_t i = 0; i <= maker_.pick(most); ++i)
            file[maker_.pick(reach)] = static_cast<char>(maker_.pick(256));
    }

    PlanDevice opened_;
    std::unique_ptr<ModuleCache> modules_;
    Maker maker_{5};
    std::vector<uint64_t> tiles_;  // by block
};

}  // namespace loom::gpu
