#include "format/arrow/array_data.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "format/arrow/dictionary_store.h"

namespace loom::arrow {

using base::checked_multiply;
using base::corrupt;
using column::TypeId;

namespace {

// The most bytes that one compressed byte can stand for: an LZ4 length byte adds 255, a zstd block
// of 4 bytes repeats one byte over 128 KiB. A header that states more lies.
uint64_t expansion_limit(codec::Codec codec, uint64_t compressed) {
    const uint64_t factor = codec == codec::Codec::kZstd ? 32768 : 256;
    constexpr uint64_t kFloor = 128 * 1024;
    return compressed > UINT64_MAX / factor - kFloor ? UINT64_MAX : compressed * factor + kFloor;
}

Bytes own(Bytes bytes, base::MemoryBudget* budget) {
    if (bytes.owned.data() != nullptr) return bytes;
    return copy_bytes(bytes.span(), budget);
}

template <typename T>
T swapped(T value) {
    if constexpr (sizeof(T) == 2)
        return static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(value)));
    if constexpr (sizeof(T) == 4)
        return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
    if constexpr (sizeof(T) == 8)
        return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(value)));
}

template <typename T>
void swap_as(uint8_t* data, uint64_t size) {
    for (uint64_t i = 0; i + sizeof(T) <= size; i += sizeof(T))
        base::store(data + i, swapped(base::load<T>(data + i)));
}

// Months and days are 4 bytes each, nanoseconds 8: an element is not one number.
void swap_month_day_nano(uint8_t* data, uint64_t size) {
    for (uint64_t i = 0; i + 16 <= size; i += 16) {
        swap_as<uint32_t>(data + i, 8);
        swap_as<uint64_t>(data + i + 8, 8);
    }
}

// A view holds its length, then 12 inline bytes, or 4 bytes of prefix, buffer number and offset.
void swap_views(uint8_t* data, uint64_t size) {
    for (uint64_t i = 0; i + 16 <= size; i += 16) {
        swap_as<uint32_t>(data + i, 4);
        if (base::load<int32_t>(data + i) > 12) swap_as<uint32_t>(data + i + 8, 8);
    }
}

void swap_values(Bytes& bytes, const Layout& layout, base::MemoryBudget* budget) {
    switch (layout.type->id) {
        case TypeId::kFixedBinary:
            return;
        case TypeId::kIntervalDayTime:
            return swap_elements(bytes, 4, budget);
        case TypeId::kIntervalMonthDayNano:
            bytes = own(std::move(bytes), budget);
            return swap_month_day_nano(bytes.owned.data(), bytes.size);
        default:
            return swap_elements(bytes, static_cast<size_t>(layout.value_width), budget);
    }
}

size_t alignment_of(int32_t width) {
    return width == 2 || width == 4 || width == 8 || width == 16 ? static_cast<size_t>(width)
           : width == 32                                         ? 16
                                                                 : 1;
}

// As base::bitmap_bytes, for lengths that a file may state as large as it likes.
uint64_t bitmap_bytes(int64_t length) {
    return static_cast<uint64_t>(length / 8 + (length % 8 != 0 ? 1 : 0));
}

class Stopwatch {
  public:
    explicit Stopwatch(uint64_t& total) : total_(total) {}
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() {
        const auto spent = std::chrono::steady_clock::now() - start_;
        total_ += static_cast<uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
    }

