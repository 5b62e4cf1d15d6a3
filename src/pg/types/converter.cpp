#include "pg/types/converter.h"

#include <string>

#include "pg/types/convert_steps.h"

extern "C" {
#include "utils/typcache.h"
}

namespace loom::pg {

using column::ColumnView;
using column::Encoding;
using column::TypeId;

void report_out_of_range(const Converter& self) {
    char source[256];
    strlcpy(source, column::to_string(*self.source).c_str(), sizeof source);
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("a value of column \"%s\" is out of range for type %s", self.column_name,
                           format_type_with_typemod(self.type, self.typmod)),
                    errdetail("The file's type is %s.", source)));
}

void report_datetime_range(const Converter& self) {
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                    errmsg("a value of column \"%s\" is out of range for type %s", self.column_name,
                           format_type_with_typemod(self.type, self.typmod))));
}

namespace {

void rows_null(Converter&, const ColumnView&, int64_t, int64_t count, Datum* values, bool* nulls) {
    for (int64_t i = 0; i < count; ++i) {
        values[i] = 0;
        nulls[i] = true;
    }
}

// A domain over a type we can make: its constraints are checked value by value.
void rows_domain(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                 Datum* values, bool* nulls) {
    self.inner->rows(*self.inner, view, begin, count, values, nulls);
    for (int64_t i = 0; i < count; ++i)
        domain_check(values[i], nulls[i], self.type, nullptr, self.context);
}

[[noreturn]] void report_mismatch(const column::Field& field, const Converter& self) {
    char source[512];
    strlcpy(source, column::to_string(*field.type).c_str(), sizeof source);
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH),
             errmsg("column \"%s\" is declared as %s, but the file has %s", self.column_name,
                    format_type_with_typemod(self.type, self.typmod), source),
             errhint("Declare the type that IMPORT FOREIGN SCHEMA would choose, or a wider one.")));
}

ConvertRows choose(Converter& self, const column::Field& field) {
    if (self.source->id == TypeId::kNull) return rows_null;
    if (ConvertRows rows = choose_number(self)) return rows;
    if (ConvertRows rows = choose_datetime(self)) return rows;
    if (ConvertRows rows = choose_bytes(self)) return rows;
    if (ConvertRows rows = choose_nested(self, field)) return rows;
    if (ConvertRows rows = choose_json(self, field)) return rows;
    return choose_text_output(self, field);
}

// One entry of a dictionary, converted when a row first refers to it.
Datum dictionary_entry(Converter& self, const ColumnView& entries, uint32_t code, bool* null) {
    enum : uint8_t { kUnknown, kValue, kNull };
    uint8_t& state = self.dictionary_states[code];
    if (state == kUnknown) {
        Datum value = 0;
        bool is_null = entries.is_null(code);
        MemoryContext old = MemoryContextSwitchTo(self.dictionary_context);
        if (!is_null) self.rows(self, entries, code, 1, &value, &is_null);
        MemoryContextSwitchTo(old);
        self.dictionary_values[code] = value;
        state = is_null ? kNull : kValue;
    }
    *null = state == kNull;
    return self.dictionary_values[code];
}

void prepare_dictionary(Converter& self, const column::Dictionary& dictionary) {
    if (self.dictionary_version == dictionary.version) return;
    if (self.dictionary_context == nullptr)
        self.dictionary_context =
            AllocSetContextCreate(self.context, "pg_loom dictionary", ALLOCSET_DEFAULT_SIZES);
    MemoryContextReset(self.dictionary_context);
    const auto entries = static_cast<Size>(dictionary.values.length);
    self.dictionary_version = 0;
    self.dictionary_values = static_cast<Datum*>(
        MemoryContextAllocHuge(self.dictionary_context, entries * sizeof(Datum) + 1));
    self.dictionary_states =
        static_cast<uint8_t*>(MemoryContextAllocHuge(self.dictionary_context, entries + 1));
    memset(self.dictionary_states, 0, entries);
    self.dictionary_version = dictionary.version;
}

void convert_dictionary(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                        Datum* values, bool* nulls) {
    prepare_dictionary(self, *view.dictionary);
    const ColumnView& entries = view.dictionary->values;
    for (int64_t i = 0; i < count; ++i) {
        nulls[i] = view.is_null(begin + i);
        values[i] = 0;
        if (!nulls[i]) values[i] = dictionary_entry(self, entries, view.code(begin + i), &nulls[i]);
    }
}

void mark_nulls(const ColumnView& view, int64_t begin, int64_t count, bool* nulls) {
    if (view.validity == nullptr) {
        memset(nulls, 0, count);
        return;
    }
    for (int64_t i = 0; i < count; ++i) nulls[i] = !base::bit_at(view.validity, begin + i);
}

}  // namespace

Converter* make_converter(const column::Field& field, Oid type, int32 typmod,
                          const char* column_name) {
    auto* self = static_cast<Converter*>(palloc0(sizeof(Converter)));
    self->source = field.type.get();
    self->type = type;
    self->typmod = typmod;
    self->column_name = pstrdup(column_name);
    self->context = CurrentMemoryContext;
    int32 base_typmod = typmod;
    const Oid base = getBaseTypeAndTypmod(type, &base_typmod);
    if (base != type) {
        self->inner = make_converter(field, base, base_typmod, column_name);
        self->rows = rows_domain;
        return self;
    }
    self->rows = choose(*self, field);
    if (self->rows == nullptr) report_mismatch(field, *self);
    return self;
}

void convert_rows(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                  Datum* values, bool* nulls) {
    if (view.encoding == Encoding::kDictionary)
        return convert_dictionary(self, view, begin, count, values, nulls);
    Assert(view.encoding == Encoding::kPlain);
    mark_nulls(view, begin, count, nulls);
    self.rows(self, view, begin, count, values, nulls);
}

}  // namespace loom::pg
