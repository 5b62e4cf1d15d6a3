#pragma once
// Groups and the states of their aggregates.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/aggregate/accumulator.h"
#include "exec/aggregate/aggregate_call.h"
#include "exec/aggregate/group_table.h"
#include "exec/mask.h"
#include "exec/partition/row_partitions.h"
#include "exec/tasks.h"

namespace loom::exec {

/// Rows on their way into aggregates.
struct AggregateInput {
    int64_t length = 0;
    std::span<const Vector> keys;
    std::span<const Vector> args;              ///< by call; those of count(*) are unused
    std::span<const uint64_t* const> filters;  ///< by call: mask of the rows that count, or null
};

/// Owned by one worker at a time.
class AggregateState {
  public:
    /// `calls` must outlive the state. Without keys there is one group from the start.
    AggregateState(const std::vector<plan::Type>& keys, const std::vector<AggregateCall>& calls,
                   base::MemoryBudget* budget);

    /// Adds up to kBatchRows rows.
    void update(const AggregateInput& input);

    int64_t groups() const noexcept { return groups_ != nullptr ? groups_->groups() : 1; }
    /// Pairs of group and value that the aggregates with DISTINCT hold.
    int64_t distinct_pairs() const noexcept;
    /// Sets hashes[g] to what KeyHasher gives for group g. There must be keys.
    void hash_groups(uint64_t* hashes) const { groups_->hash_groups(hashes); }

    /// What merge() takes over.
    enum class Part : uint8_t {
        kAll,
        kOrdinary,  ///< not the aggregates with DISTINCT
        kValues     ///< only distinct values, those of a slice
    };
    /// Values whose hash falls into one partition.
    struct Slice {
        HashRange range;
        int64_t partition = 0;
    };
    /// Adds the groups of `from` that `groups` names; all, if null. `from` keeps its own. DISTINCT
    /// must be settled in both states or in neither.
    void merge(AggregateState& from, Part part, const Poll& poll,
               const std::vector<uint32_t>* groups = nullptr, const Slice* slice = nullptr);
    /// Aggregates the distinct values. No rows may follow.
    void settle_distinct();
    /// Appends the groups to `rows`: keys, then aggregates. Settles DISTINCT.
    void output(RowStore& rows, const Poll& poll);

  private:
    struct Call {
        std::unique_ptr<Accumulator> accumulator;
        std::unique_ptr<GroupTable> distinct;  ///< over (group, value), or null
        base::Buffer values;
        base::Buffer validity;
        base::Buffer taken;
        base::Buffer taken_validity;
    };
    void update_call(size_t index, Vector arg, const uint64_t* filter, const uint32_t* ids);
    void merge_distinct(size_t index, AggregateState& from, const GroupMap& map,
                        const Slice* slice);

    const std::vector<AggregateCall>* call_info_;
    std::vector<plan::Type> key_types_;
    base::MemoryBudget* budget_;
    std::unique_ptr<GroupTable> groups_;  ///< null: one group
    std::vector<Call> calls_;
    base::Buffer ids_;
    base::Buffer call_ids_;
    base::Buffer positions_;
};

}  // namespace loom::exec
