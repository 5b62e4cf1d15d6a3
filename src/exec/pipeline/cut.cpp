#include "exec/pipeline/cut.h"

#include <algorithm>

#include "exec/join/build_sink.h"

namespace loom::exec {

namespace {

// Finds what has to be kept of the rows that come to step `cut` for the rest of the pipeline to
// run.
class KeptSlots {
  public:
    KeptSlots(const Pipeline& pipeline, size_t cut)
        : pipeline_(pipeline),
          later_joins_(pipeline.joins.size(), false),
          computed_(pipeline.slots.size(), false),
          state_(pipeline.slots.size(), State::kUnseen) {
        for (size_t i = 0; i < pipeline.steps.size(); ++i) {
            const Step& step = pipeline.steps[i];
            if (i >= cut && step.join >= 0) later_joins_[static_cast<size_t>(step.join)] = true;
            if (i < cut && step.kind == Step::Kind::kCompute)
                computed_[static_cast<size_t>(step.slot)] = true;
        }
        // The keys decide on the partition, so they are there.
        for (const int key : pipeline.joins[pipeline.steps[cut].join].keys) keep(key);
        for (size_t i = cut; i < pipeline.steps.size(); ++i) {
            const Step& step = pipeline.steps[i];
            for (const int slot : step.inputs) need(slot);
            if (step.slot >= 0) need(step.slot);
            if (step.join < 0) continue;
            const Join& join = pipeline.joins[step.join];
            for (const int key : join.keys) need(key);
            if (join.residual != nullptr)
                for (const int slot : join.residual->columns()) need(slot);
        }
        for (const int slot : pipeline.sink_inputs) need(slot);
    }

    const std::vector<int>& kept() const noexcept { return kept_; }

  private:
    enum class State : uint8_t { kUnseen, kKept, kComputedLater };

    void keep(int slot) {
        if (state_[slot] == State::kKept) return;
        state_[slot] = State::kKept;
        kept_.push_back(slot);
    }

    void need(int slot) {
        if (slot < 0 || state_[slot] != State::kUnseen) return;
        const Slot& definition = pipeline_.slots[slot];
        if (is_source(slot)) return keep(slot);
        state_[slot] = State::kComputedLater;
        if (definition.row_slot >= 0) need(definition.row_slot);
        for (const int input : definition.inputs) need(input);
    }

    // Whether the rest cannot make the slot itself. Of joins that are done the columns are kept
    // rather than the rows.
    bool is_source(int slot) const {
        const Slot& definition = pipeline_.slots[slot];
        switch (definition.kind) {
            case Slot::Kind::kScan:
            case Slot::Kind::kStored:
                return true;
            case Slot::Kind::kBuildRow:
            case Slot::Kind::kBuildColumn:
            case Slot::Kind::kMark:
                return !later_joins_[static_cast<size_t>(definition.join)];
            case Slot::Kind::kComputed:
                // What may fault is computed once, where its step says.
                return computed_[static_cast<size_t>(slot)];
        }
        return true;
    }

    const Pipeline& pipeline_;
    std::vector<bool> later_joins_;
    std::vector<bool> computed_;
    std::vector<State> state_;
    std::vector<int> kept_;
};

// Returns the step of the first join to cut at, or -1.
int find_cut(const Pipeline& pipeline) {
    for (size_t i = 0; i < pipeline.steps.size(); ++i) {
        const Step& step = pipeline.steps[i];
        const bool done = i == 0 && pipeline.scattered != nullptr;
        if (step.kind == Step::Kind::kJoin && !done &&
            pipeline.joins[step.join].scattered != nullptr)
            return static_cast<int>(i);
    }
    return -1;
}

}  // namespace

std::unique_ptr<CompiledPipeline> cut_at_scattered_join(CompiledPipeline& compiled,
                                                        const Resources& resources) {
    Pipeline& rest = compiled.pipeline;
    const int cut = find_cut(rest);
    if (cut < 0) return nullptr;
    const Join& join = rest.joins[rest.steps[static_cast<size_t>(cut)].join];
    const std::vector<int> kept = KeptSlots(rest, static_cast<size_t>(cut)).kept();

    auto head = std::make_unique<CompiledPipeline>();
    head->ordered = compiled.ordered;
    head->then = CompiledPipeline::Then::kScatter;
    head->target = &compiled;
    Pipeline& first = head->pipeline;
    first.name = rest.name;
    first.table = rest.table;
    first.stored = std::move(rest.stored);
    first.host_rows = rest.host_rows;
    first.source_may_raise = std::exchange(rest.source_may_raise, false);
    first.scattered = std::move(rest.scattered);
    first.source_types = rest.source_types;
    first.slots = rest.slots;
    first.joins = rest.joins;
    first.steps.assign(rest.steps.begin(), rest.steps.begin() + cut);
    std::vector<plan::Type> types;
    types.reserve(kept.size());
    for (const int slot : kept) types.push_back(rest.slots[slot].type);
    std::vector<int> keys;
    for (const int key : join.keys)
        keys.push_back(static_cast<int>(std::find(kept.begin(), kept.end(), key) - kept.begin()));
    first.sink = std::make_shared<ProbeSink>(kept, types, keys, join.scattered->range, resources);
    first.sink_inputs = kept;

    compiled.ordered = false;
    rest.table = -1;
    rest.stored = nullptr;
    rest.host_rows = -1;
    rest.scattered = nullptr;
    rest.bound = nullptr;
    rest.source_types = types;
    rest.steps.erase(rest.steps.begin(), rest.steps.begin() + cut);
    // Columns of the old source that nobody wants any more are none of the new one's.
    for (Slot& slot : rest.slots)
        if (slot.kind == Slot::Kind::kStored) slot.index = -1;
    for (size_t i = 0; i < kept.size(); ++i) {
        Slot stored;
        stored.kind = Slot::Kind::kStored;
        stored.type = types[i];
        stored.index = static_cast<int>(i);
        rest.slots[kept[i]] = std::move(stored);
    }
    return head;
}

}  // namespace loom::exec
