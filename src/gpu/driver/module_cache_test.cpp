#include "gpu/driver/module_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace loom::gpu {
namespace {

namespace fs = std::filesystem;

// A device that takes any image which begins with the name of its architecture.
class PaperModule : public Module {
  public:
    explicit PaperModule(std::string_view bytes) : image(bytes) {}
    Kernel kernel(const std::string&) override { return {}; }
    std::string image;
};
class PaperDevice : public Device {
  public:
    PaperDevice() { facts_.architecture = "paper"; }
    const DeviceFacts& facts() const override { return facts_; }
    MemoryState memory() override { return {}; }
    DeviceAddress allocate(uint64_t) override { return 0; }
    void release(DeviceAddress) noexcept override {}
    void* pin(uint64_t) override { return nullptr; }
    void unpin(void*) noexcept override {}
    std::unique_ptr<Stream> make_stream() override { return nullptr; }
    std::unique_ptr<Module> load(base::ByteSpan image) override {
        const std::string_view text = base::as_text(image);
        if (!text.starts_with(accepted))
            throw DeviceError(DeviceError::Kind::kRefused, "not on this paper");
        return std::make_unique<PaperModule>(text);
    }
    std::string accepted = "paper";

  private:
    DeviceFacts facts_;
};
class PaperCompiler : public Compiler {
  public:
    std::string compile(const std::string& text, const std::string& architecture) override {
        ++compiles;
        if (pause_ms != 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
        if (text == "wrong") throw DeviceError(DeviceError::Kind::kRefused, "wrong");
        return architecture + ":" + text;
    }
    std::string version() const override { return version_text; }
    std::string version_text = "1";
    int pause_ms = 0;
    std::atomic<int> compiles{0};
};

class ModuleCacheTest : public testing::Test {
  protected:
    void SetUp() override {
        options_.folder =
            (fs::temp_directory_path() / ("loom_cache_test_" + std::to_string(getpid()))).string();
        fs::remove_all(options_.folder);
    }
    void TearDown() override { fs::remove_all(options_.folder); }

    std::unique_ptr<ModuleCache> open() {
        return std::make_unique<ModuleCache>(device_, compiler_, options_);
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(options_.folder))
            found.push_back(entry.path());
        return found;
    }
    static std::string image(const std::shared_ptr<Module>& module) {
        return dynamic_cast<PaperModule&>(*module).image;
    }
    // Reads, changes and writes the only file.
    template <typename Change>
    void change_file(Change&& change) {
        ASSERT_EQ(files().size(), 1U);
        const fs::path path = files().front();
        std::string bytes;
        {
            std::ifstream in(path, std::ios::binary);
            bytes.assign(std::istreambuf_iterator<char>(in), {});
        }
        change(bytes);
        std::ofstream(path, std::ios::binary) << bytes;
    }

