#pragma once
// Small tables of any type, nested ones too, whose values are written as literals in the source.
//
// A literal is `null`, a scalar in PostgreSQL's spelling, `"a text"` (\" and \\ inside), or a list
// in brackets: `[1,null]` for lists, the members for structs, `[key,value]` pairs for maps,
// `INDEX:value` for unions. Dates in milliseconds, durations and intervals are the numbers that the
// file stores.

#include <string>
#include <string_view>
#include <vector>

#include "column/column.h"

namespace loom::test {

/// Makes a field; `storage` and `index_width` say how an Arrow file lays it out.
column::Field make_field(std::string name, column::TypePtr type,
                         column::Storage storage = column::Storage::kDefault, int index_width = 0);

/// Appends one literal to a builder of `type`. Raises kBug for one that makes no sense.
void append_literal(column::ColumnBuilder& builder, const column::DataType& type,
                    std::string_view literal);

/// A table that is filled column by column.
class LiteralTable {
  public:
    void add(column::Field field, const std::vector<std::string_view>& literals);
    void write_parquet(const std::string& path, int64_t row_group_rows);
    void write_arrow(const std::string& path, int64_t record_batch_rows);

  private:
    std::vector<column::ColumnView> views();

    column::Schema schema_;
    std::vector<column::Column> columns_;
};

}  // namespace loom::test
