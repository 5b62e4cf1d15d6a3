// The Arrow reader on any bytes: open as file or stream, read bounds and metadata, read all
// columns. Everything but an Error (or the answer) is a finding. What a view states must be
// readable: every byte of every value is touched.

#include <cstdlib>

#include "column/text.h"
#include "format/arrow/reader.h"

using namespace loom;

namespace {

constexpr int64_t kMaxRows = 20'000;        // of one file
constexpr uint64_t kMemory = 256ULL << 20;  // bytes the reader may hold
constexpr size_t kMaxText = 1U << 20;       // printed of one batch

void touch(const column::ColumnView& view) {
    std::string text;
    for (int64_t row = 0; row < view.length && text.size() < kMaxText; ++row)
        column::append_text(view, row, {}, text);
}

void read_column(const format::TableReader& table, int64_t group, int column,
                 const format::ReadOptions& options) {
    auto reader = table.open_column(group, column, options);
    reader->encoding();
    reader->dictionary();
    const int64_t rows = std::min(table.row_group_rows(group), kMaxRows);
    for (int64_t row = 0; row < rows; row += column::kBatchRows)
        touch(reader->read(row, std::min(column::kBatchRows, rows - row)));
    const int64_t count = std::min<int64_t>(rows, 100);
    const uint16_t selection[] = {0, 3, 99};
    touch(reader->gather(0, count, {selection, count == 100 ? 3U : count > 0 ? 1U : 0U}));
}

template <typename Body>
void guarded(Body&& body) {
    try {
        body();
    } catch (const base::Error& error) {
        if (error.kind() == base::ErrorKind::kBug) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    base::MemoryBudget budget(kMemory);
    format::OpenOptions options;
    options.budget = &budget;
    guarded([&] {
        auto file = io::memory_file("fuzz", std::string(reinterpret_cast<const char*>(data), size));
        auto table = arrow::open(std::move(file), options);
        const auto columns = static_cast<int>(std::min<size_t>(table->schema().fields.size(), 64));
        int64_t rows = 0;
        for (int64_t group = 0; group < table->row_group_count() && rows < kMaxRows; ++group) {
            rows += 1 + table->row_group_rows(group);
            guarded([&] { table->row_group_metadata(group); });
            guarded([&] { table->chunks(group); });
            for (int column = 0; column < columns; ++column) {
                guarded([&] { table->statistics(group, column); });
                guarded([&] { table->column_bytes(group, column); });
                guarded([&] { read_column(*table, group, column, {}); });
                guarded(
                    [&] { read_column(*table, group, column, {.rows = {}, .keep_runs = true}); });
                guarded([&] {
                    read_column(*table, group, column, {.rows = {}, .decode_dictionary = true});
                });
            }
        }
    });
    if (budget.used() != 0) std::abort();
    return 0;
}
