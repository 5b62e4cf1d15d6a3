#include "pg/plan/regex.h"

#include "exec/regex/syntax.h"
#include "pg/bridge/bridge.h"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "utils/fmgroids.h"
}

namespace loom::pg {

bool is_regex(Oid function) noexcept {
    switch (function) {
        case F_TEXTREGEXEQ:
        case F_TEXTREGEXNE:
        case F_BPCHARREGEXEQ:
        case F_BPCHARREGEXNE:
        case F_TEXTICREGEXEQ:
        case F_TEXTICREGEXNE:
        case F_BPCHARICREGEXEQ:
        case F_BPCHARICREGEXNE:
            return true;
        default:
            return false;
    }
}

// Without case, the letters of ASCII are each other's cases in C and in a database's own collation;
// others may have those of Turkish. The automata leave what else depends on the locale open.
bool regex_ignores_collation(Oid function, Oid collation) noexcept {
    switch (function) {
        case F_TEXTREGEXEQ:
        case F_TEXTREGEXNE:
        case F_BPCHARREGEXEQ:
        case F_BPCHARREGEXNE:
            return true;
        default:
            return collation == DEFAULT_COLLATION_OID;
    }
}

int regex_locale(Oid collation) {
    using exec::regex::Locale;
    return static_cast<int>(pg_call([&] {
        if (ctype_is_c_maylongjmp(collation)) return Locale::kC;
        if (collation != DEFAULT_COLLATION_OID) return Locale::kUnknown;
        HeapTuple tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
        if (!HeapTupleIsValid(tuple)) return Locale::kUnknown;
        const char provider = reinterpret_cast<Form_pg_database>(GETSTRUCT(tuple))->datlocprovider;
        ReleaseSysCache(tuple);
        return provider == COLLPROVIDER_LIBC ? Locale::kProcess : Locale::kUnknown;
    }));
}

bool is_valid_regex(Oid function, Oid collation, const std::string& pattern) {
    try {
        pg_call([&] {
            const text* value =
                cstring_to_text_with_len(pattern.data(), static_cast<int>(pattern.size()));
            OidFunctionCall2Coll(function, collation, CStringGetTextDatum(""),
                                 PointerGetDatum(value));
        });
        return true;
    } catch (const PgError& error) {
        if (error.data()->sqlerrcode != ERRCODE_INVALID_REGULAR_EXPRESSION) throw;
        return false;
    }
}

}  // namespace loom::pg
