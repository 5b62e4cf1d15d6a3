#include <algorithm>

#include "exec/pipeline/pipeline.h"

namespace loom::exec {

namespace {

// Returns what a join step becomes, or nothing if the join needs no step.
std::optional<Step> concrete(const Step& step, const Join& join) {
    Step result = step;
    const bool simple = join.residual == nullptr && !join.marks_build() && !join.by_blocks;
    // A scattered join has a step for each part of it, so that steps keep their numbers.
    const bool scattered = join.scattered != nullptr;
    // A mark is computed when it is asked for.
    if (simple && join.type == plan::JoinType::kMark && !scattered) return std::nullopt;
    const bool filters = join.type == plan::JoinType::kSemi || join.type == plan::JoinType::kAnti;
    if (simple && filters) {
        result.kind = Step::Kind::kTest;
        result.negate = join.type == plan::JoinType::kAnti;
        return result;
    }
    // A unique key has at most one match, whose columns are fetched when they are asked for.
    const bool outer = join.type == plan::JoinType::kLeft || join.type == plan::JoinType::kMark;
    if (simple && join.table->unique() && !(scattered && outer)) {
        if (outer) return std::nullopt;
        result.kind = Step::Kind::kTest;
        return result;
    }
    result.kind = Step::Kind::kMatch;
    if (join.residual != nullptr)
        result.inputs.insert(result.inputs.end(), join.residual->columns().begin(),
                             join.residual->columns().end());
    return result;
}

}  // namespace

void Pipeline::prepare() {
    std::vector<Step> planned;
    planned.swap(steps);
    const bool may_fault =
        source_may_raise || std::any_of(planned.begin(), planned.end(), [](const Step& step) {
            return step.kind == Step::Kind::kCompute ||
                   (step.expression != nullptr && step.expression->may_fault());
        });
    is_dead = std::any_of(planned.begin(), planned.end(), [&](const Step& step) {
        if (step.kind != Step::Kind::kJoin) return false;
        const Join& join = joins[step.join];
        // PostgreSQL may read this side all the same, and then shows its errors. One too many does
        // no harm: PostgreSQL's plan decides.
        return !may_fault && join.drops_unmatched() && join.table->length() == 0;
    });
    for (const Step& step : planned) {
        if (step.kind != Step::Kind::kJoin)
            steps.push_back(step);
        else if (const auto join = concrete(step, joins[step.join]))
            steps.push_back(*join);
    }
    head = 0;
    for (const Step& step : steps) {
        const bool free = step.kind == Step::Kind::kTest ||
                          (step.kind == Step::Kind::kFilter && !step.expression->may_fault());
        if (!free) break;
        ++head;
    }
    // The cheapest probe first, until measurements say better; filters on the scan's own columns
    // before probes.
    std::stable_sort(steps.begin(), steps.begin() + head, [&](const Step& a, const Step& b) {
        const auto cost = [&](const Step& step) {
            return step.kind == Step::Kind::kFilter ? 0 : joins[step.join].table->footprint() + 1;
        };
        return cost(a) < cost(b);
    });

    for (Slot& slot : slots) slot.last_use = -1;
    const auto use = [&](int slot, int step) {
        slots[slot].last_use = std::max(slots[slot].last_use, step);
    };
    for (size_t i = 0; i < steps.size(); ++i) {
        const int step = static_cast<int>(i) < head ? head - 1 : static_cast<int>(i);
        for (const int slot : steps[i].inputs) use(slot, step);
        if (steps[i].slot >= 0) use(steps[i].slot, step);
    }
    for (const int slot : sink_inputs) use(slot, static_cast<int>(steps.size()));
    // Slots read only slots before them.
    for (size_t i = slots.size(); i-- > 0;) {
        const Slot& slot = slots[i];
        if (slot.last_use < 0) continue;
        if (slot.row_slot >= 0) use(slot.row_slot, slot.last_use);
        for (const int input : slot.inputs) use(input, slot.last_use);
    }
}

bool Pipeline::may_skip_rows() const noexcept {
    // A row that is skipped must not have raised an error, nor have counted for a limit.
    for (const Step& step : steps) {
        if (step.kind == Step::Kind::kLimit || step.kind == Step::Kind::kCompute) return false;
        if (step.expression != nullptr && step.expression->may_fault()) return false;
    }
    for (const Join& join : joins)
        if (join.marks_build() || (join.residual != nullptr && join.residual->may_fault()))
            return false;
    return true;
}

}  // namespace loom::exec
