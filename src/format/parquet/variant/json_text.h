#pragma once
// Writes JSON text.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "column/scalar.h"

namespace loom::parquet {

/// Appends JSON to a string of bounded size. Raises kLimit beyond kMaxBytes: a small variant can
/// stand for an enormous text, as its parts may be shared.
class JsonText {
  public:
    static constexpr size_t kMaxBytes = size_t{256} << 20;

    void raw(std::string_view text);
    void quoted(std::string_view text);
    void integer(column::Int128 value, int scale = 0);
    /// Shortest digits; NaN and infinities, which JSON lacks, as texts.
    void number(double value);
    void number(float value);
    void base64(base::ByteSpan bytes);
    void uuid(const uint8_t* bytes);
    void date(int64_t days);
    /// `units` of which a second has `per_second` (10^6 or 10^9).
    void time(int64_t units, int64_t per_second);
    void timestamp(int64_t units, int64_t per_second, bool utc);

    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

}  // namespace loom::parquet
