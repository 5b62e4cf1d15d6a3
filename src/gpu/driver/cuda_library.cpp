#include "gpu/driver/cuda_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace loom::gpu {

namespace {

namespace fs = std::filesystem;

// A library that stays open until the process ends: what it does at its end is best done once.
class Library {
  public:
    // Opens the first of the paths that there is.
    explicit Library(const std::vector<std::string>& paths) {
        for (const std::string& path : paths) {
            handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (handle_ != nullptr) return;
        }
        missing_ = fmt::format("there is no {}", paths.front());
    }

    template <typename Function>
    void find(Function*& function, const char* name) {
        if (handle_ == nullptr) return;
        function = reinterpret_cast<Function*>(dlsym(handle_, name));
        if (function == nullptr && missing_.empty()) missing_ = fmt::format("there is no {}", name);
    }

    // What is missing; empty if nothing is.
    const std::string& missing() const { return missing_; }

  private:
    void* handle_ = nullptr;
    std::string missing_;
};

#define LOOM_FIND(name) library.find(driver.name, "cu" #name)
#define LOOM_FIND_V2(name) library.find(driver.name, "cu" #name "_v2")

std::string bind(Library& library, CudaDriver& driver) {
    LOOM_FIND(Init);
    LOOM_FIND(DriverGetVersion);
    LOOM_FIND(GetErrorName);
    LOOM_FIND(GetErrorString);
    LOOM_FIND(DeviceGetCount);
    LOOM_FIND(DeviceGet);
    LOOM_FIND(DeviceGetName);
    LOOM_FIND(DeviceGetAttribute);
    LOOM_FIND_V2(DeviceTotalMem);
    LOOM_FIND_V2(DevicePrimaryCtxSetFlags);
    LOOM_FIND(DevicePrimaryCtxRetain);
    LOOM_FIND_V2(DevicePrimaryCtxRelease);
    LOOM_FIND(CtxSetCurrent);
    LOOM_FIND(CtxSetLimit);
    LOOM_FIND_V2(MemGetInfo);
    LOOM_FIND_V2(MemAlloc);
    LOOM_FIND_V2(MemFree);
    LOOM_FIND(MemHostAlloc);
    LOOM_FIND(MemFreeHost);
    LOOM_FIND(StreamCreate);
    LOOM_FIND_V2(StreamDestroy);
    LOOM_FIND(StreamQuery);
    LOOM_FIND_V2(MemcpyHtoDAsync);
    LOOM_FIND_V2(MemcpyDtoHAsync);
    LOOM_FIND_V2(MemcpyDtoDAsync);
    LOOM_FIND(MemsetD8Async);
    LOOM_FIND(EventCreate);
    LOOM_FIND_V2(EventDestroy);
    LOOM_FIND(EventRecord);
    // CUDA 13 has a second one, which differs in what it does for events of other devices.
    LOOM_FIND(EventElapsedTime);
    LOOM_FIND(ModuleLoadData);
    LOOM_FIND(ModuleUnload);
    LOOM_FIND(ModuleGetFunction);
    LOOM_FIND(FuncGetAttribute);
    LOOM_FIND(FuncSetAttribute);
    LOOM_FIND(LaunchKernel);
    return library.missing();
}

#undef LOOM_FIND_V2
#undef LOOM_FIND
#define LOOM_FIND(name) library.find(nvrtc.name, "nvrtc" #name)

std::string bind(Library& library, Nvrtc& nvrtc) {
    LOOM_FIND(GetErrorString);
    LOOM_FIND(Version);
    LOOM_FIND(CreateProgram);
    LOOM_FIND(DestroyProgram);
    LOOM_FIND(CompileProgram);
    LOOM_FIND(GetCUBINSize);
    LOOM_FIND(GetCUBIN);
    LOOM_FIND(GetProgramLogSize);
    LOOM_FIND(GetProgramLog);
    return library.missing();
}

#undef LOOM_FIND

// Folders where CUDA is installed, besides those that the loader searches: the newest release
// first.
std::vector<std::string> toolkit_folders() {
    std::vector<std::string> roots;
    std::error_code error;
    for (auto at = fs::directory_iterator("/usr/local", error);
         !error && at != fs::directory_iterator(); at.increment(error)) {
        std::string path = at->path().string();
        if (at->path().filename().string().starts_with("cuda")) roots.push_back(std::move(path));
    }
    std::sort(roots.rbegin(), roots.rend());
    std::vector<std::string> folders{"/usr/local/nvidia/lib64/"};
    for (const std::string& root : roots)
        for (const char* folder : {"/lib64/", "/lib/"}) folders.push_back(root + folder);
    return folders;
}

struct OpenedDriver {
    CudaDriver driver{};
    std::string reason;

