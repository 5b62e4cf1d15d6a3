#include "format/parquet/write/writer.h"

#include <algorithm>

#include "format/parquet/write/chunk_writer.h"
#include "format/parquet/write/crew.h"
#include "format/parquet/write/encode.h"
#include "format/parquet/write/metadata.h"
#include "format/parquet/write/shredder.h"

namespace loom::parquet {

using write::ChunkOptions;
using write::Leaf;
using write::PlacedChunk;

namespace {

constexpr std::string_view kMagic = "PAR1";
// Below this many rows a batch is not worth waking other threads for.
constexpr int64_t kParallelRows = 2048;

write::Encoding file_encoding(ValueEncoding encoding) {
    switch (encoding) {
        case ValueEncoding::kPlain:
            return write::Encoding::kPlain;
        case ValueEncoding::kRle:
            return write::Encoding::kRle;
        case ValueEncoding::kDeltaBinaryPacked:
            return write::Encoding::kDeltaBinaryPacked;
        case ValueEncoding::kDeltaLengthByteArray:
            return write::Encoding::kDeltaLengthByteArray;
        case ValueEncoding::kDeltaByteArray:
            return write::Encoding::kDeltaByteArray;
        case ValueEncoding::kByteStreamSplit:
            return write::Encoding::kByteStreamSplit;
    }
    return write::Encoding::kPlain;
}

const ColumnOptions* find_column_options(const WriterOptions& options, const Leaf& leaf) {
    auto found = options.columns.find(leaf.dotted_path());
    if (found == options.columns.end()) found = options.columns.find(leaf.path[0]);
    return found == options.columns.end() ? nullptr : &found->second;
}

ChunkOptions chunk_options(const WriterOptions& options, const Leaf& leaf) {
    ChunkOptions chunk;
    chunk.codec = options.codec;
    chunk.level = options.level;
    chunk.page_rows = options.page_rows;
    chunk.page_bytes = options.page_bytes;
    chunk.page_version = options.page_version;
    chunk.checksums = options.checksums;
    bool dictionary = options.dictionary;
    if (const ColumnOptions* own = find_column_options(options, leaf)) {
        // A level belongs to a codec.
        if (own->codec && *own->codec != options.codec) chunk.level = 0;
        chunk.codec = own->codec.value_or(chunk.codec);
        chunk.level = own->level.value_or(chunk.level);
        if (own->encoding) chunk.encoding = file_encoding(*own->encoding);
        dictionary = own->dictionary.value_or(dictionary && !own->encoding);
        chunk.bloom_filter = own->bloom_filter;
        chunk.bloom_false_positives = own->bloom_false_positives;
    }
    if (!write::allows(leaf, chunk.encoding))
        base::raise(base::ErrorKind::kBadOption,
                    "column \"{}\": {} can't be written in this encoding", leaf.dotted_path(),
                    column::to_string(*leaf.type));
    if (chunk.bloom_filter && !(chunk.bloom_false_positives > 0 && chunk.bloom_false_positives < 1))
        base::raise(base::ErrorKind::kBadOption,
                    "column \"{}\": a Bloom filter's share of false positives lies between 0 and 1",
                    leaf.dotted_path());
    // A Bloom filter on booleans or NULLs would be as large as the answer.
    if (leaf.physical == write::PhysicalType::kBoolean || leaf.type->id == column::TypeId::kNull)
        chunk.bloom_filter = false;
    chunk.dictionary_bytes = dictionary ? options.dictionary_bytes : 0;
    return chunk;
}

void check_names(const WriterOptions& options, const write::SchemaPlan& plan) {
    auto known = [&](const std::string& name, bool top_level) {
        return std::any_of(plan.leaves.begin(), plan.leaves.end(), [&](const Leaf& leaf) {
            return leaf.dotted_path() == name || (top_level && leaf.path[0] == name);
        });
    };
    for (const auto& [name, unused] : options.columns)
        if (!known(name, true))
            base::raise(base::ErrorKind::kBadName, "column \"{}\" does not exist", name);
    for (const SortingColumn& sorting : options.sorting)
        if (!known(sorting.column, false))
            base::raise(base::ErrorKind::kBadName, "column \"{}\" does not exist", sorting.column);
}

void check_options(const WriterOptions& options) {
    auto require = [](bool holds, const char* what) {
        if (!holds) base::raise(base::ErrorKind::kBadOption, "{}", what);
    };
    require(options.row_group_rows > 0, "a row group must have at least one row");
    require(options.page_rows > 0 && options.page_bytes > 0, "a page must have at least one row");
    require(options.page_version == 1 || options.page_version == 2, "page version must be 1 or 2");
    require(options.codec != codec::Codec::kLz4Frame, "Parquet has no codec lz4_frame");
    require(options.threads > 0, "the writer needs at least one thread");
}

}  // namespace

struct Writer::State {
    State(const column::Schema& given, WriterOptions given_options,
          std::unique_ptr<io::Sink> given_sink)
        : schema(given),
          plan(schema),
          options(std::move(given_options)),
          sink(std::move(given_sink)),
          crew(options.threads),
          scratches(crew.size()) {
        check_options(options);
        check_names(options, plan);
        buffers.reserve(plan.leaves.size());
        for (const Leaf& leaf : plan.leaves) {
            leaf_options.push_back(chunk_options(options, leaf));
            buffers.emplace_back(leaf, leaf_options.back().dictionary_bytes);
        }
    }

