#pragma once
// How PostgreSQL lays out values inside of arrays and rows (pg_type, pg_attribute).

#include <cstdint>
#include <string>
#include <vector>

#include "plan/type.h"

namespace loom::plan {

/// Bytes of a composite value between its length and the place where its data begin.
inline constexpr int kRowHeader = 18;

/// The layout of one type, with those of what it consists of.
struct Layout {
    enum class Kind : uint8_t {
        kValue,     ///< of `type`
        kArray,     ///< of one dimension; parts[0] is the element
        kComposite  ///< `parts` are the attributes
    };
    Kind kind = Kind::kValue;
    Type type;  ///< as the engine has it; arrays and composites are opaque
    uint32_t oid = 0;
    int16_t length = 0;  ///< pg_type.typlen: bytes, or -1 for a varlena
    uint8_t alignment = 1;
    /// In a row a short value has a header of one byte (pg_attribute.attstorage is not plain).
    bool is_packed = false;
    bool is_dropped = false;  ///< an attribute that is always NULL
    std::string name;         ///< of an attribute
    std::string header;       ///< kComposite: kRowHeader bytes of a row of NULLs
    std::vector<Layout> parts;
};

}  // namespace loom::plan
