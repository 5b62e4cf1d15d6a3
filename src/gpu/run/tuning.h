#pragma once
// Which way of writing an aggregate's last kernel is the fastest, found out by trying.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/query.h"
#include "gpu/codegen/kernel_text.h"

namespace loom::gpu {

struct DeviceContext;

/// Returns the ways that are tried.
const std::vector<KernelChoices>& other_choices();
/// For people.
std::string describe(const KernelChoices& choices);

/// What is known of kernels by their shape: a hash of the text that they have unless another way is
/// chosen. May be used by several threads.
class Tuning {
  public:
    /// Returns the way that has been found for a shape, if one has.
    std::optional<KernelChoices> find(size_t shape) const;
    /// Notes that a kernel of this shape took so many milliseconds. Returns whether it is time to
    /// try others, once a shape.
    bool note(size_t shape, double milliseconds);
    void choose(size_t shape, const KernelChoices& choices);

  private:
    struct Known {
        uint32_t runs = 0;
        std::optional<KernelChoices> choices;
    };
    mutable std::mutex mutex_;
    std::unordered_map<size_t, Known> known_;
};

/// Tries one way after the other on one aggregate, whose columns are on the device.
class Trial {
  public:
    /// Takes a step. Returns whether there are more; behind the last one `tuning` knows the best.
    /// Raises what run_aggregate() raises, but for a way that the device refuses.
    bool step(DeviceContext context, const plan::Operator& aggregate, const exec::Inputs& inputs,
              Tuning& tuning);

  private:
    std::optional<double> measure(DeviceContext& context, const plan::Operator& aggregate,
                                  const exec::Inputs& inputs);

    size_t next_ = 0;  // of other_choices()
    size_t shape_ = 0;
    double own_ = 0;  // milliseconds
    double best_ = 0;
    std::optional<KernelChoices> choices_;
};

}  // namespace loom::gpu
