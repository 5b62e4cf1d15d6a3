#include "gpu/memory/raw_loader.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"
#include "exec/fault.h"
#include "exec/scan/load.h"
#include "gpu/memory/raw_conversion.h"
#include "gpu/memory/raw_pages.h"

namespace loom::gpu {

namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kBlocksPerProcessor = 8;
// Threads that wait for the link need no processor: so many for each that reads.
constexpr int kWaiting = 2;

constexpr const char* kText = R"(#include "gpu/runtime/raw.h"
namespace loom::gpu {
LOOM_KERNEL(raw_shapes, RawColumnParameters, 256, 1) {
    LOOM_NO_UNROLL for (uint32_t tile = block_index() * (block_threads() / kWarp) + warp_index();
                        tile < p.tiles; tile += grid_blocks() * (block_threads() / kWarp))
        raw_shape_of_tile(p, tile, lane_index());
}
LOOM_KERNEL(raw_tiles, RawColumnParameters, 256, 1) {
    LOOM_NO_UNROLL for (uint32_t tile = block_index() * (block_threads() / kWarp) + warp_index();
                        tile < p.tiles; tile += grid_blocks() * (block_threads() / kWarp))
        raw_encode_tile(p, tile, lane_index());
}
}  // namespace loom::gpu
)";

uint64_t tiles_of(uint64_t rows) {
    return (rows + kTileRows - 1) / kTileRows;
}
uint64_t bitmap_bytes(uint64_t rows) {
    return (rows + 7) / 8;
}

// The column is not one for kernels.
struct NotRaw {};

int64_t base_below(int64_t value) {
    return value & ~int64_t{31};
}

ColumnShape shape_of(const RawShape& raw) {
    if (raw.has_values == 0) return {INT64_MAX, INT64_MIN, 0, raw.has_nulls != 0};
    return {raw_of_order(~raw.least), raw_of_order(raw.greatest), static_cast<int>(raw.tile_bits),
            raw.has_nulls != 0};
}

// Places of several arrays in one piece of memory.
class Places {
  public:
    template <typename T>
    uint64_t add(const std::vector<T>& values) {
        const uint64_t at = content_.size();
        content_.resize(at + aligned(values.size() * sizeof(T)));
        if (!values.empty())
            std::memcpy(content_.data() + at, values.data(), values.size() * sizeof(T));
        return at;
    }
    /// Replaces values that have been added.
    template <typename T>
    void put(uint64_t at, const std::vector<T>& values) {
        if (!values.empty())
            std::memcpy(content_.data() + at, values.data(), values.size() * sizeof(T));
    }
    const std::vector<uint8_t>& content() const { return content_; }
    uint64_t bytes() const { return content_.size(); }

  private:
    std::vector<uint8_t> content_;
};

}  // namespace

const char* raw_kernels_text() {
    return kText;
}

// --- what there is to do
// ----------------------------------------------------------------------------------------

struct RawLoader::Column {
    // A block of the table, and where its bytes and its pieces lie.
    struct Block {
        BlockRows rows;
        uint64_t at = 0;
        uint32_t first_piece = 0;
        uint32_t first_tile = 0;
        PageWork pages = {};
    };
    // What files have in common, or not.
    struct File {
        std::optional<RawPiece> conversion;
        std::optional<PageConversion> pages;  // of a file that holds values in pages
        uint64_t bits = 0;                    // a row
        uint64_t bytes = 0;                   // of values, or of pages
        std::unique_ptr<exec::Loader> dictionaries;
    };

    explicit Column(RawRequest& of) : request(of) {}

    RawRequest& request;
    size_t number = 0;  // of the request
    size_t index = 0;   // among those that are loaded here
    std::vector<Block> blocks;
    std::map<int, File> files;
    std::vector<RawPiece> pieces;
    std::vector<int> entries_of;  // by piece: which dictionary; -1: none
    uint32_t tiles = 0;
    uint64_t bytes = 0;

    std::atomic<size_t> missing = 0;  // blocks
    std::atomic<bool> left = false;   // to the other way
    DeviceMemory memory;

