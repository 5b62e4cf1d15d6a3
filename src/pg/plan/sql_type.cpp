#include "pg/plan/sql_type.h"

#include <cstring>

#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"
#include "plan/numeric_type.h"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "mb/pg_wchar.h"
}

namespace loom::pg {

using plan::TypeId;

namespace {

// Not cstring, nor types whose values mean nothing outside of the expression that has them: what an
// anonymous record consists of, say.
bool is_handed_on(char kind, int16 length) {
    return length != -2 && kind != TYPTYPE_PSEUDO;
}

std::optional<plan::Type> opaque_type(Oid type) {
    struct {
        int16 length = 0;
        bool by_value = false;
        char kind = 0;
    } found;
    pg_call([&] {
        found.kind = get_typtype(type);
        if (found.kind != 0) get_typlenbyval(type, &found.length, &found.by_value);
    });
    if (found.kind == 0 || !is_handed_on(found.kind, found.length)) return std::nullopt;
    return plan::make_opaque(type, found.length, found.by_value);
}

std::optional<plan::Type> computed_type(Oid type, int32 typmod) {
    switch (type) {
        case BOOLOID:
            return plan::make_type(TypeId::kBool);
        case INT2OID:
            return plan::make_type(TypeId::kInt2);
        case INT4OID:
            return plan::make_type(TypeId::kInt4);
        case INT8OID:
            return plan::make_type(TypeId::kInt8);
        case FLOAT4OID:
            return plan::make_type(TypeId::kFloat4);
        case FLOAT8OID:
            return plan::make_type(TypeId::kFloat8);
        case NUMERICOID:
            return typmod < 0 ? plan::make_decimal() : plan::numeric_type_of_modifier(typmod);
        case DATEOID:
            return plan::make_type(TypeId::kDate);
        case TIMEOID:
            return plan::make_type(TypeId::kTime);
        case TIMESTAMPOID:
            return plan::make_type(TypeId::kTimestamp);
        case TIMESTAMPTZOID:
            return plan::make_type(TypeId::kTimestampTz);
        case INTERVALOID:
            return plan::make_type(TypeId::kInterval);
        case TEXTOID:
        case VARCHAROID:
            return plan::make_type(TypeId::kText);
        case BPCHAROID:
            return plan::make_type(TypeId::kBpchar);
        case BYTEAOID:
            return plan::make_type(TypeId::kBytea);
        case UUIDOID:
            return plan::make_type(TypeId::kUuid);
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<plan::Type> engine_type(Oid type, int32 typmod) {
    if (!OidIsValid(type)) return std::nullopt;
    const Oid base = pg_call([&] { return getBaseTypeAndTypmod(type, &typmod); });
    const auto computed = computed_type(base, typmod);
    const bool unknown_text =
        computed && plan::is_text(computed->id) && GetDatabaseEncoding() != PG_UTF8;
    if (computed && !unknown_text) return computed;
    return opaque_type(base);
}

std::optional<plan::Type> output_type(Node* expr) {
    if (IsA(expr, Var) && reinterpret_cast<const Var*>(expr)->varattno <= 0) return std::nullopt;
    if (IsA(expr, ConvertRowtypeExpr)) return std::nullopt;
    return engine_type(exprType(expr), exprTypmod(expr));
}

bool has_plain_equality(Oid collation) {
    if (!OidIsValid(collation)) return false;
    return pg_call([&] { return get_collation_isdeterministic(collation); });
}

bool is_c_collation(Oid collation) {
    return OidIsValid(collation) && pg_call([&] { return collation_is_c_maylongjmp(collation); });
}

namespace {

bool is_byte_order_locale(const char* locale) {
    return strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0 ||
           pg_strcasecmp(locale, "C.UTF-8") == 0 || pg_strcasecmp(locale, "C.UTF8") == 0;
}

// Text attribute `number` of a catalog row, or null.
const char* text_attribute_maylongjmp(int cache, HeapTuple tuple, AttrNumber number) {
    bool null = true;
    const Datum value = SysCacheGetAttr(cache, tuple, number, &null);
    return null ? nullptr : TextDatumGetCString(value);
}

bool orders_by_bytes_maylongjmp(Oid collation) {
    const bool database = collation == DEFAULT_COLLATION_OID;
    const int cache = database ? DATABASEOID : COLLOID;
    HeapTuple tuple = SearchSysCache1(cache, ObjectIdGetDatum(database ? MyDatabaseId : collation));
    if (!HeapTupleIsValid(tuple)) return false;
    char provider;
    const char* locale;
    if (database) {
        provider = reinterpret_cast<Form_pg_database>(GETSTRUCT(tuple))->datlocprovider;
        locale = text_attribute_maylongjmp(cache, tuple, Anum_pg_database_datcollate);
    } else {
        provider = reinterpret_cast<Form_pg_collation>(GETSTRUCT(tuple))->collprovider;
        locale = text_attribute_maylongjmp(cache, tuple, Anum_pg_collation_collcollate);
    }
    // The builtin provider (17 on) compares code points in all of its locales.
    constexpr char kBuiltin = 'b';
    const bool result = provider == kBuiltin || (provider == COLLPROVIDER_LIBC &&
                                                 locale != nullptr && is_byte_order_locale(locale));
    ReleaseSysCache(tuple);
    return result;
}

}  // namespace

bool orders_by_bytes(Oid collation) {
    return OidIsValid(collation) && (is_c_collation(collation) || pg_call([&] {
                                         return orders_by_bytes_maylongjmp(collation);
                                     }));
}

bool is_arrow_server(Oid server) {
    return pg_call([&] {
        const ForeignServer* entry = GetForeignServer(server);
        const ForeignDataWrapper* wrapper = GetForeignDataWrapper(entry->fdwid);
        if (!OidIsValid(wrapper->fdwhandler)) return false;
        // Only our own handler is called: other wrappers' libraries need not be loaded.
        const char* name = get_func_name(wrapper->fdwhandler);
        if (name == nullptr || strcmp(name, "arrow_fdw_handler") != 0) return false;
        return GetFdwRoutine(wrapper->fdwhandler)->IterateForeignScan == iterate_scan;
    });
}

bool is_arrow_table(Oid relation) {
    const Oid server = pg_call([&] { return GetForeignServerIdByRelId(relation); });
    return is_arrow_server(server);
}

bool has_many_lengths(Node* expr, plan::Type type) {
    return type.id == TypeId::kBpchar && exprTypmod(expr) < 0;
}

}  // namespace loom::pg
