// Random aggregates over random star schemas: kernels on the device that is the host's processor,
// compared with the CPU engine.

#include "gpu/run/execution.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "compare.h"
#include "gpu/codegen/expression_text.h"
#include "plan_device.h"
#include "random_plans.h"

namespace loom::gpu {
namespace {

namespace fs = std::filesystem;

}  // namespace

TEST(Execution, RandomStarsAreAsOnTheCpu) {
    constexpr int kQueries = 60;
    constexpr int kCompiled = 20;
    std::string reason;
    const PlanDevice opened = open_plan_device();
    if (opened.compiler == nullptr) GTEST_SKIP() << "skipped: " << opened.reason;
    const fs::path directory =
        fs::temp_directory_path() / ("loom-gpu-stars-" + std::to_string(getpid()));
    ModuleCache modules(*opened.device, *opened.compiler, {});
    const PlanDevice second = open_plan_device();
    ModuleCache second_modules(*second.device, *second.compiler, {});
    std::map<std::string, int> refused;
    int faults = 0;
    int in_parts = 0;
    int with_rows = 0;
    size_t most = 0;
    std::set<std::string> texts;
    // What kernels have of joins: build sides that probe others, keys that are hashed, anti and
    // left joins of single rows, anti joins of tiles, numbers for the groups of a build side.
    std::map<std::string, int> shapes = {{"KERNEL(build_level1", 0},
                                         {"KeySet", 0},
                                         {"found", 0},
                                         {"~mask", 0},
                                         {"number_groups", 0}};
    const char* wanted = std::getenv("LOOM_GPU_SEED");
    const uint64_t first = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1;
    const char* many = std::getenv("LOOM_GPU_QUERIES");
    const uint64_t count = many != nullptr ? std::strtoull(many, nullptr, 10) : kQueries;
    DevicePool pool(*opened.device);
    TextTables text_tables;
    for (uint64_t seed = first; seed < first + count; ++seed) {
        SCOPED_TRACE(testing::Message() << "LOOM_GPU_SEED=" << seed);
        fs::remove_all(directory);
        fs::create_directories(directory);
        Maker maker(seed);
        const Star star = make_star(maker, directory);
        SCOPED_TRACE(plan::to_text(star.aggregate));
        ColumnStore columns(*opened.device, 2);
        ColumnStore second_columns(*second.device, 2);
        DeviceContext context{*opened.device, modules, columns};
        // Memory of other runs as well as fresh one, of which the host finds reads beyond the end.
        if (seed % 2 == 0) context.pool = &pool;
        if (seed % 3 == 0) context.texts = &text_tables;
        // As if the device could hold one file.
        if (seed % 3 != 0) context.most_bytes = 1;
        // Build sides by tiles, as large ones are, and by rows.
        if (seed % 4 < 2) context.choices.few_rows = 0;
        std::unique_ptr<DeviceRows> rows;
        std::string fault;
        RunTimes times;
        try {
            // Or by two devices, each with some of the files.
            std::vector<DeviceContext> devices = {context};
            if (seed % 5 == 0) {
                devices.push_back({*second.device, second_modules, second_columns});
                devices[1].number = 1;
                devices[1].choices = context.choices;
                for (DeviceContext& device : devices) {
                    device.most_bytes = UINT64_MAX;
                    device.spread_bytes = 1;
                }
            }
            rows = run_aggregate(devices, star.aggregate, star.inputs, &times);
            texts.insert(times.texts.begin(), times.texts.end());
            in_parts += times.parts > 1 ? 1 : 0;
            std::string all;
            for (const std::string& text : times.texts) all += text;
            for (auto& [shape, seen] : shapes) seen += all.find(shape) != std::string::npos ? 1 : 0;
        } catch (const NotInKernels& refusal) {
            ++refused[refusal.reason];
            continue;
        } catch (const exec::SqlFault& error) {
            fault = error.what();
        } catch (const exec::Unrepresentable& error) {
            fault = error.what();
        }
        try {
            const auto expected = rows_on_cpu(star.aggregate, star.inputs);
            EXPECT_EQ(fault, "") << "a fault that the CPU engine has not";
            if (rows != nullptr) {
                EXPECT_EQ(rows_of(*rows, star.aggregate.output.size()), expected);
            }
            with_rows += expected.size() > 1 ? 1 : 0;
            most = std::max(most, expected.size());
        } catch (const exec::SqlFault& error) {
            EXPECT_NE(fault, "") << "the CPU engine raises a fault: " << error.what();
            ++faults;
        } catch (const exec::Unrepresentable& error) {
            EXPECT_NE(fault, "") << "the CPU engine gives up: " << error.what();
            ++faults;
        }
        if (HasFailure()) break;
    }
    fs::remove_all(directory);
    int all_refused = 0;
    for (const auto& [why, times] : refused) {
        std::printf("refused %d: %s\n", times, why.c_str());
        all_refused += times;
    }
    std::printf(
        "%llu stars: %d refused, %d faults, %d of several groups, %zu at most, %d in parts\n",
        static_cast<unsigned long long>(count), all_refused, faults, with_rows, most, in_parts);
    if (wanted == nullptr && many == nullptr) {
        EXPECT_LT(all_refused, kQueries / 3);
        EXPECT_GT(with_rows, kQueries / 10);
        EXPECT_GT(in_parts, kQueries / 10);
    }
    for (const auto& [shape, times] : shapes) {
        std::printf("%d with %s\n", times, shape.c_str());
        if (wanted == nullptr && many == nullptr) {
            EXPECT_GT(times, 0) << shape;
        }
    }
    const std::unique_ptr<Compiler> nvrtc = make_nvrtc_compiler(&reason);
    if (nvrtc == nullptr) {
        std::printf("skipped: %s\n", reason.c_str());
        return;
    }
    int compiled = 0;
    for (const std::string& text : texts) {
        if (++compiled > kCompiled) break;
        EXPECT_NO_THROW(nvrtc->compile(text, "sm_90")) << text;
    }
}

}  // namespace loom::gpu
