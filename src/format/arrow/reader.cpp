#include "format/arrow/reader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>
#include <unordered_map>

#include "column/gather.h"
#include "format/arrow/array_data.h"
#include "format/arrow/array_slice.h"
#include "format/arrow/batch_header.h"
#include "format/arrow/container.h"
#include "format/arrow/dictionary_store.h"
#include "format/arrow/gather.h"
#include "format/arrow/source.h"
#include "format/arrow/statistics.h"

namespace loom::arrow {

using base::ErrorKind;
using column::ColumnView;
using column::Encoding;
using format::ChunkInfo;
using format::ColumnStatistics;

namespace {

/// What all readers of one file share.
struct Table {
    Source source;
    Container container;
    DictionaryStore dictionaries;
    bool own_statistics = false;
    std::unordered_map<std::string_view, int> name_counts;
    /// Where keys of a field's bounds stood in the batch last asked: writers keep their order. Two
    /// a field.
    std::vector<std::atomic<uint32_t>> key_positions;

    Table(std::shared_ptr<io::File> file, const format::OpenOptions& options)
        : source(std::move(file), options.budget),
          container(read_container(source, options.stop)),
          dictionaries(source, container),
          key_positions(2 * container.schema.schema.fields.size()) {
        const column::Schema& schema = container.schema.schema;
        for (const column::KeyValue& entry : schema.metadata)
            if (entry.key == kStatisticsKey && entry.value == kStatisticsExact)
                own_statistics = true;
        for (const column::Field& field : schema.fields) ++name_counts[field.name];
    }

    /// Returns the header of a batch. The last few stay in memory: columns of one batch follow each
    /// other, and a header holds all columns.
    std::shared_ptr<const BatchHeader> header(int64_t batch) {
        std::lock_guard<std::mutex> lock(mutex_);
        for (const auto& entry : recent_)
            if (entry.second != nullptr && entry.first == batch) return entry.second;
        auto fresh = std::make_shared<const BatchHeader>(
            source, container.batches[static_cast<size_t>(batch)].place);
        recent_[next_] = {batch, fresh};
        next_ = (next_ + 1) % recent_.size();
        return fresh;
    }

  private:
    std::mutex mutex_;
    std::array<std::pair<int64_t, std::shared_ptr<const BatchHeader>>, 8> recent_;
    size_t next_ = 0;
};

std::string place_of(const Table& table, int64_t batch, int column) {
    return fmt::format("file \"{}\", record batch {}, column \"{}\"", table.source.file().path(),
                       batch,
                       table.container.schema.schema.fields[static_cast<size_t>(column)].name);
}

/// Whether read() gives codes for this field. Nested values come out plain.
bool gives_codes(const Layout& layout) {
    const Layout& values = layout.shape == Shape::kRunEnd ? layout.children[1] : layout;
    return values.shape == Shape::kDictionary && !column::is_nested(values.type->id) &&
           values.type->id != column::TypeId::kNull;
}

class ArrowColumnReader final : public format::ColumnReader {
  public:
    ArrowColumnReader(std::shared_ptr<Table> table, int64_t batch, int column,
                      const format::ReadOptions& options)
        : table_(std::move(table)),
          batch_(batch),
          column_(column),
          rows_(options.rows),
          layout_(table_->container.schema.layouts[static_cast<size_t>(column)]) {
        slice_options_.keep_dictionary = !options.decode_dictionary && gives_codes(layout_);
        slice_options_.keep_runs = options.keep_runs;
    }

    Encoding encoding() override {
        return slice_options_.keep_dictionary ? Encoding::kDictionary : Encoding::kPlain;
    }

    const column::Dictionary* dictionary() override {
        if (!slice_options_.keep_dictionary) return nullptr;
        return guarded([&] {
            load();
            const ArrayData& coded = layout_.shape == Shape::kRunEnd ? data_->children[1] : *data_;
            return &coded.dictionary->dictionary();
        });
    }

    ColumnView read(int64_t row, int64_t count) override {
        return guarded([&] { return read_checked(row, count); });
    }

