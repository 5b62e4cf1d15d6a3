#pragma once
// A stream of a CUDA device.

#include <vector>

#include "gpu/driver/cuda_context.h"
#include "gpu/driver/device.h"

namespace loom::gpu {

class CudaStream : public Stream {
  public:
    CudaStream(const CudaContext& context, const DeviceFacts& facts);
    ~CudaStream() override;

    void upload(DeviceAddress to, const void* from, uint64_t bytes) override;
    void download(void* to, DeviceAddress from, uint64_t bytes) override;
    void copy(DeviceAddress to, DeviceAddress from, uint64_t bytes) override;
    void fill(DeviceAddress to, uint8_t value, uint64_t bytes) override;
    void launch(const Kernel& kernel, const Grid& grid, base::ByteSpan parameters) override;
    int mark() override;
    double elapsed(int from, int to) override;
    void forget_marks() override { marks_ = 0; }
    bool finished() override;
    void wait() override;

  private:
    const CudaContext& context_;
    const DeviceFacts& facts_;
    CudaDriver::Stream stream_ = nullptr;
    std::vector<CudaDriver::Event> events_;  // kept when marks are forgotten
    size_t marks_ = 0;
};

}  // namespace loom::gpu