    std::mutex mutex;               // of what follows
    std::map<uint64_t, int> known;  // dictionaries by version
    std::vector<std::vector<int64_t>> entries;

    bool has_pages() const {
        return std::any_of(files.begin(), files.end(),
                           [](const auto& file) { return file.second.pages.has_value(); });
    }
    const exec::ScanFile& file(int number_of_file) const {
        return request.table->files[static_cast<size_t>(number_of_file)];
    }
    const exec::ScanFile::Column& bound(int number_of_file) const {
        return file(number_of_file).columns[static_cast<size_t>(request.column)];
    }
    const column::DataType& file_type(int number_of_file) const {
        return *file(number_of_file)
                    .reader->schema()
                    .fields[static_cast<size_t>(bound(number_of_file).field)]
                    .type;
    }
    void find_file(int file, const BlockRows& first);
    bool add_bytes(int file, const BlockRows& rows, uint64_t most_bytes);
    int dictionary_of(int file, int64_t group, uint64_t& count);
    int entries_from(int file, const column::ColumnView& view, uint64_t& count);
};

// Decides by a file's first rows how all of its rows are held.
void RawLoader::Column::find_file(int number_of_file, const BlockRows& first) {
    File& found = files[number_of_file];
    const exec::ScanFile::Column& column = bound(number_of_file);
    if (column.field < 0) {
        const bool known_value = column.value.known();
        int64_t value = 0;
        if (known_value)
            value = request.texts != nullptr ? request.texts->code(column.value.bytes)
                                             : static_cast<int64_t>(column.value.integer);
        found.conversion = raw_constant(known_value, value);
        return;
    }
    const format::TableReader& reader = *file(number_of_file).reader;
    const auto raw = reader.raw_column(first.first_group, column.field);
    if (!raw) {
        const auto paged = reader.paged_column(first.first_group, column.field);
        if (!paged) throw NotRaw{};
        found.pages = page_conversion(*paged, file_type(number_of_file), request.type);
        if (!found.pages) throw NotRaw{};
        found.conversion = found.pages->piece;
        return;
    }
    found.conversion = raw_conversion(*raw, file_type(number_of_file), request.type);
    if (!found.conversion) throw NotRaw{};
    found.bits =
        raw->shape == format::RawColumn::Shape::kBits ? 1 : static_cast<uint64_t>(raw->width) * 8;
}

// Adds what a block's bytes take. False if they are not for kernels, or too many.
bool RawLoader::Column::add_bytes(int number_of_file, const BlockRows& rows, uint64_t most_bytes) {
    File& of = files.at(number_of_file);
    const format::TableReader& reader = *file(number_of_file).reader;
    const int field = bound(number_of_file).field;
    for (int64_t g = rows.first_group; g < rows.first_group + rows.groups; ++g) {
        const auto here = static_cast<uint64_t>(reader.row_group_rows(g));
        if (of.pages && here > 0) {
            const auto paged = reader.paged_column(g, field);
            if (!paged || paged->page_bytes > most_bytes) return false;
            of.bytes += paged->bytes.length;
            bytes += page_room(*paged, *of.pages, here).sum();
        } else if (of.bits > 0) {
            of.bytes += bitmap_bytes(here * of.bits);
            bytes += aligned(bitmap_bytes(here * of.bits)) + aligned(bitmap_bytes(here));
        }
        // A file may state more rows than it has, or that others have the same bytes.
        if (of.bytes > reader.file().size() || bytes > most_bytes) return false;
    }
    return true;
}

// Makes texts of a dictionary known and returns its number. A dictionary is checked and converted
// as for those who read rows.
int RawLoader::Column::dictionary_of(int number_of_file, int64_t group, uint64_t& count) {
    const auto reader =
        file(number_of_file).reader->open_column(group, bound(number_of_file).field, {});
    const column::ColumnView view = reader->read(0, 1);
    if (view.encoding != column::Encoding::kDictionary) throw NotRaw{};
    return entries_from(number_of_file, view, count);
}

