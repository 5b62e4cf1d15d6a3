#include "gpu/driver/nvrtc_compiler.h"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "gpu/driver/cuda_library.h"
#include "gpu/driver/device.h"
#include "gpu/driver/message.h"

namespace loom::gpu {

namespace {

// Definitions in src/sql that say nothing of where they run (constructors of tables) run on the
// device.
const char* const kOptions[] = {"--std=c++20", "--device-int128",
                                "--device-as-default-execution-space", "--disable-warnings"};

// Those that older releases may not know; images are the same without them. Measured with
// NVRTC 13.0 for sm_90, in milliseconds of a processor: a small kernel 44, and 50 without
// --minimal; one that includes all of src/sql 64, and 82 without; the first of a process 60 more.
// --Ofast-compile=min and --split-compile change nothing at that size. NVRTC's own cache on disk
// would be a second one beside ModuleCache.
const char* const kOptionsOfSpeed[] = {"--minimal", "--no-cache"};

// Headers of the standard library that src/sql includes; sql/definition.h has their types.
constexpr Header kEmptyHeaders[] = {{"cstdint", ""}};

class Program {
  public:
    Program(const Nvrtc& nvrtc, const std::string& text) : nvrtc_(nvrtc) {
        std::vector<const char*> names;
        std::vector<const char*> texts;
        const auto add = [&](std::span<const Header> headers) {
            for (const Header& header : headers) {
                names.push_back(header.name);
                texts.push_back(header.text);
            }
        };
        add(device_headers());
        add(kEmptyHeaders);
        check(nvrtc_.CreateProgram(&program_, text.c_str(), "kernels.cu",
                                   static_cast<int>(names.size()), texts.data(), names.data()));
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() { nvrtc_.DestroyProgram(&program_); }

    NvrtcResult compile(const std::vector<const char*>& options) {
        return nvrtc_.CompileProgram(program_, static_cast<int>(options.size()), options.data());
    }
    std::string image() const { return read(nvrtc_.GetCUBINSize, nvrtc_.GetCUBIN); }
    std::string log() const { return read(nvrtc_.GetProgramLogSize, nvrtc_.GetProgramLog); }
    void check(NvrtcResult result) const {
        if (result != kNvrtcSuccess)
            throw DeviceError(DeviceError::Kind::kRefused,
                              fmt::format("NVRTC: {}", nvrtc_.GetErrorString(result)));
    }

  private:
    std::string read(NvrtcResult (*get_size)(Nvrtc::Program, size_t*),
                     NvrtcResult (*get)(Nvrtc::Program, char*)) const {
        size_t bytes = 0;
        check(get_size(program_, &bytes));
        std::string out(bytes, 0);
        check(get(program_, out.data()));
        return out;
    }

    const Nvrtc& nvrtc_;
    Nvrtc::Program program_ = nullptr;
};

class NvrtcCompiler : public Compiler {
  public:
    explicit NvrtcCompiler(const Nvrtc& nvrtc) : nvrtc_(nvrtc) {
        int major = 0;
        int minor = 0;
        nvrtc_.Version(&major, &minor);
        version_ = fmt::format("NVRTC {}.{}", major, minor);
        for (const char* option : kOptions) version_.append(" ").append(option);
    }

    std::string compile(const std::string& text, const std::string& architecture) override {
        const std::string target = "--gpu-architecture=" + architecture;
        std::vector<const char*> options{target.c_str()};
        options.insert(options.end(), std::begin(kOptions), std::end(kOptions));
        std::vector<const char*> fast = options;
        fast.insert(fast.end(), std::begin(kOptionsOfSpeed), std::end(kOptionsOfSpeed));

        // A program is compiled once, so the second try takes another one.
        for (const std::vector<const char*>* tried : {&fast, &options}) {
            Program program(nvrtc_, text);
            const NvrtcResult result = program.compile(*tried);
            if (result == kNvrtcSuccess) return program.image();
            if (result == kNvrtcInvalidOption && tried == &fast) continue;
            throw DeviceError(
                DeviceError::Kind::kRefused,
                fmt::format("NVRTC does not compile the kernels for {} ({}):\n{}", architecture,
                            nvrtc_.GetErrorString(result), first_lines(program.log())));
        }
        return {};
    }
    // The first program of a process takes 60 ms more, whatever is in it.
    void warm_up() override {
        std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
        static_cast<void>(Program(nvrtc_, "").compile(options));
    }
    std::string version() const override { return version_; }

  private:
    Nvrtc nvrtc_;
    std::string version_;
};

}  // namespace

std::unique_ptr<Compiler> make_nvrtc_compiler(std::string* reason, int driver_version) {
    const std::optional<Nvrtc> nvrtc = open_nvrtc(driver_version / 1000, reason);
    if (!nvrtc) return nullptr;
    return std::make_unique<NvrtcCompiler>(*nvrtc);
}

}  // namespace loom::gpu