    ColumnView gather(int64_t row, int64_t count, std::span<const uint16_t> selection) override {
        return guarded([&] { return gather_checked(row, count, selection); });
    }

    format::ReadProfile profile() const override { return profile_; }

  private:
    template <typename Body>
    std::invoke_result_t<Body> guarded(Body&& body) {
        return base::with_where([&] { return place_of(*table_, batch_, column_); },
                                std::forward<Body>(body));
    }

    void load() {
        if (slice_ != nullptr) return;
        const auto header = table_->header(batch_);
        const BatchPlace& place = table_->container.batches[static_cast<size_t>(batch_)];
        BatchDictionaries dictionaries(table_->dictionaries, place.dictionaries_seen);
        ArrayLoader loader(table_->source, *header, table_->container.schema.big_endian,
                           dictionaries);
        data_ = std::make_unique<ArrayData>(loader.load(layout_));
        if (data_->length != place.rows)
            base::corrupt("{} values in a record batch of {} rows", data_->length, place.rows);
        slice_ = std::make_unique<ArraySlice>(*data_, slice_options_, table_->source.budget());
        table_->source.check();
        profile_.bytes_read = loader.cost().bytes + dictionaries.cost().bytes;
        profile_.decode_ns = loader.cost().decode_ns + dictionaries.cost().decode_ns;
        profile_.pages_read = loader.cost().buffers + dictionaries.cost().buffers;
    }

    void check_range(int64_t row, int64_t count) const {
        if (count < 0 || count > column::kBatchRows)
            base::raise(ErrorKind::kBug, "{} rows asked for at once", count);
        if (rows_.empty() || count == 0) return;
        // The last range that begins at or before `row` must cover all of them.
        auto after = std::upper_bound(
            rows_.begin(), rows_.end(), row,
            [](int64_t value, const format::RowRange& range) { return value < range.begin; });
        if (after == rows_.begin() || std::prev(after)->end < row + count)
            base::raise(ErrorKind::kBug, "rows {} to {} were not announced", row, row + count);
    }

    ColumnView read_checked(int64_t row, int64_t count) {
        check_range(row, count);
        load();
        ColumnView view = slice_->read(row, count);
        table_->source.check();
        return view;
    }

    ColumnView gather_checked(int64_t row, int64_t count, std::span<const uint16_t> selection) {
        if (slice_options_.keep_runs && layout_.shape == Shape::kRunEnd) {
            // Chosen rows have no runs worth keeping.
            load();
            if (plain_runs_ == nullptr)
                plain_runs_ = std::make_unique<ArraySlice>(
                    *data_, SliceOptions{slice_options_.keep_dictionary, false},
                    table_->source.budget());
            check_range(row, count);
            return choose(plain_runs_->read(row, count), selection);
        }
        return choose(read_checked(row, count), selection);
    }

    ColumnView choose(const ColumnView& all, std::span<const uint16_t> selection) {
        if (is_flat(all)) return choose_flat(all, selection);
        selection_.assign(selection.begin(), selection.end());
        if (gathered_.type == nullptr)
            gathered_ = new_column(layout_.type, table_->source.budget());
        clear_rows(gathered_);
        gather_rows(all, selection_, gathered_);
        ColumnView view = gathered_view(gathered_);
        view.type = all.type;
        if (all.encoding == Encoding::kDictionary) view.dictionary = all.dictionary;
        table_->source.check();
        return view;
    }

    // Values (or codes) of one fixed width a row, or bytes.
    static bool is_flat(const ColumnView& view) {
        if (view.encoding == column::Encoding::kDictionary) return true;
        using column::TypeId;
        const TypeId id = view.type->id;
        return view.encoding == column::Encoding::kPlain && id != TypeId::kBool &&
               id != TypeId::kNull && id != TypeId::kFixedBinary && !column::is_nested(id);
    }

