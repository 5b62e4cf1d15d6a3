#pragma once
// The groups of an aggregate on a device: how rows find theirs, what is kept of each, and what
// comes back.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/aggregate/aggregate_kind.h"
#include "gpu/codegen/expression_facts.h"
#include "gpu/codegen/kernel_text.h"
#include "gpu/run/arena.h"
#include "gpu/run/bound_pipeline.h"
#include "gpu/run/build_sides.h"
#include "gpu/run/device_rows.h"
#include "gpu/run/partial_groups.h"
#include "gpu/run/results.h"
#include "gpu/run/text_tables.h"

namespace loom::gpu {

/// One run's groups. The last of `bound` is the pipeline that groups; it and `builds` must outlive
/// this.
class Groups {
  public:
    Groups(const plan::Operator& aggregate, std::vector<Bound>& bound, BuildSides& builds,
           std::span<const plan::ParameterValue> parameters, TextTables& texts);

    /// Decides how groups are found, and which columns of build sides are kept for them. May be
    /// called again, after collect() has found too many groups. Raises NotInKernels.
    void plan();
    /// Reserves memory for what plan() has decided, and says where it lies once that is known.
    void reserve(Arena& arena);
    void settle();
    const GroupTable& table() const noexcept { return table_; }

    /// Reads the groups back, when all kernels have run. Nothing if there were more than plan() had
    /// room for, and another plan() can do something about it; else raises NotInKernels.
    /// With `partial` they go there, and what is returned is empty.
    std::unique_ptr<DeviceRows> collect(Results& results, PartialGroups* partial = nullptr);

  private:
    // What an aggregate's result is made of.
    struct Result {
        GroupResult made;
        int value = -1;  // accumulators
        int count = -1;  // of values, where there may be none in a group with rows
        int scale = 0;   // of the argument
        int shown = -1;  // accumulator of the largest scale of any value, where scales differ
    };
    // Values by accumulator word and group.
    using Words = std::vector<std::vector<uint64_t>>;

    Bound& last() const { return bound_.back(); }
    const BuildTable& table_of(int join) const { return builds_.table(build_of(join)); }
    size_t build_of(int join) const { return builds_.build_of(builds_.size(), join); }
    const PipelineJoin& join_of(const Slot& slot) const {
        return last().pipeline->joins[static_cast<size_t>(slot.join)];
    }
    const Slot& slot(int index) const { return last().pipeline->slots[static_cast<size_t>(index)]; }

    void keep(const plan::Expr& expr) { builds_.keep(builds_.size(), expr); }
    bool by_number();
    void by_word();
    bool add_direct_part(int slot, int key);
    bool add_computed_part(const plan::Expr& value, int key);
    void finish_build_part(GroupPart& part);
    GroupKey key_of(const plan::Expr& value, int key) const;
    GroupKey text_key(const plan::Expr& value, int key) const;
    GroupKey row_key(int join) const;
    GroupKey scan_row_key() const;
    void carry_keys(std::vector<GroupKey>& keys);
    bool has_one_row(int join) const;
    void merge(std::vector<std::vector<uint64_t>>& sums, const std::vector<uint64_t>& words,
               std::vector<bool>& merged) const;
    uint64_t most_rows() const { return builds_.most_rows(builds_.size()); }
    uint64_t most_words() const;
    void grow();
    void add_aggregate(const plan::Aggregate& call);
    int add_accumulator(Accumulator made);

    bool count_parts(Results& results, std::vector<uint32_t>& counts, uint64_t& groups) const;
    bool collect_numbers(Results& results, DeviceRows& rows, PartialGroups* partial);
    bool collect_words(Results& results, DeviceRows& rows, PartialGroups* partial);
    Words download_sums(Results& results, uint64_t groups) const;
    void put_parts(uint64_t group, const std::vector<uint32_t>& counts,
                   const std::vector<GroupKey>& keys,
                   const std::vector<std::vector<uint64_t>>& words, DeviceRows& rows) const;
    void put_key(const GroupKey& key, uint64_t above, DeviceRows& rows) const;
    void put_field(int key, const GroupField& field, uint64_t word, DeviceRows& rows) const;
    void put_results(const Words& sums, uint64_t group, bool seen, DeviceRows& rows,
                     PartialGroups* partial) const;
    GroupState state_of(const Words& sums, uint64_t group, bool seen, const Result& result) const;

    const plan::Operator& aggregate_;
    std::vector<Bound>& bound_;
    BuildSides& builds_;
    std::span<const plan::ParameterValue> parameters_;
    TextTables& texts_;
    ExpressionFacts facts_;
    GroupTable table_;
    std::vector<Result> results_;
    bool words_only_ = false;  // numbers have been tried
    bool merges_ = false;      // several words may stand for one group
    uint64_t room_ = 0;        // for words that has been tried
    DeviceAddress* seen_ = nullptr;
    DeviceAddress* sums_ = nullptr;
    DeviceAddress* set_words_ = nullptr;
    DeviceAddress* set_numbers_ = nullptr;
    DeviceAddress* set_in_order_ = nullptr;
    DeviceAddress* set_count_ = nullptr;
};

}  // namespace loom::gpu
