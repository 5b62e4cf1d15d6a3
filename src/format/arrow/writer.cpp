#include "format/arrow/writer.h"

#include <algorithm>
#include <unordered_map>

#include "format/arrow/dictionary_writer.h"
#include "format/arrow/field_writer.h"
#include "format/arrow/schema_writer.h"
#include "format/arrow/statistics.h"
#include "format/arrow/statistics_writer.h"
#include "ipc_generated.h"

namespace loom::arrow {

using base::ByteSpan;
using base::ErrorKind;
using column::ColumnView;
using column::Field;
using column::KeyValue;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

namespace {

constexpr uint64_t kAlignment = 64;
constexpr std::string_view kMagic = "ARROW1";

uint64_t padding_to(uint64_t position, uint64_t alignment) {
    return (alignment - position % alignment) % alignment;
}

// Where one message went, for the footer.
struct WrittenBlock {
    uint64_t offset;
    uint64_t head_length;
    uint64_t body_length;
};

/// Lays messages into a sink.
class MessageWriter {
  public:
    MessageWriter(std::unique_ptr<io::Sink> sink, codec::Codec codec, int level)
        : sink_(std::move(sink)), codec_(codec), level_(level) {}

    void write_text(std::string_view text) { sink_->write(base::as_bytes(text)); }
    void write(ByteSpan bytes) { sink_->write(bytes); }
    void pad(uint64_t count) {
        static constexpr uint8_t kZeros[kAlignment] = {};
        sink_->write({kZeros, static_cast<size_t>(count)});
    }
    void close() { sink_->close(); }

    void write_schema(const column::Schema& schema) {
        FlatBufferBuilder builder;
        const auto offset = build_schema(builder, schema);
        write_head(builder, fb::Header::Schema, offset.Union(), 0, {});
    }
    WrittenBlock write_batch(int64_t rows, const BatchParts& parts,
                             const std::vector<KeyValue>& metadata) {
        return write_body(rows, parts, metadata, nullptr);
    }
    WrittenBlock write_dictionary(const DictionaryWriter& dictionary) {
        BatchParts parts;
        dictionary.collect_entries(parts);
        return write_body(dictionary.new_entries(), parts, {}, &dictionary);
    }

  private:
    // Compressed buffers begin with the length of their content, or -1 if stored as they are.
    ByteSpan packed(ByteSpan buffer, base::Buffer& out) {
        codec::compress(codec_, buffer, level_, packed_);
        const bool smaller = packed_.size() < buffer.size();
        const ByteSpan content = smaller ? packed_.span() : buffer;
        append_value(out, smaller ? static_cast<int64_t>(buffer.size()) : int64_t{-1});
        append_to(out, content.data(), content.size());
        return out.span();
    }

    WrittenBlock write_body(int64_t rows, const BatchParts& parts,
                            const std::vector<KeyValue>& metadata,
                            const DictionaryWriter* dictionary) {
        std::vector<ByteSpan> bodies;
        std::vector<base::Buffer> owned;
        std::vector<fb::Buffer> places;
        uint64_t position = 0;
        owned.reserve(parts.buffers.size());
        for (ByteSpan buffer : parts.buffers) {
            if (codec_ != codec::Codec::kNone && !buffer.empty())
                buffer = packed(buffer, owned.emplace_back());
            bodies.push_back(buffer);
            places.emplace_back(static_cast<int64_t>(position),
                                static_cast<int64_t>(buffer.size()));
            position += buffer.size() + padding_to(buffer.size(), kAlignment);
        }
        FlatBufferBuilder builder;
        const auto batch = build_batch(builder, rows, parts, places);
        Offset<void> header = batch.Union();
        if (dictionary != nullptr)
            header =
                fb::CreateDictionaryBatch(builder, dictionary->id(), batch, dictionary->is_delta())
                    .Union();
        WrittenBlock block = write_head(
            builder, dictionary != nullptr ? fb::Header::DictionaryBatch : fb::Header::RecordBatch,
            header, static_cast<int64_t>(position), metadata);
        block.body_length = position;
        for (ByteSpan body : bodies) {
            write(body);
            pad(padding_to(body.size(), kAlignment));
        }
        return block;
    }