    PaperDevice device_;
    PaperCompiler compiler_;
    ModuleCacheOptions options_;
};

TEST_F(ModuleCacheTest, FindsWhatWasCompiled) {
    auto cache = open();
    EXPECT_EQ(cache->folder_problem(), "");
    EXPECT_EQ(cache->find("a"), nullptr);
    const auto module = cache->get("a");
    EXPECT_EQ(image(module), "paper:a");
    EXPECT_EQ(cache->get("a"), module);
    EXPECT_EQ(cache->find("a"), module);
    EXPECT_NE(cache->get("b"), module);
    ModuleCacheCounters counters = cache->counters();
    EXPECT_EQ(counters.compiles, 2U);
    EXPECT_EQ(counters.memory_hits, 2U);
    EXPECT_EQ(counters.disk_hits, 0U);

    cache = open();
    EXPECT_EQ(image(cache->find("a")), "paper:a");
    EXPECT_EQ(image(cache->get("b")), "paper:b");
    EXPECT_EQ(image(cache->get("c")), "paper:c");
    counters = cache->counters();
    EXPECT_EQ(counters.disk_hits, 2U);
    EXPECT_EQ(counters.compiles, 1U);
    EXPECT_EQ(compiler_.compiles, 3);
    EXPECT_EQ(files().size(), 3U);
}

TEST_F(ModuleCacheTest, TellsVersionsApart) {
    open()->get("a");
    compiler_.version_text = "2";
    EXPECT_EQ(open()->find("a"), nullptr);
    EXPECT_EQ(image(open()->get("a")), "paper:a");
    EXPECT_EQ(compiler_.compiles, 2);
}

TEST_F(ModuleCacheTest, IgnoresDamagedFiles) {
    open()->get("a");
    const auto damaged = [&](const char* what) {
        const auto cache = open();
        EXPECT_EQ(cache->find("a"), nullptr) << what;
        EXPECT_EQ(files().size(), 0U) << what;
        EXPECT_EQ(image(cache->get("a")), "paper:a") << what;
        EXPECT_EQ(cache->counters().damaged_files, 1U) << what;
        EXPECT_EQ(cache->counters().compiles, 1U) << what;
        EXPECT_EQ(image(open()->find("a")), "paper:a") << what;
    };
    change_file([](std::string& bytes) { bytes.back() ^= 1; });
    damaged("a bit of the image");
    change_file([](std::string& bytes) { bytes.pop_back(); });
    damaged("an image that is cut");
    change_file([](std::string& bytes) { bytes.resize(20); });
    damaged("a header that is cut");
    change_file([](std::string& bytes) { bytes.clear(); });
    damaged("an empty file");
    change_file([](std::string& bytes) { bytes += "x"; });
    damaged("a byte too many");
    for (size_t i = 0; i < 48; ++i) {
        change_file([&](std::string& bytes) { bytes[i] = static_cast<char>(bytes[i] ^ 0x80); });
        damaged("a bit of the header");
    }
}

TEST_F(ModuleCacheTest, ReplacesImagesThatTheDeviceRefuses) {
    open()->get("a");
    device_.accepted = "other paper";
    const auto cache = open();
    EXPECT_EQ(cache->find("a"), nullptr);
    EXPECT_EQ(files().size(), 0U);
    EXPECT_THROW(cache->get("a"), DeviceError);
    EXPECT_EQ(cache->counters().failures, 1U);
    EXPECT_EQ(files().size(), 0U);
}

TEST_F(ModuleCacheTest, RemembersNoFailures) {
    const auto cache = open();
    EXPECT_THROW(cache->get("wrong"), DeviceError);
    EXPECT_THROW(cache->get("wrong"), DeviceError);
    EXPECT_EQ(compiler_.compiles, 2);
    EXPECT_EQ(cache->counters().failures, 2U);
}

TEST_F(ModuleCacheTest, BoundsTheFolder) {
    const std::string long_text(1000, 'x');
    options_.folder_bytes = 3 * (1000 + 10 + 48);
    const auto cache = open();
    const auto name = [&](char c) { return std::string(1, c) + long_text; };
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
    for (const char c : {'a', 'b', 'c'}) {
        cache->get(name(c));
        pause();
    }
    EXPECT_NE(open()->find(name('a')), nullptr);  // so that `b` is the oldest
    pause();
    cache->get(name('d'));
    EXPECT_EQ(files().size(), 3U);
    EXPECT_EQ(open()->find(name('b')), nullptr);
    EXPECT_NE(open()->find(name('a')), nullptr);
    cache->get(std::string(4000, 'y'));
    EXPECT_EQ(files().size(), 3U) << "too large to be kept";
}

TEST_F(ModuleCacheTest, BoundsLoadedModules) {
    options_.folder.clear();
    options_.modules = 2;
    const auto cache = open();
    const std::weak_ptr<Module> first = cache->get("a");
    cache->get("b");
    cache->get("a");
    const auto third = cache->get("c");
    EXPECT_FALSE(first.expired());
    EXPECT_EQ(cache->find("b"), nullptr);
    cache->get("d");
    EXPECT_TRUE(first.expired());
    EXPECT_EQ(cache->get("c"), third);
}

TEST_F(ModuleCacheTest, DoesWithoutAFolder) {
    options_.folder.clear();
    EXPECT_NE(open()->folder_problem(), "");
    EXPECT_NE(open()->get("a"), nullptr);

    SetUp();
    fs::create_directory(options_.folder);
    fs::permissions(options_.folder, fs::perms::all);
    EXPECT_NE(open()->folder_problem().find("others may write"), std::string::npos);
    EXPECT_NE(open()->get("a"), nullptr);
    EXPECT_TRUE(files().empty());

    fs::remove(options_.folder);
    std::ofstream(options_.folder) << "a file";
    EXPECT_NE(open()->folder_problem(), "");
    EXPECT_NE(open()->get("a"), nullptr);
}

TEST_F(ModuleCacheTest, CompilesOnceForSeveralThreads) {
    compiler_.pause_ms = 50;
    const auto cache = open();
    std::vector<std::shared_ptr<Module>> modules(8);
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (size_t i = 0; i < modules.size(); ++i)
        threads.emplace_back([&, i] {
            modules[i] = cache->get("a");
            try {
                cache->get("wrong");
            } catch (const DeviceError&) {
                ++failures;
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& module : modules) EXPECT_EQ(module, modules.front());
    EXPECT_EQ(cache->counters().compiles, 1U);
    EXPECT_EQ(cache->counters().memory_hits, 7U);
    EXPECT_EQ(failures, 8);
}

}  // namespace
}  // namespace loom::gpu