int RawLoader::Column::entries_from(int number_of_file, const column::ColumnView& view,
                                    uint64_t& count) {
    const std::scoped_lock lock(mutex);
    File& of = files.at(number_of_file);
    if (of.dictionaries == nullptr)
        of.dictionaries = std::make_unique<exec::Loader>(file_type(number_of_file), request.type,
                                                         nullptr, bound(number_of_file).characters);
    const exec::Vector vector = of.dictionaries->load(view);
    const exec::Vector& texts = vector.dictionary->values;
    count = static_cast<uint64_t>(texts.length);
    const auto [at, fresh] =
        known.try_emplace(vector.dictionary->version, static_cast<int>(entries.size()));
    if (!fresh) return at->second;
    std::vector<int64_t>& codes = entries.emplace_back();
    for (int64_t i = 0; i < texts.length; ++i)
        codes.push_back(
            texts.is_null(i) ? -1 : request.texts->code(texts.as<column::BytesView>()[i].text()));
    return at->second;
}

// Returns nothing if the column is not one for kernels.
std::unique_ptr<RawLoader::Column> RawLoader::plan(RawRequest& request, size_t number) const {
    if (request.files.empty()) return nullptr;
    auto column = std::make_unique<Column>(request);
    column->number = number;
    std::vector<bool> wanted(request.table->files.size());
    for (const int file : request.files) wanted[static_cast<size_t>(file)] = true;
    uint64_t tiles = 0;
    uint64_t pieces = 0;
    try {
        for (const BlockRows& rows : blocks_of(*request.table)) {
            if (!wanted[static_cast<size_t>(rows.file)]) continue;
            if (!column->files.contains(rows.file)) column->find_file(rows.file, rows);
            if (rows.rows > INT32_MAX) return nullptr;
            Column::Block& block = column->blocks.emplace_back();
            block.rows = rows;
            block.at = column->bytes;
            block.first_piece = static_cast<uint32_t>(pieces);
            block.first_tile = static_cast<uint32_t>(tiles);
            tiles += tiles_of(static_cast<uint64_t>(rows.rows));
            pieces += static_cast<uint64_t>(rows.groups);
            if (!column->add_bytes(rows.file, rows, most_bytes_)) return nullptr;
        }
    } catch (const NotRaw&) {
        return nullptr;
    }
    // What kernels may read behind the last byte.
    column->bytes += aligned(kWordSlack);
    if (column->blocks.empty() || tiles > UINT32_MAX / 2 || pieces > UINT32_MAX / 2 ||
        column->bytes > most_bytes_)
        return nullptr;
    column->tiles = static_cast<uint32_t>(tiles);
    column->pieces.resize(pieces);
    column->entries_of.resize(pieces, -1);
    column->missing = column->blocks.size();
    return column;
}

RawLoader::RawLoader(Device& device, ModuleCache& modules, UploadRings& rings, int threads,
                     uint64_t most_bytes, const Hooks& hooks)
    : device_(device),
      modules_(modules),
      rings_(rings),
      threads_(threads),
      most_bytes_(most_bytes),
      hooks_(hooks) {}

RawLoader::~RawLoader() = default;

void RawLoader::load(std::vector<RawRequest>& requests) {
    std::vector<Job> jobs;
    for (size_t i = 0; i < requests.size(); ++i) {
        std::unique_ptr<Column> column = plan(requests[i], i);
        if (column == nullptr) continue;
        column->index = columns_.size();
        for (size_t b = 0; b < column->blocks.size(); ++b) jobs.push_back({column.get(), b});
        columns_.push_back(std::move(column));
    }
    if (jobs.empty()) return;
    // Compiled before anybody waits for it.
    modules_.get(kText);
    const auto has_pages = [](const auto& column) { return column->has_pages(); };
    if (std::any_of(columns_.begin(), columns_.end(), has_pages)) modules_.get(page_kernels_text());
    base::in_parallel(threads_ * kWaiting, static_cast<int64_t>(jobs.size()), [&] {
        // Back among the others only when all has gone well.
        struct Taken {
            UploadRings& rings;
            std::unique_ptr<UploadRing> ring;
            ~Taken() {
                if (ring != nullptr && std::uncaught_exceptions() == 0)
                    rings.put_back(std::move(ring));
            }
        };
        const std::shared_ptr<Taken> taken(new Taken{rings_, rings_.take()});
        return [&, taken](int64_t i) {
            try {
                run(jobs[static_cast<size_t>(i)], *taken->ring);
            } catch (...) {
                const std::scoped_lock lock(mutex_);
                ended_ = true;
                changed_.notify_all();
                throw;
            }
        };
    });
}

