#include "gpu/memory/raw_conversion.h"

#include "exec/scan/load.h"
#include "sql/calendar.h"

namespace loom::gpu {

namespace {

using column::TimeUnit;
using Shape = format::RawColumn::Shape;

std::optional<RawKind> integer_kind(int width, bool is_signed) {
    switch (width) {
        case 1:
            return is_signed ? RawKind::kInt8 : RawKind::kUInt8;
        case 2:
            return is_signed ? RawKind::kInt16 : RawKind::kUInt16;
        case 4:
            return is_signed ? RawKind::kInt32 : RawKind::kUInt32;
        case 8:
            return is_signed ? RawKind::kInt64 : RawKind::kUInt64;
        case 16:
            return RawKind::kInt128;
        default:
            return std::nullopt;
    }
}

bool is_unsigned(column::TypeId id) {
    return id == column::TypeId::kUInt8 || id == column::TypeId::kUInt16 ||
           id == column::TypeId::kUInt32 || id == column::TypeId::kUInt64;
}

void set_unit(TimeUnit unit, RawPiece& piece) {
    piece.factor = unit == TimeUnit::kSecond ? 1'000'000 : unit == TimeUnit::kMilli ? 1'000 : 1;
    piece.divisor = unit == TimeUnit::kNano ? 1'000 : 1;
}

}  // namespace

std::optional<RawPiece> raw_conversion(const format::RawColumn& raw, const column::DataType& file,
                                       plan::Type type) {
    if (!exec::can_load(file, type)) return std::nullopt;
    RawPiece piece;
    piece.low = INT64_MIN;
    piece.high = INT64_MAX;
    const bool codes = raw.shape == Shape::kCodes;
    if (codes != (type.id == plan::TypeId::kText)) return std::nullopt;
    if ((raw.shape == Shape::kBits) != (type.id == plan::TypeId::kBool)) return std::nullopt;
    if (raw.shape == Shape::kBits) {
        piece.kind = RawKind::kBit;
        return piece;
    }
    if (!codes && raw.width != column::byte_width(file)) return std::nullopt;
    const auto kind = integer_kind(raw.width, codes ? raw.is_signed : !is_unsigned(file.id));
    if (!kind) return std::nullopt;
    piece.kind = *kind;
    switch (type.id) {
        case plan::TypeId::kText:
        case plan::TypeId::kInt2:
        case plan::TypeId::kInt4:
        case plan::TypeId::kInt8:
            return piece;
        case plan::TypeId::kNumeric: {
            if (plan::physical(type) != plan::Physical::kInt64) return std::nullopt;
            int64_t limit = 1;
            for (int i = 0; i < type.precision; ++i) limit *= 10;
            piece.low = 1 - limit;
            piece.high = limit - 1;
            return piece;
        }
        case plan::TypeId::kDate:
            if (file.id == column::TypeId::kDate64) piece.divisor = sql::kDayMicroseconds / 1'000;
            piece.offset = sql::kUnixEpochDay;
            piece.low = sql::kFirstDay;
            piece.high = sql::kDateEnd - 1;
            return piece;
        case plan::TypeId::kTimestamp:
        case plan::TypeId::kTimestampTz:
            set_unit(file.unit, piece);
            piece.offset = sql::kUnixEpochDay * sql::kDayMicroseconds;
            piece.low = sql::kFirstDay * sql::kDayMicroseconds;
            piece.high = sql::kTimestampEndDay * sql::kDayMicroseconds - 1;
            return piece;
        case plan::TypeId::kTime:
            set_unit(file.unit, piece);
            piece.low = 0;
            piece.high = sql::kDayMicroseconds;
            return piece;
        default:
            return std::nullopt;
    }
}

RawPiece raw_constant(bool known, int64_t value) {
    RawPiece piece;
    piece.kind = RawKind::kConstant;
    piece.all_null = known ? 0 : 1;
    piece.offset = value;
    piece.low = INT64_MIN;
    piece.high = INT64_MAX;
    return piece;
}

}  // namespace loom::gpu