    Offset<fb::RecordBatch> build_batch(FlatBufferBuilder& builder, int64_t rows,
                                        const BatchParts& parts,
                                        const std::vector<fb::Buffer>& places) const {
        std::vector<fb::Node> nodes;
        for (const BatchParts::Node& node : parts.nodes)
            nodes.emplace_back(node.length, node.null_count);
        Offset<fb::BodyCompression> compression;
        if (codec_ != codec::Codec::kNone)
            compression = fb::CreateBodyCompression(builder, codec_ == codec::Codec::kZstd
                                                                 ? fb::BodyCodec::Zstd
                                                                 : fb::BodyCodec::Lz4Frame);
        const auto nodes_offset = builder.CreateVectorOfStructs(nodes);
        const auto places_offset = builder.CreateVectorOfStructs(places);
        Offset<flatbuffers::Vector<int64_t>> views;
        if (!parts.view_buffers.empty()) views = builder.CreateVector(parts.view_buffers);
        return fb::CreateRecordBatch(builder, rows, nodes_offset, places_offset, compression,
                                     views);
    }

    WrittenBlock write_head(FlatBufferBuilder& builder, fb::Header kind, Offset<void> header,
                            int64_t body_length, const std::vector<KeyValue>& metadata) {
        const auto metadata_offset = build_metadata(builder, metadata);
        builder.Finish(fb::CreateMessage(builder, fb::Version::V5, kind, header, body_length,
                                         metadata_offset));
        WrittenBlock block{};
        block.offset = sink_->position();
        // The body begins on a multiple of 64 bytes of the file.
        constexpr uint64_t kPrefix = 8;
        const uint64_t length =
            builder.GetSize() + padding_to(block.offset + kPrefix + builder.GetSize(), kAlignment);
        if (length > INT32_MAX)
            base::raise(ErrorKind::kLimit, "a message head of {} bytes", length);
        block.head_length = kPrefix + length;
        const uint32_t prefix[2] = {0xFFFFFFFF, static_cast<uint32_t>(length)};
        write({reinterpret_cast<const uint8_t*>(prefix), sizeof prefix});
        write({builder.GetBufferPointer(), builder.GetSize()});
        pad(length - builder.GetSize());
        return block;
    }

    std::unique_ptr<io::Sink> sink_;
    codec::Codec codec_;
    int level_;
    base::Buffer packed_;
};

// Removes bounds that belong to the file the schema came from.
void drop_statistics(std::vector<KeyValue>& metadata) {
    std::erase_if(metadata, [](const KeyValue& entry) {
        return entry.key == kMinValuesKey || entry.key == kMaxValuesKey ||
               entry.key == kStatisticsKey;
    });
}

}  // namespace

class Writer::State {
  public:
    State(const column::Schema& schema, WriterOptions options, std::unique_ptr<io::Sink> sink)
        : schema_(schema),
          options_(std::move(options)),
          out_(std::move(sink), options_.codec, options_.codec_level) {
        check_options();
        int64_t next_dictionary_id = 0;
        for (Field& field : schema_.fields) {
            drop_statistics(field.metadata);
            fields_.push_back(make_field_writer(field, next_dictionary_id));
        }
        drop_statistics(schema_.metadata);
        schema_.metadata.insert(schema_.metadata.end(), options_.metadata.begin(),
                                options_.metadata.end());
        if (options_.statistics) start_statistics();
        if (!options_.stream) {
            out_.write_text(kMagic);
            out_.pad(2);
        }
        out_.write_schema(schema_);
    }

    void write(std::span<const ColumnView> columns, int64_t rows) {
        if (finished_) base::raise(ErrorKind::kBug, "write after finish");
        check_columns(columns, rows);
        // Portions keep 32-bit offsets from overflowing between two looks at full().
        constexpr int64_t kPortion = 16384;
        for (int64_t row = 0; row < rows;) {
            const int64_t count =
                std::min({rows - row, kPortion, options_.record_batch_rows - pending_});
            for (size_t i = 0; i < columns.size(); ++i) {
                fields_[i]->append(columns[i], row, count);
                if (i < statistics_.size()) statistics_[i].add(columns[i], row, count);
            }
            row += count;
            pending_ += count;
            const bool full = std::any_of(fields_.begin(), fields_.end(),
                                          [](const auto& field) { return field->full(); });
            if (full || pending_ == options_.record_batch_rows) flush();
        }
    }

    void finish() {
        if (finished_) base::raise(ErrorKind::kBug, "finish was called twice");
        if (pending_ != 0) flush();
        finished_ = true;
        static constexpr uint32_t kEnd[2] = {0xFFFFFFFF, 0};
        out_.write({reinterpret_cast<const uint8_t*>(kEnd), sizeof kEnd});
        if (!options_.stream) write_footer();
        out_.close();
    }

    int64_t rows_written() const noexcept { return written_ + pending_; }

