// The Star Schema Benchmark on a device, without PostgreSQL: time of the device and of the whole
// run, checked against the CPU engine.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "compare.h"
#include "first_touch.h"
#include "gpu/codegen/expression_text.h"
#include "gpu/driver/cuda_device.h"
#include "gpu/driver/host_compiler.h"
#include "gpu/driver/host_device.h"
#include "gpu/driver/nvrtc_compiler.h"
#include "ssb_plans.h"

namespace loom::gpu {
namespace {

constexpr const char* kHelp = R"(loom-gpu-bench runs the Star Schema Benchmark's plans on a device.

Usage:
  loom-gpu-bench DIRECTORY [OPTION]...

DIRECTORY holds what `loom-datagen ssb` writes.

  --host           the host's processor in the place of a device
  --rounds=NUMBER  runs of each query (default 7); medians are shown
  --query=NAME     only this one
  --no-check       without the CPU engine's answers
  --cache=FOLDER   keeps compiled kernels
  --json=FILE      writes the figures there
  --kernels        shows each kernel's time
  --first-touch    only loads lineorder's columns again and again, beside the link's speed
  --sweep          tries other ways to write each query's last kernel
  --compile=ARCH   only has NVRTC compile each query's kernels for an architecture such as sm_90;
                   needs no device with --host
)";

struct Options {
    std::string directory;
    bool host = false;
    bool check = true;
    int rounds = 7;
    bool kernels = false;
    bool sweep = false;
    bool first_touch = false;
    std::string query;
    std::string architecture;
    std::string cache;
    std::string json;
};

std::optional<Options> parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view arg = argv[i];
        const auto value = [&](std::string_view name) -> std::optional<std::string> {
            if (!arg.starts_with(name)) return std::nullopt;
            return std::string(arg.substr(name.size()));
        };
        if (arg == "--host")
            options.host = true;
        else if (arg == "--no-check")
            options.check = false;
        else if (arg == "--kernels")
            options.kernels = true;
        else if (arg == "--first-touch")
            options.first_touch = true;
        else if (arg == "--sweep")
            options.sweep = true;
        else if (const auto rounds = value("--rounds="))
            options.rounds = std::max(1, std::atoi(rounds->c_str()));
        else if (const auto query = value("--query="))
            options.query = *query;
        else if (const auto architecture = value("--compile="))
            options.architecture = *architecture;
        else if (const auto cache = value("--cache="))
            options.cache = *cache;
        else if (const auto json = value("--json="))
            options.json = *json;
        else if (arg.starts_with("--") || !options.directory.empty())
            return std::nullopt;
        else
            options.directory = arg;
    }
    return options.directory.empty() ? std::nullopt : std::optional(options);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

struct Line {
    std::string name;
    double first = 0;    // the whole of the first run
    double compile = 0;  // in it
    double load = 0;     // in it
    double device = 0;
    double total = 0;
    double cpu = 0;
    bool right = true;
    std::string kernel;
    std::string launches;
    std::vector<std::string> rows;
};

class Bench {
  public:
    Bench(const Options& options, Device& device, Compiler& compiler)
        : options_(options),
          device_(device),
          pool_(device),
          modules_(device, compiler, {.folder = options.cache}),
          threads_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
          columns_(device, threads_, UINT64_MAX, &modules_),
          inputs_(open_ssb(options.directory)) {}

    // Prints how long NVRTC takes for each module.
    bool compile() {
        std::string reason;
        const std::unique_ptr<Compiler> nvrtc =
            make_nvrtc_compiler(&reason, device_.facts().driver_version);
        if (nvrtc == nullptr) {
            fmt::print(stderr, "loom-gpu-bench: {}\n", reason);
            return false;
        }
        // The first one of a process takes longer.
        nvrtc->warm_up();
        fmt::print("{:5} {:>6} {:>10} {:>10} {:>10} {:>10}\n", "query", "module", "compile ms",
                   "load ms", "text B", "cubin B");
        const auto rows = static_cast<double>(inputs_.tables[0].files[0].reader->row_count());
        bool found = false;
        for (const SsbQuery& query : ssb_queries(rows)) {
            if (!options_.query.empty() && options_.query != query.name) continue;
            found = true;
            DeviceContext context{device_, modules_, columns_};
            RunTimes times;
            static_cast<void>(run_aggregate(context, query.aggregate, inputs_, &times));
            for (size_t i = 0; i < times.texts.size(); ++i) {
                const auto [compiled, loaded, bytes] = compile(*nvrtc, times.texts[i]);
                fmt::print("{:5} {:6} {:10.1f} {:>10} {:10} {:10}\n", query.name, i, compiled,
                           options_.host ? "-" : fmt::format("{:.3f}", loaded),
                           times.texts[i].size(), bytes);
            }
        }
        if (!found) say_no_query();
        return found;
    }

