#include "pg/node/plan_rows.h"

#include <algorithm>
#include <cstring>

#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "pg/node/value.h"

extern "C" {
#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
}

namespace loom::pg {

PlanRows::PlanRows(PlanState* plan, std::vector<AttrNumber> attributes,
                   std::vector<plan::Type> types, MemoryContext context)
    : plan_(plan), columns_(attributes.size()) {
    pg_call(
        [&] { batch_ = AllocSetContextCreate(context, "pg_loom rows", ALLOCSET_DEFAULT_SIZES); });
    for (size_t c = 0; c < columns_.size(); ++c) {
        Column& column = columns_[c];
        column.attribute = attributes[c];
        column.type = types[c];
        pg_call([&] {
            column.datums =
                static_cast<Datum*>(MemoryContextAlloc(context, sizeof(Datum) * exec::kBatchRows));
            column.nulls = static_cast<bool*>(MemoryContextAlloc(context, exec::kBatchRows));
        });
    }
}

namespace {

// Small tables of tests are to have several batches, too.
constexpr int64_t kShimBatchRows = 50;

bool is_varlena(plan::Type type) {
    return plan::physical(type) == plan::Physical::kBytes || type.id == plan::TypeId::kNumeric;
}

// Copies a value that lives as long as its row only.
Datum keep_maylongjmp(Datum value, plan::Type type) {
    if (is_varlena(type)) return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
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
    if (!value) throw exec::Unrepresentable("a numeric of other tables' rows");
    return *value;
}

plan::Decimal decimal(Datum datum) {
    const auto number = scaled_number(datum);
    if (!number) throw exec::Unrepresentable("a numeric of other tables' rows");
    return {number->unscaled, number->scale};
}

}  // namespace

int64_t PlanRows::pull() {
    Column* columns = columns_.data();
    const size_t width = columns_.size();
    const int64_t most = g_shim ? kShimBatchRows : exec::kBatchRows;
    int64_t rows = 0;
    pg_call([&] {
        MemoryContextReset(batch_);
        while (rows < most) {
            CHECK_FOR_INTERRUPTS();
            TupleTableSlot* slot = ExecProcNode(plan_);
            if (TupIsNull(slot)) {
                done_ = true;
                break;
            }
            MemoryContext old = MemoryContextSwitchTo(batch_);
            for (size_t c = 0; c < width; ++c) {
                bool null;
                const Datum value = slot_getattr(slot, columns[c].attribute, &null);
                columns[c].nulls[rows] = null;
                columns[c].datums[rows] = null ? 0 : keep_maylongjmp(value, columns[c].type);
            }
            MemoryContextSwitchTo(old);
            ++rows;
        }
    });
    return rows;
}

void PlanRows::fill(Column& column, int64_t rows) {
    const Datum* datums = column.datums;
    const bool* nulls = column.nulls;
    const plan::Type type = column.type;
    base::Buffer& out = column.values;
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
            return take_values<column::BytesView>(out, datums, nulls, rows, [type](Datum d) {
                const auto* value = reinterpret_cast<const struct varlena*>(DatumGetPointer(d));
                const char* bytes = VARDATA_ANY(value);
                const auto size = static_cast<int>(VARSIZE_ANY_EXHDR(value));
                if (plan::is_text(type.id) && !is_valid_text(bytes, size))
                    throw exec::Unrepresentable("text of other tables' rows that is no UTF-8");
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

int64_t PlanRows::fetch(std::span<exec::Vector> columns) {
    if (done_) return 0;
    const int64_t rows = pull();
    for (size_t c = 0; c < columns_.size(); ++c) {
        Column& column = columns_[c];
        fill(column, rows);
        exec::Vector vector;
        vector.type = column.type;
        vector.length = rows;
        vector.values = column.values.data();
        if (std::find(column.nulls, column.nulls + rows, true) != column.nulls + rows) {
            column.validity.resize_discarding(static_cast<uint64_t>((rows + 63) / 64 * 8));
            memset(column.validity.data(), 0, column.validity.size());
            for (int64_t i = 0; i < rows; ++i)
                if (!column.nulls[i])
                    column.validity.data()[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
            vector.validity = column.validity.data();
        }
        columns[c] = vector;
    }
    return rows;
}

}  // namespace loom::pg
