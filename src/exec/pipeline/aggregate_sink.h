#pragma once
// The end of a pipeline that groups.

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "exec/aggregate/aggregate_state.h"
#include "exec/aggregate/known_texts.h"
#include "exec/aggregate/recent_texts.h"
#include "exec/key_hasher.h"
#include "exec/partition/row_partitions.h"
#include "exec/pipeline/frame.h"
#include "exec/resources.h"

namespace loom::exec {

/// Groups rows and aggregates them. Outputs the keys, then the aggregates.
///
/// Each worker groups into a table of its own. Once that outgrows the caches, the worker scatters
/// further rows over partitions instead, which are grouped one by one at the end. If groups are
/// texts of which many recur, rows of groups that its table has still go there. Partitions are by
/// group, or, where few groups have many DISTINCT values, by value: then the worker's table still
/// numbers the groups and takes what is not DISTINCT, and only values that it has not yet are
/// scattered, with their group's number.
class AggregateSink final : public Sink {
  public:
    AggregateSink(std::vector<int> key_slots, std::vector<plan::Type> key_types, bool grouped,
                  std::vector<AggregateCall> calls, const Resources& resources);

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(Tasks& tasks) override;
    RowSet take() override;

  private:
    enum class Split : uint8_t { kNone, kByGroup, kByValue };
    using Mask = std::array<uint64_t, kMaskWords>;

    struct Worker {
        explicit Worker(base::MemoryBudget* parent) : budget(0, parent) {}
        base::MemoryBudget budget;  ///< of the state
        std::unique_ptr<AggregateState> state;
        std::unique_ptr<RowPartitions> rows;  ///< of further rows, once they are scattered
        std::unique_ptr<KeyHasher> hasher;
        std::vector<std::vector<uint32_t>> groups;  ///< of `state`, by partition
        std::vector<Vector> keys;
        std::vector<Vector> args;
        std::vector<Vector> second_args;
        std::vector<Mask> masks;
        std::vector<const uint64_t*> filters;
        std::vector<Vector> columns;
        std::vector<base::Buffer> bools;  ///< filters as columns
        std::vector<uint64_t> hashes;
        std::vector<base::Buffer> taken;  ///< values to scatter: by column
        base::Buffer value_room;
        base::Buffer value_validity;
        std::vector<base::Buffer> taken_validity;
        std::unique_ptr<KnownTexts> known;    ///< of the groups of `state`, if rows are looked up
        std::unique_ptr<RecentTexts> recent;  ///< values that are known or were scattered
        int64_t rows_probed = 0;
        int64_t rows_known = 0;
        bool used = false;
    };
    /// Where rows of one partition come from.
    struct Source {
        AggregateState* state = nullptr;
        const std::vector<uint32_t>* groups = nullptr;
        RowPartitions* rows = nullptr;
        int64_t partition = 0;
    };
    /// Reads stored rows as input of aggregates.
    class Reader;

    std::vector<plan::Type> hash_types(Split split) const;
    const std::vector<plan::Type>& scattered_types(Split split) const noexcept;
    std::unique_ptr<RowPartitions> make_partitions(Split split, int workers) const;
    void scatter(Worker& worker, const AggregateInput& input);
    void choose_columns(Worker& worker, const AggregateInput& input);
    std::unique_ptr<KnownTexts> make_known_texts(const AggregateState& state) const;
    int64_t add_known_groups(Worker& worker, const AggregateInput& input);
    void keep_columns(Worker& worker, const uint16_t* positions, int64_t count);
    void scatter_values(Worker& worker, const AggregateInput& input);
    std::unique_ptr<RecentTexts> make_recent_texts(const AggregateState& state) const;
    void drop_known(Worker& worker, size_t call, const uint32_t* groups, const Vector& values,
                    uint64_t* rows) const;
    void find_new_values(Worker& worker, const AggregateInput& input, const uint32_t* groups,
                         const Vector& values, uint64_t* rows) const;
    Split wanted_split(const Worker& worker) const;
    void split_groups(Worker& worker, HashRange range) const;
    bool has_spilled() const noexcept;
    void finish_whole(Tasks& tasks);
    void finish_by_group(Tasks& tasks);
    void finish_by_value(Tasks& tasks);
    struct KnownValues;
    void collect_values(AggregateState& state, const KnownValues& known, int64_t partition) const;
    void collect_rows(AggregateState& state, Worker& worker, const GroupMap& map, int64_t partition,
                      const Poll& poll) const;
    std::vector<RowStore> take_partition(const std::vector<std::shared_ptr<Worker>>& workers,
                                         HashRange range, int64_t partition, uint64_t allowance,
                                         const Poll& poll);
    void aggregate_partition(const std::vector<Source>& sources, HashRange range,
                             uint64_t allowance, const Poll& poll, std::vector<RowStore>& out);
    int64_t expected_groups(const std::vector<Source>& sources) const noexcept;
    void aggregate_pieces(const std::vector<Source>& sources, HashRange range, uint64_t allowance,
                          const Poll& poll, std::vector<RowStore>& out);
    std::vector<plan::Type> output_types() const;
    RowStore empty_rows() const;

    std::vector<int> key_slots_;
    std::vector<plan::Type> key_types_;
    bool grouped_;
    std::vector<AggregateCall> calls_;
    Resources resources_;
    std::vector<int> arg_columns_;       ///< by call: column of the scattered rows, or -1
    std::vector<int> second_columns_;    ///< likewise, of second arguments
    std::vector<int> filter_columns_;    ///< likewise
    std::vector<int> arg_slots_;         ///< of the columns behind the keys
    std::vector<plan::Type> row_types_;  ///< of the scattered rows
    int value_column_ = -1;              ///< the argument of all calls with DISTINCT, if it is one
    std::vector<AggregateCall> value_calls_;  ///< those with DISTINCT
    std::vector<size_t> value_call_of_;       ///< their places in calls_
    std::vector<plan::Type> value_types_;     ///< of their scattered rows: group, value, filters
    std::atomic<Split> split_{Split::kNone};
    std::atomic<int64_t> usual_groups_{0};  ///< of a partition
    std::vector<std::shared_ptr<Worker>> workers_;
    RowSet rows_;
};

}  // namespace loom::exec
