// Text, binary, uuid, the types that PG-Strom's pg_type hint names, and text through a type's input
// function.

#include "pg/types/convert_steps.h"

#include <sys/socket.h>

extern "C" {
#include "catalog/pg_cast.h"
#include "mb/pg_wchar.h"
#include "utils/inet.h"
#include "utils/uuid.h"
}

namespace loom::pg {

using column::BytesView;
using column::ColumnView;
using column::TypeId;

namespace {

// A datum is limited to 1 GB, header included.
void check_size(const Converter& self, int64_t size) {
    if (size > static_cast<int64_t>(MaxAllocSize) - VARHDRSZ)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("a value of column \"%s\" has %lld bytes, more than a field can hold",
                        self.column_name, static_cast<long long>(size))));
}

// Validates UTF-8 (no zero bytes) and returns the text in the database's encoding. Without a
// conversion the result is `text` itself, otherwise palloc'd and zero-terminated.
const char* checked_text(const Converter& self, const uint8_t* data, int64_t* size) {
    check_size(self, *size);
    const auto* text = reinterpret_cast<const char*>(data);
    const auto length = static_cast<int>(*size);
    const int good = pg_encoding_verifymbstr(PG_UTF8, text, length);
    if (good != length)
        ereport(ERROR,
                (errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
                 errmsg("invalid byte sequence for encoding \"UTF8\" in column \"%s\": 0x%02x",
                        self.column_name, data[good])));
    if (GetDatabaseEncoding() == PG_UTF8) return text;
    char* converted = pg_any_to_server(text, length, PG_UTF8);
    if (converted != text) *size = static_cast<int64_t>(strlen(converted));
    return converted;
}

BytesView bytes_at(const ColumnView& view, int64_t row) {
    if (view.type->id != TypeId::kFixedBinary) return view.as<BytesView>()[row];
    const int32_t width = view.type->fixed_width;
    return {view.as<uint8_t>() + row * width, width};
}

template <typename Make>
void each_row(const ColumnView& view, int64_t begin, int64_t count, Datum* values,
              const bool* nulls, Make make) {
    for (int64_t i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        const BytesView bytes = bytes_at(view, begin + i);
        values[i] = make(bytes.data, bytes.size);
    }
}

void rows_text(Converter& self, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
               bool* nulls) {
    each_row(view, begin, count, values, nulls,
             [&](const uint8_t* data, int64_t size) { return make_text(self, data, size); });
}

void rows_bytea(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                Datum* values, bool* nulls) {
    each_row(view, begin, count, values, nulls,
             [&](const uint8_t* data, int64_t size) { return make_bytea(self, data, size); });
}

void rows_uuid(Converter&, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
               bool* nulls) {
    each_row(view, begin, count, values, nulls, [](const uint8_t* data, int64_t) {
        auto* uuid = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
        memcpy(uuid->data, data, UUID_LEN);
        return UUIDPGetDatum(uuid);
    });
}

void rows_macaddr(Converter&, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
                  bool* nulls) {
    each_row(view, begin, count, values, nulls, [](const uint8_t* data, int64_t) {
        auto* address = static_cast<macaddr*>(palloc(sizeof(macaddr)));
        *address = {data[0], data[1], data[2], data[3], data[4], data[5]};
        return MacaddrPGetDatum(address);
    });
}

// An address of 4 or 16 bytes, or pg2arrow's copy of the type's own payload: family, bits, address.
void rows_inet(Converter& self, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
               bool* nulls) {
    each_row(view, begin, count, values, nulls, [&](const uint8_t* data, int64_t size) {
        const bool payload = size == 6 || size == 18;
        const int64_t address_size = payload ? size - 2 : size;
        if (address_size != 4 && address_size != 16) report_out_of_range(self);
        const int max_bits = address_size == 4 ? 32 : 128;
        const int bits = payload ? data[1] : max_bits;
        if (bits > max_bits) report_out_of_range(self);
        auto* result = static_cast<inet*>(palloc0(sizeof(inet)));
        result->inet_data.family = address_size == 4 ? PGSQL_AF_INET : PGSQL_AF_INET6;
        result->inet_data.bits = static_cast<unsigned char>(bits);
        memcpy(result->inet_data.ipaddr, payload ? data + 2 : data, address_size);
        SET_INET_VARSIZE(result);
        return InetPGetDatum(result);
    });
}

