#include "format/parquet/reader.h"

#include "format/parquet/read/file_state.h"
#include "format/parquet/read/flat_column_reader.h"
#include "format/parquet/read/nested_column_reader.h"

namespace loom::parquet {

using base::ErrorKind;

namespace {

class ParquetReader final : public format::TableReader {
  public:
    explicit ParquetReader(FileStatePtr file) : file_(std::move(file)) {}

    io::File& file() const override { return *file_->file; }
    std::string_view format_name() const override { return "parquet"; }
    const column::Schema& schema() const override { return tree().schema; }
    int64_t row_count() const override { return file_->footer.row_count(); }
    int64_t row_group_count() const override {
        return static_cast<int64_t>(file_->footer.row_groups().size());
    }
    int64_t row_group_rows(int64_t row_group) const override { return group(row_group).rows; }
    uint64_t column_bytes(int64_t row_group, int column) const override;
    format::ColumnStatistics statistics(int64_t row_group, int column) const override;
    std::vector<format::PageStatistics> page_statistics(int64_t row_group,
                                                        int column) const override;
    bool may_contain(int64_t row_group, int column, const column::Scalar& value) const override;
    std::vector<column::KeyValue> row_group_metadata(int64_t) const override { return {}; }
    std::vector<format::ChunkInfo> chunks(int64_t row_group) const override;
    std::unique_ptr<format::ColumnReader> open_column(
        int64_t row_group, int column, const format::ReadOptions& options) const override;

  private:
    const SchemaTree& tree() const noexcept { return file_->footer.schema(); }
    const RowGroup& group(int64_t row_group) const {
        if (row_group < 0 || row_group >= row_group_count())
            base::raise(ErrorKind::kBug, "row group {} of {}", row_group, row_group_count());
        return file_->footer.row_groups()[static_cast<size_t>(row_group)];
    }
    void check(int64_t row_group, int column) const {
        group(row_group);
        if (column < 0 || static_cast<size_t>(column) >= tree().columns.size())
            base::raise(ErrorKind::kBug, "column {} of {}", column, tree().columns.size());
    }

    FileStatePtr file_;
};

uint64_t ParquetReader::column_bytes(int64_t row_group, int column) const {
    return 0;
}
format::ColumnStatistics ParquetReader::statistics(int64_t, int) const { return {}; }
std::vector<format::PageStatistics> ParquetReader::page_statistics(int64_t, int) const { return {}; }
bool ParquetReader::may_contain(int64_t, int, const column::Scalar&) const { return true; }
std::vector<format::ChunkInfo> ParquetReader::chunks(int64_t) const { return {}; }

std::unique_ptr<format::ColumnReader> ParquetReader::open_column(
    int64_t row_group, int column, const format::ReadOptions& options) const {
    check(row_group, column);
    return base::with_where([&] { return file_->where(row_group, column); },
                            [&]() -> std::unique_ptr<format::ColumnReader> {
                                if (!tree().is_flat(column))
                                    return std::make_unique<NestedColumnReader>(file_, row_group,
                                                                                column, options);
                                return std::make_unique<FlatColumnReader>(file_, row_group, column,
                                                                          options);
                            });
}

}  // namespace

std::unique_ptr<format::TableReader> open(std::shared_ptr<io::File> file,
                                          const format::OpenOptions& options) {
    return std::make_unique<ParquetReader>(
        std::make_shared<const FileState>(std::move(file), options));
}

}  // namespace loom::parquet
