// loom.approx_count_distinct(), where PostgreSQL runs it. The engine's own (exec/aggregate) hashes
// values likewise, so that both estimate the same number.

#include "pg/aggregate/approx_count_distinct.h"

#include <algorithm>
#include <cstring>

#include "exec/aggregate/distinct_hash.h"
#include "pg/bridge/bridge.h"
#include "sql/hyperloglog.h"

extern "C" {
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "utils/date.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"
}

namespace loom::pg {

namespace {

using column::BytesView;
using exec::distinct_hash;

// What the transition function knows of its calls.
struct Argument {
    Oid type;       // without domains
    bool by_bytes;  // text whose equality is that of its bytes
    TypeCacheEntry* entry;
    Oid collation;
};

Argument* argument_of_maylongjmp(FunctionCallInfo fcinfo) {
    FmgrInfo* const info = fcinfo->flinfo;
    if (info->fn_extra != nullptr) return static_cast<Argument*>(info->fn_extra);
    auto* argument =
        static_cast<Argument*>(MemoryContextAllocZero(info->fn_mcxt, sizeof(Argument)));
    const Oid given = get_fn_expr_argtype(info, 1);
    if (!OidIsValid(given))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("could not determine input data type")));
    argument->type = getBaseType(given);
    argument->collation = PG_GET_COLLATION();
    argument->by_bytes =
        OidIsValid(argument->collation) && get_collation_isdeterministic(argument->collation);
    argument->entry = lookup_type_cache(argument->type, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
    if (!OidIsValid(argument->entry->hash_extended_proc))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                        errmsg("could not identify an extended hash function for type %s",
                               format_type_be(argument->type))));
    info->fn_extra = argument;
    return argument;
}

BytesView bytes_of_maylongjmp(Datum value) {
    struct varlena* const bytes = PG_DETOAST_DATUM_PACKED(value);
    return {reinterpret_cast<const uint8_t*>(VARDATA_ANY(bytes)),
            static_cast<int64_t>(VARSIZE_ANY_EXHDR(bytes))};
}

// By the digits without trailing zeros behind the point, which equal numbers have in common.
uint64_t hash_numeric_maylongjmp(Datum value) {
    char* const text = DatumGetCString(DirectFunctionCall1(numeric_out, value));
    auto size = static_cast<int64_t>(strlen(text));
    if (strchr(text, '.') != nullptr) {
        while (text[size - 1] == '0') --size;
        if (text[size - 1] == '.') --size;
    }
    plan::Decimal decimal;
    int digits = 0;
    bool point = false;
    bool fits = true;
    for (int64_t i = text[0] == '-' ? 1 : 0; i < size && fits; ++i) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        fits = text[i] >= '0' && text[i] <= '9';  // else NaN or an infinity
        if (digits > 0 || text[i] != '0') ++digits;
        if (point) ++decimal.scale;
        fits = fits && digits <= plan::kMaxPrecision;
        if (fits) decimal.unscaled = decimal.unscaled * 10 + (text[i] - '0');
    }
    // The engine has no numeric that does not fit.
    if (!fits || decimal.scale > plan::kMaxDecimalScale)
        return distinct_hash(BytesView{reinterpret_cast<const uint8_t*>(text), size});
    if (text[0] == '-') decimal.unscaled = -decimal.unscaled;
    return distinct_hash(decimal);
}

uint64_t hash_maylongjmp(const Argument& argument, Datum value) {
    switch (argument.type) {
        case BOOLOID:
            return distinct_hash(int64_t{DatumGetBool(value)});
        case INT2OID:
            return distinct_hash(int64_t{DatumGetInt16(value)});
        case INT4OID:
        case DATEOID:
            return distinct_hash(int64_t{DatumGetInt32(value)});
        case INT8OID:
        case TIMEOID:
        case TIMESTAMPOID:
        case TIMESTAMPTZOID:
            return distinct_hash(static_cast<int64_t>(DatumGetInt64(value)));
        case FLOAT4OID:
            return distinct_hash(static_cast<double>(DatumGetFloat4(value)));
        case FLOAT8OID:
            return distinct_hash(DatumGetFloat8(value));
        case NUMERICOID:
            return hash_numeric_maylongjmp(value);
        case INTERVALOID: {
            const auto* interval = DatumGetIntervalP(value);
            return distinct_hash(plan::Interval{interval->time, interval->day, interval->month});
        }
        case BYTEAOID:
            return distinct_hash(bytes_of_maylongjmp(value));
        case UUIDOID:
            return distinct_hash(BytesView{DatumGetUUIDP(value)->data, UUID_LEN});
        case TEXTOID:
        case VARCHAROID:
            if (argument.by_bytes) return distinct_hash(bytes_of_maylongjmp(value));
            break;
        case BPCHAROID:
            if (argument.by_bytes)
                return distinct_hash(exec::without_blanks(bytes_of_maylongjmp(value)));
            break;
        default:
            break;
    }
    const Datum hash = FunctionCall2Coll(&argument.entry->hash_extended_proc_finfo,
                                         argument.collation, value, Int64GetDatum(0));
    return exec::mix(DatumGetUInt64(hash));
}

