#include "pg/plan/layout.h"

#include "pg/bridge/bridge.h"
#include "pg/plan/sql_type.h"

extern "C" {
#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/typcache.h"
}

namespace loom::pg {

using plan::Layout;

// What exec/datum/value_writer.cpp relies on.
static_assert(ARR_OVERHEAD_NONULLS(1) == 24 && offsetof(ArrayType, elemtype) == 12);
static_assert(offsetof(HeapTupleHeaderData, t_infomask) == 20 &&
              offsetof(HeapTupleHeaderData, t_hoff) == sizeof(int32) + plan::kRowHeader &&
              SizeofHeapTupleHeader == 23);
static_assert(HEAP_HASNULL == 1 && HEAP_HASVARWIDTH == 2 && MAXIMUM_ALIGNOF == 8);

namespace {

constexpr int kMostLevels = 16;

uint8_t alignment_of(char align) {
    switch (align) {
        case TYPALIGN_SHORT:
            return 2;
        case TYPALIGN_INT:
            return 4;
        case TYPALIGN_DOUBLE:
            return 8;
        default:
            return 1;
    }
}

Layout basic_layout(Oid type) {
    Layout layout;
    layout.oid = type;
    pg_call([&] {
        bool by_value;
        char align;
        get_typlenbyvalalign(type, &layout.length, &by_value, &align);
        layout.type = plan::make_opaque(type, layout.length, by_value);
        layout.alignment = alignment_of(align);
    });
    return layout;
}

// What stands at the beginning of every value of a row type: its OID and number of attributes, and
// the version of the type where a distribution's PostgreSQL has such.
std::string row_header(TupleDesc row) {
    const auto* value = pg_call([&] {
        const auto count = static_cast<Size>(row->natts);
        auto* values = static_cast<Datum*>(palloc0(sizeof(Datum) * count + 1));
        auto* nulls = static_cast<bool*>(palloc(count + 1));
        memset(nulls, 1, count);
        return DatumGetPointer(HeapTupleGetDatum(heap_form_tuple(row, values, nulls)));
    });
    return {value + sizeof(int32), static_cast<size_t>(plan::kRowHeader)};
}

std::optional<Layout> layout_of(Oid type, int32 typmod, int levels);

std::optional<Layout> composite_layout(Oid type, int levels) {
    Layout layout = basic_layout(type);
    layout.kind = Layout::Kind::kComposite;
    TupleDesc row = pg_call([&] { return lookup_rowtype_tupdesc_copy(type, -1); });
    for (int i = 0; i < row->natts; ++i) {
        const FormData_pg_attribute* attribute = TupleDescAttr(row, i);
        std::optional<Layout> part;
        if (attribute->attisdropped) {
            part.emplace();
            part->is_dropped = true;
        } else {
            part = layout_of(attribute->atttypid, attribute->atttypmod, levels - 1);
        }
        if (!part) return std::nullopt;
        part->name = NameStr(attribute->attname);
        part->is_packed = attribute->attstorage != TYPSTORAGE_PLAIN;
        layout.parts.push_back(std::move(*part));
    }
    layout.header = row_header(row);
    return layout;
}

std::optional<Layout> list_layout(Oid type, Oid element, int levels) {
    // Arrays of arrays are one array of several dimensions.
    if (pg_call([&] { return OidIsValid(get_element_type(element)); })) return std::nullopt;
    auto part = layout_of(element, -1, levels - 1);
    if (!part) return std::nullopt;
    Layout layout = basic_layout(type);
    layout.kind = Layout::Kind::kArray;
    layout.parts.push_back(std::move(*part));
    return layout;
}

std::optional<Layout> nested_layout(Oid type, int levels) {
    if (levels == 0) return std::nullopt;
    const Oid element = pg_call([&] {
        const Oid found = get_element_type(type);
        // oidvector and its like begin at 0.
        return OidIsValid(found) && get_array_type(found) == type ? found : InvalidOid;
    });
    if (OidIsValid(element)) return list_layout(type, element, levels);
    if (pg_call([&] { return get_typtype(type); }) == TYPTYPE_COMPOSITE)
        return composite_layout(type, levels);
    return std::nullopt;
}

std::optional<Layout> layout_of(Oid type, int32 typmod, int levels) {
    if (typmod >= 0 && type != NUMERICOID) return std::nullopt;
    if (pg_call([&] { return get_typtype(type); }) == TYPTYPE_DOMAIN) return std::nullopt;
    const auto engine = engine_type(type, typmod);
    if (!engine) return std::nullopt;
    if (plan::is_opaque(*engine)) return nested_layout(type, levels);
    Layout layout = basic_layout(type);
    layout.type = *engine;
    return layout;
}

}  // namespace

std::optional<Layout> nested_layout(Oid type) {
    return nested_layout(type, kMostLevels);
}

std::optional<Layout> array_layout(Oid type, plan::Type element) {
    const Oid found = pg_call([&] { return get_element_type(type); });
    if (!OidIsValid(found)) return std::nullopt;
    Layout layout = basic_layout(type);
    layout.kind = Layout::Kind::kArray;
    layout.parts.push_back(basic_layout(found));
    layout.parts[0].type = element;
    return layout;
}

}  // namespace loom::pg
