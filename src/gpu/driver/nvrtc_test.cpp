#include "gpu/driver/nvrtc_compiler.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gpu/driver/device.h"
#include "gpu/driver/test_kernels.h"

namespace loom::gpu::test {
namespace {

class NvrtcCompiler : public testing::Test {
  protected:
    void SetUp() override {
        std::string reason;
        compiler_ = make_nvrtc_compiler(&reason);
        if (compiler_ == nullptr) {
            std::printf("skipped: no NVRTC (%s)\n", reason.c_str());
            GTEST_SKIP();
        }
    }
    std::unique_ptr<Compiler> compiler_;
};

TEST_F(NvrtcCompiler, CompilesForEachArchitecture) {
    for (const char* architecture : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
        for (const std::string& text : {operations_text(), sql_text()}) {
            const std::string image = compiler_->compile(text, architecture);
            EXPECT_EQ(image.substr(0, 4),
                      "\x7f"
                      "ELF");
        }
    }
}

TEST_F(NvrtcCompiler, SaysWhatIsWrong) {
    for (const char* text : {"int kernel = no_such_thing;", "#include <vector>\n"}) {
        try {
            compiler_->compile(text, "sm_90");
            ADD_FAILURE() << text;
        } catch (const DeviceError& error) {
            EXPECT_EQ(error.kind(), DeviceError::Kind::kRefused);
            EXPECT_NE(std::string(error.what()).find("kernels.cu(1)"), std::string::npos)
                << error.what();
        }
    }
    EXPECT_THROW(compiler_->compile("", "host"), DeviceError);
    EXPECT_THROW(compiler_->compile("", "sm_1"), DeviceError);
    EXPECT_EQ(compiler_->version().substr(0, 6), "NVRTC ");
}

TEST_F(NvrtcCompiler, GivesTheSameImageAgain) {
    EXPECT_EQ(compiler_->compile(operations_text(), "sm_90"),
              compiler_->compile(operations_text(), "sm_90"));
}

TEST(DeviceHeaders, AreThoseOfTheSources) {
    const auto built = std::filesystem::last_write_time("/proc/self/exe");
    bool machine = false;
    bool fault = false;
    for (const Header& header : device_headers()) {
        machine |= std::string(header.name) == "gpu/runtime/machine.h";
        fault |= std::string(header.name) == "sql/fault.h";
        const std::filesystem::path path =
            std::filesystem::path(LOOM_SOURCE_DIR) / "src" / header.name;
        // The program may run where the sources are not, or beside somebody who edits them.
        if (!std::filesystem::exists(path) || std::filesystem::last_write_time(path) > built)
            continue;
        std::ifstream in(path, std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(in), {});
        EXPECT_EQ(header.text, text) << header.name;
    }
    EXPECT_TRUE(machine);
    EXPECT_TRUE(fault);
}

}  // namespace
}  // namespace loom::gpu::test
