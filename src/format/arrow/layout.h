#pragma once
// How a field of an Arrow schema lies in a record batch: which nodes and buffers, of which shape.

#include <map>
#include <memory>
#include <vector>

#include "column/data_type.h"

namespace loom::arrow::fb {
struct Schema;
struct Field;
}  // namespace loom::arrow::fb

namespace loom::arrow {

enum class Shape : uint8_t {
    kNull,
    kBits,       ///< bool
    kFixed,      ///< value_width bytes a value
    kBytes32,    ///< int32 offsets into data
    kBytes64,    ///< int64 offsets into data
    kBytesView,  ///< 16-byte views, inline or into one of several buffers
    kList32,
    kList64,
    kListView32,  ///< offsets and sizes, in any order
    kListView64,
    kFixedList,
    kStruct,
    kSparseUnion,
    kDenseUnion,
    kRunEnd,     ///< children: run ends, values
    kDictionary  ///< indices; the values come from dictionary batches
};

/// One field, or a nested member of one. Dictionary-encoded fields end here: their values have a
/// layout of their own, counted from node and buffer 0 of the dictionary batch.
struct Layout {
    Shape shape = Shape::kNull;
    column::TypePtr type;       ///< of the values, as the reader hands them out
    int32_t value_width = 0;    ///< kFixed, kRunEnd's run ends: bytes; kDictionary: index bytes
    bool index_signed = false;  ///< kDictionary
    int64_t dictionary_id = 0;  ///< kDictionary
    std::shared_ptr<const Layout> dictionary_values;
    bool values_nest_dictionaries = false;  ///< kDictionary: its values hold dictionaries again
    std::vector<Layout> children;

    // Position in a record batch. Before metadata V5 each union has one buffer more (validity), and
    // each view field has as many data buffers as its batch says; both come on top of first_buffer.
    int32_t first_node = 0;
    int32_t first_buffer = 0;
    int32_t unions_before = 0;
    int32_t views_before = 0;
};

/// Counts what comes before the next field of a record batch.
struct LayoutCursor {
    int32_t nodes = 0;
    int32_t buffers = 0;
    int32_t unions = 0;
    int32_t views = 0;
};

/// A schema as a file states it.
struct FileSchema {
    column::Schema schema;
    std::vector<Layout> layouts;     ///< one per top-level field
    std::vector<LayoutCursor> ends;  ///< position after each top-level field
    bool big_endian = false;
    /// Layouts of dictionary values by id. Fields that share an id share the entry.
    std::map<int64_t, std::shared_ptr<const Layout>> dictionaries;
};

/// Converts a verified schema. Raises kCorrupt or kUnsupported, naming the field.
FileSchema read_schema(const fb::Schema& schema);

/// Returns whether two layouts read the same bytes as the same values.
bool same_layout(const Layout& a, const Layout& b);

}  // namespace loom::arrow
