// loom-gpud over a device that fails at every point: it answers right, or says that the CPU has to
// answer, and goes on.

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compare.h"
#include "gpu/driver/faulty_device.h"
#include "gpu/driver/host_compiler.h"
#include "gpu/driver/host_device.h"
#include "gpu/service/service.h"
#include "plan/serialise.h"
#include "random_plans.h"

namespace loom::gpu {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// A service, and one who asks it.
class Asked {
  public:
    /// The faults are those of the last of `devices` devices.
    Asked(const FaultPlan& faults, Compiler& compiler, const ServiceOptions& options,
          size_t devices = 1)
        : device_(open_host_device(), faults) {
        std::vector<Device*> all;
        while (all.size() + 1 < devices)
            all.push_back(others_.emplace_back(open_host_device()).get());
        all.push_back(&device_);
        try {
            service_ = std::make_unique<Service>(all, compiler, options);
        } catch (const DeviceError&) {
            return;  // loom-gpud could not begin
        }
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        serving_ = std::thread([this, end = ends[0]] { service_->serve(end); });
        channel_ = std::make_unique<Channel>(ends[1]);
    }
    ~Asked() {
        device_.release_hang();
        channel_.reset();
        if (serving_.joinable()) serving_.join();
    }

    bool has_begun() const { return service_ != nullptr; }
    bool lost() const { return service_->lost(); }
    FaultyDevice& device() { return device_; }