    const column::Schema schema;
    const write::SchemaPlan plan;
    const WriterOptions options;
    const std::unique_ptr<io::Sink> sink;
    std::vector<ChunkOptions> leaf_options;
    std::vector<write::LeafBuffer> buffers;
    write::Crew crew;
    std::vector<write::ChunkScratch> scratches;
    std::vector<write::PlacedRowGroup> row_groups;
    int64_t pending_rows = 0;

    void append(std::span<const column::ColumnView> columns, int64_t begin, int64_t rows);
    void flush();
    void place(write::PlacedRowGroup& group, std::vector<write::Chunk>& chunks);
    void write_indexes();
    void put(std::string_view bytes) { sink->write(base::as_bytes(bytes)); }
};

void Writer::State::append(std::span<const column::ColumnView> columns, int64_t begin,
                           int64_t rows) {
    auto take_column = [&](size_t i, int) {
        base::with_where([&] { return fmt::format("column \"{}\"", schema.fields[i].name); },
                         [&] { write::shred(plan.columns[i], columns[i], begin, rows, buffers); });
    };
    if (rows >= kParallelRows)
        crew.run(columns.size(), take_column);
    else
        for (size_t i = 0; i < columns.size(); ++i) take_column(i, 0);
    pending_rows += rows;
}

// Encodes the pending rows and writes them as a row group.
void Writer::State::flush() {
    if (pending_rows == 0) return;
    std::vector<write::Chunk> chunks(buffers.size());
    crew.run(buffers.size(), [&](size_t i, int worker) {
        base::with_where([&] { return fmt::format("column \"{}\"", plan.leaves[i].dotted_path()); },
                         [&] {
                             buffers[i].finish();
                             chunks[i] =
                                 write::write_chunk(buffers[i], leaf_options[i], scratches[worker]);
                             buffers[i].clear();
                         });
    });
    write::PlacedRowGroup group;
    group.rows = pending_rows;
    place(group, chunks);
    row_groups.push_back(std::move(group));
    pending_rows = 0;
}

void Writer::State::place(write::PlacedRowGroup& group, std::vector<write::Chunk>& chunks) {
    for (size_t i = 0; i < chunks.size(); ++i) {
        PlacedChunk placed;
        placed.codec = leaf_options[i].codec;
        placed.offset = static_cast<int64_t>(sink->position());
        // Moved out of the chunk, so that the memory goes when the bytes are written.
        const std::string bytes = std::move(chunks[i].bytes);
        placed.size = static_cast<int64_t>(bytes.size());
        put(bytes);
        placed.chunk = std::move(chunks[i]);
        group.chunks.push_back(std::move(placed));
    }
    for (PlacedChunk& placed : group.chunks) {
        const std::string filter = std::move(placed.chunk.bloom_filter);
        placed.bloom_size = static_cast<int64_t>(filter.size());
        if (placed.bloom_size == 0) continue;
        placed.bloom_offset = static_cast<int64_t>(sink->position());
        put(filter);
    }
}

// PageIndex.md: all column indexes, then all offset indexes, in front of the footer.
void Writer::State::write_indexes() {
    std::string bytes;
    for (write::PlacedRowGroup& group : row_groups)
        for (size_t i = 0; i < group.chunks.size(); ++i) {
            PlacedChunk& placed = group.chunks[i];
            bytes.clear();
            if (!append_column_index(plan.leaves[i], placed.chunk, bytes)) continue;
            placed.column_index_offset = static_cast<int64_t>(sink->position());
            placed.column_index_size = static_cast<int64_t>(bytes.size());
            put(bytes);
        }
    for (write::PlacedRowGroup& group : row_groups)
        for (size_t i = 0; i < group.chunks.size(); ++i) {
            PlacedChunk& placed = group.chunks[i];
            bytes.clear();
            append_offset_index(plan.leaves[i], placed, bytes);
            placed.offset_index_offset = static_cast<int64_t>(sink->position());
            placed.offset_index_size = static_cast<int64_t>(bytes.size());
            put(bytes);
        }
}

Writer::Writer(const column::Schema& schema, WriterOptions options, std::unique_ptr<io::Sink> sink)
    : state_(std::make_unique<State>(schema, std::move(options), std::move(sink))) {
    state_->put(kMagic);
}

Writer::~Writer() = default;

void Writer::write(std::span<const column::ColumnView> columns, int64_t rows) {
    if (columns.size() != state_->schema.fields.size())
        base::raise(base::ErrorKind::kBug, "{} columns for a schema of {}", columns.size(),
                    state_->schema.fields.size());
    for (size_t i = 0; i < columns.size(); ++i) {
        const column::Field& field = state_->schema.fields[i];
        if (!column::equal(*columns[i].type, *field.type))
            base::raise(base::ErrorKind::kBug, "column \"{}\" has type {} instead of {}",
                        field.name, column::to_string(*columns[i].type),
                        column::to_string(*field.type));
    }
    for (int64_t begin = 0; begin < rows;) {
        const int64_t room = state_->options.row_group_rows - state_->pending_rows;
        const int64_t taken = std::min(rows - begin, room);
        state_->append(columns, begin, taken);
        begin += taken;
        if (state_->pending_rows == state_->options.row_group_rows) state_->flush();
    }
}

void Writer::finish() {
    state_->flush();
    if (state_->options.page_index) state_->write_indexes();
    std::string footer;
    append_file_metadata(state_->plan, state_->options, state_->schema.metadata, state_->row_groups,
                         footer);
    const auto length = static_cast<uint32_t>(footer.size());
    footer.append(reinterpret_cast<const char*>(&length), sizeof length);
    footer += kMagic;
    state_->put(footer);
    state_->sink->close();
}

uint64_t Writer::bytes_written() const noexcept {
    return state_->sink->position();
}

}  // namespace loom::parquet