void RawLoader::run(const Job& job, UploadRing& ring) {
    hooks_.check();
    Column& column = *job.column;
    if (!admit(column)) return;
    try {
        if (!column.left) bring(column, job.block, ring);
        // Also after a failure, so that what waits for this column's memory goes on.
    } catch (const NotRaw&) {
        column.left = true;
    } catch (const base::Error&) {
        // Those who read it in the other way say what is wrong with it.
        column.left = true;
    } catch (const exec::Unrepresentable&) {
        column.left = true;
    }
    ring.wait();
    if (--column.missing > 0) return;
    try {
        if (!column.left) finish(column, ring);
    } catch (const NotRaw&) {
        column.request.made.clear();
    } catch (const DeviceError& error) {
        if (error.kind() == DeviceError::Kind::kLost) throw;
        column.request.made.clear();
    }
    free(column);
}

// --- memory for bytes of files
// ----------------------------------------------------------------------------------------

// Waits until there is room for a column, in their order: the first that is not finished always has
// what it needs. False if others have ended the work.
bool RawLoader::admit(Column& column) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
        return ended_ || column.index < admitted_ ||
               (column.index == admitted_ && held_ <= most_bytes_ - column.bytes);
    });
    if (ended_) return false;
    if (column.index == admitted_) {
        ++admitted_;
        held_ += column.bytes;
        allocate(column);
        changed_.notify_all();
    }
    return true;
}

void RawLoader::allocate(Column& column) {
    const auto fits = std::find_if(spare_.begin(), spare_.end(), [&](const DeviceMemory& memory) {
        return memory.bytes() >= column.bytes;
    });
    if (fits != spare_.end()) {
        column.memory = std::move(*fits);
        spare_.erase(fits);
        return;
    }
    const auto make = [&] {
        column.memory = DeviceMemory(device_, std::max<uint64_t>(column.bytes, 256));
    };
    // Freeing memory makes a driver wait for all that is on its way.
    uint64_t kept = 0;
    for (const DeviceMemory& memory : spare_) kept += memory.bytes();
    if (kept > most_bytes_ - std::min(most_bytes_, held_)) spare_.clear();
    try {
        try {
            return make();
        } catch (const DeviceError& error) {
            if (error.kind() != DeviceError::Kind::kMemory || spare_.empty()) throw;
        }
        spare_.clear();
        make();
    } catch (const DeviceError& error) {
        if (error.kind() != DeviceError::Kind::kMemory) throw;
        column.left = true;
    }
}

// Nothing on the device uses the memory any more.
void RawLoader::free(Column& column) {
    const std::scoped_lock lock(mutex_);
    held_ -= column.bytes;
    if (column.memory.address() != 0) spare_.push_back(std::move(column.memory));
    changed_.notify_all();
}

// --- a block
// ----------------------------------------------------------------------------------------

