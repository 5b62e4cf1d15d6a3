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

// Reads the footer's bytes, without the trailer.
uint64_t read_footer_bytes(io::File& file, base::Buffer& buffer) {
    const uint64_t size = file.size();
    if (size < kTrailer + 4) base::corrupt("{} bytes are too few for a Parquet file", size);
    const uint64_t tail = std::min(size, kFirstRead);
    buffer.resize_discarding(tail);
    file.read_at(size - tail, {buffer.data(), tail});
    const uint8_t* trailer = buffer.data() + tail - kTrailer;
    if (std::memcmp(trailer + 4, "PARE", 4) == 0) raise_encrypted();
    if (std::memcmp(trailer + 4, "PAR1", 4) != 0) base::corrupt("the file does not end with PAR1");
    const uint64_t length = base::load<uint32_t>(trailer);
    if (length > size - kTrailer - 4)
        base::corrupt("a footer of {} bytes in a file of {} bytes", length, size);
    const uint64_t start = size - kTrailer - length;
    if (length + kTrailer <= tail) {
        std::memmove(buffer.data(), trailer - length, length);
        buffer.resize(length);
    } else {
        buffer.release();
        buffer.resize_discarding(length);
        file.read_at(start, {buffer.data(), length});
    }
    return start;
}

}  // namespace

Footer::Footer(io::File& file, base::MemoryBudget* budget) : buffer_(budget) {
    data_end_ = read_footer_bytes(file, buffer_);
    CompactReader in(bytes());
    parse(in);
    for (const RowGroup& group : row_groups_) {
        if (group.rows < 0) base::corrupt("a row group has {} rows", group.rows);
        row_count_ = base::checked_add(row_count_, group.rows, "the number of rows");
    }
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
            case 6: return in.get(type, created_by_);
            case 7:
                return read_list(in, type, Type::kStruct, [&](uint32_t) { read_column_order(in); });
            default: return false;
        }
    });
    schema_ = build_schema(elements);
    schema_.schema.metadata = std::move(metadata);
}

void Footer::read_row_groups(CompactReader& in, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        row_groups_.push_back(read_row_group(in));
        if (i == 0) {  // the first tells how much the others will need, bounded by what is left
            const uint64_t chunks = uint64_t{count} * row_groups_[0].chunk_count;
            chunk_offsets_.reserve(std::min<uint64_t>(chunks, in.remaining() + chunk_offsets_.size()));
        }
    }
}

RowGroup Footer::read_row_group(CompactReader& in) {
    RowGroup group;
    group.first_chunk = static_cast<uint32_t>(chunk_offsets_.size());
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1: return index_chunks(in, type, group);
            case 2: return in.get(type, group.total_byte_size);
            case 3: return in.get(type, group.rows);
            case 4: group.sorting_offset = static_cast<uint32_t>(in.position()); return false;
            case 5: return in.get(type, group.file_offset);
            default: return false;
        }
    });
    return group;
}

bool Footer::index_chunks(CompactReader& in, Type type, RowGroup& group) {
    if (type != Type::kList || group.chunk_count != 0) return false;
    const thrift::ListHeader list = in.list();
    if (list.size != 0 && list.element != Type::kStruct)
        base::corrupt("the column chunks are no structs");
    for (uint32_t i = 0; i < list.size; ++i) {
        chunk_offsets_.push_back(static_cast<uint32_t>(in.position()));
        in.skip(Type::kStruct);
    }
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
    CompactReader in(bytes().subspan(chunk_offsets_[group.first_chunk + static_cast<size_t>(leaf)]));
    return read_column_chunk(in);
}

std::vector<RowOrder> Footer::row_order(int64_t row_group) const {
    std::vector<RowOrder> columns;
    const RowGroup& group = row_groups_[static_cast<size_t>(row_group)];
    if (group.sorting_offset == 0) return columns;
    CompactReader in(bytes().subspan(group.sorting_offset));
    read_list(in, Type::kList, Type::kStruct,
              [&](uint32_t) { columns.push_back(read_row_order(in)); });
    return columns;
}

}  // namespace loom::parquet
