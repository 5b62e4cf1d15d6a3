#pragma once
// Groups that parts of a table have, and what they are together.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/aggregate/aggregate_kind.h"
#include "gpu/run/device_rows.h"
#include "plan/type.h"

namespace loom::gpu {

/// What an aggregate's result is made of.
struct GroupResult {
    exec::AggregateKind kind = exec::AggregateKind::kCount;
    bool least = false;        ///< of extremes: the least
    bool shows_scale = false;  ///< a sum shows the largest scale of its values
};

/// What one aggregate has of one group.
struct GroupState {
    int64_t count = 0;   ///< of sums and extremes: values; without any the result is NULL
    __int128 value = 0;  ///< a count, a sum (modulo 2^64 where PostgreSQL's wraps) or an extreme
    int scale = 0;       ///< of a sum: digits behind the point
    int shown = 0;       ///< of those, the ones that are shown, if the result shows its scale
};

/// Adds the value of a result of type `type` to a column.
void put_result(const GroupResult& result, GroupState state, plan::Type type, size_t column,
                DeviceRows& rows);

/// The groups of one part: a row of keys each, and a state for each result.
struct PartialGroups {
    explicit PartialGroups(std::vector<plan::Type> key_types) : keys(std::move(key_types)) {}

    DeviceRows keys;
    std::vector<GroupState> states;  ///< group by group
    std::vector<GroupResult> results;
};

/// Puts the groups of parts together.
class GroupMerger {
  public:
    /// `output` is the aggregate's: `keys` columns, then results.
    GroupMerger(std::vector<plan::Type> output, size_t keys);

    /// Raises NotInKernels where a sum needs more than 128 bits.
    void add(const PartialGroups& part);
    std::unique_ptr<DeviceRows> rows() const;

  private:
    const std::vector<plan::Type> output_;
    PartialGroups all_;
    std::unordered_map<std::string, size_t> groups_;  // by the bytes of their keys
};

}  // namespace loom::gpu
