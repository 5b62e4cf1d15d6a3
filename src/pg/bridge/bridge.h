#pragma once
// The seam between C++ exceptions and PostgreSQL's longjmp. Two doors, no third:
//
//   pg_entry(f)  PostgreSQL calls us: an exception that leaves f becomes an ereport(ERROR), raised
//   when
//                every C++ object is gone.
//   pg_call(f)   we call PostgreSQL: an ereport(ERROR) inside f becomes a PgError exception that
//                carries its ErrorData and comes out again, unchanged, at the pg_entry above.
//
// f of pg_call may not own an object with a destructor that is alive while it calls PostgreSQL, and
// may not throw; it may raise errors with ereport. f of pg_entry may use C++ freely.

#include "pg/compat/backend.h"

#include <exception>
#include <type_traits>

#include "base/error.h"

namespace loom::pg {

/// A PostgreSQL error on its way through C++ frames.
class PgError : public std::exception {
  public:
    explicit PgError(ErrorData* data) noexcept : data_(data) {}
    /// Lives in the memory context that was current at pg_call.
    ErrorData* data() const noexcept { return data_; }
    const char* what() const noexcept override {
        return data_->message != nullptr ? data_->message : "";
    }

  private:
    ErrorData* data_;
};

/// What is left of an error when all C++ objects are gone. Plain data on purpose.
struct ErrorReport {
    ErrorData* data;
    int sqlstate;
    char message[2048];
};

/// Describes the exception being handled. Call inside catch (...).
void capture(ErrorReport& report) noexcept;
/// Raises what capture() described. Call after the handler has ended.
[[noreturn]] void raise_maylongjmp(const ErrorReport& report);
/// Turns PostgreSQL's pending error into a PgError.
[[noreturn]] void throw_pending(MemoryContext context);

/// Maps an engine error to its SQLSTATE.
int sqlstate_of(base::ErrorKind kind) noexcept;

template <class F>
auto pg_call(F&& f) -> decltype(f()) {
    using R = decltype(f());
    static_assert(std::is_void_v<R> || std::is_trivially_destructible_v<R>);
    sigjmp_buf* const stack = PG_exception_stack;
    ErrorContextCallback* const callbacks = error_context_stack;
    MemoryContext const context = CurrentMemoryContext;
    sigjmp_buf here;
    if (sigsetjmp(here, 0) == 0) {
        PG_exception_stack = &here;
        if constexpr (std::is_void_v<R>) {
            f();
            PG_exception_stack = stack;
            error_context_stack = callbacks;
            return;
        } else {
            R result = f();
            PG_exception_stack = stack;
            error_context_stack = callbacks;
            return result;
        }
    }
    PG_exception_stack = stack;
    error_context_stack = callbacks;
    throw_pending(context);
}

template <class F>
auto pg_entry(F&& f) -> decltype(f()) {
    static_assert(std::is_trivially_destructible_v<std::remove_reference_t<F>>);
    ErrorReport report;
    try {
        return f();
    } catch (...) {
        capture(report);
    }
    raise_maylongjmp(report);
}

/// Allocates a C++ object that dies with `context`, also after an error. The object's destructor
/// must not call PostgreSQL.
template <class T, class... Args>
T* make_in_context(MemoryContext context, Args&&... args) {
    struct Holder {
        MemoryContextCallback callback;
        T* object;
    };
    auto* holder = pg_call([context] {
        return static_cast<Holder*>(MemoryContextAllocZero(context, sizeof(Holder)));
    });
    holder->object = new T(std::forward<Args>(args)...);
    holder->callback.func = [](void* arg) { delete static_cast<Holder*>(arg)->object; };
    holder->callback.arg = holder;
    MemoryContextRegisterResetCallback(context, &holder->callback);
    return holder->object;
}

}  // namespace loom::pg
