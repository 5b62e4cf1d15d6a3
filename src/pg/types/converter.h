#pragma once
// Turns columns of files into datums of a declared PostgreSQL type, a batch at a time.
//
// This is PostgreSQL-side code: it allocates with palloc and reports with ereport, owns nothing
// with a destructor and throws nothing. Call it inside pg_call. docs/types.md has the mapping for
// users.

#include "pg/compat/backend.h"

#include "column/column_view.h"

namespace loom::pg {

struct Converter;

/// Fills values[i], nulls[i] for the rows [begin, begin + count) of `view`, which is plain. Rows
/// that nulls[i] already marks must be skipped.
using ConvertRows = void (*)(Converter& self, const column::ColumnView& view, int64_t begin,
                             int64_t count, Datum* values, bool* nulls);

/// How one column (or member of a nested one) becomes datums. Allocated in one memory context; by-
/// reference results go to CurrentMemoryContext.
struct Converter {
    ConvertRows rows;
    const column::DataType* source;
    Oid type;
    int32 typmod;
    const char* column_name;  ///< for messages
    MemoryContext context;    ///< where the converter lives

    FmgrInfo function;  ///< input, output or coercion function
    Oid io_parameter;
    Converter* inner;      ///< list element, or the conversion that an outer step works on
    Converter** members;   ///< struct members in the order of the composite's attributes
    int* member_index;     ///< child of the struct for each attribute, -1 for none
    TupleDesc descriptor;  ///< composite
    Oid element_type;      ///< arrays
    int16 element_length;
    bool element_by_value;
    char element_align;
    bool check_range;  ///< numeric: the declared precision or scale is narrower than the file's

    MemoryContext dictionary_context;  ///< datums of dictionary entries, made when first met
    uint64_t dictionary_version;
    Datum* dictionary_values;
    uint8_t* dictionary_states;
};

/// Builds the converter from a file's field to a declared type. Raises 42804, naming both types, if
/// no value-preserving conversion exists.
Converter* make_converter(const column::Field& field, Oid type, int32 typmod,
                          const char* column_name);

/// Converts `count` rows of `view` from `begin` on: any encoding, NULLs included.
void convert_rows(Converter& converter, const column::ColumnView& view, int64_t begin,
                  int64_t count, Datum* values, bool* nulls);

/// Returns the PostgreSQL type that a file's type becomes when nothing is declared, with its
/// typmod. Structs give InvalidOid: they need a composite type that import makes. `field` may carry
/// a `pg_type` hint in its metadata.
Oid default_type(const column::Field& field, int32* typmod);

}  // namespace loom::pg
