#pragma once
// Groups and the states of their aggregates.

#include <cstdint>
#include <functional>
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
    std::span<const Vector> second_args;       ///< by call; of those with two arguments
};

/// Owned by one worker at a time.
class AggregateState {
  public:
    /// `calls` must outlive the state. Without keys there is one group from the start.
    AggregateState(const std::vector<plan::Type>& keys, const std::vector<AggregateCall>& calls,
                   base::MemoryBudget* budget);

    /// Makes room for so many groups.
    void reserve(int64_t groups) {
        if (groups_ != nullptr) groups_->reserve(groups);
    }
    /// Adds up to kBatchRows rows.
    void update(const AggregateInput& input);
    /// Adds them to the aggregates without DISTINCT only. Returns the group of each row, valid
    /// until the next call, or null if there is one group.
    const uint32_t* update_ordinary(const AggregateInput& input);
    /// Adds those rows that have their bit in `rows`, which belong to `groups`, to the aggregates
    /// without DISTINCT.
    void update_rows(const AggregateInput& input, const uint32_t* groups, const uint64_t* rows);
    /// Adds rows to aggregate `call` only, which has DISTINCT. Keys and `values` are plain.
    void update_values(size_t call, std::span<const Vector> keys, const Vector& values);
    /// Clears the bits of `rows` whose value aggregate `call`, which has DISTINCT, has already.
    void drop_known(size_t call, const uint32_t* groups, const Vector& values,
                    const uint64_t* hashes, uint64_t* rows) const {
        calls_[call].distinct->drop_known(groups, values, hashes, rows);
    }

    /// Calls visit(values, hashes) for all values of aggregate `call`, which has DISTINCT, up to
    /// kBatchRows at a time: plain ones, and what KeyHasher gives for them.
    using VisitValues = std::function<void(const Vector& values, const uint64_t* hashes)>;
    void visit_distinct(size_t call, const VisitValues& visit) const;

    int64_t groups() const noexcept { return groups_ != nullptr ? groups_->groups() : 1; }
    /// Pairs of group and value that the aggregates with DISTINCT hold.
    int64_t distinct_pairs() const noexcept;
    /// Sets hashes[g] to what KeyHasher gives for group g. There must be keys.
    void hash_groups(uint64_t* hashes) const { groups_->hash_groups(hashes); }
    /// Adds the texts of the only key, which is of that kind, and their groups.
    void list_texts(KnownTexts& texts) const { groups_->list_texts(texts); }

    /// What merge() takes over.
    enum class Part : uint8_t {
        kAll,
        kOrdinary  ///< not the aggregates with DISTINCT
    };
    /// Adds the groups of `from` that `groups` names; all, if null. `from` keeps its own. DISTINCT
    /// must be settled in both states or in neither. Returns which groups became which.
    GroupMap merge(AggregateState& from, Part part, const Poll& poll,
                   const std::vector<uint32_t>* groups = nullptr);
    /// Adds settled aggregates: those of `from` are `calls` of this state, and its key, if it has
    /// one, is an int4: the group of this state that a group goes to.
    void merge_values(AggregateState& from, const std::vector<size_t>& calls);

    /// The pairs of group and value that an aggregate with DISTINCT holds, by partition of the
    /// values' hashes. Borrows the values.
    struct Pairs {
        base::Buffer group_numbers;  ///< int32
        base::Buffer value_room;
        base::Buffer validity;
        Vector values;
        std::vector<std::vector<uint32_t>> rows;
    };
    Pairs split_pairs(size_t call, HashRange range) const;

    /// Aggregates the distinct values. No rows may follow.
    void settle_distinct();
    /// Appends the groups to `rows`: keys, then aggregates. Settles DISTINCT.
    void output(RowStore& rows, const Poll& poll);

  private:
    struct Call {
        std::unique_ptr<Accumulator> accumulator;
        std::unique_ptr<GroupTable> distinct;  ///< over (group, value), or value, or null
        /// Room for an argument of up to a batch of rows.
        struct Room {
            base::Buffer values;
            base::Buffer validity;
            base::Buffer taken;
            base::Buffer taken_validity;
        };
        Room rooms[2];
    };
    static void take(Vector& arg, const uint16_t* positions, int64_t count, Call::Room& room);
    void update_call(size_t index, const AggregateInput& input, const uint32_t* ids);
    void add_values(size_t index, const uint32_t* ids, const Vector& values);
    void merge_distinct(size_t index, const AggregateState& from, const GroupMap& map);
    /// The group of each pair of a call, in `room`; without keys, zeros.
    const uint32_t* pair_groups(const Call& call, base::Buffer& room) const;

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
