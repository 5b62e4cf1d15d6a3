#pragma once
// The families of conversions that make_converter chooses from. Each returns nullptr if it has none
// for the pair of types; `self` has source, type and typmod set, and may be completed.

#include "pg/types/converter.h"

namespace loom::pg {

ConvertRows choose_number(Converter& self);    ///< bool, integers, floats, decimals
ConvertRows choose_datetime(Converter& self);  ///< dates, times, timestamps, intervals
ConvertRows choose_bytes(Converter& self);  ///< text, binary, uuid, hinted types, input functions
ConvertRows choose_nested(Converter& self, const column::Field& field);  ///< arrays, composites
ConvertRows choose_json(Converter& self, const column::Field& field);    ///< json and jsonb
ConvertRows choose_text_output(Converter& self, const column::Field& field);  ///< anything to text

/// Reports a value that the declared type cannot hold.
[[noreturn]] void report_out_of_range(const Converter& self);
/// Reports a date or time outside PostgreSQL's range.
[[noreturn]] void report_datetime_range(const Converter& self);

/// Checks `size` bytes of text and copies them to a text datum in the database's encoding.
Datum make_text(const Converter& self, const uint8_t* data, int64_t size);
/// Checks text and copies it to a C string in the database's encoding.
char* make_cstring(const Converter& self, const uint8_t* data, int64_t size);
/// Copies bytes to a bytea datum; raises 54000 if they pass 1 GB.
Datum make_bytea(const Converter& self, const uint8_t* data, int64_t size);

/// Appends one row of `view` (plain) to `out` as JSON text. `self` was made by choose_json.
void append_json(Converter& self, const column::ColumnView& view, int64_t row, StringInfo out);

}  // namespace loom::pg