    ColumnView choose_flat(const ColumnView& all, std::span<const uint16_t> selection) {
        const auto count = static_cast<int64_t>(selection.size());
        const int width = all.encoding == column::Encoding::kDictionary ? all.code_width
                          : column::is_bytes(all.type->id) ? int{sizeof(column::BytesView)}
                                                           : column::byte_width(*all.type);
        ColumnView view = all;
        view.length = count;
        chosen_.resize_discarding(static_cast<uint64_t>(count) * static_cast<uint64_t>(width));
        column::gather_values(all.values, width, selection.data(), count, chosen_.data());
        view.values = chosen_.data();
        if (all.validity != nullptr) {
            chosen_validity_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
            column::gather_bits(all.validity, selection.data(), count, chosen_validity_.data());
            view.validity = chosen_validity_.data();
            view.null_count = count - base::count_bits(chosen_validity_.data(), 0, count);
        }
        table_->source.check();
        return view;
    }

    std::shared_ptr<Table> table_;
    int64_t batch_;
    int column_;
    format::RowRanges rows_;
    const Layout& layout_;
    base::Buffer chosen_{table_->source.budget()};
    base::Buffer chosen_validity_{table_->source.budget()};
    SliceOptions slice_options_;
    std::unique_ptr<ArrayData> data_;
    std::unique_ptr<ArraySlice> slice_;
    std::unique_ptr<ArraySlice> plain_runs_;
    std::vector<int64_t> selection_;
    column::Column gathered_;
    format::ReadProfile profile_;
};

// Collects the leaves of one column of one batch.
class ChunkLister {
  public:
    ChunkLister(const Table& table, const BatchHeader& header) : table_(table), header_(header) {}

    void add(const Layout& layout, const std::string& path, const LayoutCursor& end) {
        if (layout.children.empty() || layout.shape == Shape::kRunEnd)
            chunks_.push_back(leaf(layout, path, end));
        else
            add_members(layout, path, end);
    }
    std::vector<ChunkInfo> take() { return std::move(chunks_); }

  private:
    void add_members(const Layout& layout, const std::string& path, const LayoutCursor& end) {
        for (size_t i = 0; i < layout.children.size(); ++i) {
            const Layout& child = layout.children[i];
            LayoutCursor child_end = end;
            if (i + 1 < layout.children.size()) {
                const Layout& next = layout.children[i + 1];
                child_end = {next.first_node, next.first_buffer, next.unions_before,
                             next.views_before};
            }
            add(child, path + "." + layout.type->children[i].name, child_end);
        }
    }

    ChunkInfo leaf(const Layout& layout, const std::string& path, const LayoutCursor& end) const {
        ChunkInfo info;
        info.path = path;
        info.type = column::to_string(*layout.type);
        info.encodings = layout.shape == Shape::kDictionary  ? "dictionary"
                         : layout.shape == Shape::kRunEnd    ? "run-end"
                         : layout.shape == Shape::kBytesView ? "view"
                                                             : "plain";
        info.has_dictionary = layout.shape == Shape::kDictionary;
        info.codec = codec::name(header_.codec());
        info.values = header_.node(layout.first_node).length;
        for (const BufferPlace& place : buffer_places(header_, layout, end)) {
            if (place.length == 0) continue;
            if (info.offset == 0) info.offset = place.offset;
            info.compressed_bytes += place.length;
            info.uncompressed_bytes += uncompressed(place);
        }
        return info;
    }

    uint64_t uncompressed(const BufferPlace& place) const {
        if (header_.codec() == codec::Codec::kNone || place.length < 8) return place.length;
        const Bytes prefix = table_.source.metadata_copy(place.offset, 8);
        return static_cast<uint64_t>(
            std::max<int64_t>(0, stated_length(prefix.data, place.length)));
    }

