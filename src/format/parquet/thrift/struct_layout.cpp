#include "format/parquet/thrift/struct_layout.h"

#include <algorithm>

#include "base/bytes.h"
#include "format/parquet/thrift/compact_reader.h"

namespace loom::parquet::thrift {

namespace {

constexpr uint8_t kAll = 0xFF;
constexpr uint8_t kTopBit = 0x80;

// Walks a struct and writes its mask. Slower than skip_struct(), used once a layout.
class Marker {
  public:
    Marker(const uint8_t* from, const uint8_t* end, std::vector<uint8_t>& mask)
        : cursor_(from), end_(end), mask_(mask) {}

    const uint8_t* cursor() const noexcept { return cursor_; }

    bool mark_struct(int depth) {
        if (depth > kMaxDepth) return false;
        while (cursor_ < end_) {
            const uint8_t header = take(kAll);
            if (header == 0) return true;
            if ((header & 0xF0) == 0 && !mark_number()) return false;
            if (!mark_value(static_cast<Type>(header & 15), depth)) return false;
        }
        return false;
    }

  private:
    uint8_t take(uint8_t bits) {
        mask_.push_back(bits);
        return *cursor_++;
    }
    bool mark_number() {
        for (int i = 0; i < 10 && cursor_ < end_; ++i)
            if (take(kTopBit) < 0x80) return true;
        return false;
    }
    bool mark_size(uint64_t& size) {
        size = 0;
        for (int shift = 0; shift < 35 && cursor_ < end_; shift += 7) {
            const uint8_t byte = take(kAll);
            size |= static_cast<uint64_t>(byte & 0x7F) << shift;
            if (byte < 0x80) return size <= static_cast<uint64_t>(end_ - cursor_);
        }
        return false;
    }
    bool mark_contents(uint64_t size) {
        if (size > static_cast<uint64_t>(end_ - cursor_)) return false;
        mask_.resize(mask_.size() + size, 0);
        cursor_ += size;
        return true;
    }
    bool mark_list(int depth) {
        if (cursor_ >= end_) return false;
        const uint8_t header = take(kAll);
        uint64_t size = header >> 4;
        if (size == 15 && !mark_size(size)) return false;
        auto element = static_cast<Type>(header & 15);
        if (element <= Type::kFalse) element = Type::kByte;
        for (uint64_t i = 0; i < size; ++i)
            if (!mark_value(element, depth)) return false;
        return true;
    }
    bool mark_value(Type type, int depth) {
        uint64_t size;
        switch (type) {
            case Type::kTrue:
            case Type::kFalse: return true;
            case Type::kByte: return mark_contents(1);
            case Type::kI16:
            case Type::kI32:
            case Type::kI64: return mark_number();
            case Type::kDouble: return mark_contents(8);
            case Type::kBinary: return mark_size(size) && mark_contents(size);
            case Type::kList:
            case Type::kSet: return depth < kMaxDepth && mark_list(depth + 1);
            case Type::kStruct: return mark_struct(depth + 1);
            case Type::kMap:  // not in Parquet's structs: such a layout is just not learned
            case Type::kStop: break;
        }
        return false;
    }

    const uint8_t* cursor_;
    const uint8_t* end_;
    std::vector<uint8_t>& mask_;
};

}  // namespace

const uint8_t* mark_struct(const uint8_t* from, const uint8_t* end, int depth,
                           std::vector<uint8_t>& mask) {
    Marker marker(from, end, mask);
    return marker.mark_struct(depth) ? marker.cursor() : nullptr;
}

// Compares whole words; masks are padded with zeros, bytes have kSlack behind them.
bool LayoutCache::matches(const Layout& layout, const uint8_t* from) const noexcept {
    const uint8_t* mask = masks_.data() + layout.mask;
    uint64_t different = 0;
    for (uint32_t i = 0; i < layout.length; i += 8)
        different |= (base::load<uint64_t>(layout.seen + i) ^ base::load<uint64_t>(from + i)) &
                     base::load<uint64_t>(mask + i);
    return different == 0;
}

const uint8_t* LayoutCache::skip(size_t index, const uint8_t* from, const uint8_t* end) {
    if (index < layouts_.size()) {
        const Layout& layout = layouts_[index];
        if (layout.length != 0 && layout.length <= static_cast<size_t>(end - from) &&
            matches(layout, from))
            return from + layout.length;
    }
    fresh_.clear();
    const uint8_t* next = mark_struct(from, end, 1, fresh_);
    if (next == nullptr) return skip_struct(from, end, 1);
    if (index >= layouts_.size()) layouts_.resize(index + 1);
    Layout& layout = layouts_[index];
    const auto length = static_cast<uint32_t>(fresh_.size());
    const uint32_t room = (length + 7) / 8 * 8;
    if (room > (layout.length + 7) / 8 * 8) {
        layout.mask = static_cast<uint32_t>(masks_.size());
        masks_.resize(masks_.size() + room);
    }
    std::copy(fresh_.begin(), fresh_.end(), masks_.begin() + layout.mask);
    std::fill(masks_.begin() + layout.mask + length, masks_.begin() + layout.mask + room, 0);
    layout.length = length;
    layout.seen = from;
    return next;
}

}  // namespace loom::parquet::thrift
