#pragma once
// The schema as the reader walks it: columns, their nodes with definition and repetition levels,
// and the leaves that the file stores.

#include <string>
#include <vector>

#include "column/data_type.h"
#include "format/parquet/schema/leaf_type.h"

namespace loom::parquet {

/// Groups nested deeper than this are kLimit: levels then fit a byte and recursion a small stack.
inline constexpr int kMaxSchemaDepth = 250;

/// One value in a row (or in an element of a list) of the reader's type tree.
///
/// Terms: a list's "element level" is the definition level from which on a slot holds an element; a
/// node is not NULL from its "defined level" on.
struct Node {
    enum class Kind : uint8_t { kLeaf, kStruct, kList, kMap, kVariant };

    Kind kind = Kind::kLeaf;
    bool nullable = false;
    uint8_t defined_level = 0;
    uint8_t element_level = 0;  ///< kList, kMap
    uint8_t repetition_level =
        0;                ///< kList, kMap: level of its elements; others: of the node itself
    int leaf = -1;        ///< kLeaf: ordinal; -1 for the absent value of a set-like map
    int first_leaf = -1;  ///< first leaf below (or this), -1 if there is none
    column::TypePtr type;
    /// kList: the element; kMap: a struct of key and value; kVariant: the group that stores it,
    /// never NULL itself.
    std::vector<Node> children;
};

/// A stored column.
struct Leaf {
    LeafType type;
    std::string path;       ///< dotted
    std::string type_text;  ///< as the format names it
    uint8_t max_definition = 0;
    uint8_t max_repetition = 0;
};

struct SchemaTree {
    column::Schema schema;
    std::vector<Node> columns;  ///< one per field of `schema`
    std::vector<Leaf> leaves;

    /// Returns whether a column is a leaf of at most one definition level: rows are slots.
    bool is_flat(int column) const noexcept {
        const Node& node = columns[static_cast<size_t>(column)];
        return node.kind == Node::Kind::kLeaf && node.leaf >= 0;
    }
};

/// Builds the tree from the footer's flattened list. Understands every way in which lists and maps
/// have been written (Parquet's LogicalTypes.md, "Nested Types", compatibility rules).
SchemaTree build_schema(const std::vector<SchemaElement>& elements);

}  // namespace loom::parquet