    const Table& table_;
    const BatchHeader& header_;
    std::vector<ChunkInfo> chunks_;
};

// Shortens a buffer to what rows need of it; false if it is shorter, or lies beyond the file's end.
bool cut(const BufferPlace& place, uint64_t bytes, uint64_t file_size, format::FileRange& range) {
    if (place.length < bytes || place.offset > file_size || bytes > file_size - place.offset)
        return false;
    range = {place.offset, bytes};
    return true;
}

// As ArrayLoader sees the buffers.
std::optional<format::RawColumn> read_raw(const BatchHeader& header, const Layout& layout,
                                          int64_t rows, uint64_t file_size) {
    using Raw = format::RawColumn;
    Raw raw;
    switch (layout.shape) {
        case Shape::kBits:
            raw.shape = Raw::Shape::kBits;
            break;
        case Shape::kFixed:
            raw.shape = Raw::Shape::kFixed;
            break;
        case Shape::kDictionary:
            if (!gives_codes(layout)) return std::nullopt;
            raw.shape = Raw::Shape::kCodes;
            break;
        default:
            return std::nullopt;
    }
    raw.width = layout.value_width;
    raw.is_signed = layout.index_signed;
    const BatchHeader::Node node = header.node(layout.first_node);
    if (header.codec() != codec::Codec::kNone || node.length != rows) return std::nullopt;
    const auto count = static_cast<uint64_t>(rows);
    const uint64_t bits = count / 8 + (count % 8 != 0 ? 1 : 0);
    const bool is_bits = raw.shape == Raw::Shape::kBits;
    if (!is_bits && (raw.width <= 0 || count > UINT64_MAX / static_cast<uint64_t>(raw.width)))
        return std::nullopt;
    const int32_t first = header.first_buffer(layout);
    const uint64_t bytes = is_bits ? bits : count * static_cast<uint64_t>(raw.width);
    if (!cut(header.buffer(first + 1), bytes, file_size, raw.values)) return std::nullopt;
    const BufferPlace validity = header.buffer(first);
    if (node.null_count == 0 || (node.null_count < 0 && validity.length == 0)) return raw;
    if (!cut(validity, bits, file_size, raw.validity)) return std::nullopt;
    return raw;
}

class ArrowTableReader final : public format::TableReader {
  public:
    ArrowTableReader(std::shared_ptr<io::File> file, const format::OpenOptions& options)
        : table_(std::make_shared<Table>(std::move(file), options)) {
        for (const BatchPlace& batch : table_->container.batches) row_count_ += batch.rows;
    }

    io::File& file() const override { return table_->source.file(); }
    std::string_view format_name() const override { return "arrow"; }
    const column::Schema& schema() const override { return table_->container.schema.schema; }
    int64_t row_count() const override { return row_count_; }
    int64_t row_group_count() const override {
        return static_cast<int64_t>(table_->container.batches.size());
    }
    int64_t row_group_rows(int64_t row_group) const override { return batch(row_group).rows; }

    uint64_t column_bytes(int64_t row_group, int column) const override {
        check(row_group, column);
        return guarded(row_group, column, [&] {
            uint64_t total = 0;
            for (const BufferPlace& place :
                 buffer_places(*table_->header(row_group), layout(column), end(column)))
                total += place.length;
            return total;
        });
    }

    ColumnStatistics statistics(int64_t row_group, int column) const override {
        check(row_group, column);
        return guarded(row_group, column, [&] { return read_statistics(row_group, column); });
    }

    std::vector<format::PageStatistics> page_statistics(int64_t, int) const override { return {}; }
    bool may_contain(int64_t, int, const column::Scalar&) const override { return true; }

    std::vector<column::KeyValue> row_group_metadata(int64_t row_group) const override {
        batch(row_group);
        return base::with_where(
            [&] { return fmt::format("file \"{}\", record batch {}", file().path(), row_group); },
            [&] { return table_->header(row_group)->all_metadata(); });
    }

    std::vector<ChunkInfo> chunks(int64_t row_group) const override {
        batch(row_group);
        return base::with_where(
            [&] { return fmt::format("file \"{}\", record batch {}", file().path(), row_group); },
            [&] {
                const auto header = table_->header(row_group);
                ChunkLister lister(*table_, *header);
                for (size_t i = 0; i < schema().fields.size(); ++i)
                    lister.add(layout(static_cast<int>(i)), schema().fields[i].name,
                               end(static_cast<int>(i)));
                return lister.take();
            });
    }

