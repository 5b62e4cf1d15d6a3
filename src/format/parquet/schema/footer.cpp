#include "format/parquet/schema/footer.h"

#include <cstring>

namespace loom::parquet {

using base::ErrorKind;
using thrift::CompactReader;
using thrift::read_list;
using thrift::read_struct;
using thrift::Type;

static_assert(thrift::kSlack <= base::kBufferSlack);

namespace {

constexpr uint64_t kTrailer = 8;            // footer length and magic
constexpr uint64_t kFirstRead = 64 * 1024;  // holds most footers
// A footer from here on is used in the file's mapping: filling fresh memory costs 0.5 ms a
// megabyte.
constexpr uint64_t kMappedFooterBytes = 1 << 20;

[[noreturn]] void raise_encrypted() {
    base::raise(ErrorKind::kUnsupported, "the file is encrypted, which is not supported");
}

column::KeyValue read_key_value(CompactReader& in) {
    column::KeyValue out;
    read_struct(in, [&](int id, Type type) {
        return id == 1 ? in.get(type, out.key) : id == 2 && in.get(type, out.value);
    });
    return out;
}

// Returns whether the file's mapping can stand for a copy of the bytes in front of its trailer:
// they are worth it, and kSlack readable bytes follow them (the last page of a mapping is padded).
bool may_use_mapping(uint64_t size, uint64_t length) noexcept {
    constexpr uint64_t kPage = 4096;
    return length >= kMappedFooterBytes &&
           (kPage - size % kPage) % kPage + kTrailer >= thrift::kSlack;
}

}  // namespace

std::shared_ptr<const Footer> Footer::of(io::File& file, base::MemoryBudget* budget) {
    if (auto known = std::dynamic_pointer_cast<const Footer>(file.note())) return known;
    auto made = std::make_shared<const Footer>(file, budget);
    if (made->bytes() <= kMostKept) file.keep_note(made);
    return made;
}

uint64_t Footer::bytes() const noexcept {
    uint64_t sum = buffer_.size() + row_groups_.capacity() * sizeof(RowGroup) +
                   chunk_offsets_.capacity() * sizeof(uint32_t);
    for (const Leaf& leaf : schema_.leaves) sum += sizeof leaf + leaf.path.size();
    return sum;
}

Footer::Footer(io::File& file, base::MemoryBudget* budget) : file_(file) {
    read_bytes(budget);
    CompactReader in(bytes_);
    parse(in);
    for (const RowGroup& group : row_groups_) {
        if (group.rows < 0) base::corrupt("a row group has {} rows", group.rows);
        row_count_ = base::checked_add(row_count_, group.rows, "the number of rows");
    }
    file_.check_mapping();
}

// Finds the footer's bytes, without the trailer.
void Footer::read_bytes(base::MemoryBudget* budget) {
    const uint64_t size = file_.size();
    if (size < kTrailer + 4) base::corrupt("{} bytes are too few for a Parquet file", size);
    const uint64_t tail = std::min(size, kFirstRead);
    buffer_.resize_discarding(tail);
    file_.read_at(size - tail, {buffer_.data(), tail});
    const uint8_t* trailer = buffer_.data() + tail - kTrailer;
    if (std::memcmp(trailer + 4, "PARE", 4) == 0) raise_encrypted();
    if (std::memcmp(trailer + 4, "PAR1", 4) != 0) base::corrupt("the file does not end with PAR1");
    const uint64_t length = base::load<uint32_t>(trailer);
    if (length > size - kTrailer - 4)
        base::corrupt("a footer of {} bytes in a file of {} bytes", length, size);
    data_end_ = size - kTrailer - length;
    if (length + kTrailer <= tail) {
        bytes_ = {trailer - length, length};
        return;
    }
    if (may_use_mapping(size, length)) {
        const base::ByteSpan mapped = file_.map();
        if (mapped.size() == size) {
            bytes_ = mapped.subspan(data_end_, length);
            return;
        }
    }
    buffer_ = base::Buffer(length > kMostKept ? budget : nullptr);
    buffer_.resize_discarding(length);
    file_.read_at(data_end_, {buffer_.data(), length});
    bytes_ = buffer_.span();
}

void Footer::parse(CompactReader& in) {
    std::vector<SchemaElement> elements;
    std::vector<column::KeyValue> metadata;
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 2:
                return read_list(in, type, Type::kStruct,
                                 [&](uint32_t) { elements.push_back(read_schema_element(in)); });
            case 4:
                if (type != Type::kList) return false;
                {
                    const thrift::ListHeader list = in.list();
                    if (list.size != 0 && list.element != Type::kStruct)
                        base::corrupt("the row groups are no structs");
                    read_row_groups(in, list.size);
                }
                return true;
            case 5:
                return read_list(in, type, Type::kStruct,
                                 [&](uint32_t) { metadata.push_back(read_key_value(in)); });
            case 6:
                return in.get(type, created_by_);
            case 7:
                return read_list(in, type, Type::kStruct, [&](uint32_t) { read_column_order(in); });
            default:
                return false;
        }
    });
    schema_ = build_schema(elements);
    schema_.schema.metadata = std::move(metadata);
}