    bool run() {
        const auto rows = static_cast<double>(inputs_.tables[0].files[0].reader->row_count());
        fmt::print("{}, {} rows\n", device_.facts().name, static_cast<int64_t>(rows));
        if (!touch_first()) return true;
        fmt::print("{:5} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "query", "load ms",
                   "compile ms", "device ms", "total ms", "cpu ms", "answer", "kernel");
        bool right = true;
        double sum = 0;
        double log_total = 0;
        for (const SsbQuery& query : ssb_queries(rows)) {
            if (!options_.query.empty() && options_.query != query.name) continue;
            const Line line = measure(query);
            fmt::print("{:5} {:10.1f} {:10.1f} {:10.3f} {:10.3f} {:10.1f} {:>10}  {}\n", line.name,
                       line.load, line.compile, line.device, line.total, line.cpu,
                       !options_.check ? "-"
                       : line.right    ? "same"
                                       : "DIFFERS",
                       line.kernel);
            std::fflush(stdout);
            if (options_.kernels) fmt::print("{}", line.launches);
            if (options_.sweep) right = sweep(query, line) && right;
            right = right && line.right;
            sum += line.device;
            log_total += std::log(line.total);
            lines_.push_back(line);
        }
        if (lines_.empty()) {
            say_no_query();
            return false;
        }
        fmt::print(
            "device ms in all: {:.3f}; geometric mean of total ms: {:.3f}; device memory: {:.1f} "
            "GB\n",
            sum, std::exp(log_total / static_cast<double>(lines_.size())),
            static_cast<double>(columns_.bytes()) / 1e9);
        if (!options_.json.empty()) write_json();
        return right;
    }

  private:
    void say_no_query() const {
        fmt::print(stderr, "loom-gpu-bench: no query {}\n", options_.query);
    }

    struct Compiled {
        double compiled = 0;  // milliseconds
        double loaded = 0;
        size_t bytes = 0;
    };
    Compiled compile(Compiler& compiler, const std::string& text) {
        Compiled result;
        std::vector<double> compiled;
        std::vector<double> loaded;
        for (int round = 0; round < options_.rounds; ++round) {
            auto begin = std::chrono::steady_clock::now();
            const std::string image = compiler.compile(text, options_.architecture);
            compiled.push_back(milliseconds_since(begin));
            result.bytes = image.size();
            if (options_.host) continue;
            begin = std::chrono::steady_clock::now();
            const std::unique_ptr<Module> module = device_.load(base::as_bytes(image));
            loaded.push_back(milliseconds_since(begin));
        }
        result.compiled = median(compiled);
        if (!loaded.empty()) result.loaded = median(loaded);
        return result;
    }

    // Measures how fast columns come to the device; false if that is all that is wanted.
    bool touch_first() {
        if (!options_.query.empty()) return true;
        touched_ =
            measure_first_touch(device_, modules_, inputs_.tables[0], threads_, options_.rounds);
        fmt::print("{}\n", to_line(touched_));
        std::fflush(stdout);
        if (options_.first_touch && !options_.json.empty()) write_json();
        return !options_.first_touch;
    }

    // Prints the ways to write a kernel that are faster than the one that is chosen.
    bool sweep(const SsbQuery& query, const Line& chosen) {
        struct Way {
            std::string name;
            KernelChoices choices;
        };
        std::vector<Way> ways;
        for (const KernelChoices& each : other_choices())
            ways.push_back({gpu::describe(each), each});
        std::vector<std::pair<double, std::string>> found;
        bool right = true;
        for (const Way& way : ways) {
            DeviceContext context{device_, modules_, columns_, way.choices};
            context.pool = &pool_;
            std::vector<double> device;
            std::string kernel;
            try {
                for (int round = 0; round < 6; ++round) {
                    RunTimes times;
                    const auto rows = run_aggregate(context, query.aggregate, inputs_, &times);
                    if (round == 0) {
                        right =
                            right && rows_of(*rows, query.aggregate.output.size()) == chosen.rows;
                        kernel = describe(times.kernels.back());
                        continue;
                    }
                    device.push_back(times.device);
                }
            } catch (const DeviceError& error) {
                kernel = error.what();
                device = {1e9};
            }
            found.emplace_back(median(device), fmt::format("{}; {}", way.name, kernel));
        }
        std::sort(found.begin(), found.end());
        for (size_t i = 0; i < std::min<size_t>(5, found.size()); ++i)
            fmt::print("        {:10.3f}  {}\n", found[i].first, found[i].second);
        if (!right) fmt::print("        another answer\n");
        return right;
    }

