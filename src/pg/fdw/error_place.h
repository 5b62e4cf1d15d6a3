#pragma once
// Says in the CONTEXT of PostgreSQL's errors which file and column they come from.

#include "pg/compat/backend.h"

namespace loom::pg {

// Where a conversion error happened, for its CONTEXT line.
struct Place {
    const char* path;
    int64_t row_group;  ///< -1: while the file was opened
    const char* column;
};

inline void describe_place(void* arg) {
    const auto* place = static_cast<const Place*>(arg);
    if (place->row_group < 0)
        errcontext("file \"%s\", column \"%s\"", place->path, place->column);
    else
        errcontext("file \"%s\", row group %lld, column \"%s\"", place->path,
                   static_cast<long long>(place->row_group), place->column);
}

// Runs `body` in memory context `target`, with a place in the CONTEXT of its errors.
// PostgreSQL-side code: after an error pg_call restores both.
template <typename Body>
auto at_place_maylongjmp(const Place& place, MemoryContext target, Body body) {
    ErrorContextCallback callback;
    callback.callback = describe_place;
    callback.arg = const_cast<Place*>(&place);
    callback.previous = error_context_stack;
    error_context_stack = &callback;
    MemoryContext old = MemoryContextSwitchTo(target);
    auto result = body();
    MemoryContextSwitchTo(old);
    error_context_stack = callback.previous;
    return result;
}

}  // namespace loom::pg
