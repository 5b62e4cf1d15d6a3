#include "format/parquet/decode/expand.h"

#include <cstring>

#include "base/bitmap.h"
#include "base/bytes.h"

namespace loom::parquet {

namespace {

// Branch-free: each row loads the next dense value and keeps it or zero.
template <typename T>
void expand(const uint8_t* dense, const uint8_t* validity, int64_t offset, int64_t count,
            uint8_t* out) noexcept {
    for (int64_t i = 0; i < count; ++i) {
        const auto valid = static_cast<size_t>(base::bit_at(validity, offset + i));
        const T value = base::load<T>(dense);
        base::store(out + i * static_cast<int64_t>(sizeof(T)),
                    static_cast<T>(valid != 0 ? value : 0));
        dense += valid * sizeof(T);
    }
}

}  // namespace

void expand_slots(const uint8_t* dense, int32_t width, const uint8_t* validity, int64_t offset,
                  int64_t count, uint8_t* out) noexcept {
    switch (width) {
        case 0:
            return;
        case 1:
            return expand<uint8_t>(dense, validity, offset, count, out);
        case 2:
            return expand<uint16_t>(dense, validity, offset, count, out);
        case 4:
            return expand<uint32_t>(dense, validity, offset, count, out);
        case 8:
            return expand<uint64_t>(dense, validity, offset, count, out);
        case 16:
            return expand<unsigned __int128>(dense, validity, offset, count, out);
        default:
            break;
    }
    const auto bytes = static_cast<size_t>(width);
    for (int64_t i = 0; i < count; ++i, out += bytes) {
        if (!base::bit_at(validity, offset + i)) {
            std::memset(out, 0, bytes);
            continue;
        }
        std::memcpy(out, dense, bytes);
        dense += bytes;
    }
}

}  // namespace loom::parquet
