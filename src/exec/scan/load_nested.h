#pragma once
// Lists and structs of files as PostgreSQL's arrays and composite values.

#include <memory>
#include <vector>

#include "column/column.h"
#include "exec/datum/value_writer.h"
#include "exec/scan/load.h"

namespace loom::exec {

/// Tells whether a column of a file can be loaded as the array or composite `layout` without loss
/// and without PostgreSQL.
bool can_load(const column::DataType& file, const plan::Layout& layout);

/// Loads one nested column of one file, batch by batch. Raises Unrepresentable for values that the
/// type cannot hold.
class NestedLoader {
  public:
    /// `file` and `layout`, which can_load(), must outlive the loader.
    NestedLoader(const column::DataType& file, const plan::Layout& layout,
                 base::MemoryBudget* budget);

    /// Converts to a plain vector of opaque values, valid until the next call.
    Vector load(const column::ColumnView& view);

  private:
    // A value, an array with its element, or a composite with its attributes.
    struct Part {
        const plan::Layout* layout = nullptr;
        std::unique_ptr<Loader> loader;  ///< of a single value
        std::vector<Part> parts;
        std::vector<int> children;     ///< composite: the file's children, -1 where there is none
        std::vector<uint8_t> present;  ///< composite: of the row being written
        column::Column decoded;
        // The rows at hand.
        column::ColumnView view;
        Vector values;      ///< of a single value
        int64_t first = 0;  ///< row of `view` that values' row 0 is

        bool is_null(int64_t row) const noexcept;
    };
    static Part make_part(const column::DataType& file, const plan::Layout& layout,
                          base::MemoryBudget* budget);
    static void enter(Part& part, const column::ColumnView& view, int64_t begin, int64_t count);
    void write(Part& part, int64_t row);
    void write_array(Part& part, int64_t row);
    void write_composite(Part& part, int64_t row);

    Part root_;
    ValueWriter writer_;
    base::Buffer views_;
};

}  // namespace loom::exec