void RawLoader::bring(Column& column, size_t number, UploadRing& ring) {
    const Column::Block& block = column.blocks[number];
    const exec::ScanFile& file = column.file(block.rows.file);
    const Column::File& of = column.files.at(block.rows.file);
    if (of.pages) return bring_pages(column, number, ring);
    const int field = column.bound(block.rows.file).field;
    std::vector<Segment> segments;
    std::vector<Segment> bitmaps;
    uint64_t at = block.at;
    uint32_t row = 0;
    for (int64_t i = 0; i < block.rows.groups; ++i) {
        const int64_t group = block.rows.first_group + i;
        const auto rows = static_cast<uint64_t>(file.reader->row_group_rows(group));
        const size_t place = block.first_piece + static_cast<size_t>(i);
        RawPiece& piece = column.pieces[place] = *of.conversion;
        piece.first = row;
        piece.rows = static_cast<uint32_t>(rows);
        row += piece.rows;
        if (field < 0 || rows == 0) continue;
        const auto raw = file.reader->raw_column(group, field);
        const uint64_t bytes = bitmap_bytes(rows * of.bits);
        const bool bits = raw && raw->shape == format::RawColumn::Shape::kBits;
        if (!raw || raw->values.length != bytes || bits != (of.bits == 1) ||
            (raw->validity.length != 0 && raw->validity.length != bitmap_bytes(rows)))
            throw NotRaw{};
        piece.values = pointer<const uint8_t>(column.memory.address() + at);
        segments.push_back({at, raw->values});
        at += aligned(bytes);
        if (raw->validity.length != 0) bitmaps.push_back({0, raw->validity});
        piece.valid = raw->validity.length != 0 ? piece.values : nullptr;
        if (raw->shape == format::RawColumn::Shape::kCodes)
            column.entries_of[place] = column.dictionary_of(block.rows.file, group, piece.count);
    }
    // Bitmaps come behind all values.
    size_t next = 0;
    for (int64_t i = 0; i < block.rows.groups; ++i) {
        RawPiece& piece = column.pieces[block.first_piece + static_cast<size_t>(i)];
        if (piece.valid == nullptr) continue;
        bitmaps[next].to = at;
        piece.valid = pointer<const uint8_t>(column.memory.address() + at);
        at += aligned(bitmaps[next++].from.length);
    }
    segments.insert(segments.end(), bitmaps.begin(), bitmaps.end());
    send(file.reader->file(), segments, column.memory.address(), ring,
         [](size_t, base::ByteSpan) {});
}

// Pages as the file has them, which are found as they come by. First all of the block's, then what
// becomes of them, at last the bits of rows, which are set one by one.
void RawLoader::bring_pages(Column& column, size_t number, UploadRing& ring) {
    Column::Block& block = column.blocks[number];
    const int number_of_file = block.rows.file;
    const format::TableReader& reader = *column.file(number_of_file).reader;
    const PageConversion& conversion = *column.files.at(number_of_file).pages;
    const int field = column.bound(number_of_file).field;
    struct Group {
        size_t piece = 0;
        format::PagedColumn paged;
        PageRoom room;
        PagePlaces places;
        std::unique_ptr<format::PageWalk> walk;
    };
    std::vector<Group> groups;
    std::vector<Segment> segments;
    std::vector<size_t> sent;  // groups, by segment
    uint64_t at = block.at;
    uint32_t row = 0;
    const DeviceAddress base = column.memory.address();
    for (int64_t i = 0; i < block.rows.groups; ++i) {
        const int64_t group = block.rows.first_group + i;
        const auto rows = static_cast<uint64_t>(reader.row_group_rows(group));
        const size_t place = block.first_piece + static_cast<size_t>(i);
        RawPiece& piece = column.pieces[place] = conversion.piece;
        piece.first = row;
        piece.rows = static_cast<uint32_t>(rows);
        row += piece.rows;
        if (rows == 0) continue;
        const auto paged = reader.paged_column(group, field);
        if (!paged) throw NotRaw{};
        Group& of = groups.emplace_back();
        of.piece = place;
        of.paged = *paged;
        of.room = page_room(*paged, conversion, rows);
        of.places.packed = base + at;
        of.walk = reader.walk_pages(group, field);
        if (kernels_decompress(paged->codec)) {
            segments.push_back({at, paged->bytes});
            sent.push_back(groups.size() - 1);
        }
        at += of.room.packed;
    }
    for (Group& of : groups) {
        of.places.plain = base + at;
        of.places.values = of.places.plain + of.room.plain;
        at += of.room.plain + of.room.values;
    }
    const uint64_t bits = at;
    for (Group& of : groups) {
        of.places.valid = base + at;
        at += of.room.valid;
    }
    if (at > bits) ring.stream().fill(base + bits, 0, at - bits);
    send(reader.file(), segments, base, ring,
         [&](size_t segment, base::ByteSpan bytes) { groups[sent[segment]].walk->take(bytes); });
    for (Group& of : groups) {
        std::vector<format::EncodedPage> decompressed;
        std::span<const format::EncodedPage> pages;
        if (kernels_decompress(of.paged.codec))
            pages = of.walk->finish();
        else
            pages = decompressed =
                send_decompressed(reader.file(), of.paged, *of.walk, of.places.plain, ring);
        if (!add_pages(pages, of.paged, conversion, of.places, static_cast<uint32_t>(of.piece),
                       block.pages))
            throw NotRaw{};
        RawPiece& piece = column.pieces[of.piece];
        piece.values = pointer<const uint8_t>(of.places.values);
        if (conversion.nullable) piece.valid = pointer<const uint8_t>(of.places.valid);
        if (conversion.kind != PageValues::kCodes) continue;
        column::ColumnView view;
        view.type = &column.file_type(number_of_file);
        view.encoding = column::Encoding::kDictionary;
        view.dictionary = &of.walk->dictionary();
        column.entries_of[of.piece] = column.entries_from(number_of_file, view, piece.count);
    }
}

