#pragma once
// PostgreSQL's code whose errors are taken back.

#include "pg/compat/backend.h"

#include <string>

#include "pg/bridge/bridge.h"

extern "C" {
#include "access/xact.h"
#include "utils/resowner.h"
}

namespace loom::pg {

/// A subtransaction around calls of PostgreSQL; memory context and resource owner are as before
/// when it has ended. Not in parallel mode, where there are none.
class Subtransaction {
  public:
    Subtransaction() : before_(CurrentMemoryContext), owner_(CurrentResourceOwner) {
        pg_call([&] {
            BeginInternalSubTransaction(nullptr);
            MemoryContextSwitchTo(before_);
        });
    }
    void commit() { end(ReleaseCurrentSubTransaction); }
    void roll_back() { end(RollbackAndReleaseCurrentSubTransaction); }

  private:
    void end(void (*how)()) {
        pg_call([&] {
            how();
            MemoryContextSwitchTo(before_);
            CurrentResourceOwner = owner_;
        });
    }

    MemoryContext before_;
    ResourceOwner owner_;
};

/// Runs `call` as pg_call does. An error that it raises is taken back; the result is false then,
/// and `*why`, if given, its message. Cancellation is raised all the same.
template <class F>
bool succeeds(F&& call, std::string* why = nullptr) {
    Subtransaction subtransaction;
    try {
        pg_call(call);
    } catch (const PgError& error) {
        subtransaction.roll_back();
        if (error.data()->sqlerrcode == ERRCODE_QUERY_CANCELED) throw;
        if (why != nullptr) *why = error.what();
        return false;
    }
    subtransaction.commit();
    return true;
}

}  // namespace loom::pg
