#pragma once
// Turns a schema into the flatbuffer that Arrow files begin and end with.

#include "column/data_type.h"
#include "flatbuffers/flatbuffers.h"

namespace loom::arrow::fb {
struct KeyValue;
struct Schema;
}  // namespace loom::arrow::fb

namespace loom::arrow {

/// Writes `schema` into `builder`. Dictionary ids are given out in the order that
/// make_field_writer() gives them out.
flatbuffers::Offset<fb::Schema> build_schema(flatbuffers::FlatBufferBuilder& builder,
                                             const column::Schema& schema);

/// Writes key-value pairs; null offset if there are none.
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::KeyValue>>> build_metadata(
    flatbuffers::FlatBufferBuilder& builder, const std::vector<column::KeyValue>& metadata);

}  // namespace loom::arrow
