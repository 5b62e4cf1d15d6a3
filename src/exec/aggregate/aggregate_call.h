#pragma once
// One aggregate of a query.

#include <cstdint>
#include <memory>

#include "exec/expression.h"

namespace loom::exec {

struct AggregateCall {
    uint32_t function = 0;  ///< pg_proc OID
    plan::Type arg;
    plan::Type type;
    int slot = -1;                             ///< of the argument; -1 for count(*)
    int second_slot = -1;                      ///< of the second one, of the same type, or -1
    std::shared_ptr<const Expression> filter;  ///< or null
    bool distinct = false;
};

}  // namespace loom::exec
