#pragma once
// The libraries of CUDA: the driver (libcuda) and the compiler (NVRTC). They are opened at run
// time, so that one build serves hosts with and without them. Functions have the names of cuda.h
// and nvrtc.h without `cu` and `nvrtc`; types are the few that are needed, laid out as there.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "gpu/driver/device.h"

namespace loom::gpu {

/// CUresult.
enum CudaResult : int { kCudaSuccess = 0, kCudaOutOfMemory = 2, kCudaNotReady = 600 };

/// Constants of cuda.h.
inline constexpr int kCudaMultiprocessors = 16;
inline constexpr int kCudaCacheBytes = 38;
inline constexpr int kCudaThreadsPerMultiprocessor = 39;
inline constexpr int kCudaCapabilityMajor = 75;
inline constexpr int kCudaCapabilityMinor = 76;
inline constexpr int kCudaSharedBytesPerBlock = 97;
inline constexpr int kCudaFunctionSharedBytes = 1;
inline constexpr int kCudaFunctionLocalBytes = 3;
inline constexpr int kCudaFunctionRegisters = 4;
inline constexpr int kCudaFunctionMaxDynamicSharedBytes = 8;
inline constexpr int kCudaLimitFetchGranularity = 5;
inline constexpr unsigned kCudaContextBlockingSync = 4;
inline constexpr unsigned kCudaStreamNonBlocking = 1;

/// The driver, from version 11 on.
struct CudaDriver {
    using Device = int;
    using Context = struct ContextTag*;
    using Stream = struct StreamTag*;
    using Event = struct EventTag*;
    using Module = struct ModuleTag*;
    using Function = struct FunctionTag*;

    CudaResult (*Init)(unsigned flags);
    CudaResult (*DriverGetVersion)(int* version);
    CudaResult (*GetErrorName)(CudaResult result, const char** name);
    CudaResult (*GetErrorString)(CudaResult result, const char** text);
    CudaResult (*DeviceGetCount)(int* count);
    CudaResult (*DeviceGet)(Device* device, int ordinal);
    CudaResult (*DeviceGetName)(char* name, int length, Device device);
    CudaResult (*DeviceGetAttribute)(int* value, int attribute, Device device);
    CudaResult (*DeviceTotalMem)(size_t* bytes, Device device);
    CudaResult (*DevicePrimaryCtxSetFlags)(Device device, unsigned flags);
    CudaResult (*DevicePrimaryCtxRetain)(Context* context, Device device);
    CudaResult (*DevicePrimaryCtxRelease)(Device device);
    CudaResult (*CtxSetCurrent)(Context context);
    CudaResult (*CtxSetLimit)(int limit, size_t value);
    CudaResult (*MemGetInfo)(size_t* free, size_t* total);
    CudaResult (*MemAlloc)(DeviceAddress* address, size_t bytes);
    CudaResult (*MemFree)(DeviceAddress address);
    CudaResult (*MemHostAlloc)(void** memory, size_t bytes, unsigned flags);
    CudaResult (*MemFreeHost)(void* memory);
    CudaResult (*StreamCreate)(Stream* stream, unsigned flags);
    CudaResult (*StreamDestroy)(Stream stream);
    CudaResult (*StreamQuery)(Stream stream);
    CudaResult (*MemcpyHtoDAsync)(DeviceAddress to, const void* from, size_t bytes, Stream stream);
    CudaResult (*MemcpyDtoHAsync)(void* to, DeviceAddress from, size_t bytes, Stream stream);
    CudaResult (*MemcpyDtoDAsync)(DeviceAddress to, DeviceAddress from, size_t bytes,
                                  Stream stream);
    CudaResult (*MemsetD8Async)(DeviceAddress to, unsigned char value, size_t bytes, Stream stream);
    CudaResult (*EventCreate)(Event* event, unsigned flags);
    CudaResult (*EventDestroy)(Event event);
    CudaResult (*EventRecord)(Event event, Stream stream);
    CudaResult (*EventElapsedTime)(float* milliseconds, Event from, Event to);
    CudaResult (*ModuleLoadData)(Module* module, const void* image);
    CudaResult (*ModuleUnload)(Module module);
    CudaResult (*ModuleGetFunction)(Function* function, Module module, const char* name);
    CudaResult (*FuncGetAttribute)(int* value, int attribute, Function function);
    CudaResult (*FuncSetAttribute)(Function function, int attribute, int value);
    CudaResult (*LaunchKernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z,
                               unsigned shared_bytes, Stream stream, void** parameters,
                               void** extra);
};

/// nvrtcResult.
enum NvrtcResult : int { kNvrtcSuccess = 0, kNvrtcInvalidOption = 5, kNvrtcCompilation = 6 };

/// The compiler, from version 12 on.
struct Nvrtc {
    using Program = struct ProgramTag*;

    const char* (*GetErrorString)(NvrtcResult result);
    NvrtcResult (*Version)(int* major, int* minor);
    NvrtcResult (*CreateProgram)(Program* program, const char* text, const char* name, int headers,
                                 const char* const* header_texts, const char* const* header_names);
    NvrtcResult (*DestroyProgram)(Program* program);
    NvrtcResult (*CompileProgram)(Program program, int options, const char* const* option_texts);
    NvrtcResult (*GetCUBINSize)(Program program, size_t* bytes);
    NvrtcResult (*GetCUBIN)(Program program, char* image);
    NvrtcResult (*GetProgramLogSize)(Program program, size_t* bytes);
    NvrtcResult (*GetProgramLog)(Program program, char* text);
};

/// Returns the driver, initialised; nullptr and why, if there is none or it finds no device. What
/// the first call finds holds for the process, which must not be forked from then on.
const CudaDriver* cuda_driver(std::string* reason);
/// Returns the compiler; nothing and why, if there is none. Looks for one of major version
/// `newest` or before first (0: any), since a driver loads no images of later ones.
std::optional<Nvrtc> open_nvrtc(int newest, std::string* reason);

/// Returns what a result that is not kCudaSuccess means for those who go on.
DeviceError::Kind kind_of(CudaResult result) noexcept;
/// Raises DeviceError, naming the function, unless it succeeded.
void check(const CudaDriver& driver, CudaResult result, const char* function);

}  // namespace loom::gpu