    static std::string describe(const Launch& launch) {
        return fmt::format("{} registers, {} B local, {} KB shared, {} x {} threads",
                           launch.kernel.registers, launch.kernel.local_bytes,
                           launch.grid.shared_bytes / 1024, launch.grid.blocks,
                           launch.grid.threads);
    }

    Line measure(const SsbQuery& query) {
        Line line;
        line.name = query.name;
        DeviceContext context{device_, modules_, columns_};
        context.pool = &pool_;
        context.texts = &texts_;
        std::vector<std::string> found;
        std::vector<double> device;
        std::vector<double> total;
        for (int round = 0; round <= options_.rounds; ++round) {
            RunTimes times;
            times.wants_kernels = round == 0 || options_.kernels;
            times.wants_texts = false;
            const auto rows = run_aggregate(context, query.aggregate, inputs_, &times);
            if (round == 0) {
                found = rows_of(*rows, query.aggregate.output.size());
                line.first = times.total;
                line.load = times.load;
                line.compile = times.compile;
                line.kernel = describe(times.kernels.back());
                continue;
            }
            device.push_back(times.device);
            total.push_back(times.total);
            line.launches.clear();
            for (const Launch& launch : times.kernels)
                line.launches +=
                    fmt::format("        {:10.3f}  {}\n", launch.milliseconds, launch.name);
        }
        line.rows = found;
        line.device = median(device);
        line.total = median(total);
        if (options_.check) {
            const auto begin = std::chrono::steady_clock::now();
            line.right = found == rows_on_cpu(query.aggregate, inputs_, threads_);
            line.cpu = milliseconds_since(begin);
        }
        return line;
    }

    void write_json() const {
        std::FILE* file = std::fopen(options_.json.c_str(), "w");
        if (file == nullptr) return;
        fmt::print(
            file,
            "{{\"device\": \"{}\", \"first_touch\": {{\"bytes\": {}, \"seconds\": {:.4f}, "
            "\"first_seconds\": {:.4f}, \"gb_per_second\": {:.2f}, "
            "\"values_gb_per_second\": {:.2f}, \"link_gb_per_second\": {:.2f}}}, \"queries\": [\n",
            device_.facts().name, touched_.bytes, touched_.again, touched_.first,
            touched_.rate() / 1e9, touched_.plain_rate() / 1e9, touched_.link / 1e9);
        for (size_t i = 0; i < lines_.size(); ++i)
            fmt::print(file,
                       "{{\"query\": \"{}\", \"load_ms\": {:.3f}, \"compile_ms\": {:.3f}, "
                       "\"device_ms\": {:.4f}, \"total_ms\": {:.4f}, \"cpu_ms\": {:.3f}}}{}\n",
                       lines_[i].name, lines_[i].load, lines_[i].compile, lines_[i].device,
                       lines_[i].total, lines_[i].cpu, i + 1 < lines_.size() ? "," : "");
        fmt::print(file, "]}}\n");
        std::fclose(file);
    }

    const Options& options_;
    Device& device_;
    DevicePool pool_;
    TextTables texts_;
    ModuleCache modules_;
    int threads_;
    ColumnStore columns_;
    exec::Inputs inputs_;
    FirstTouch touched_;
    std::vector<Line> lines_;
};

int run(const Options& options) {
    std::string reason;
    const std::unique_ptr<Device> device = options.host ? open_host_device() : open_cuda_device(0);
    const std::unique_ptr<Compiler> compiler =
        options.host ? make_host_compiler(&reason)
                     : make_nvrtc_compiler(&reason, device->facts().driver_version);
    if (compiler == nullptr) {
        fmt::print(stderr, "loom-gpu-bench: {}\n", reason);
        return 2;
    }
    Bench bench(options, *device, *compiler);
    return (options.architecture.empty() ? bench.run() : bench.compile()) ? 0 : 1;
}

}  // namespace
}  // namespace loom::gpu

int main(int argc, char** argv) {
    const auto options = loom::gpu::parse(argc, argv);
    if (!options) {
        std::fputs(loom::gpu::kHelp, stderr);
        return 2;
    }
    try {
        return loom::gpu::run(*options);
    } catch (const loom::gpu::NotInKernels& refused) {
        std::fprintf(stderr, "loom-gpu-bench: not in kernels: %s\n", refused.reason.c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "loom-gpu-bench: %s\n", error.what());
    }
    return 2;
}
