// The process that has a device: it runs aggregates for the sessions of one PostgreSQL server,
// which starts it, and may die without them noticing more than a slower query.

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "gpu/driver/cuda_device.h"
#include "gpu/driver/host_compiler.h"
#include "gpu/driver/host_device.h"
#include "gpu/driver/nvrtc_compiler.h"
#include "gpu/service/service.h"

namespace loom::gpu {
namespace {

constexpr const char* kHelp =
    R"(loom-gpud runs parts of queries on a GPU for one PostgreSQL server, which starts it.

Usage:
  loom-gpud --socket=PATH [OPTION]...

  --device=cuda|host  what runs them (default cuda); host is the processor, for tests
  --ordinal=NUMBER    which of CUDA's devices (default 0)
  --cache=FOLDER      keeps compiled kernels there
  --threads=NUMBER    threads that read files (default: as many as there are cores)
  --version
  --help

It ends with status 3 when the device is lost, with 4 when there is none.
)";

constexpr int kLost = 3;
constexpr int kAbsent = 4;

struct Options {
    std::string socket;
    std::string device = "cuda";
    int ordinal = 0;
    std::string cache;
    int threads = 0;
};

std::optional<Options> parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view arg = argv[i];
        const auto value = [&](std::string_view name) -> std::optional<std::string> {
            if (!arg.starts_with(name)) return std::nullopt;
            return std::string(arg.substr(name.size()));
        };
        if (const auto socket = value("--socket="))
            options.socket = *socket;
        else if (const auto device = value("--device="))
            options.device = *device;
        else if (const auto ordinal = value("--ordinal="))
            options.ordinal = std::atoi(ordinal->c_str());
        else if (const auto cache = value("--cache="))
            options.cache = *cache;
        else if (const auto threads = value("--threads="))
            options.threads = std::atoi(threads->c_str());
        else
            return std::nullopt;
    }
    const bool known = options.device == "cuda" || options.device == "host";
    return options.socket.empty() || !known ? std::nullopt : std::optional(options);
}

std::atomic<bool> told_to_end = false;

void end(int) {
    told_to_end = true;
}

// Returns the status to end with.
int serve(const Options& options, Device& device, Compiler& compiler) {
    ServiceOptions service_options;
    service_options.cache = options.cache;
    service_options.threads =
        options.threads > 0 ? options.threads
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    Service service(device, compiler, service_options);
    const int listening = listen_at(options.socket);
    ::unlink(problem_path(options.socket).c_str());
    fmt::print(stderr, "loom-gpud: {} ({}) at {}\n", device.facts().name,
               device.facts().architecture, options.socket);
    while (!told_to_end && !service.lost()) {
        pollfd waited{listening, POLLIN, 0};
        if (::poll(&waited, 1, 200) <= 0) continue;
        const int connected = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
        if (connected >= 0)
            std::thread([&service, connected] { service.serve(connected); }).detach();
    }
    ::unlink(options.socket.c_str());
    // Threads may be anywhere, in the driver as well; the system takes all back.
    std::fflush(nullptr);
    ::_exit(service.lost() ? kLost : 0);
}

// Returns the compiler, or raises why there is none.
std::unique_ptr<Compiler> checked(std::unique_ptr<Compiler> compiler, const std::string& reason) {
    if (compiler == nullptr) throw DeviceError(DeviceError::Kind::kAbsent, reason);
    return compiler;
}

// Says why there is no device: to the server's log, and to those who look for the process.
void tell(const Options& options, const char* problem) {
    fmt::print(stderr, "loom-gpud: {}\n", problem);
    std::ofstream(problem_path(options.socket)) << problem << "\n";
}

int run(const Options& options) {
    std::signal(SIGTERM, end);
    std::signal(SIGINT, end);
    std::string reason;
    try {
        if (options.device == "host") {
            const std::unique_ptr<Device> device = open_host_device();
            const auto compiler = checked(make_host_compiler(&reason), reason);
            return serve(options, *device, *compiler);
        }
        const std::unique_ptr<Device> device = open_cuda_device(options.ordinal);
        const int driver = device->facts().driver_version;
        const auto compiler = checked(make_nvrtc_compiler(&reason, driver), reason);
        return serve(options, *device, *compiler);
    } catch (const DeviceError& error) {
        tell(options, error.what());
        return error.kind() == DeviceError::Kind::kAbsent ? kAbsent : 1;
    } catch (const std::exception& error) {
        tell(options, error.what());
        return 1;
    }
}

}  // namespace
}  // namespace loom::gpu

int main(int argc, char** argv) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "--version") {
        std::puts("loom-gpud " LOOM_VERSION);
        return 0;
    }
    if (first == "--help") {
        std::fputs(loom::gpu::kHelp, stdout);
        return 0;
    }
    const auto options = loom::gpu::parse(argc, argv);
    if (!options) {
        std::fputs(loom::gpu::kHelp, stderr);
        return 2;
    }
    return loom::gpu::run(*options);
}
