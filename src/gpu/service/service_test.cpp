// What loom-gpud answers to requests that are none, or that have nothing to do with the files.

#include "gpu/service/service.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include <sys/socket.h>

#include "gpu/driver/host_device.h"
#include "plan/serialise.h"

namespace loom::gpu {

namespace {

using std::chrono::milliseconds;

class NoCompiler final : public Compiler {
  public:
    std::string compile(const std::string&, const std::string&) override {
        throw DeviceError(DeviceError::Kind::kRefused, "no compiler\nhere");
    }
    std::string version() const override { return "none"; }
};

class Connection {
  public:
    Connection() : device_(open_host_device()), service_({device_.get()}, compiler_, {}) {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        serving_ = std::thread([this, end = ends[0]] { service_.serve(end); });
        channel_ = std::make_unique<Channel>(ends[1]);
    }
    ~Connection() {
        channel_.reset();
        serving_.join();
    }

    Frame ask(FrameKind kind, const std::string& body) {
        Frame frame;
        EXPECT_TRUE(channel_->write(kind, body, milliseconds(10000)));
        do {
            EXPECT_EQ(channel_->read(frame, milliseconds(10000), [] {}), Channel::Got::kFrame);
        } while (frame.kind == FrameKind::kWorking);
        return frame;
    }

    void expect_declined(const std::string& body, const std::string& part) {
        const Frame frame = ask(FrameKind::kRun, body);
        EXPECT_EQ(frame.kind, FrameKind::kDeclined);
        EXPECT_NE(frame.body.find(part), std::string::npos) << frame.body;
        EXPECT_EQ(frame.body.find('\n'), std::string::npos);
    }

  private:
    std::unique_ptr<Device> device_;
    NoCompiler compiler_;
    Service service_;
    std::thread serving_;
    std::unique_ptr<Channel> channel_;
};

RunRequest counting(int source) {
    plan::Operator scan;
    scan.source = source;
    plan::Operator count;
    count.kind = plan::OperatorKind::kAggregate;
    count.inputs = {scan};
    count.output = {plan::make_type(plan::TypeId::kInt8)};
    RunRequest request;
    request.plan = plan::serialise(count);
    return request;
}

TEST(Service, RequestsThatAreNone) {
    Connection connection;
    connection.expect_declined("", "a message to the device's process");
    connection.expect_declined("garbage", "a message to the device's process");
    RunRequest request;
    request.plan = "no plan";
    connection.expect_declined(encode(request), "serialised plan");
    EXPECT_EQ(connection.ask(FrameKind::kRows, "").kind, FrameKind::kDeclined);
    EXPECT_EQ(connection.ask(FrameKind::kInfo, "").kind, FrameKind::kFacts);
}

TEST(Service, PlansWithoutTheirTables) {
    Connection connection;
    for (const int source : {-1, 0, 1000})
        connection.expect_declined(encode(counting(source)), "a plan without its tables");
}

TEST(Service, FilesThatAreNotThere) {
    Connection connection;
    RunRequest request = counting(0);
    RequestFile file;
    file.path = testing::TempDir() + "/loom_service_test.missing";
    request.tables = {{file}};
    connection.expect_declined(encode(request), file.path);
    // One of that name, but another version of it.
    request.tables[0][0].path = testing::TempDir() + "/loom_service_test.parquet";
    std::ofstream(request.tables[0][0].path) << "PAR1";
    connection.expect_declined(encode(request), "is another one by now");
}

}  // namespace

}  // namespace loom::gpu