    OpenedDriver() {
        Library library({"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"});
        reason = bind(library, driver);
        if (!reason.empty()) return;
        try {
            check(driver, driver.Init(0), "cuInit");
        } catch (const DeviceError& error) {
            reason = error.what();
        }
    }
};

}  // namespace

const CudaDriver* cuda_driver(std::string* reason) {
    static const OpenedDriver opened;
    if (opened.reason.empty()) return &opened.driver;
    *reason = opened.reason;
    return nullptr;
}

std::optional<Nvrtc> open_nvrtc(int newest, std::string* reason) {
    const std::vector<std::string> folders = toolkit_folders();
    std::vector<std::string> fitting;
    std::vector<std::string> others;
    for (const int major : {13, 12}) {
        auto& paths = newest == 0 || major <= newest ? fitting : others;
        const std::string name = fmt::format("libnvrtc.so.{}", major);
        paths.push_back(name);
        for (const std::string& folder : folders) paths.push_back(folder + name);
    }
    fitting.insert(fitting.end(), others.begin(), others.end());
    fitting.emplace_back("libnvrtc.so");
    for (const std::string& folder : folders) fitting.push_back(folder + "libnvrtc.so");

    Library library(fitting);
    Nvrtc nvrtc{};
    std::string missing = bind(library, nvrtc);
    if (missing.empty()) return nvrtc;
    *reason = std::move(missing);
    return std::nullopt;
}

DeviceError::Kind kind_of(CudaResult result) noexcept {
    switch (static_cast<int>(result)) {
        case 2:  // CUDA_ERROR_OUT_OF_MEMORY
            return DeviceError::Kind::kMemory;
        case 34:   // CUDA_ERROR_STUB_LIBRARY
        case 100:  // CUDA_ERROR_NO_DEVICE
        case 101:  // CUDA_ERROR_INVALID_DEVICE
        case 803:  // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
        case 804:  // CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
            return DeviceError::Kind::kAbsent;
        case 3:    // CUDA_ERROR_NOT_INITIALIZED
        case 4:    // CUDA_ERROR_DEINITIALIZED
        case 46:   // CUDA_ERROR_DEVICE_UNAVAILABLE
        case 201:  // CUDA_ERROR_INVALID_CONTEXT
        case 214:  // CUDA_ERROR_ECC_UNCORRECTABLE
        case 220:  // CUDA_ERROR_NVLINK_UNCORRECTABLE
        case 226:  // CUDA_ERROR_CONTAINED
        case 304:  // CUDA_ERROR_OPERATING_SYSTEM
        case 401:  // CUDA_ERROR_ILLEGAL_STATE
        case 700:  // CUDA_ERROR_ILLEGAL_ADDRESS
        case 702:  // CUDA_ERROR_LAUNCH_TIMEOUT
        case 709:  // CUDA_ERROR_CONTEXT_IS_DESTROYED
        case 710:  // CUDA_ERROR_ASSERT
        case 714:  // CUDA_ERROR_HARDWARE_STACK_ERROR
        case 715:  // CUDA_ERROR_ILLEGAL_INSTRUCTION
        case 716:  // CUDA_ERROR_MISALIGNED_ADDRESS
        case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
        case 718:  // CUDA_ERROR_INVALID_PC
        case 719:  // CUDA_ERROR_LAUNCH_FAILED
        case 721:  // CUDA_ERROR_TENSOR_MEMORY_LEAK
        case 805:  // CUDA_ERROR_MPS_CONNECTION_FAILED
        case 806:  // CUDA_ERROR_MPS_RPC_FAILURE
        case 807:  // CUDA_ERROR_MPS_SERVER_NOT_READY
        case 810:  // CUDA_ERROR_MPS_CLIENT_TERMINATED
        case 911:  // CUDA_ERROR_EXTERNAL_DEVICE
        case 999:  // CUDA_ERROR_UNKNOWN
            return DeviceError::Kind::kLost;
        default:
            return DeviceError::Kind::kRefused;
    }
}

void check(const CudaDriver& driver, CudaResult result, const char* function) {
    if (result == kCudaSuccess) return;
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.GetErrorName(result, &name) != kCudaSuccess || name == nullptr)
        name = "an unknown error";
    if (driver.GetErrorString(result, &text) != kCudaSuccess || text == nullptr) text = "";
    throw DeviceError(kind_of(result), fmt::format("{}: {} ({}) {}", function, name,
                                                   static_cast<int>(result), text));
}

}  // namespace loom::gpu
