// Columns of Parquet files whose pages kernels decompress and decode: the same layout, bases and
// bytes as those that the host makes of them, and left to the host where that raises.

#include <string>

#include <gtest/gtest.h>

#include "format/parquet/write/writer.h"
#include "gpu/memory/raw_loader.h"
#include "gpu/memory/raw_pages.h"
#include "load_both_ways.h"

namespace loom::gpu {

namespace {

using F = column::TypeId;
using codec::Codec;

class ParquetLoaderTest : public LoadBothWays {
  protected:
    static std::string file_of(const Case& of, column::ColumnView view,
                               parquet::WriterOptions options) {
        column::Field field;
        field.name = "c";
        field.type = of.file;
        column::Schema schema;
        schema.fields.push_back(field);
        std::string bytes;
        parquet::Writer writer(schema, std::move(options), io::memory_sink(&bytes));
        if (view.length > 0) writer.write({&view, 1}, view.length);
        writer.finish();
        return bytes;
    }
    std::string random_file(const Case& of, int64_t rows, int nulls, int64_t low, int64_t high,
                            const parquet::WriterOptions& options) {
        column::Column column = random_column(of, rows, nulls, low, high);
        return file_of(of, column.view(), options);
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
    std::string reason;
    const std::unique_ptr<Compiler> nvrtc = make_nvrtc_compiler(&reason);
    if (nvrtc == nullptr) GTEST_SKIP() << "skipped: " << reason;
    EXPECT_NO_THROW(nvrtc->compile(page_kernels_text(), "sm_90"));
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
                const uint64_t spread = uint64_t{1} << maker_.pick(64);
                const uint64_t reach =
                    static_cast<uint64_t>(of.high) - static_cast<uint64_t>(of.low);
                const uint64_t taken = std::min(spread, reach);
                const auto low =
                    static_cast<int64_t>(static_cast<uint64_t>(of.low) +
                                         (reach == taken ? 0 : maker_.random_() % (reach - taken)));
                const auto high = static_cast<int64_t>(static_cast<uint64_t>(low) + taken);
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

}  // namespace

}  // namespace loom::gpu
