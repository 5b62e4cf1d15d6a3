// Any file type as json or jsonb, and as text. Numbers are printed exactly; dates and times in ISO
// 8601 as to_json does; binary as text in bytea's hex form; NaN and infinities as strings; map keys
// as text.

#include "pg/types/convert_steps.h"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"
}

namespace loom::pg {

using column::ColumnView;
using column::TypeId;

namespace {

bool is_number(Oid type) {
    return type == INT2OID || type == INT4OID || type == INT8OID || type == NUMERICOID ||
           type == FLOAT4OID || type == FLOAT8OID;
}

// A leaf is converted to its default type first; `self.inner` does that and self.function prints
// it.
void append_leaf(Converter& self, const ColumnView& view, int64_t row, StringInfo out) {
    Datum value;
    bool null;
    convert_rows(*self.inner, view, row, 1, &value, &null);
    if (null) return appendStringInfoString(out, "null");
    const Oid type = self.inner->type;
    if (type == BOOLOID) return appendStringInfoString(out, DatumGetBool(value) ? "true" : "false");
    if (type == DATEOID || type == TIMEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID) {
        char buffer[MAXDATELEN + 1];
        JsonEncodeDateTime(buffer, value, type, nullptr);
        appendStringInfo(out, "\"%s\"", buffer);
        return;
    }
    char* text = OutputFunctionCall(&self.function, value);
    const bool json = type == JSONOID || type == JSONBOID;
    const bool plain =
        json || (is_number(type) && strpbrk(text, "nN") == nullptr);  // no NaN, no infinity
    if (plain)
        appendStringInfoString(out, text);
    else
        escape_json(out, text);
    pfree(text);
}

void append_list(Converter& self, const ColumnView& view, int64_t row, StringInfo out) {
    const bool fixed = view.type->id == TypeId::kFixedList;
    const int64_t begin = fixed ? row * view.type->list_size : view.offsets[row];
    const int64_t end = fixed ? begin + view.type->list_size : view.offsets[row + 1];
    appendStringInfoChar(out, '[');
    for (int64_t i = begin; i < end; ++i) {
        if (i != begin) appendStringInfoString(out, ", ");
        append_json(*self.members[0], view.children[0], i, out);
    }
    appendStringInfoChar(out, ']');
}

void append_struct(Converter& self, const ColumnView& view, int64_t row, StringInfo out) {
    appendStringInfoChar(out, '{');
    for (int32_t m = 0; m < view.child_count; ++m) {
        if (m != 0) appendStringInfoString(out, ", ");
        const std::string& name = view.type->children[m].name;
        char* key = make_cstring(self, reinterpret_cast<const uint8_t*>(name.data()),
                                 static_cast<int64_t>(name.size()));
        escape_json(out, key);
        appendStringInfoString(out, ": ");
        append_json(*self.members[m], view.children[m], row, out);
    }
    appendStringInfoChar(out, '}');
}

void append_map(Converter& self, const ColumnView& view, int64_t row, StringInfo out) {
    const ColumnView& entries = view.children[0];
    Converter& keys = *self.members[0]->members[0];
    Converter& items = *self.members[0]->members[1];
    StringInfoData key;
    initStringInfo(&key);
    appendStringInfoChar(out, '{');
    for (int64_t i = view.offsets[row]; i < view.offsets[row + 1]; ++i) {
        if (i != view.offsets[row]) appendStringInfoString(out, ", ");
        resetStringInfo(&key);
        append_json(keys, entries.children[0], i, &key);
        if (key.data[0] == '"')
            appendStringInfoString(out, key.data);
        else
            escape_json(out, key.data);
        appendStringInfoString(out, ": ");
        if (entries.child_count > 1)
            append_json(items, entries.children[1], i, out);
        else
            appendStringInfoString(out, "null");
    }
    appendStringInfoChar(out, '}');
    pfree(key.data);
}

bool is_union(const ColumnView& view) {
    return view.type->id == TypeId::kSparseUnion || view.type->id == TypeId::kDenseUnion;
}

int64_t union_row(const ColumnView& view, int64_t row) {
    return view.type->id == TypeId::kDenseUnion ? view.offsets[row] : row;
}

void append_union(Converter& self, const ColumnView& view, int64_t row, StringInfo out) {
    const int child = view.as<int8_t>()[row];
    append_json(*self.members[child], view.children[child], union_row(view, row), out);
}

// Unions have no validity of their own: one is NULL where its value is.
bool is_null_value(const ColumnView& view, int64_t row) {
    if (view.is_null(row)) return true;
    if (!is_union(view)) return view.type->id == TypeId::kNull;
    return is_null_value(view.children[view.as<int8_t>()[row]], union_row(view, row));
}

Converter* make_json_converter(const column::Field& field, const char* column_name);

void prepare(Converter& self, const column::Field& field) {
    const column::DataType& type = *field.type;
    if (column::is_nested(type.id)) {
        self.members =
            static_cast<Converter**>(palloc0(sizeof(Converter*) * type.children.size() + 1));
        for (size_t i = 0; i < type.children.size(); ++i)
            self.members[i] = make_json_converter(type.children[i], self.column_name);
        return;
    }
    int32 typmod;
    Oid leaf = default_type(field, &typmod);
    // As json it keeps its text, and what it belongs to is parsed as a whole.
    if (leaf == JSONBOID) leaf = JSONOID;
    self.inner = make_converter(field, leaf, typmod, self.column_name);
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(leaf, &output, &is_varlena);
    fmgr_info_cxt(output, &self.function, self.context);
}

Converter* make_json_converter(const column::Field& field, const char* column_name) {
    auto* self = static_cast<Converter*>(palloc0(sizeof(Converter)));
    self->source = field.type.get();
    self->type = JSONBOID;
    self->typmod = -1;
    self->column_name = column_name;
    self->context = CurrentMemoryContext;
    prepare(*self, field);
    return self;
}

void rows_json(Converter& self, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
               bool* nulls) {
    StringInfoData text;
    initStringInfo(&text);
    for (int64_t i = 0; i < count; ++i) {
        nulls[i] = nulls[i] || is_null_value(view, begin + i);
        if (nulls[i]) continue;
        resetStringInfo(&text);
        append_json(self, view, begin + i, &text);
        values[i] = self.type == JSONBOID
                        ? DirectFunctionCall1(jsonb_in, CStringGetDatum(text.data))
                        : PointerGetDatum(cstring_to_text_with_len(text.data, text.len));
    }
    pfree(text.data);
}

// text and varchar without length: what the default type's output function prints.
void rows_output(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                 Datum* values, bool* nulls) {
    convert_rows(*self.inner, view, begin, count, values, nulls);
    for (int64_t i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        char* text = OutputFunctionCall(&self.function, values[i]);
        values[i] = PointerGetDatum(cstring_to_text(text));
        pfree(text);
    }
}

}  // namespace

void append_json(Converter& self, const ColumnView& view, int64_t row, StringInfo out) {
    check_stack_depth();
    if (view.is_null(row)) return appendStringInfoString(out, "null");
    switch (view.type->id) {
        case TypeId::kList:
        case TypeId::kFixedList:
            return append_list(self, view, row, out);
        case TypeId::kStruct:
            return append_struct(self, view, row, out);
        case TypeId::kMap:
            return append_map(self, view, row, out);
        case TypeId::kSparseUnion:
        case TypeId::kDenseUnion:
            return append_union(self, view, row, out);
        default:
            return append_leaf(self, view, row, out);
    }
}

ConvertRows choose_json(Converter& self, const column::Field& field) {
    if (self.type != JSONOID && self.type != JSONBOID) return nullptr;
    prepare(self, field);
    return rows_json;
}

ConvertRows choose_text_output(Converter& self, const column::Field& field) {
    if (self.type != TEXTOID && (self.type != VARCHAROID || self.typmod >= 0)) return nullptr;
    if (column::is_nested(field.type->id)) {
        self.type = JSONOID;  // json and text share their representation
        prepare(self, field);
        return rows_json;
    }
    int32 typmod;
    const Oid leaf = default_type(field, &typmod);
    if (leaf == TEXTOID) return nullptr;
    self.inner = make_converter(field, leaf, typmod, self.column_name);
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(leaf, &output, &is_varlena);
    fmgr_info_cxt(output, &self.function, self.context);
    return rows_output;
}

}  // namespace loom::pg
