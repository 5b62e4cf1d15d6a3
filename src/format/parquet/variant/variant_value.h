#pragma once
// The binary encoding of variants (VariantEncoding.md).

#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/parquet/variant/json_text.h"

namespace loom::parquet {

/// Values nested deeper than this are kLimit.
inline constexpr int kMaxVariantDepth = 128;

/// The names of object fields. Borrows its bytes; each look-up is checked.
class VariantMetadata {
  public:
    /// Raises kCorrupt for another version or offsets outside the bytes.
    explicit VariantMetadata(base::ByteSpan bytes);
    std::string_view name(uint32_t id) const;

  private:
    base::ByteSpan offsets_;
    base::ByteSpan names_;
    uint32_t count_ = 0;
    uint32_t offset_size_ = 1;
};

/// A member of an encoded object; `value` begins with it.
struct VariantField {
    std::string_view name;
    base::ByteSpan value;
};

/// Returns whether an encoded value is an object.
bool is_variant_object(base::ByteSpan value) noexcept;
/// Lists the fields of an encoded object.
std::vector<VariantField> variant_fields(const VariantMetadata& metadata, base::ByteSpan object);
/// Appends an encoded value. Raises kCorrupt, or kUnsupported for a type that is not known.
void append_variant(const VariantMetadata& metadata, base::ByteSpan value, int depth,
                    JsonText& out);

}  // namespace loom::parquet
