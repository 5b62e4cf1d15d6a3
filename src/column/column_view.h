#pragma once
// What readers hand out and writers take: borrowed columns, still encoded where that pays.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bitmap.h"
#include "base/bytes.h"
#include "column/data_type.h"

namespace loom::column {

/// Rows in a full batch (blueprint section 5: measured best on CPU).
inline constexpr int64_t kBatchRows = 4096;

/// One value of kUtf8 or kBinary. Points into memory that the view's owner keeps.
struct BytesView {
    const uint8_t* data = nullptr;
    int64_t size = 0;

    std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(data), static_cast<size_t>(size)};
    }
    base::ByteSpan bytes() const noexcept { return {data, static_cast<size_t>(size)}; }
};

enum class Encoding : uint8_t {
    kPlain,       ///< one value per row
    kDictionary,  ///< one code per row, and a dictionary
    kRuns         ///< run_count values (or codes, if there is a dictionary) with their end rows
};

struct Dictionary;

/// Borrows `length` rows of one column. Plain data; copying it copies pointers only.
///
/// Memory behind `values`, `validity`, codes and offsets has base::kBufferSlack readable bytes
/// after its end unless the reader documents otherwise. Slots of NULL rows hold initialised,
/// meaningless values (a null BytesView for bytes); their codes are within the dictionary, or 0 if
/// it is empty.
struct ColumnView {
    const DataType* type = nullptr;
    Encoding encoding = Encoding::kPlain;
    uint8_t code_width = 0;  ///< bytes a dictionary code takes: 1, 2 or 4
    int64_t length = 0;      ///< rows
    int64_t null_count = 0;  ///< NULLs among them, or -1 if not counted
    /// Bit i set = row i is not NULL. Null pointer = no NULLs. For kRuns: one bit per run.
    const uint8_t* validity = nullptr;
    /// kPlain: bitmap (kBool), BytesView (kUtf8, kBinary), int8 child index (unions), else
    /// fixed-width values. kDictionary: codes. kRuns: run_count values or codes. Unused for kNull,
    /// lists, structs.
    const void* values = nullptr;
    /// kList, kMap: length + 1 offsets into children[0]. kDenseUnion: length offsets into the
    /// child.
    const int64_t* offsets = nullptr;
    const ColumnView* children = nullptr;
    int32_t child_count = 0;
    int32_t run_count = 0;              ///< kRuns
    const int32_t* run_ends = nullptr;  ///< kRuns: first row after each run; the last equals length
    const Dictionary* dictionary = nullptr;

    bool is_null(int64_t row) const noexcept {
        return validity != nullptr && !base::bit_at(validity, row);
    }
    template <typename T>
    const T* as() const noexcept {
        return static_cast<const T*>(values);
    }
    /// Returns the dictionary code of `row` (kDictionary only).
    uint32_t code(int64_t row) const noexcept {
        return code_width == 1   ? as<uint8_t>()[row]
               : code_width == 2 ? as<uint16_t>()[row]
                                 : as<uint32_t>()[row];
    }
};

/// The values that codes stand for. `version` differs between any two dictionaries of a process
/// that differ in content, so that a consumer can keep what it derived from one (a lookup table,
/// datums).
struct Dictionary {
    uint64_t version = 0;
    ColumnView values;  ///< plain; values.length entries, which may hold NULLs and duplicates
};

/// Returns a version that no other Dictionary of this process has. Thread safe.
uint64_t next_dictionary_version() noexcept;

}  // namespace loom::column
