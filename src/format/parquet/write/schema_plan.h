#pragma once
// Maps a column schema to Parquet's tree of groups and leaves.

#include <string>
#include <vector>

#include "column/data_type.h"
#include "format/parquet/write/format.h"
#include "format/parquet/write/thrift_writer.h"

namespace loom::parquet::write {

/// A leaf column of the file.
struct Leaf {
    std::vector<std::string> path;
    const column::DataType* type = nullptr;  ///< lives as long as the schema
    PhysicalType physical = PhysicalType::kInt32;
    int32_t width = 0;  ///< bytes of a value in memory: 1 (boolean), 4, 8, type_length; 0: variable
    Order order = Order::kNone;
    uint8_t max_definition = 0;
    uint8_t max_repetition = 0;
    int column = 0;  ///< index of the top-level field

    std::string dotted_path() const;
};

/// A field of the schema with the levels it adds. Lists and maps have one child (the element, or
/// the struct of key and value), structs any number, leaves none.
struct Node {
    const column::DataType* type = nullptr;
    bool nullable = false;
    uint8_t repetition = 0;  ///< lists and maps: the repetition level of further elements
    int leaf = -1;
    std::vector<Node> children;
};

/// The file's schema. `schema` must outlive it.
struct SchemaPlan {
    explicit SchemaPlan(const column::Schema& schema);

    std::vector<Node> columns;
    std::vector<Leaf> leaves;
    /// Writes the list of SchemaElements as field `id`.
    void write_elements(ThriftWriter& out, int id) const;

  private:
    struct Element {
        std::string name;
        Repetition repetition = Repetition::kRequired;
        int children = -1;  ///< -1: a leaf
        LogicalType logical = LogicalType::kNone;
        int converted = kConvertedNone;
        const column::DataType* type = nullptr;
        PhysicalType physical = PhysicalType::kInt32;
        int32_t type_length = 0;
    };
    struct Place {
        std::vector<std::string> path;
        int definition = 0;
        int repetition = 0;
        int column = 0;
    };

    Node add(const column::Field& field, Place place, const std::string& name);
    Node add_list(const column::Field& field, Place place, Node node);
    Node add_map(const column::Field& field, Place place, Node node);
    Node add_struct(const column::Field& field, const Place& place, Node node);
    Node add_leaf(const column::Field& field, const Place& place, Node node);
    static void write_element(ThriftWriter& out, const Element& element);
    static void write_logical_type(ThriftWriter& out, LogicalType logical,
                                   const column::DataType& type);

    std::vector<Element> elements_;
};

/// Returns the bytes that a fixed-width big-endian decimal of `precision` digits takes.
int decimal_bytes(int precision) noexcept;

}  // namespace loom::parquet::write