// --- a column
// ----------------------------------------------------------------------------------------

// A column whose bytes are all on the device: what its values need, then its tiles.
class RawLoader::Finish {
  public:
    Finish(Device& device, Column& column, Stream& stream)
        : device_(device), column_(column), stream_(stream) {}

    /// `pages` has the kernels for pages, null if there are none. Throws NotRaw.
    std::vector<RawShape> shapes(Module& module, Module* pages) {
        put_tables();
        if (pages != nullptr) {
            launch(*pages, "page_blocks", page_parameters_.block_count, page_parameters_);
            launch(*pages, "page_rows", page_parameters_.page_count, page_parameters_);
        }
        launch(module, "raw_shapes", column_.tiles, parameters_);
        std::vector<RawShape> shapes(blocks_.size());
        uint32_t faults = 0;
        stream_.download(shapes.data(), shapes_at_, shapes.size() * sizeof(RawShape));
        stream_.download(&faults, faults_at_, sizeof faults);
        stream_.wait();
        if (faults != 0) throw NotRaw{};
        return shapes;
    }

    /// Makes the columns of all files, with room for their tiles.
    uint64_t plan(const std::vector<RawShape>& shapes, const ColumnLayout& layout) {
        shapes_ = &shapes;
        layout_ = layout;
        sizes_.clear();
        uint64_t sum = 0;
        for (size_t b = 0; b < blocks_.size(); ++b) {
            Sizes& sizes = sizes_.emplace_back();
            const uint64_t tiles = tiles_of(blocks_[b].rows);
            sizes.data = aligned(tiles * tile_bytes(layout));
            if (layout.encoding == Encoding::kPacked) sizes.bases = aligned(tiles * 4);
            if (shapes[b].has_nulls != 0) sizes.valid = aligned(tiles * kWarp * 2);
            bytes_of_file_[column_.blocks[b].rows.file] += sizes.data + sizes.bases + sizes.valid;
        }
        for (const auto& [file, bytes] : bytes_of_file_) sum += bytes;
        return sum;
    }

    void encode(Module& module, std::map<int, std::shared_ptr<FileColumn>>& files) {
        std::map<int, uint64_t> at;
        for (const auto& [file, bytes] : bytes_of_file_) {
            auto made = std::make_shared<FileColumn>();
            made->layout = layout_;
            made->texts = column_.request.texts;
            made->memory = DeviceMemory(device_, std::max<uint64_t>(bytes, 256));
            made->bytes = made->memory.bytes();
            at[file] = made->memory.address();
            files[file] = std::move(made);
        }
        for (size_t b = 0; b < blocks_.size(); ++b) {
            const int file = column_.blocks[b].rows.file;
            place_block(b, at[file], *files[file]);
        }
        stream_.upload(blocks_at_, blocks_.data(), blocks_.size() * sizeof(RawBlock));
        parameters_.encoding = encoding();
        parameters_.bits = layout_.bits;
        launch(module, "raw_tiles", column_.tiles, parameters_);
        stream_.wait();
    }

