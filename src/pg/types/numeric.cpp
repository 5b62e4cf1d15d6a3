#include "pg/types/numeric.h"

#include <cstring>

#include "exec/datum/numeric_bytes.h"

namespace loom::pg {

namespace {

Datum make_numeric(const uint8_t* bytes, int count) {
    const size_t size = VARHDRSZ + static_cast<size_t>(count);
    auto* datum = static_cast<char*>(palloc(size));
    SET_VARSIZE(datum, size);
    std::memcpy(VARDATA(datum), bytes, static_cast<size_t>(count));
    return PointerGetDatum(datum);
}

}  // namespace

Datum numeric_from_int128(__int128 value, int scale) {
    uint8_t bytes[exec::kMostNumericBytes];
    return make_numeric(bytes, exec::write_numeric(value, scale, bytes));
}

Datum numeric_from_bytes(const uint8_t* bytes, int width, int scale) {
    if (width <= 8) {
        int64_t value = 0;
        if (width == 4) {
            int32_t narrow;
            std::memcpy(&narrow, bytes, 4);
            value = narrow;
        } else {
            std::memcpy(&value, bytes, 8);
        }
        return numeric_from_int128(value, scale);
    }
    if (width == 16) {
        __int128 value;
        std::memcpy(&value, bytes, 16);
        return numeric_from_int128(value, scale);
    }
    uint8_t packed[exec::kMostNumericBytes];
    return make_numeric(packed, exec::write_wide_numeric(bytes, scale, packed));
}

}  // namespace loom::pg
