// Which PostgreSQL type a file's type becomes. docs/types.md shows the same table.

#include "pg/types/converter.h"

extern "C" {
#include "catalog/namespace.h"
#include "parser/parse_type.h"
#include "utils/numeric.h"
}

namespace loom::pg {

using column::Annotation;
using column::DataType;
using column::Field;
using column::TypeId;

namespace {

int32 numeric_typmod(int precision, int scale) {
    // numeric's typmod as numerictypmodin makes it since PostgreSQL 15: scale has 11 signed bits.
    return ((precision << 16) | (scale & 0x7FF)) + VARHDRSZ;
}

Oid bytes_type(const Field& field) {
    const DataType& type = *field.type;
    if (type.annotation == Annotation::kUuid && type.fixed_width == 16) return UUIDOID;
    if (type.annotation == Annotation::kVariant && type.id == TypeId::kUtf8) return JSONBOID;
    return type.id == TypeId::kUtf8 ? TEXTOID : BYTEAOID;
}

// Returns whether values of `type` can be taken for a hinted PostgreSQL type. pg2arrow copies the
// inner form of many types into binary fields; of those only inet's is taken, since another type's
// inner form could not be checked.
bool hint_is_usable(const DataType& type, Oid hinted) {
    switch (type.id) {
        case TypeId::kUtf8: {
            char category;
            bool preferred;
            get_type_category_preferred(hinted, &category, &preferred);
            return strchr("SUEIGV", category) != nullptr;
        }
        case TypeId::kBinary:
            return hinted == INETOID || hinted == BYTEAOID;
        case TypeId::kFixedBinary:
            return hinted == BYTEAOID || hinted == BPCHAROID || hinted == TEXTOID ||
                   (hinted == UUIDOID && type.fixed_width == 16) ||
                   (hinted == MACADDROID && type.fixed_width == 6) ||
                   (hinted == INETOID && (type.fixed_width == 4 || type.fixed_width == 16));
        case TypeId::kInt32:
            return hinted == OIDOID || hinted == INT4OID;
        case TypeId::kInt64:
            return hinted == CASHOID || hinted == INT8OID;
        default:
            return false;
    }
}

Oid find_hinted_type(const std::string& hint);

// Resolves PG-Strom's field key `pg_type` = [SCHEMA.]NAME[@EXTENSION]. An unknown name is no error:
// the hint is advice.
Oid hinted_type(const Field& field) {
    const std::string* hint = field.find_metadata("pg_type");
    if (hint == nullptr || column::is_nested(field.type->id)) return InvalidOid;
    const Oid type = find_hinted_type(*hint);
    return OidIsValid(type) && hint_is_usable(*field.type, type) ? type : InvalidOid;
}

Oid find_hinted_type(const std::string& hint) {
    char name[NAMEDATALEN * 3];
    strlcpy(name, hint.c_str(), sizeof name);
    if (char* at = strchr(name, '@')) *at = '\0';
    const char* schema = nullptr;
    const char* local = name;
    if (char* dot = strchr(name, '.')) {
        *dot = '\0';
        schema = name;
        local = dot + 1;
    }
    if (schema != nullptr) {
        const Oid space = get_namespace_oid(schema, true);
        if (!OidIsValid(space)) return InvalidOid;
        return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(local),
                               ObjectIdGetDatum(space));
    }
    return TypenameGetTypid(local);
}

}  // namespace

Oid default_type(const Field& field, int32* typmod) {
    *typmod = -1;
    const DataType& type = *field.type;
    if (const Oid hinted = hinted_type(field); OidIsValid(hinted)) return hinted;
    switch (type.id) {
        case TypeId::kNull:
            return TEXTOID;
        case TypeId::kBool:
            return BOOLOID;
        case TypeId::kInt8:
        case TypeId::kUInt8:
        case TypeId::kInt16:
            return INT2OID;
        case TypeId::kUInt16:
        case TypeId::kInt32:
            return INT4OID;
        case TypeId::kUInt32:
        case TypeId::kInt64:
            return INT8OID;
        case TypeId::kUInt64:
            *typmod = numeric_typmod(20, 0);
            return NUMERICOID;
        case TypeId::kFloat16:
        case TypeId::kFloat32:
            return FLOAT4OID;
        case TypeId::kFloat64:
            return FLOAT8OID;
        case TypeId::kDecimal:
            *typmod = numeric_typmod(type.precision, type.scale);
            return NUMERICOID;
        case TypeId::kDate32:
        case TypeId::kDate64:
            return DATEOID;
        case TypeId::kTime:
            return TIMEOID;
        case TypeId::kTimestamp:
            return type.timezone.empty() ? TIMESTAMPOID : TIMESTAMPTZOID;
        case TypeId::kDuration:
        case TypeId::kIntervalMonths:
        case TypeId::kIntervalDayTime:
        case TypeId::kIntervalMonthDayNano:
            return INTERVALOID;
        case TypeId::kUtf8:
        case TypeId::kBinary:
        case TypeId::kFixedBinary:
            return bytes_type(field);
        case TypeId::kList:
        case TypeId::kFixedList: {
            const TypeId element = type.children[0].type->id;
            if (element == TypeId::kList || element == TypeId::kFixedList) return JSONBOID;
            const Oid element_type = default_type(type.children[0], typmod);
            return OidIsValid(element_type) ? get_array_type(element_type) : InvalidOid;
        }
        case TypeId::kStruct:
            return type.children.empty() ? JSONBOID : InvalidOid;
        case TypeId::kMap:
        case TypeId::kSparseUnion:
        case TypeId::kDenseUnion:
            return JSONBOID;
    }
    return InvalidOid;
}

}  // namespace loom::pg