  private:
    void check_options() const {
        if (options_.record_batch_rows < 1 || options_.record_batch_rows > INT32_MAX)
            base::raise(ErrorKind::kBadOption, "record batches of {} rows",
                        options_.record_batch_rows);
        if (options_.codec != codec::Codec::kNone && options_.codec != codec::Codec::kLz4Frame &&
            options_.codec != codec::Codec::kZstd)
            base::raise(ErrorKind::kBadOption, "Arrow files cannot be compressed with {}",
                        codec::name(options_.codec));
    }

    void check_columns(std::span<const ColumnView> columns, int64_t rows) const {
        if (columns.size() != fields_.size())
            base::raise(ErrorKind::kBug, "{} columns for a schema of {}", columns.size(),
                        fields_.size());
        for (size_t i = 0; i < columns.size(); ++i) {
            const Field& field = schema_.fields[i];
            if (columns[i].length < rows || !column::equal(*columns[i].type, *field.type))
                base::raise(ErrorKind::kBug, "column \"{}\" of type {} gets {} rows of type {}",
                            field.name, column::to_string(*field.type), columns[i].length,
                            column::to_string(*columns[i].type));
        }
    }

    // Bounds are found by the field's name, so a name that occurs twice has none.
    void start_statistics() {
        std::unordered_map<std::string_view, int> names;
        for (const Field& field : schema_.fields) ++names[field.name];
        for (const Field& field : schema_.fields) {
            Field followed = field;
            if (names[field.name] != 1) followed.type = column::make_type(column::TypeId::kNull);
            statistics_.emplace_back(followed);
        }
        schema_.metadata.push_back({std::string(kStatisticsKey), std::string(kStatisticsExact)});
    }

    void flush() {
        std::vector<DictionaryWriter*> dictionaries;
        for (auto& field : fields_) field->list_dictionaries(dictionaries);
        for (DictionaryWriter* dictionary : dictionaries) {
            if (!dictionary->has_news()) continue;
            dictionary_blocks_.push_back(out_.write_dictionary(*dictionary));
            dictionary->entries_written();
        }
        BatchParts parts;
        for (auto& field : fields_) field->collect(parts);
        std::vector<KeyValue> metadata;
        for (StatisticsCollector& collector : statistics_) collector.finish_batch(metadata);
        batch_blocks_.push_back(out_.write_batch(pending_, parts, metadata));
        for (auto& field : fields_) field->clear();
        written_ += pending_;
        pending_ = 0;
    }

    static std::vector<fb::Block> blocks_of(const std::vector<WrittenBlock>& written) {
        std::vector<fb::Block> blocks;
        for (const WrittenBlock& block : written)
            blocks.emplace_back(static_cast<int64_t>(block.offset),
                                static_cast<int32_t>(block.head_length),
                                static_cast<int64_t>(block.body_length));
        return blocks;
    }

    void write_footer() {
        for (size_t i = 0; i < statistics_.size(); ++i) {
            if (!statistics_[i].has_lists() || batch_blocks_.empty()) continue;
            std::vector<KeyValue>& metadata = schema_.fields[i].metadata;
            metadata.push_back({std::string(kMinValuesKey), statistics_[i].min_list()});
            metadata.push_back({std::string(kMaxValuesKey), statistics_[i].max_list()});
        }
        FlatBufferBuilder builder;
        const auto schema = build_schema(builder, schema_);
        const auto dictionaries = builder.CreateVectorOfStructs(blocks_of(dictionary_blocks_));
        const auto batches = builder.CreateVectorOfStructs(blocks_of(batch_blocks_));
        builder.Finish(fb::CreateFooter(builder, fb::Version::V5, schema, dictionaries, batches));
        out_.write({builder.GetBufferPointer(), builder.GetSize()});
        const auto length = static_cast<uint32_t>(builder.GetSize());
        out_.write({reinterpret_cast<const uint8_t*>(&length), sizeof length});
        out_.write_text(kMagic);
    }

    column::Schema schema_;
    WriterOptions options_;
    MessageWriter out_;
    std::vector<std::unique_ptr<FieldWriter>> fields_;
    std::vector<StatisticsCollector> statistics_;
    std::vector<WrittenBlock> dictionary_blocks_;
    std::vector<WrittenBlock> batch_blocks_;
    int64_t pending_ = 0;
    int64_t written_ = 0;
    bool finished_ = false;
};

Writer::Writer(const column::Schema& schema, WriterOptions options, std::unique_ptr<io::Sink> sink)
    : state_(std::make_unique<State>(schema, std::move(options), std::move(sink))) {}
Writer::~Writer() = default;

void Writer::write(std::span<const ColumnView> columns, int64_t rows) {
    state_->write(columns, rows);
}
void Writer::finish() {
    state_->finish();
}
int64_t Writer::rows_written() const noexcept {
    return state_->rows_written();
}

}  // namespace loom::arrow
