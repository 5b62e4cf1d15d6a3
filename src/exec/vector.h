#pragma once
// What operators and expressions hand each other: borrowed rows of one column, dense (no selection
// vector), in the engine's types, encoded where that pays.

#include <cstdint>

#include "base/bitmap.h"
#include "column/column_view.h"
#include "column/scalar.h"
#include "plan/type.h"

namespace loom::exec {

/// Rows in a full batch.
inline constexpr int64_t kBatchRows = column::kBatchRows;

enum class Form : uint8_t {
    kPlain,     ///< one value a row
    kConstant,  ///< one value (values[0]; validity bit 0) for all rows
    kCodes      ///< one dictionary code a row; NULL rows have any code of the dictionary, or 0
};

struct VectorDictionary;

/// Borrows `length` rows. Plain data. `values` and `validity` have base::kBufferSlack readable
/// bytes behind them; slots of NULL rows hold initialised, meaningless values.
struct Vector {
    plan::Type type;
    Form form = Form::kPlain;
    uint8_t code_width = 0;  ///< kCodes: 1, 2 or 4 bytes
    int64_t length = 0;
    const uint8_t* validity = nullptr;  ///< bit i set: row i is not NULL; null: no NULLs
    const void* values = nullptr;       ///< as plan::Physical says, or codes
    const VectorDictionary* dictionary = nullptr;

    template <typename T>
    const T* as() const noexcept {
        return static_cast<const T*>(values);
    }
    bool is_null(int64_t row) const noexcept {
        return validity != nullptr && !base::bit_at(validity, form == Form::kConstant ? 0 : row);
    }
    uint32_t code(int64_t row) const noexcept {
        return code_width == 1   ? as<uint8_t>()[row]
               : code_width == 2 ? as<uint16_t>()[row]
                                 : as<uint32_t>()[row];
    }
};

/// What codes stand for. `version` tells dictionaries of a process apart, so that what was derived
/// from one (a bitmap of its matching entries, say) can be kept. Entries may be NULL or equal.
struct VectorDictionary {
    uint64_t version = 0;
    Vector values;  ///< plain
};

}  // namespace loom::exec