void Footer::read_row_groups(CompactReader& in, uint32_t count) {
    thrift::LayoutCache layouts;
    for (uint32_t i = 0; i < count; ++i) {
        row_groups_.push_back(read_row_group(in, layouts));
        if (i == 0) {  // the first tells how much the others will need, bounded by what is left
            const uint64_t chunks = uint64_t{count} * row_groups_[0].chunk_count;
            chunk_offsets_.reserve(
                std::min<uint64_t>(chunks, in.remaining() + chunk_offsets_.size()));
        }
    }
}

RowGroup Footer::read_row_group(CompactReader& in, thrift::LayoutCache& layouts) {
    RowGroup group;
    group.first_chunk = static_cast<uint32_t>(chunk_offsets_.size());
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return index_chunks(in, type, layouts, group);
            case 2:
                return in.get(type, group.total_byte_size);
            case 3:
                return in.get(type, group.rows);
            case 4:
                group.sorting_offset = static_cast<uint32_t>(in.position());
                return false;
            case 5:
                return in.get(type, group.file_offset);
            default:
                return false;
        }
    });
    return group;
}

bool Footer::index_chunks(CompactReader& in, Type type, thrift::LayoutCache& layouts,
                          RowGroup& group) {
    if (type != Type::kList || group.chunk_count != 0) return false;
    const thrift::ListHeader list = in.list();
    if (list.size != 0 && list.element != Type::kStruct)
        base::corrupt("the column chunks are no structs");
    const uint8_t* end = bytes_.data() + bytes_.size();
    const uint8_t* at = bytes_.data() + in.position();
    for (uint32_t i = 0; i < list.size; ++i) {
        chunk_offsets_.push_back(static_cast<uint32_t>(at - bytes_.data()));
        at = layouts.skip(i, at, end);
        if (at == nullptr) base::corrupt("the footer ends within a column chunk");
    }
    in.advance(static_cast<size_t>(at - bytes_.data()) - in.position());
    group.chunk_count = list.size;
    return true;
}

// One entry a leaf: a union of which only the branch matters.
void Footer::read_column_order(CompactReader& in) {
    Order order = Order::kOther;
    read_struct(in, [&](int id, Type) {
        order = id == 1 ? Order::kType : id == 2 ? Order::kTotal : Order::kOther;
        return false;
    });
    orders_.push_back(order);
}

Footer::Order Footer::order(int leaf) const noexcept {
    const auto at = static_cast<size_t>(leaf);
    if (at < orders_.size()) return orders_[at];
    // DuckDB states no order, but writes bounds in that of the type.
    return created_by_.starts_with("DuckDB") ? Order::kType : Order::kUnstated;
}

ColumnChunk Footer::chunk(int64_t row_group, int leaf) const {
    const RowGroup& group = row_groups_[static_cast<size_t>(row_group)];
    if (static_cast<uint32_t>(leaf) >= group.chunk_count)
        base::corrupt("the row group has {} column chunks, column {} is missing", group.chunk_count,
                      leaf + 1);
    CompactReader in(bytes_.subspan(chunk_offsets_[group.first_chunk + static_cast<size_t>(leaf)]));
    ColumnChunk chunk = read_column_chunk(in);
    file_.check_mapping();
    return chunk;
}

std::vector<RowOrder> Footer::row_order(int64_t row_group) const {
    std::vector<RowOrder> columns;
    const RowGroup& group = row_groups_[static_cast<size_t>(row_group)];
    if (group.sorting_offset == 0) return columns;
    CompactReader in(bytes_.subspan(group.sorting_offset));
    read_list(in, Type::kList, Type::kStruct,
              [&](uint32_t) { columns.push_back(read_row_order(in)); });
    return columns;
}

}  // namespace loom::parquet