MemoryContext aggregate_context_maylongjmp(FunctionCallInfo fcinfo) {
    MemoryContext context;
    if (AggCheckCallContext(fcinfo, &context) == 0)
        elog(ERROR, "a part of approx_count_distinct was called outside of an aggregate");
    return context;
}

uint8_t* new_registers_maylongjmp(FunctionCallInfo fcinfo) {
    return static_cast<uint8_t*>(
        MemoryContextAllocZero(aggregate_context_maylongjmp(fcinfo), sql::kSketchRegisters));
}

Datum add_maylongjmp(FunctionCallInfo fcinfo) {
    auto* registers = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<uint8_t*>(PG_GETARG_POINTER(0));
    if (!PG_ARGISNULL(1)) {
        if (registers == nullptr) registers = new_registers_maylongjmp(fcinfo);
        const sql::SketchEntry entry =
            sql::sketch_entry(hash_maylongjmp(*argument_of_maylongjmp(fcinfo), PG_GETARG_DATUM(1)));
        registers[entry.index] = std::max(registers[entry.index], entry.rank);
    }
    if (registers == nullptr) PG_RETURN_NULL();
    PG_RETURN_POINTER(registers);
}

Datum combine_maylongjmp(FunctionCallInfo fcinfo) {
    auto* registers = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<uint8_t*>(PG_GETARG_POINTER(0));
    if (!PG_ARGISNULL(1)) {
        if (registers == nullptr) registers = new_registers_maylongjmp(fcinfo);
        const auto* others = reinterpret_cast<const uint8_t*>(PG_GETARG_POINTER(1));
        for (int i = 0; i < sql::kSketchRegisters; ++i)
            registers[i] = std::max(registers[i], others[i]);
    }
    if (registers == nullptr) PG_RETURN_NULL();
    PG_RETURN_POINTER(registers);
}

Datum serialise_maylongjmp(FunctionCallInfo fcinfo) {
    aggregate_context_maylongjmp(fcinfo);
    auto* bytes = static_cast<bytea*>(palloc(VARHDRSZ + sql::kSketchRegisters));
    SET_VARSIZE(bytes, VARHDRSZ + sql::kSketchRegisters);
    memcpy(VARDATA(bytes), PG_GETARG_POINTER(0), sql::kSketchRegisters);
    PG_RETURN_BYTEA_P(bytes);
}

Datum deserialise_maylongjmp(FunctionCallInfo fcinfo) {
    aggregate_context_maylongjmp(fcinfo);
    const BytesView bytes = bytes_of_maylongjmp(PG_GETARG_DATUM(0));
    if (bytes.size != sql::kSketchRegisters) elog(ERROR, "a sketch of a wrong size");
    auto* registers = static_cast<uint8_t*>(palloc(sql::kSketchRegisters));
    for (int i = 0; i < sql::kSketchRegisters; ++i)
        registers[i] = std::min<uint8_t>(bytes.data[i], sql::kMaxSketchRank);
    PG_RETURN_POINTER(registers);
}

Datum final_maylongjmp(FunctionCallInfo fcinfo) {
    aggregate_context_maylongjmp(fcinfo);
    if (PG_ARGISNULL(0)) PG_RETURN_INT64(0);
    PG_RETURN_INT64(sql::sketch_estimate(reinterpret_cast<const uint8_t*>(PG_GETARG_POINTER(0))));
}

}  // namespace

bool is_approx_count_distinct(Oid function) {
    if (function < FirstNormalObjectId) return false;
    return pg_call([&] {
        const char* name = get_func_name(function);
        if (name == nullptr || strcmp(name, "approx_count_distinct") != 0) return false;
        const Oid extension = getExtensionOfObject(ProcedureRelationId, function);
        const char* owner = OidIsValid(extension) ? get_extension_name(extension) : nullptr;
        return owner != nullptr && strcmp(owner, "pg_loom") == 0;
    });
}

}  // namespace loom::pg

extern "C" {

PG_FUNCTION_INFO_V1(loom_approx_count_distinct_add);
Datum loom_approx_count_distinct_add(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] { return pg_call([&] { return add_maylongjmp(fcinfo); }); });
}

PG_FUNCTION_INFO_V1(loom_approx_count_distinct_combine);
Datum loom_approx_count_distinct_combine(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] { return pg_call([&] { return combine_maylongjmp(fcinfo); }); });
}

PG_FUNCTION_INFO_V1(loom_approx_count_distinct_serialise);
Datum loom_approx_count_distinct_serialise(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] { return pg_call([&] { return serialise_maylongjmp(fcinfo); }); });
}

PG_FUNCTION_INFO_V1(loom_approx_count_distinct_deserialise);
Datum loom_approx_count_distinct_deserialise(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] { return pg_call([&] { return deserialise_maylongjmp(fcinfo); }); });
}

PG_FUNCTION_INFO_V1(loom_approx_count_distinct_final);
Datum loom_approx_count_distinct_final(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] { return pg_call([&] { return final_maylongjmp(fcinfo); }); });
}

}  // extern "C"