// Text of a type with its own syntax (json, enum, varchar(n), citext, ...): through its input
// function.
void rows_input(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                Datum* values, bool* nulls) {
    each_row(view, begin, count, values, nulls, [&](const uint8_t* data, int64_t size) {
        char* text = make_cstring(self, data, size);
        const Datum value = InputFunctionCall(&self.function, text, self.io_parameter, self.typmod);
        pfree(text);
        return value;
    });
}

// bytea through a cast function, e.g. PostGIS's geometry from WKB.
void rows_bytea_cast(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                     Datum* values, bool* nulls) {
    each_row(view, begin, count, values, nulls, [&](const uint8_t* data, int64_t size) {
        return FunctionCall1(&self.function, make_bytea(self, data, size));
    });
}

bool has_own_syntax(Oid type) {
    char category;
    bool preferred;
    get_type_category_preferred(type, &category, &preferred);
    switch (category) {
        case TYPCATEGORY_STRING:
        case TYPCATEGORY_USER:
        case TYPCATEGORY_ENUM:
        case TYPCATEGORY_NETWORK:
        case TYPCATEGORY_GEOMETRIC:
        case TYPCATEGORY_BITSTRING:
            return true;
        default:
            return false;
    }
}

ConvertRows choose_input(Converter& self) {
    Oid input;
    getTypeInputInfo(self.type, &input, &self.io_parameter);
    fmgr_info_cxt(input, &self.function, self.context);
    return rows_input;
}

ConvertRows choose_bytea_cast(Converter& self) {
    HeapTuple tuple =
        SearchSysCache2(CASTSOURCETARGET, ObjectIdGetDatum(BYTEAOID), ObjectIdGetDatum(self.type));
    if (!HeapTupleIsValid(tuple)) return nullptr;
    const auto* cast = reinterpret_cast<Form_pg_cast>(GETSTRUCT(tuple));
    const Oid function = cast->castcontext == COERCION_CODE_EXPLICIT ? InvalidOid : cast->castfunc;
    ReleaseSysCache(tuple);
    if (!OidIsValid(function)) return nullptr;
    fmgr_info_cxt(function, &self.function, self.context);
    return self.function.fn_nargs == 1 ? rows_bytea_cast : nullptr;
}

}  // namespace

Datum make_text(const Converter& self, const uint8_t* data, int64_t size) {
    const char* text = checked_text(self, data, &size);
    return PointerGetDatum(cstring_to_text_with_len(text, static_cast<int>(size)));
}

char* make_cstring(const Converter& self, const uint8_t* data, int64_t size) {
    const char* text = checked_text(self, data, &size);
    return pnstrdup(text, static_cast<Size>(size));
}

Datum make_bytea(const Converter& self, const uint8_t* data, int64_t size) {
    check_size(self, size);
    auto* result = static_cast<bytea*>(palloc(size + VARHDRSZ));
    SET_VARSIZE(result, size + VARHDRSZ);
    if (size != 0) memcpy(VARDATA(result), data, size);
    return PointerGetDatum(result);
}

ConvertRows choose_bytes(Converter& self) {
    const column::DataType& source = *self.source;
    const bool fixed = source.id == TypeId::kFixedBinary;
    if (!fixed && !column::is_bytes(source.id)) return nullptr;
    if (self.type == BYTEAOID) return rows_bytea;
    if (fixed && self.type == UUIDOID && source.fixed_width == UUID_LEN) return rows_uuid;
    if (fixed && self.type == MACADDROID && source.fixed_width == 6) return rows_macaddr;
    if (source.id != TypeId::kUtf8 && self.type == INETOID) return rows_inet;
    if (source.annotation == column::Annotation::kUuid && self.type == TEXTOID) return nullptr;
    if (self.type == TEXTOID) return rows_text;
    if (source.id == TypeId::kUtf8) return has_own_syntax(self.type) ? choose_input(self) : nullptr;
    if (self.type == BPCHAROID || self.type == VARCHAROID) return choose_input(self);
    if (self.type == JSONOID || self.type == JSONBOID) return choose_input(self);
    return choose_bytea_cast(self);
}

}  // namespace loom::pg