    void write(const std::string& request) {
        EXPECT_TRUE(channel_->write(FrameKind::kRun, request, milliseconds(10'000)));
    }
    Frame read() {
        Frame frame;
        do {
            EXPECT_EQ(channel_->read(frame, milliseconds(10'000), [] {}), Channel::Got::kFrame);
        } while (frame.kind == FrameKind::kWorking);
        return frame;
    }

  private:
    std::vector<std::unique_ptr<Device>> others_;
    FaultyDevice device_;
    std::unique_ptr<Service> service_;
    std::thread serving_;
    std::unique_ptr<Channel> channel_;
};

class ServiceFaults : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        compiler_ = make_host_compiler(&reason_);
        if (compiler_ == nullptr) return;
        directory_ = fs::temp_directory_path() / ("loom-gpu-faults-" + std::to_string(getpid()));
        fs::remove_all(directory_);
        fs::create_directories(directory_);
        options_.cache = (directory_ / "kernels").string();
        options_.threads = 2;
        options_.tune = false;
        // The first star that kernels compute, with joins and several groups.
        for (uint64_t seed = 1;; ++seed) {
            Maker maker(seed);
            star_ = make_star(maker, directory_.string());
            // One file: each one more has its own calls that are made good.
            star_.inputs.tables[0].files.resize(1);
            if (star_.inputs.tables.size() < 3) continue;
            make_request();
            Asked asked({}, *compiler_, options_);
            asked.write(request_);
            const Frame frame = asked.read();
            if (frame.kind != FrameKind::kRows) continue;
            expected_ = rows_on_cpu(star_.aggregate, star_.inputs);
            EXPECT_EQ(lines_of(frame), expected_);
            if (expected_.size() > 1) break;
        }
    }
    static void TearDownTestSuite() {
        fs::remove_all(directory_);
        star_ = {};
        compiler_ = nullptr;
    }
    void SetUp() override {
        if (compiler_ == nullptr) GTEST_SKIP() << "skipped: " << reason_;
    }

    static void make_request() {
        RunRequest request;
        request.plan = plan::serialise(star_.aggregate);
        request.parameters = star_.inputs.parameters;
        for (const exec::TableSource& table : star_.inputs.tables) {
            auto& files = request.tables.emplace_back();
            for (const exec::ScanFile& file : table.files)
                files.push_back(
                    {file.reader->file().path(), file.reader->file().identity(), file.columns});
        }
        request_ = encode(request);
    }

    static std::vector<std::string> lines_of(const Frame& frame) {
        // Behind the rows stands a time.
        const std::string body = frame.body.substr(0, frame.body.size() - sizeof(double));
        const auto rows = decode_rows(body, star_.aggregate.output);
        return rows_of(*rows, star_.aggregate.output.size());
    }

    // Asks three times with one call of a kind failing: the first, the second, and so on, until all
    // go well. Returns how many did not.
    static int fail_one_by_one(int64_t FaultPlan::*kind, int64_t step, size_t devices = 1) {
        int failed = 0;
        for (int64_t n = 1;; n += step) {
            SCOPED_TRACE(n);
            FaultPlan faults;
            faults.*kind = n;
            Asked asked(faults, *compiler_, options_, devices);
            if (!asked.has_begun()) {
                ++failed;
                continue;
            }
            int declined = 0;
            for (int i = 0; i < 3; ++i) {
                asked.write(request_);
                const Frame frame = asked.read();
                if (frame.kind == FrameKind::kRows) {
                    EXPECT_EQ(lines_of(frame), expected_);
                    continue;
                }
                ++declined;
                EXPECT_EQ(frame.kind, FrameKind::kDeclined);
                EXPECT_FALSE(frame.body.empty());
                // A lost device stays so; other calls fail once.
                EXPECT_EQ(asked.lost(), kind == &FaultPlan::call);
            }
            if (kind != &FaultPlan::call) {
                EXPECT_LE(declined, 1);
            }
            const bool all_well = declined == 0;
            const bool is_made_good = kind == &FaultPlan::allocation || kind == &FaultPlan::launch;
            if (all_well && (!is_made_good || n > kMostMadeGood)) return failed;
            if (!all_well) ++failed;
            if (testing::Test::HasFailure()) return failed;
        }
    }
    // A first allocation that fails is tried again once others have made room; what kernels that
    // load columns cannot do, the host does.
    static constexpr int64_t kMostMadeGood = 60;

    static inline std::string reason_;
    static inline std::unique_ptr<Compiler> compiler_;
    static inline fs::path directory_;
    static inline ServiceOptions options_;
    static inline Star star_;
    static inline std::string request_;
    static inline std::vector<std::string> expected_;
};

// One device of two takes a part of the rows, and fails.
TEST_F(ServiceFaults, ADeviceOfTwo) {
    options_.spread_bytes = 1;
    const std::string path = (directory_ / "second.parquet").string();
    const std::vector<exec::ScanFile> files = star_.inputs.tables[0].files;
    const std::string request = request_;
    const auto expected = expected_;
    // The same rows once more.
    fs::copy_file(files[0].reader->file().path(), path);
    exec::ScanFile& second = star_.inputs.tables[0].files.emplace_back(files[0]);
    second.reader = format::open_table(io::open_local_file(path), {});
    make_request();
    expected_ = rows_on_cpu(star_.aggregate, star_.inputs);
    EXPECT_GT(fail_one_by_one(&FaultPlan::launch, 2, 2), 0);
    EXPECT_GT(fail_one_by_one(&FaultPlan::call, 25, 2), 0);
    fail_one_by_one(&FaultPlan::allocation, 8, 2);
    options_.spread_bytes = DeviceContext::kSpreadBytes;
    star_.inputs.tables[0].files = files;
    request_ = request;
    expected_ = expected;
}

// A file that cannot be read now may be read later; only what kernels cannot do is so for good.
TEST_F(ServiceFaults, FilesThatAreReadableAgain) {
    const std::vector<ColumnPlan> plans = {{kInt4, 0, 100}, {kInt8, 0, 100'000}};
    const std::string path = (directory_ / "again.parquet").string();
    Maker maker(11);
    const exec::ScanFile file = maker.make_table(plans, 5000, path).files[0];
    const auto request = [&](int column, bool prepared) {
        plan::Operator sum;
        sum.kind = plan::OperatorKind::kAggregate;
        sum.inputs.push_back(scan(0, plans, 5000));
        sum.aggregates = {aggregate_call(column == 0 ? 2108 : 2107,
                                         {plan::make_column(column, plans[column].type)})};
        sum.output = {sum.aggregates[0].type};
        RunRequest made;
        made.plan = plan::serialise(sum);
        made.prepared = prepared;
        made.tables = {{{path, file.reader->file().identity(), file.columns}}};
        return encode(made);
    };
    Asked asked({}, *compiler_, options_);
    asked.write(request(0, false));
    ASSERT_EQ(asked.read().kind, FrameKind::kRows);
    std::string bytes(fs::file_size(path), 0);
    ASSERT_TRUE(std::ifstream(path).read(bytes.data(), static_cast<std::streamsize>(bytes.size())));
    fs::resize_file(path, 10);
    for (int i = 0; i < 20; ++i) {
        asked.write(request(1, true));
        ASSERT_EQ(asked.read().kind, FrameKind::kDeclined);
        std::this_thread::sleep_for(milliseconds(10));
    }
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
    Frame frame;
    for (int i = 0; i < 1000 && frame.kind != FrameKind::kRows; ++i) {
        asked.write(request(1, true));
        frame = asked.read();
        std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_EQ(frame.kind, FrameKind::kRows) << frame.body;
}

TEST_F(ServiceFaults, MemoryThatIsNotThere) {
    fail_one_by_one(&FaultPlan::allocation, 4);
}

TEST_F(ServiceFaults, LaunchesThatAreRefused) {
    EXPECT_GT(fail_one_by_one(&FaultPlan::launch, 1), 1);
}

TEST_F(ServiceFaults, ModulesThatDoNotLoad) {
    // A module whose image does not load is compiled once more.
    fail_one_by_one(&FaultPlan::load, 1);
}

TEST_F(ServiceFaults, ADeviceThatIsLost) {
    EXPECT_GT(fail_one_by_one(&FaultPlan::call, 9), 5);
}

TEST_F(ServiceFaults, ADeviceThatHangs) {
    ServiceOptions options = options_;
    options.longest_run = milliseconds(300);
    int lost = 0;
    for (int64_t n = 1;; n += 3) {
        SCOPED_TRACE(n);
        FaultPlan faults;
        faults.wait = n;
        Asked asked(faults, *compiler_, options);
        ASSERT_TRUE(asked.has_begun());
        asked.write(request_);
        bool hung = false;
        for (int i = 0; i < 90 && !asked.lost(); ++i) {
            hung = hung || asked.device().hangs();
            if (!hung && i > 40) break;
            std::this_thread::sleep_for(milliseconds(10));
        }
        lost += asked.lost() ? 1 : 0;
        asked.device().release_hang();
        EXPECT_EQ(lines_of(asked.read()), expected_);
        if (!hung) break;
        if (lost > 0) break;
    }
    EXPECT_GT(lost, 0);
}

}  // namespace

}  // namespace loom::gpu
