#include "gpu/run/tuning.h"

#include <algorithm>

#include <fmt/core.h>

#include "gpu/run/execution.h"

namespace loom::gpu {

namespace {

// Others are tried for kernels that run so often, and so long.
constexpr uint32_t kRuns = 3;
constexpr double kLeastMilliseconds = 0.2;
// What one way has to take of another's time to be better.
constexpr double kBetter = 0.97;
constexpr int kRounds = 5;
constexpr size_t kMostShapes = 10'000;

}  // namespace

const std::vector<KernelChoices>& other_choices() {
    static const std::vector<KernelChoices> kAll = [] {
        std::vector<KernelChoices> all;
        const auto add = [&](bool queue, bool carry, bool ahead, int blocks, int stages,
                             uint32_t threads) {
            all.push_back({queue, carry, ahead, blocks, stages, threads});
        };
        for (const bool ahead : {false, true}) {
            add(false, false, ahead, 1, 3, 1024);
            add(true, false, ahead, 1, 2, 1024);
            add(true, false, ahead, 1, 3, 1024);
            add(true, true, ahead, 1, 3, 1024);
            add(true, false, ahead, 3, 3, 512);
        }
        for (const int stages : {1, 2, 3}) {
            add(false, false, false, 2, stages, 1024);
            add(true, false, false, 2, stages, 1024);
        }
        add(false, false, false, 3, 3, 512);
        return all;
    }();
    return kAll;
}

std::string describe(const KernelChoices& choices) {
    return fmt::format("{}{}{}{} x {}, {} stages", choices.queue.value_or(true) ? "" : "no queue, ",
                       choices.carry.value_or(false) ? "carry, " : "",
                       choices.ahead.value_or(false) ? "ahead, " : "", choices.blocks.value_or(1),
                       choices.threads.value_or(1024), choices.stages.value_or(3));
}

std::optional<KernelChoices> Tuning::find(size_t shape) const {
    const std::scoped_lock lock(mutex_);
    const auto known = known_.find(shape);
    return known == known_.end() ? std::nullopt : known->second.choices;
}

bool Tuning::note(size_t shape, double milliseconds) {
    if (milliseconds < kLeastMilliseconds) return false;
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= kMostShapes) known_.clear();
    return ++known_[shape].runs == kRuns;
}

void Tuning::choose(size_t shape, const KernelChoices& choices) {
    const std::scoped_lock lock(mutex_);
    known_[shape].choices = choices;
}

bool Trial::step(DeviceContext context, const plan::Operator& aggregate, const exec::Inputs& inputs,
                 Tuning& tuning) {
    const std::vector<KernelChoices>& all = other_choices();
    context.tuning = nullptr;
    if (own_ == 0) {
        own_ = best_ = measure(context, aggregate, inputs).value_or(0);
        return own_ > 0;
    }
    context.choices = all[next_];
    const std::optional<double> found = measure(context, aggregate, inputs);
    if (found && *found < best_) {
        best_ = *found;
        choices_ = all[next_];
    }
    if (++next_ < all.size()) return true;
    if (choices_ && best_ < own_ * kBetter) tuning.choose(shape_, *choices_);
    return false;
}

// Others may use the device at the same time: the least of some runs counts.
std::optional<double> Trial::measure(DeviceContext& context, const plan::Operator& aggregate,
                                     const exec::Inputs& inputs) {
    std::optional<double> least;
    try {
        for (int round = 0; round <= kRounds; ++round) {
            RunTimes times;
            times.wants_texts = false;
            run_aggregate(context, aggregate, inputs, &times);
            if (own_ == 0) shape_ = times.shape;
            if (times.kernels.empty()) return std::nullopt;
            const double last = times.kernels.back().milliseconds;
            if (round > 0) least = std::min(least.value_or(last), last);
        }
    } catch (const DeviceError& error) {
        if (error.kind() != DeviceError::Kind::kRefused) throw;
        return std::nullopt;
    }
    return least;
}

}  // namespace loom::gpu