    /// Returns the memory of dictionaries, pieces and blocks. Nothing uses it any more.
    DeviceMemory take_tables() { return std::move(tables_); }

  private:
    struct Sizes {
        uint64_t data = 0;
        uint64_t bases = 0;
        uint64_t valid = 0;
    };

    // Brings dictionaries, pieces, blocks and pages to the device.
    void put_tables() {
        Places places;
        std::vector<uint64_t> entries;
        for (const std::vector<int64_t>& each : column_.entries)
            entries.push_back(places.add(each));
        std::vector<RawPiece> pieces;
        std::vector<size_t> dictionaries;  // by piece, or none
        std::vector<PageBlock> packed;
        std::vector<EncodedRows> pages;
        for (const Column::Block& block : column_.blocks) {
            RawBlock& made = blocks_.emplace_back();
            made.first_tile = block.first_tile;
            made.first_piece = static_cast<uint32_t>(pieces.size());
            made.rows = static_cast<uint32_t>(block.rows.rows);
            size_t page = 0;
            for (size_t i = 0; i < static_cast<size_t>(block.rows.groups); ++i) {
                const size_t at = block.first_piece + i;
                if (column_.pieces[at].rows == 0) continue;
                for (; page < block.pages.pages.size() && block.pages.pages[page].piece == at;
                     ++page) {
                    pages.push_back(block.pages.pages[page]);
                    pages.back().piece = static_cast<uint32_t>(pieces.size());
                }
                pieces.push_back(column_.pieces[at]);
                dictionaries.push_back(static_cast<size_t>(column_.entries_of[at]));
            }
            made.pieces = static_cast<uint32_t>(pieces.size()) - made.first_piece;
            packed.insert(packed.end(), block.pages.blocks.begin(), block.pages.blocks.end());
        }
        const uint64_t pieces_at = places.bytes();
        places.add(pieces);
        const uint64_t blocks_at = places.add(blocks_);
        const uint64_t packed_at = places.add(packed);
        const uint64_t pages_at = places.add(pages);
        const uint64_t bytes = places.bytes();
        const uint64_t shapes_bytes = aligned(blocks_.size() * sizeof(RawShape));
        tables_ = DeviceMemory(device_, bytes + shapes_bytes + sizeof(uint32_t));
        for (size_t i = 0; i < pieces.size(); ++i)
            if (dictionaries[i] < entries.size())
                pieces[i].entries =
                    pointer<const int64_t>(tables_.address() + entries[dictionaries[i]]);
        places.put(pieces_at, pieces);
        stream_.upload(tables_.address(), places.content().data(), bytes);
        stream_.wait();
        shapes_at_ = tables_.address() + bytes;
        faults_at_ = shapes_at_ + shapes_bytes;
        stream_.fill(shapes_at_, 0, shapes_bytes + sizeof(uint32_t));
        parameters_.shapes = pointer<RawShape>(shapes_at_);
        blocks_at_ = tables_.address() + blocks_at;
        parameters_.blocks = pointer<const RawBlock>(blocks_at_);
        parameters_.pieces = pointer<const RawPiece>(tables_.address() + pieces_at);
        parameters_.block_count = static_cast<uint32_t>(blocks_.size());
        parameters_.tiles = column_.tiles;
        page_parameters_.blocks = pointer<const PageBlock>(tables_.address() + packed_at);
        page_parameters_.pages = pointer<const EncodedRows>(tables_.address() + pages_at);
        page_parameters_.pieces = parameters_.pieces;
        page_parameters_.faults = pointer<uint32_t>(faults_at_);
        page_parameters_.block_count = static_cast<uint32_t>(packed.size());
        page_parameters_.page_count = static_cast<uint32_t>(pages.size());
    }

