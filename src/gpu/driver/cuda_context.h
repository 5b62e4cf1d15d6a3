#pragma once
// What the parts of a CUDA device share: the driver, and the context that calls work in.

#include <cstdint>

#include "gpu/driver/cuda_library.h"

namespace loom::gpu {

/// The context of one device. The driver knows a current context for each thread, so each call goes
/// through enter().
class CudaContext {
  public:
    CudaContext(const CudaDriver& driver, CudaDriver::Device device);
    CudaContext(const CudaContext&) = delete;
    CudaContext& operator=(const CudaContext&) = delete;
    ~CudaContext();

    /// Makes the context current in this thread and returns the driver. Costs a comparison where
    /// it is already.
    const CudaDriver& enter() const {
        if (current_number != number_) make_current();
        return driver_;
    }

    /// Calls a function of the driver and raises DeviceError unless it succeeds.
    template <typename... Parameters, typename... Arguments>
    void call(const char* name, CudaResult (*CudaDriver::*function)(Parameters...),
              Arguments&&... arguments) const {
        check(driver_, (enter().*function)(arguments...), name);
    }
    /// The same for what gives back, where nobody can do anything about a failure.
    template <typename... Parameters, typename... Arguments>
    void call_quietly(CudaResult (*CudaDriver::*function)(Parameters...),
                      Arguments&&... arguments) const noexcept {
        if (current_number != number_ && driver_.CtxSetCurrent(context_) == kCudaSuccess)
            current_number = number_;
        if (current_number == number_) (driver_.*function)(arguments...);
    }

  private:
    void make_current() const;

    // Numbers, since a later context may get the address of one that is gone. 0 is none.
    static thread_local uint64_t current_number;

    const CudaDriver& driver_;
    CudaDriver::Device device_;
    CudaDriver::Context context_ = nullptr;
    uint64_t number_;
};

}  // namespace loom::gpu
