// The Star Schema Benchmark's plans as kernels on the device that is the host's processor.

#include "ssb_plans.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "compare.h"
#include "generate.h"
#include "gpu/codegen/expression_text.h"
#include "gpu/driver/host_compiler.h"
#include "gpu/driver/host_device.h"
#include "gpu/driver/nvrtc_compiler.h"
#include "table.h"

namespace loom::gpu {
namespace {

namespace fs = std::filesystem;

class Ssb : public testing::Test {
  protected:
    static constexpr double kScale = 0.01;

    static void SetUpTestSuite() {
        directory_ = fs::temp_directory_path() / ("loom-gpu-test-" + std::to_string(getpid()));
        fs::remove_all(directory_);
        fs::create_directories(directory_);
        datagen::Request request;
        request.kind = "ssb";
        request.scale = kScale;
        datagen::OutputOptions options;
        options.directory = directory_;
        options.row_group_rows = 5'000;
        datagen::Progress progress;
        for (const auto& table : datagen::make_tables(request))
            datagen::generate(*table, options, progress);
    }
    static void TearDownTestSuite() { fs::remove_all(directory_); }

    static fs::path directory_;
};
fs::path Ssb::directory_;

}  // namespace

TEST_F(Ssb, GroupsAreThoseOfTheCpuEngine) {
    std::string reason;
    const std::unique_ptr<Compiler> compiler = make_host_compiler(&reason);
    if (compiler == nullptr) GTEST_SKIP() << "skipped: " << reason;
    const std::unique_ptr<Device> device = open_host_device();
    ModuleCache modules(*device, *compiler, {});
    ColumnStore columns(*device, 2);
    DeviceContext context{*device, modules, columns};
    const exec::Inputs inputs = open_ssb(directory_);
    size_t groups = 0;
    std::set<std::string> texts;
    for (const SsbQuery& query : ssb_queries(6'000'000 * kScale)) {
        SCOPED_TRACE(query.name);
        std::unique_ptr<DeviceRows> rows;
        RunTimes times;
        try {
            rows = run_aggregate(context, query.aggregate, inputs, &times);
        } catch (const NotInKernels& refused) {
            ADD_FAILURE() << refused.reason;
            continue;
        }
        const auto found = rows_of(*rows, query.aggregate.output.size());
        EXPECT_EQ(found, rows_on_cpu(query.aggregate, inputs));
        groups += found.size();
        texts.insert(times.texts.begin(), times.texts.end());
    }
    EXPECT_GT(groups, 300U);

    const std::unique_ptr<Compiler> nvrtc = make_nvrtc_compiler(&reason);
    if (nvrtc == nullptr) {
        std::printf("skipped: %s\n", reason.c_str());
        return;
    }
    for (const std::string& text : texts)
        for (const char* architecture : {"sm_80", "sm_90", "sm_100", "sm_120"})
            EXPECT_NO_THROW(nvrtc->compile(text, architecture)) << architecture << "\n" << text;
}

}  // namespace loom::gpu