    void place_block(size_t b, DeviceAddress& at, FileColumn& file) {
        const RawShape& raw = (*shapes_)[b];
        const ColumnShape shape = shape_of(raw);
        RawBlock& to = blocks_[b];
        FileColumn::Block& block = file.blocks.emplace_back();
        const auto take = [&](uint64_t bytes) {
            const DeviceAddress here = at;
            at += bytes;
            return bytes > 0 ? here : 0;
        };
        to.data = pointer<uint8_t>(take(sizes_[b].data));
        to.tile_bases = pointer<uint32_t>(take(sizes_[b].bases));
        to.valid = pointer<uint16_t>(take(sizes_[b].valid));
        if (shape.has_values() && layout_.encoding != Encoding::kWide)
            to.base =
                layout_.encoding == Encoding::kOffset8 ? shape.min() : base_below(shape.min());
        block.view.data = to.data;
        block.view.tile_bases = to.tile_bases;
        block.view.valid = to.valid;
        block.base = to.base;
        block.has_values = shape.has_values();
        file.shape.add(shape);
        file.rows += to.rows;
    }

    RawEncoding encoding() const {
        switch (layout_.encoding) {
            case Encoding::kOffset8:
                return RawEncoding::kOffset8;
            case Encoding::kOffset16:
                return RawEncoding::kOffset16;
            case Encoding::kOffset32:
                return RawEncoding::kOffset32;
            case Encoding::kPacked:
                return RawEncoding::kPacked;
            default:
                return RawEncoding::kWide;
        }
    }

    // A warp for each of `count` things to do, up to as many as are at work at once.
    template <typename Parameters>
    void launch(Module& module, const char* name, uint32_t count, const Parameters& parameters) {
        if (count == 0) return;
        const DeviceFacts& facts = device_.facts();
        constexpr uint32_t kWarps = kThreads / kWarp;
        Grid grid;
        grid.threads = kThreads;
        grid.blocks = std::clamp<uint32_t>(
            (count + kWarps - 1) / kWarps, 1,
            static_cast<uint32_t>(facts.multiprocessors) * kBlocksPerProcessor);
        stream_.launch(module.kernel(name), grid,
                       {reinterpret_cast<const uint8_t*>(&parameters), sizeof parameters});
    }

    Device& device_;
    Column& column_;
    Stream& stream_;
    RawColumnParameters parameters_;
    PageParameters page_parameters_;
    DeviceMemory tables_;
    DeviceAddress blocks_at_ = 0;
    DeviceAddress shapes_at_ = 0;
    DeviceAddress faults_at_ = 0;
    std::vector<RawBlock> blocks_;
    const std::vector<RawShape>* shapes_ = nullptr;
    ColumnLayout layout_;
    std::vector<Sizes> sizes_;
    std::map<int, uint64_t> bytes_of_file_;
};

void RawLoader::finish(Column& column, UploadRing& ring) {
    const std::shared_ptr<Module> module = modules_.get(kText);
    const std::shared_ptr<Module> pages =
        column.has_pages() ? modules_.get(page_kernels_text()) : nullptr;
    const std::scoped_lock lock(finishing_);
    Finish work(device_, column, ring.stream());
    std::map<int, std::shared_ptr<FileColumn>> made;
    // Whatever ends it: what it has freed nobody writes any more.
    struct Wait {
        Stream& stream;
        ~Wait() {
            try {
                stream.wait();
            } catch (...) {
                // The device is lost.
            }
        }
    } const wait{ring.stream()};
    const std::vector<RawShape> shapes = work.shapes(*module, pages.get());
    ColumnShape shape;
    for (const RawShape& each : shapes) {
        if (each.faults != 0) throw NotRaw{};
        shape.add(shape_of(each));
    }
    const ColumnLayout layout = hooks_.choose(column.number, shape);
    hooks_.make_room(work.plan(shapes, layout));
    work.encode(*module, made);
    tables_.push_back(work.take_tables());
    for (const int file : column.request.files) {
        // A file without rows has no blocks.
        std::shared_ptr<FileColumn>& of = made[file];
        if (of == nullptr) {
            of = std::make_shared<FileColumn>();
            of->layout = layout;
            of->texts = column.request.texts;
        }
        column.request.made.push_back(of);
    }
    hooks_.made(column.number);
}

}  // namespace loom::gpu
