// Fuzzes the Parquet reader with whole files: everything that a table layer may ask of one.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "format/parquet/reader.h"
#include "format/parquet/test/value_text.h"

namespace {

using loom::base::Error;
using loom::column::ColumnView;
using loom::column::Scalar;
namespace format = loom::format;

constexpr int64_t kMaxRows = 20000;
constexpr uint64_t kMemory = uint64_t{256} << 20;

// Touches all that a consumer of the view may touch.
void look_at(const ColumnView& view) {
    std::string text;
    for (int64_t i = 0; i < std::min<int64_t>(view.length, 200); ++i) {
        text.clear();
        loom::parquet::test::append_value(view, i, text);
    }
}

// Errors other than kBug are the expected answer to a damaged file.
template <typename Body>
void tolerate(Body&& body) {
    try {
        body();
    } catch (const Error& error) {
        if (error.kind() == loom::base::ErrorKind::kBug) __builtin_trap();
    }
}

void read_column(const format::TableReader& table, int64_t group, int column,
                 const format::ReadOptions& options) {
    auto reader = table.open_column(group, column, options);
    const int64_t rows = std::min(table.row_group_rows(group), kMaxRows);
    for (int64_t row = 0; row < rows; row += 1000) {
        const int64_t count = std::min<int64_t>(1000, rows - row);
        look_at(reader->read(row, count));
    }
    if (rows == 0) return;
    const int64_t count = std::min<int64_t>(rows, 500);
    std::vector<uint16_t> selection;
    for (int64_t i = 0; i < count; i += 9) selection.push_back(static_cast<uint16_t>(i));
    look_at(reader->gather(0, count, selection));
    look_at(reader->read(rows - 1, 1));
    look_at(reader->read(0, 1));
    reader->profile();
}

void look_at_metadata(const format::TableReader& table, int64_t group, int column) {
    tolerate([&] { table.column_bytes(group, column); });
    tolerate([&] { table.statistics(group, column); });
    tolerate([&] { table.page_statistics(group, column); });
    for (const Scalar& value : {Scalar::of_int(7), Scalar::of_float(1.5), Scalar::of_bytes("Hello")})
        tolerate([&] { table.may_contain(group, column, value); });
}

void read_page_range(const format::TableReader& table, int64_t group, int column) {
    const auto pages = table.page_statistics(group, column);
    if (pages.size() < 2 || pages[1].row_count <= 0) return;
    format::ReadOptions options;
    options.rows = {{pages[1].first_row, pages[1].first_row + pages[1].row_count}};
    auto reader = table.open_column(group, column, options);
    look_at(reader->read(pages[1].first_row, std::min<int64_t>(pages[1].row_count, 1000)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    loom::base::MemoryBudget budget(kMemory);
    format::OpenOptions options;
    options.budget = &budget;
    options.verify_checksums = size % 2 == 0;
    tolerate([&] {
        auto table = loom::parquet::open(
            loom::io::memory_file("fuzz", std::string(reinterpret_cast<const char*>(data), size)),
            options);
        const int64_t groups = std::min<int64_t>(table->row_group_count(), 4);
        const int columns = static_cast<int>(std::min<size_t>(table->schema().fields.size(), 40));
        for (int64_t group = 0; group < groups; ++group) {
            tolerate([&] { table->chunks(group); });
            for (int column = 0; column < columns; ++column) {
                look_at_metadata(*table, group, column);
                format::ReadOptions plain, runs;
                plain.decode_dictionary = true;
                runs.keep_runs = true;
                tolerate([&] { read_column(*table, group, column, plain); });
                tolerate([&] { read_column(*table, group, column, runs); });
                tolerate([&] { read_page_range(*table, group, column); });
            }
        }
    });
    return 0;
}
