#include "pg/node/datum_column.h"

#include <algorithm>
#include <cstring>

#include "exec/fault.h"
#include "pg/bridge/bridge.h"
#include "pg/node/value.h"

extern "C" {
#include "utils/datum.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
}

namespace loom::pg {

DatumColumn::DatumColumn(plan::Type type, MemoryContext context) : type_(type) {
    pg_call([&] {
        datums_ =
            static_cast<Datum*>(MemoryContextAlloc(context, sizeof(Datum) * exec::kBatchRows));
        nulls_ = static_cast<bool*>(MemoryContextAlloc(context, exec::kBatchRows));
    });
}

namespace {

bool is_varlena(plan::Type type) {
    if (type.id == plan::TypeId::kOpaque) return plan::is_opaque_varlena(type);
    return plan::physical(type) == plan::Physical::kBytes || type.id == plan::TypeId::kNumeric;
}

// Copies a value that lives as long as its row only.
Datum copied_maylongjmp(Datum value, plan::Type type) {
    if (is_varlena(type)) return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
    if (type.id == plan::TypeId::kOpaque) return datumCopy(value, false, type.scale);
    if (type.id == plan::TypeId::kUuid) return datumCopy(value, false, UUID_LEN);
    if (type.id == plan::TypeId::kInterval) return datumCopy(value, false, sizeof(Interval));
    return value;
}

template <typename T, typename Take>
void take_values(base::Buffer& out, const Datum* datums, const bool* nulls, int64_t rows,
                 Take take) {
    out.resize_discarding(static_cast<uint64_t>(rows) * sizeof(T));
    T* values = out.as<T>();
    for (int64_t i = 0; i < rows; ++i) values[i] = nulls[i] ? T{} : take(datums[i]);
}

column::Int128 scaled(Datum datum, plan::Type type) {
    const auto number = scaled_number(datum);
    const auto value = number ? rescale(*number, type.scale) : std::nullopt;
    if (!value) throw exec::Unrepresentable("a numeric that is no number of up to 38 digits");
    return *value;
}

plan::Decimal decimal(Datum datum) {
    const auto number = scaled_number(datum);
    if (!number) throw exec::Unrepresentable("a numeric that is no number of up to 38 digits");
    return {number->unscaled, number->scale};
}

}  // namespace

void DatumColumn::put_maylongjmp(int64_t row, Datum value, bool null) {
    nulls_[row] = null;
    datums_[row] = null ? 0 : copied_maylongjmp(value, type_);
}

void DatumColumn::borrow_maylongjmp(int64_t row, Datum value, bool null) {
    nulls_[row] = null;
    const bool toasted = !null && is_varlena(type_) && VARATT_IS_EXTENDED(DatumGetPointer(value));
    datums_[row] = null ? 0 : toasted ? copied_maylongjmp(value, type_) : value;
}

void DatumColumn::keep_maylongjmp(int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
        if (!nulls_[row]) datums_[row] = copied_maylongjmp(datums_[row], type_);
}

void DatumColumn::fill(int64_t rows) {
    const Datum* datums = datums_;
    const bool* nulls = nulls_;
    const plan::Type type = type_;
    base::Buffer& out = values_;
    switch (plan::physical(type)) {
        case plan::Physical::kBool:
            return take_values<uint8_t>(out, datums, nulls, rows, [](Datum d) {
                return static_cast<uint8_t>(DatumGetBool(d) ? 1 : 0);
            });
        case plan::Physical::kInt16:
            return take_values<int16_t>(out, datums, nulls, rows,
                                        [](Datum d) { return DatumGetInt16(d); });
        case plan::Physical::kInt32:
            return take_values<int32_t>(out, datums, nulls, rows,
                                        [](Datum d) { return DatumGetInt32(d); });
        case plan::Physical::kInt64:
            if (type.id == plan::TypeId::kNumeric)
                return take_values<int64_t>(out, datums, nulls, rows, [type](Datum d) {
                    return static_cast<int64_t>(scaled(d, type));
                });
            return take_values<int64_t>(out, datums, nulls, rows,
                                        [](Datum d) { return DatumGetInt64(d); });
        case plan::Physical::kInt128:
            return take_values<column::Int128>(out, datums, nulls, rows,
                                               [type](Datum d) { return scaled(d, type); });
        case plan::Physical::kFloat32:
            return take_values<float>(out, datums, nulls, rows,
                                      [](Datum d) { return DatumGetFloat4(d); });
        case plan::Physical::kFloat64:
            return take_values<double>(out, datums, nulls, rows,
                                       [](Datum d) { return DatumGetFloat8(d); });
        case plan::Physical::kBytes:
            if (type.id == plan::TypeId::kOpaque && !is_varlena(type))
                return take_values<column::BytesView>(out, datums, nulls, rows, [type](Datum d) {
                    return column::BytesView{reinterpret_cast<const uint8_t*>(DatumGetPointer(d)),
                                             type.scale};
                });
            return take_values<column::BytesView>(out, datums, nulls, rows, [type](Datum d) {
                const auto* value = reinterpret_cast<const struct varlena*>(DatumGetPointer(d));
                const char* bytes = VARDATA_ANY(value);
                const auto size = static_cast<int>(VARSIZE_ANY_EXHDR(value));
                if (plan::is_text(type.id) && !is_valid_text(bytes, size))
                    throw exec::Unrepresentable("text that is no UTF-8");
                return column::BytesView{reinterpret_cast<const uint8_t*>(bytes), size};
            });
        case plan::Physical::kInterval:
            return take_values<plan::Interval>(out, datums, nulls, rows, [](Datum d) {
                const Interval* value = DatumGetIntervalP(d);
                plan::Interval interval;
                interval.microseconds = value->time;
                interval.days = value->day;
                interval.months = value->month;
                return interval;
            });
        case plan::Physical::kUuid:
            return take_values<plan::Uuid>(out, datums, nulls, rows, [](Datum d) {
                plan::Uuid uuid;
                memcpy(uuid.bytes, DatumGetUUIDP(d)->data, sizeof uuid.bytes);
                return uuid;
            });
        case plan::Physical::kDecimal:
            return take_values<plan::Decimal>(out, datums, nulls, rows, decimal);
    }
}

exec::Vector DatumColumn::vector(int64_t rows) {
    fill(rows);
    exec::Vector vector;
    vector.type = type_;
    vector.length = rows;
    vector.values = values_.data();
    if (std::find(nulls_, nulls_ + rows, true) == nulls_ + rows) return vector;
    validity_.resize_discarding(static_cast<uint64_t>((rows + 63) / 64 * 8));
    memset(validity_.data(), 0, validity_.size());
    for (int64_t i = 0; i < rows; ++i)
        if (!nulls_[i]) validity_.data()[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
    vector.validity = validity_.data();
    return vector;
}

}  // namespace loom::pg
