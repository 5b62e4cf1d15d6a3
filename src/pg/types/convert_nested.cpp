// Lists to arrays, structs to composite values.

#include "pg/types/convert_steps.h"

extern "C" {
#include "funcapi.h"
#include "utils/array.h"
#include "utils/typcache.h"
}

namespace loom::pg {

using column::ColumnView;
using column::TypeId;

namespace {

// The child rows that belong to rows [begin, begin + count) of a list.
struct ChildRange {
    int64_t first;
    int64_t size;
};

int64_t child_start(const ColumnView& view, int64_t row) {
    return view.type->id == TypeId::kFixedList ? row * view.type->list_size : view.offsets[row];
}

void rows_array(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                Datum* values, bool* nulls) {
    const ChildRange range = {child_start(view, begin),
                              child_start(view, begin + count) - child_start(view, begin)};
    if (range.size > static_cast<int64_t>(MaxAllocSize / sizeof(Datum)) * 8)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("a batch of column \"%s\" has too many list elements", self.column_name)));
    auto* elements = static_cast<Datum*>(
        MemoryContextAllocHuge(CurrentMemoryContext, range.size * sizeof(Datum) + 1));
    auto* element_nulls =
        static_cast<bool*>(MemoryContextAllocHuge(CurrentMemoryContext, range.size + 1));
    convert_rows(*self.inner, view.children[0], range.first, range.size, elements, element_nulls);
    for (int64_t i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        const int64_t start = child_start(view, begin + i) - range.first;
        int length = static_cast<int>(child_start(view, begin + i + 1) - range.first - start);
        int lower = 1;
        values[i] = PointerGetDatum(
            length == 0 ? construct_empty_array(self.element_type)
                        : construct_md_array(elements + start, element_nulls + start, 1, &length,
                                             &lower, self.element_type, self.element_length,
                                             self.element_by_value, self.element_align));
    }
    pfree(elements);
    pfree(element_nulls);
}

void rows_composite(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                    Datum* values, bool* nulls) {
    const int members = self.descriptor->natts;
    auto* columns = static_cast<Datum*>(palloc(sizeof(Datum) * members * count + 1));
    auto* column_nulls = static_cast<bool*>(palloc(members * count + 1));
    for (int m = 0; m < members; ++m) {
        if (self.member_index[m] < 0) {
            memset(column_nulls + m * count, 1, count);
            continue;
        }
        convert_rows(*self.members[m], view.children[self.member_index[m]], begin, count,
                     columns + m * count, column_nulls + m * count);
    }
    auto* row_values = static_cast<Datum*>(palloc(sizeof(Datum) * members + 1));
    auto* row_nulls = static_cast<bool*>(palloc(members + 1));
    for (int64_t i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        for (int m = 0; m < members; ++m) {
            row_values[m] = columns[m * count + i];
            row_nulls[m] = column_nulls[m * count + i];
        }
        HeapTuple tuple = heap_form_tuple(self.descriptor, row_values, row_nulls);
        values[i] = HeapTupleGetDatum(tuple);
    }
}

ConvertRows choose_array(Converter& self, const column::Field& field) {
    const Oid element = get_element_type(self.type);
    const column::Field& child = field.type->children[0];
    if (!OidIsValid(element)) return nullptr;
    // An array of arrays would have to be rectangular; such lists are jsonb.
    if (child.type->id == TypeId::kList || child.type->id == TypeId::kFixedList)
        if (element != JSONBOID && element != JSONOID && element != TEXTOID) return nullptr;
    self.element_type = element;
    get_typlenbyvalalign(element, &self.element_length, &self.element_by_value,
                         &self.element_align);
    self.inner = make_converter(child, element, self.typmod, psprintf("%s[]", self.column_name));
    return rows_array;
}

// Members match attributes by name; if no name matches and the counts agree, by position.
ConvertRows choose_composite(Converter& self, const column::Field& field) {
    if (get_typtype(self.type) != TYPTYPE_COMPOSITE) return nullptr;
    TupleDesc shared = lookup_rowtype_tupdesc(self.type, self.typmod);
    self.descriptor = CreateTupleDescCopy(shared);
    ReleaseTupleDesc(shared);
    const column::DataType& type = *field.type;
    const int count = self.descriptor->natts;
    self.members = static_cast<Converter**>(palloc0(sizeof(Converter*) * count + 1));
    self.member_index = static_cast<int*>(palloc0(sizeof(int) * count + 1));
    int found = 0;
    for (int m = 0; m < count; ++m) {
        Form_pg_attribute attribute = TupleDescAttr(self.descriptor, m);
        self.member_index[m] =
            attribute->attisdropped ? -1 : column::find_child(type, NameStr(attribute->attname));
        found += self.member_index[m] >= 0 ? 1 : 0;
    }
    if (found == 0 && count == static_cast<int>(type.children.size()))
        for (int m = 0; m < count; ++m) self.member_index[m] = m;
    else if (found == 0 && count > 0)
        return nullptr;
    for (int m = 0; m < count; ++m) {
        if (self.member_index[m] < 0) continue;
        Form_pg_attribute attribute = TupleDescAttr(self.descriptor, m);
        self.members[m] = make_converter(
            type.children[self.member_index[m]], attribute->atttypid, attribute->atttypmod,
            psprintf("%s.%s", self.column_name, NameStr(attribute->attname)));
    }
    return rows_composite;
}

}  // namespace

ConvertRows choose_nested(Converter& self, const column::Field& field) {
    switch (self.source->id) {
        case TypeId::kList:
        case TypeId::kFixedList:
            return choose_array(self, field);
        case TypeId::kStruct:
            return choose_composite(self, field);
        // A map is a list of (key, value); it may be declared as an array of such a composite type.
        case TypeId::kMap:
            return choose_array(self, field);
        default:
            return nullptr;
    }
}

}  // namespace loom::pg