    std::optional<format::RawColumn> raw_column(int64_t row_group, int column) const override {
        check(row_group, column);
        if (table_->container.schema.big_endian) return std::nullopt;
        try {
            return read_raw(*table_->header(row_group), layout(column), batch(row_group).rows,
                            table_->source.size());
        } catch (const base::Error&) {
            return std::nullopt;
        }
    }

    std::unique_ptr<format::ColumnReader> open_column(
        int64_t row_group, int column, const format::ReadOptions& options) const override {
        check(row_group, column);
        return std::make_unique<ArrowColumnReader>(table_, row_group, column, options);
    }

  private:
    template <typename Body>
    std::invoke_result_t<Body> guarded(int64_t row_group, int column, Body&& body) const {
        return base::with_where([&] { return place_of(*table_, row_group, column); },
                                std::forward<Body>(body));
    }
    const BatchPlace& batch(int64_t row_group) const {
        if (row_group < 0 || row_group >= row_group_count())
            base::raise(ErrorKind::kBug, "record batch {} of {}", row_group, row_group_count());
        return table_->container.batches[static_cast<size_t>(row_group)];
    }
    void check(int64_t row_group, int column) const {
        batch(row_group);
        if (column < 0 || static_cast<size_t>(column) >= schema().fields.size())
            base::raise(ErrorKind::kBug, "column {} of {}", column, schema().fields.size());
    }
    const Layout& layout(int column) const {
        return table_->container.schema.layouts[static_cast<size_t>(column)];
    }
    const LayoutCursor& end(int column) const {
        return table_->container.schema.ends[static_cast<size_t>(column)];
    }

    ColumnStatistics read_statistics(int64_t row_group, int column) const {
        ColumnStatistics result;
        const column::Field& field = schema().fields[static_cast<size_t>(column)];
        const Layout& shape = layout(column);
        if (column::is_nested(field.type->id)) return result;
        const auto header = table_->header(row_group);
        // A dictionary or runs may hold NULLs that the node of the field does not count.
        if (shape.shape == Shape::kNull)
            result.null_count = batch(row_group).rows;
        else if (shape.shape != Shape::kDictionary && shape.shape != Shape::kRunEnd)
            result.null_count = std::max<int64_t>(-1, header->node(shape.first_node).null_count);
        // Keys name a field; if two fields share the name, nobody knows which one is meant.
        if (table_->name_counts.at(field.name) != 1) return result;
        const auto min_max = bounds_metadata(*header, kMinMaxPrefix, column, 0);
        if (min_max) {
            parse_min_max(*min_max, *field.type,
                          table_->own_statistics ? Trust::kOwn : Trust::kForeign, result);
        } else {
            const std::string* min_values = field.find_metadata(kMinValuesKey);
            const std::string* max_values = field.find_metadata(kMaxValuesKey);
            if (min_values != nullptr && max_values != nullptr)
                parse_value_lists(*min_values, *max_values, row_group, *field.type, result);
        }
        if (table_->own_statistics) {
            const auto detail = bounds_metadata(*header, kDetailPrefix, column, 1);
            if (detail) parse_detail(*detail, result);
        }
        table_->source.check();
        return result;
    }

    std::optional<std::string> bounds_metadata(const BatchHeader& header, std::string_view prefix,
                                               int column, size_t kind) const {
        auto& position = table_->key_positions[2 * static_cast<size_t>(column) + kind];
        uint32_t guess = position.load(std::memory_order_relaxed);
        auto value = header.metadata(
            std::string(prefix) + schema().fields[static_cast<size_t>(column)].name, &guess);
        position.store(guess, std::memory_order_relaxed);
        return value;
    }

    std::shared_ptr<Table> table_;
    int64_t row_count_ = 0;
};

}  // namespace

bool looks_like_arrow(base::ByteSpan first_bytes) noexcept {
    return looks_like_container(first_bytes);
}

std::unique_ptr<format::TableReader> open(std::shared_ptr<io::File> file,
                                          const format::OpenOptions& options) {
    return std::make_unique<ArrowTableReader>(std::move(file), options);
}

}  // namespace loom::arrow
