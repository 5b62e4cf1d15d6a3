#include "format/parquet/reader.h"

#include <algorithm>

#include "format/parquet/read/chunk_walk.h"
#include "format/parquet/read/file_state.h"
#include "format/parquet/read/flat_column_reader.h"
#include "format/parquet/read/nested_column_reader.h"
#include "format/parquet/stats/bloom_filter.h"
#include "format/parquet/stats/page_index.h"
#include "format/parquet/stats/statistics.h"

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
    std::optional<format::PagedColumn> paged_column(int64_t row_group, int column) const override;
    std::unique_ptr<format::PageWalk> walk_pages(int64_t row_group, int column) const override;
    std::unique_ptr<format::ColumnReader> open_column(
        int64_t row_group, int column, const format::ReadOptions& options) const override;

  private:
    const SchemaTree& tree() const noexcept { return file_->footer.schema(); }
    const RowGroup& group(int64_t row_group) const {
        if (row_group < 0 || row_group >= row_group_count())
            base::raise(ErrorKind::kBug, "row group {} of {}", row_group, row_group_count());
        return file_->footer.row_groups()[static_cast<size_t>(row_group)];
    }
    // Calls `body` with a column's node; errors get their place.
    template <typename Body>
    auto at(int64_t row_group, int column, Body&& body) const {
        group(row_group);
        if (column < 0 || static_cast<size_t>(column) >= tree().columns.size())
            base::raise(ErrorKind::kBug, "column {} of {}", column, tree().columns.size());
        return base::with_where([&] { return file_->where(row_group, column); },
                                [&] { return body(tree().columns[static_cast<size_t>(column)]); });
    }
    format::ChunkInfo chunk_info(int64_t row_group, int leaf) const;

    FileStatePtr file_;
};

// Leaves below one column have consecutive ordinals.
template <typename Visit>
void for_each_leaf(const Node& node, Visit&& visit) {
    if (node.kind == Node::Kind::kLeaf && node.leaf >= 0) visit(node.leaf);
    for (const Node& child : node.children) for_each_leaf(child, visit);
}

uint64_t ParquetReader::column_bytes(int64_t row_group, int column) const {
    return at(row_group, column, [&](const Node& node) {
        uint64_t total = 0;
        for_each_leaf(node, [&](int leaf) {
            const ColumnChunk chunk = file_->footer.chunk(row_group, leaf);
            if (chunk.compressed_size > 0) total += static_cast<uint64_t>(chunk.compressed_size);
        });
        return total;
    });
}

format::ColumnStatistics ParquetReader::statistics(int64_t row_group, int column) const {
    return at(row_group, column, [&](const Node& node) -> format::ColumnStatistics {
        if (!tree().is_flat(column)) return {};
        const ColumnChunk chunk = file_->footer.chunk(row_group, node.leaf);
        if (chunk.encrypted) return {};
        return usable_statistics(tree().leaves[static_cast<size_t>(node.leaf)],
                                 file_->footer.order(node.leaf), chunk);
    });
}

std::vector<format::PageStatistics> ParquetReader::page_statistics(int64_t row_group,
                                                                   int column) const {
    return at(row_group, column, [&](const Node& node) -> std::vector<format::PageStatistics> {
        if (!tree().is_flat(column)) return {};
        return read_page_statistics(*file_, row_group, node.leaf);
    });
}

bool ParquetReader::may_contain(int64_t row_group, int column, const column::Scalar& value) const {
    return at(row_group, column, [&](const Node& node) {
        return !tree().is_flat(column) ||
               bloom_filter_may_contain(*file_, row_group, node.leaf, value);
    });
}

format::ChunkInfo ParquetReader::chunk_info(int64_t row_group, int leaf_index) const {
    const Leaf& leaf = tree().leaves[static_cast<size_t>(leaf_index)];
    const ColumnChunk chunk = file_->footer.chunk(row_group, leaf_index);
    format::ChunkInfo info;
    info.path = leaf.path;
    info.type = leaf.type_text;
    for (const PageEncoding encoding : chunk.encodings) {
        if (!info.encodings.empty()) info.encodings += ',';
        info.encodings += name(encoding);
    }
    info.codec = codec_name(chunk.codec);
    const bool dictionary_first =
        chunk.dictionary_page_offset > 0 && chunk.dictionary_page_offset < chunk.data_page_offset;
    info.offset = static_cast<uint64_t>(dictionary_first ? chunk.dictionary_page_offset
                                                         : chunk.data_page_offset);
    info.compressed_bytes = static_cast<uint64_t>(chunk.compressed_size);
    info.uncompressed_bytes = static_cast<uint64_t>(chunk.uncompressed_size);
    info.values = chunk.value_count;
    info.has_dictionary =
        std::any_of(chunk.encodings.begin(), chunk.encodings.end(), is_dictionary);
    info.has_page_index = chunk.offset_index_length > 0 && chunk.column_index_length > 0;
    info.has_bloom_filter = chunk.bloom_filter_offset > 0;
    return info;
}

std::vector<format::ChunkInfo> ParquetReader::chunks(int64_t row_group) const {
    group(row_group);
    return base::with_where([&] { return file_->where(); },
                            [&] {
                                std::vector<format::ChunkInfo> result;
                                for (size_t leaf = 0; leaf < tree().leaves.size(); ++leaf)
                                    result.push_back(chunk_info(row_group, static_cast<int>(leaf)));
                                return result;
                            });
}

std::optional<format::PagedColumn> ParquetReader::paged_column(int64_t row_group,
                                                               int column) const {
    return at(row_group, column, [&](const Node& node) -> std::optional<format::PagedColumn> {
        if (!tree().is_flat(column)) return std::nullopt;
        return parquet::paged_column(*file_, row_group, node.leaf);
    });
}

std::unique_ptr<format::PageWalk> ParquetReader::walk_pages(int64_t row_group, int column) const {
    return at(row_group, column, [&](const Node& node) {
        return std::make_unique<ChunkWalk>(file_, row_group, node.leaf);
    });
}

std::unique_ptr<format::ColumnReader> ParquetReader::open_column(
    int64_t row_group, int column, const format::ReadOptions& options) const {
    return at(row_group, column, [&](const Node&) -> std::unique_ptr<format::ColumnReader> {
        if (tree().is_flat(column))
            return std::make_unique<FlatColumnReader>(file_, row_group, column, options);
        return std::make_unique<NestedColumnReader>(file_, row_group, column, options);
    });
}

}  // namespace

std::unique_ptr<format::TableReader> open(std::shared_ptr<io::File> file,
                                          const format::OpenOptions& options) {
    return std::make_unique<ParquetReader>(
        std::make_shared<const FileState>(std::move(file), options));
}

}  // namespace loom::parquet
