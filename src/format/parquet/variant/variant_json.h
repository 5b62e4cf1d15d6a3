#pragma once
// Variant columns, shredded or not, as JSON text.

#include <string>

#include "column/column_view.h"

namespace loom::parquet {

/// Returns row `row`, which must not be NULL, of a column whose type has Annotation::kVariant: a
/// struct of `metadata`, `value` and, if shredded, `typed_value` (VariantShredding.md). Dates and
/// times become ISO 8601 texts, binaries base64 texts; fields of objects keep the order in which
/// they are stored. Raises kCorrupt for damaged values, kUnsupported for types that variants don't
/// have.
std::string variant_to_json(const column::ColumnView& variant, int64_t row);

}  // namespace loom::parquet
