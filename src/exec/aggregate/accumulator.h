#pragma once
// States of aggregates: one object per aggregate and worker, arrays indexed by group.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "exec/row_store.h"

namespace loom::exec {

/// Which groups of one state become which of another. Groups of either may be missing.
struct GroupPair {
    uint32_t from = 0;
    uint32_t to = 0;
};
using GroupMap = std::vector<GroupPair>;

class Accumulator {
  public:
    virtual ~Accumulator() = default;
    /// Makes groups [0, groups) exist; new ones are empty.
    virtual void resize(int64_t groups) = 0;
    /// Adds the rows of `arg` (plain; its length counts) to their groups; a null `groups` means
    /// group 0 for all. `arg` is unused for count(*).
    virtual void update(const uint32_t* groups, const Vector& arg);
    /// Instead of update() for aggregates of two arguments, whose lengths are equal.
    virtual void update_pairs(const uint32_t* groups, const Vector& first, const Vector& second);
    /// Adds groups of `other`, which is of the same kind.
    virtual void merge(Accumulator& other, const GroupMap& map) = 0;
    /// Appends the results of groups [0, groups).
    virtual void output(int64_t groups, StoredColumn& out) = 0;
};

/// Makes the state of aggregate `function` (pg_proc OID) over an argument of type `arg`.
std::unique_ptr<Accumulator> make_accumulator(uint32_t function, plan::Type arg,
                                              base::MemoryBudget* budget);

}  // namespace loom::exec