  private:
    uint64_t& total_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

void swap_elements(Bytes& bytes, size_t width, base::MemoryBudget* budget) {
    if (width < 2) return;
    bytes = own(std::move(bytes), budget);
    uint8_t* data = bytes.owned.data();
    switch (width) {
        case 2:
            return swap_as<uint16_t>(data, bytes.size);
        case 4:
            return swap_as<uint32_t>(data, bytes.size);
        case 8:
            return swap_as<uint64_t>(data, bytes.size);
        default:
            for (uint64_t i = 0; i + width <= bytes.size; i += width)
                std::reverse(data + i, data + i + width);
    }
}

int64_t stated_length(const uint8_t* prefix, uint64_t buffer_length) {
    const auto length = base::load<int64_t>(prefix);
    return length == -1 ? static_cast<int64_t>(buffer_length) - 8 : length;
}

ArrayLoader::ArrayLoader(const Source& source, const BatchHeader& header, bool big_endian,
                         DictionaryResolver& dictionaries)
    : source_(source), header_(header), big_endian_(big_endian), dictionaries_(dictionaries) {}

Bytes ArrayLoader::decompress(const BufferPlace& place) {
    if (place.length < 8) corrupt("a compressed buffer of {} bytes", place.length);
    const Bytes packed = source_.raw(place.offset, place.length);
    const auto length = base::load<int64_t>(packed.data);
    base::ByteSpan content = packed.span().subspan(8);
    if (length == -1) return copy_bytes(content, source_.budget());
    if (length < 0 ||
        static_cast<uint64_t>(length) > expansion_limit(header_.codec(), content.size()))
        corrupt("a compressed buffer of {} bytes states {} bytes of content", content.size(),
                length);
    Stopwatch watch(cost_.decode_ns);
    Bytes bytes;
    bytes.owned = base::Buffer(source_.budget());
    bytes.owned.resize_discarding(static_cast<uint64_t>(length));
    // Decompressors may read a little beyond their input; at the end of a mapping there is nothing.
    Bytes padded;
    if (source_.size() - place.offset - place.length < codec::kDecompressSlack) {
        padded = copy_bytes(content, source_.budget());
        content = padded.span();
    }
    codec::decompress(header_.codec(), content, {bytes.owned.data(), static_cast<size_t>(length)});
    bytes.data = bytes.owned.data();
    bytes.size = static_cast<uint64_t>(length);
    return bytes;
}

Bytes ArrayLoader::fetch(int32_t index, size_t alignment) {
    const BufferPlace place = header_.buffer(index);
    if (place.length == 0) return no_bytes();
    cost_.bytes += place.length;
    cost_.buffers += 1;
    if (header_.codec() != codec::Codec::kNone) return decompress(place);
    return source_.values(place.offset, place.length, alignment);
}

Bytes ArrayLoader::load_sized(int32_t index, int64_t values, size_t width, const char* what) {
    Bytes bytes = fetch(index, alignment_of(static_cast<int32_t>(width)));
    const auto needed = checked_multiply<uint64_t>(static_cast<uint64_t>(values), width, what);
    if (bytes.size < needed)
        corrupt("{} {} need {} bytes, the buffer has {}", values, what, needed, bytes.size);
    if (big_endian_) {
        Stopwatch watch(cost_.decode_ns);
        swap_elements(bytes, width, source_.budget());
    }
    return bytes;
}

ArrayData ArrayLoader::load(const Layout& layout) {
    ArrayData array;
    array.layout = &layout;
    const BatchHeader::Node node = header_.node(layout.first_node);
    array.length = node.length;
    array.null_count = node.null_count;
    load_buffers(array);
    load_children(array);
    if (layout.shape == Shape::kDictionary) {
        array.dictionary = dictionaries_.resolve(layout);
        if (array.dictionary->missing() && array.length != array.null_count)
            corrupt("dictionary {} is missing", layout.dictionary_id);
    }
    return array;
}

void ArrayLoader::load_buffers(ArrayData& array) {
    const Shape shape = array.layout->shape;
    if (shape == Shape::kNull || shape == Shape::kRunEnd) return;
    int32_t next = header_.first_buffer(*array.layout);
    const bool is_union = shape == Shape::kSparseUnion || shape == Shape::kDenseUnion;
    if (!is_union || header_.union_validity()) load_validity(array, next++);
    switch (shape) {
        case Shape::kBits:
            array.values = fetch(next, 1);
            if (array.values.size < bitmap_bytes(array.length))
                corrupt("{} booleans in {} bytes", array.length, array.values.size);
            break;
        case Shape::kFixed:
            load_fixed(array, next);
            break;
        case Shape::kBytesView:
            load_views(array, next);
            break;
        case Shape::kSparseUnion:
        case Shape::kDenseUnion:
            array.values = load_sized(next, array.length, 1, "type codes");
            if (shape == Shape::kDenseUnion)
                array.offsets = load_sized(next + 1, array.length, 4, "offsets");
            break;
        case Shape::kDictionary:
            array.values = load_sized(next, array.length,
                                      static_cast<size_t>(array.layout->value_width), "indices");
            break;
        case Shape::kFixedList:
        case Shape::kStruct:
            break;
        default:
            load_offsets(array, next);
    }
}

void ArrayLoader::load_validity(ArrayData& array, int32_t index) {
    // Writers may keep a bitmap that says "all valid"; it costs nothing to leave it out.
    if (array.null_count == 0) return;
    array.validity = fetch(index, 1);
    if (array.validity.size == 0 && array.null_count < 0)
        array.null_count = 0;
    else if (array.validity.size < bitmap_bytes(array.length))
        corrupt("a validity bitmap of {} bytes for {} values", array.validity.size, array.length);
}

void ArrayLoader::load_fixed(ArrayData& array, int32_t index) {
    const Layout& layout = *array.layout;
    const auto width = static_cast<uint64_t>(layout.value_width);
    array.values = fetch(index, alignment_of(layout.value_width));
    if (array.values.size <
        checked_multiply<uint64_t>(static_cast<uint64_t>(array.length), width, "values"))
        corrupt("{} values of {} bytes in a buffer of {}", array.length, width, array.values.size);
    if (!big_endian_) return;
    Stopwatch watch(cost_.decode_ns);
    swap_values(array.values, layout, source_.budget());
}

// Lists, list views, texts and binary.
void ArrayLoader::load_offsets(ArrayData& array, int32_t index) {
    const Shape shape = array.layout->shape;
    const bool wide =
        shape == Shape::kBytes64 || shape == Shape::kList64 || shape == Shape::kListView64;
    const size_t width = wide ? 8 : 4;
    if (shape == Shape::kListView32 || shape == Shape::kListView64) {
        array.offsets = load_sized(index, array.length, width, "offsets");
        array.sizes = load_sized(index + 1, array.length, width, "sizes");
        return;
    }
    // An empty array may come without offsets.
    const int64_t count =
        array.length == 0 ? 0 : base::checked_add<int64_t>(array.length, 1, "offsets");
    array.offsets = load_sized(index, count, width, "offsets");
    if (shape == Shape::kBytes32 || shape == Shape::kBytes64) array.values = fetch(index + 1, 1);
}

void ArrayLoader::load_views(ArrayData& array, int32_t first) {
    array.values = fetch(first, 4);
    if (array.values.size <
        checked_multiply<uint64_t>(static_cast<uint64_t>(array.length), 16, "views"))
        corrupt("{} views in a buffer of {} bytes", array.length, array.values.size);
    if (big_endian_) {
        array.values = own(std::move(array.values), source_.budget());
        swap_views(array.values.owned.data(), array.values.size);
    }
    const int64_t count = header_.view_buffers(array.layout->views_before);
    for (int64_t i = 0; i < count; ++i)
        array.view_buffers.push_back(fetch(first + 1 + static_cast<int32_t>(i), 1));
}

void ArrayLoader::load_children(ArrayData& array) {
    const Layout& layout = *array.layout;
    array.children.reserve(layout.children.size());
    for (size_t i = 0; i < layout.children.size(); ++i) {
        const std::string& name = layout.shape == Shape::kRunEnd ? (i == 0 ? "run_ends" : "values")
                                                                 : layout.type->children[i].name;
        array.children.push_back(
            base::with_where([&] { return fmt::format("member \"{}\"", name); },
                             [&] { return load(layout.children[i]); }));
        const int64_t have = array.children.back().length;
        int64_t needed = 0;
        if (layout.shape == Shape::kStruct || layout.shape == Shape::kSparseUnion)
            needed = array.length;
        else if (layout.shape == Shape::kFixedList)
            needed = checked_multiply<int64_t>(array.length, layout.type->list_size, "list length");
        if (have < needed) corrupt("member \"{}\" has {} values of {}", name, have, needed);
    }
    if (layout.shape == Shape::kRunEnd) load_runs(array);
}

// Run ends are used to find rows, so all of them are checked once, here.
void ArrayLoader::load_runs(ArrayData& array) {
    const ArrayData& ends = array.children[0];
    if (ends.null_count > 0) corrupt("run ends that are NULL");
    if (array.children[1].length < ends.length)
        corrupt("{} runs with {} values", ends.length, array.children[1].length);
    int64_t last = 0;
    for (int64_t i = 0; i < ends.length; ++i) {
        const uint8_t* at = ends.values.data + i * array.layout->value_width;
        const int64_t end = array.layout->value_width == 2   ? base::load<int16_t>(at)
                            : array.layout->value_width == 4 ? base::load<int32_t>(at)
                                                             : base::load<int64_t>(at);
        if (end <= last) corrupt("run end {} after {}", end, last);
        last = end;
    }
    if (last < array.length) corrupt("runs end at {} of {} rows", last, array.length);
}

std::vector<BufferPlace> buffer_places(const BatchHeader& header, const Layout& layout,
                                       const LayoutCursor& end) {
    std::vector<BufferPlace> places;
    const int32_t first = header.first_buffer(layout);
    const int32_t last = header.buffer_at(end.buffers, end.unions, end.views);
    for (int32_t i = first; i < last; ++i) places.push_back(header.buffer(i));
    return places;
}

}  // namespace loom::arrow
