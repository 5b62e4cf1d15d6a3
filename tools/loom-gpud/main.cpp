// The process that has a device: it runs aggregates for the sessions of one PostgreSQL server,
// which starts it, and may die without them noticing more than a slower query.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <getopt.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "column/scalar.h"
#include "gpu/driver/cuda_device.h"
#include "gpu/driver/host_compiler.h"
#include "gpu/driver/host_device.h"
#include "gpu/driver/nvrtc_compiler.h"
#include "gpu/service/process.h"
#include "gpu/service/service.h"

namespace loom::gpu {
namespace {

constexpr const char* kHelp =
    R"(loom-gpud runs parts of queries on a GPU for one PostgreSQL server, which starts it.

Usage:
  loom-gpud --socket=PATH [OPTION]...

Options:
      --socket=PATH       listens there
      --device=cuda|host  what runs them (default cuda); host is the processor, for tests
      --ordinal=NUMBER    only that one of CUDA's devices (default: all that are like the first)
      --copies=NUMBER     uses each device as if it were so many, for tests (default 1)
      --cache=FOLDER      keeps compiled kernels there
      --threads=NUMBER    threads that read files (default: as many as there are cores)
  -V, --version           output version information, then exit
  -?, --help              show this help, then exit

Exit status: 0 if it was told to end, 1 if it could not begin, 2 for wrong usage, 3 if the device is
lost, 4 if there is none.
)";

// With copies, tables of tests are large ones.
constexpr uint64_t kTestSpread = 64 * 1024;

struct Options {
    std::string socket;
    bool host = false;
    int ordinal = -1;  // all
    int copies = 1;
    std::string cache;
    int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
};

[[noreturn]] void refuse_usage(const std::string& message) {
    fmt::print(stderr, "loom-gpud: {}\nTry \"loom-gpud --help\" for more information.\n", message);
    std::exit(2);
}

int number(const char* text, int least) {
    const auto value = column::parse_int128(text);
    if (!value || *value < least || *value > 1024)
        refuse_usage(fmt::format("\"{}\" is not a number from {} to 1024", text, least));
    return static_cast<int>(*value);
}

Options parse(int argc, char** argv) {
    static const option kOptions[] = {{"socket", required_argument, nullptr, 's'},
                                      {"device", required_argument, nullptr, 'd'},
                                      {"ordinal", required_argument, nullptr, 'o'},
                                      {"cache", required_argument, nullptr, 'c'},
                                      {"copies", required_argument, nullptr, 'n'},
                                      {"threads", required_argument, nullptr, 't'},
                                      {"version", no_argument, nullptr, 'V'},
                                      {"help", no_argument, nullptr, '?'},
                                      {nullptr, 0, nullptr, 0}};
    Options options;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "V?", kOptions, nullptr)) != -1;) {
        switch (c) {
            case 's':
                options.socket = optarg;
                break;
            case 'd':
                options.host = std::string_view(optarg) == "host";
                if (!options.host && std::string_view(optarg) != "cuda")
                    refuse_usage(fmt::format("unknown device \"{}\"", optarg));
                break;
            case 'o':
                options.ordinal = number(optarg, 0);
                break;
            case 'n':
                options.copies = number(optarg, 1);
                if (options.copies > static_cast<int>(kMostDevices))
                    refuse_usage(fmt::format("more than {} copies", kMostDevices));
                break;
            case 'c':
                options.cache = optarg;
                break;
            case 't':
                options.threads = number(optarg, 1);
                break;
            case 'V':
                fmt::print("loom-gpud (pg_loom) {}\n", LOOM_VERSION);
                std::exit(0);
            default: {
                const std::string_view given = argv[optind - 1];
                if (given != "--help" && given != "-?")
                    refuse_usage(fmt::format("unrecognized option \"{}\"", given));
                fmt::print("{}", kHelp);
                std::exit(0);
            }
        }
    }
    if (optind < argc) refuse_usage(fmt::format("unexpected argument \"{}\"", argv[optind]));
    if (options.socket.empty()) refuse_usage("the option --socket is missing");
    return options;
}

std::atomic<bool> told_to_end = false;

void end(int) {
    told_to_end = true;
}

[[noreturn]] void serve(const Options& options, const std::vector<Device*>& devices,
                        Compiler& compiler) {
    ServiceOptions wanted;
    wanted.cache = options.cache;
    wanted.threads = options.threads;
    // Kernels of the host's own processor are for tests: they need not be fast.
    wanted.tune = !options.host;
    wanted.column_share /= options.copies;
    if (options.copies > 1) wanted.spread_bytes = kTestSpread;
    Service service(devices, compiler, wanted);
    const int listening = listen_at(options.socket);
    ::unlink(problem_path(options.socket).c_str());
    for (const Device* device : devices)
        fmt::print(stderr, "loom-gpud: {} ({}) at {}\n", device->facts().name,
                   device->facts().architecture, options.socket);
    while (!told_to_end && !service.lost()) {
        pollfd waited{listening, POLLIN, 0};
        if (::poll(&waited, 1, 200) <= 0) continue;
        const int connected = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
        if (connected < 0) {
            // Where descriptors or memory have run out, whoever wants to connect stays in the
            // queue.
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            continue;
        }
        try {
            std::thread([&service, connected] { service.serve(connected); }).detach();
        } catch (const std::system_error&) {
            ::close(connected);  // so many threads already; the CPU engine answers
        }
    }
    ::unlink(options.socket.c_str());
    // Threads may be anywhere, in the driver as well; the system takes all back.
    std::fflush(nullptr);
    ::_exit(service.lost() ? kDeviceLost : 0);
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

// Which of CUDA's devices work together: kernels and parts are made for all of them alike.
std::vector<int> ordinals(const Options& options) {
    if (options.ordinal >= 0) return {options.ordinal};
    std::string reason;
    const std::vector<DeviceFacts> all = cuda_devices(&reason);
    if (all.empty()) throw DeviceError(DeviceError::Kind::kAbsent, reason);
    std::vector<int> alike;
    for (size_t i = 0; i < all.size(); ++i)
        if (all[i].name == all[0].name) alike.push_back(static_cast<int>(i));
    return alike;
}

// Returns the status to end with where it could not begin.
int run(const Options& options) {
    std::signal(SIGTERM, end);
    std::signal(SIGINT, end);
    std::string reason;
    try {
        std::vector<std::unique_ptr<Device>> devices;
        std::vector<Device*> used;
        const auto add = [&](const auto& open) {
            for (int copy = 0; copy < options.copies && used.size() < kMostDevices; ++copy)
                used.push_back(devices.emplace_back(open()).get());
        };
        if (options.host) {
            add([] { return open_host_device(); });
            const auto compiler = checked(make_host_compiler(&reason), reason);
            serve(options, used, *compiler);
        }
        for (const int ordinal : ordinals(options)) add([&] { return open_cuda_device(ordinal); });
        const int driver = used[0]->facts().driver_version;
        const auto compiler = checked(make_nvrtc_compiler(&reason, driver), reason);
        serve(options, used, *compiler);
    } catch (const DeviceError& error) {
        tell(options, error.what());
        return error.kind() == DeviceError::Kind::kAbsent ? kDeviceAbsent : 1;
    } catch (const std::exception& error) {
        tell(options, error.what());
        return 1;
    }
}

}  // namespace
}  // namespace loom::gpu

int main(int argc, char** argv) {
    return loom::gpu::run(loom::gpu::parse(argc, argv));
}
