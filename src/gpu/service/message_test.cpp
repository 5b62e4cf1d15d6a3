// Messages, frames and the places of a plan that are offered.

#include <gtest/gtest.h>

#include <thread>

#include <sys/socket.h>
#include <unistd.h>

#include "gpu/service/channel.h"
#include "gpu/service/cut.h"
#include "gpu/service/message.h"

namespace loom::gpu {

namespace {

using std::chrono::milliseconds;

RunRequest some_request() {
    RunRequest request;
    request.plan = std::string("plan\0text", 9);
    request.prepared = true;
    RequestFile file;
    file.path = "/data/a.parquet";
    file.identity = {1, 2, 3, 4, 5};
    file.columns.resize(2);
    file.columns[0].field = 7;
    file.columns[0].characters = 12;
    file.columns[1].value = column::Scalar::of_bytes("x");
    request.tables = {{}, {file, file}};
    plan::ParameterValue parameter;
    parameter.value = column::Scalar::of_int(-(column::Int128{1} << 100));
    parameter.list = {column::Scalar::of_float(1.5), column::Scalar()};
    parameter.list_null = true;
    request.parameters = {parameter};
    return request;
}

TEST(Message, RequestsComeBack) {
    const std::string bytes = encode(some_request());
    const RunRequest request = decode_request(base::as_bytes(bytes));
    EXPECT_EQ(encode(request), bytes);
    EXPECT_EQ(request.plan.size(), 9U);
    ASSERT_EQ(request.tables.size(), 2U);
    ASSERT_EQ(request.tables[1].size(), 2U);
    EXPECT_EQ(request.tables[1][0].identity.mtime_ns, 4);
    EXPECT_EQ(request.tables[1][0].columns[0].field, 7);
    EXPECT_EQ(request.parameters[0].list[0].number, 1.5);
}

TEST(Message, DamagedRequestsAreRefused) {
    const std::string bytes = encode(some_request());
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THROW(decode_request(base::as_bytes(std::string_view(bytes).substr(0, size))),
                     base::Error);
    EXPECT_THROW(decode_request(base::as_bytes(bytes + "x")), base::Error);
    // Any byte may be another one: no more than an error comes of it.
    for (size_t at = 0; at < bytes.size(); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
        try {
            decode_request(base::as_bytes(damaged));
        } catch (const base::Error&) {
        }
    }
}

// Integers and texts, every third NULL.
class CountingRows final : public exec::RowSource {
  public:
    explicit CountingRows(int64_t rows) : rows_(rows) {}

    int64_t fetch(std::span<exec::Vector> columns) override {
        const int64_t count = std::min<int64_t>(exec::kBatchRows, rows_ - next_);
        texts_.clear();
        texts_.reserve(static_cast<size_t>(count));
        integers_.resize_discarding(static_cast<uint64_t>(count) * 8);
        views_.resize_discarding(static_cast<uint64_t>(count) * sizeof(column::BytesView));
        valid_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
        for (int64_t i = 0; i < count; ++i) {
            integers_.as<int64_t>()[i] = next_ + i;
            const std::string& text =
                texts_.emplace_back(std::string(static_cast<size_t>((next_ + i) % 40), 'x'));
            views_.as<column::BytesView>()[i] = {reinterpret_cast<const uint8_t*>(text.data()),
                                                 static_cast<int64_t>(text.size())};
            base::put_bit(valid_.data(), i, (next_ + i) % 3 != 0);
        }
        for (exec::Vector& column : columns) column = exec::Vector();
        columns[0].type = plan::make_type(plan::TypeId::kInt8);
        columns[0].values = integers_.data();
        columns[1].type = plan::make_type(plan::TypeId::kText);
        columns[1].values = views_.data();
        for (exec::Vector& column : columns) column.validity = valid_.data();
        for (exec::Vector& column : columns) column.length = count;
        next_ += count;
        return count;
    }

  private:
    int64_t rows_;
    int64_t next_ = 0;
    std::vector<std::string> texts_;
    base::Buffer integers_;
    base::Buffer views_;
    base::Buffer valid_;
};

const std::vector<plan::Type> kTypes = {plan::make_type(plan::TypeId::kInt8),
                                        plan::make_type(plan::TypeId::kText)};

TEST(Message, RowsComeBack) {
    for (const int64_t rows : {int64_t{0}, int64_t{1}, exec::kBatchRows - 1, exec::kBatchRows,
                               exec::kBatchRows + 1, 3 * exec::kBatchRows + 5}) {
        CountingRows made(rows);
        const auto got = decode_rows(encode_rows(made, kTypes), kTypes);
        std::vector<exec::Vector> columns(2);
        int64_t row = 0;
        while (const int64_t count = got->fetch(columns))
            for (int64_t i = 0; i < count; ++i, ++row) {
                ASSERT_EQ(columns[0].is_null(i), row % 3 == 0);
                ASSERT_EQ(columns[1].is_null(i), row % 3 == 0);
                if (row % 3 == 0) continue;
                ASSERT_EQ(columns[0].as<int64_t>()[i], row);
                ASSERT_EQ(columns[1].as<column::BytesView>()[i].size, row % 40);
            }
        EXPECT_EQ(row, rows);
        EXPECT_EQ(got->fetch(columns), 0);
    }
}

TEST(Message, DamagedRowsAreRefused) {
    CountingRows made(100);
    const std::string bytes = encode_rows(made, kTypes);
    std::vector<exec::Vector> columns(2);
    for (size_t size = 0; size < bytes.size(); ++size) {
        const auto got = decode_rows(bytes.substr(0, size), kTypes);
        EXPECT_THROW(while (got->fetch(columns) != 0){}, base::Error);
    }
}

struct Pair {
    Pair() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        raw = ends[1];
        channel = std::make_unique<Channel>(ends[0]);
    }
    ~Pair() {
        if (raw >= 0) ::close(raw);
    }
    int raw = -1;
    std::unique_ptr<Channel> channel;
};

TEST(Channel, FramesOfAnySize) {
    Pair pair;
    Channel other(std::exchange(pair.raw, -1));
    for (const size_t size : {size_t{0}, size_t{1}, size_t{5'000'000}}) {
        const std::string body(size, 'b');
        std::thread writer(
            [&] { EXPECT_TRUE(pair.channel->write(FrameKind::kRows, body, milliseconds(10000))); });
        Frame frame;
        EXPECT_EQ(other.read(frame, milliseconds(10000), [] {}), Channel::Got::kFrame);
        writer.join();
        EXPECT_EQ(frame.kind, FrameKind::kRows);
        EXPECT_EQ(frame.body, body);
    }
}

TEST(Channel, SilenceAndEnd) {
    Pair pair;
    Frame frame;
    int looks = 0;
    EXPECT_EQ(pair.channel->read(frame, milliseconds(150), [&] { ++looks; }),
              Channel::Got::kSilence);
    EXPECT_GT(looks, 1);
    EXPECT_FALSE(pair.channel->is_closed());
    ASSERT_EQ(::write(pair.raw, "half a header", 13), 13);
    ::close(std::exchange(pair.raw, -1));
    EXPECT_TRUE(pair.channel->is_closed());
    EXPECT_EQ(pair.channel->read(frame, milliseconds(1000), [] {}), Channel::Got::kEnd);
    EXPECT_FALSE(pair.channel->write(FrameKind::kInfo, "", milliseconds(100)));
}

TEST(Channel, StrangersAreNotUnderstood) {
    Pair pair;
    const std::string noise(200, 'n');
    ASSERT_EQ(::write(pair.raw, noise.data(), noise.size()), 200);
    Frame frame;
    EXPECT_EQ(pair.channel->read(frame, milliseconds(1000), [] {}), Channel::Got::kEnd);
}

TEST(Channel, WhoeverWaitsMayLeave) {
    Pair pair;
    Frame frame;
    EXPECT_THROW(pair.channel->read(frame, milliseconds(10000), [] { throw 1; }), int);
}

TEST(Channel, ReadersWhoDoNotReadEndWrites) {
    Pair pair;
    EXPECT_FALSE(
        pair.channel->write(FrameKind::kRows, std::string(10'000'000, 'x'), milliseconds(100)));
}

plan::Operator counting() {
    plan::Operator scan;
    scan.source = 0;
    scan.output = {plan::make_type(plan::TypeId::kInt4)};
    plan::Operator made;
    made.kind = plan::OperatorKind::kAggregate;
    made.inputs = {scan};
    made.output = {plan::make_type(plan::TypeId::kInt8)};
    plan::Aggregate count;
    count.function = 2803;
    count.type = made.output[0];
    made.aggregates = {count};
    return made;
}

TEST(Cut, AggregatesAreOffered) {
    plan::Operator sort;
    sort.kind = plan::OperatorKind::kSort;
    sort.output = {plan::make_type(plan::TypeId::kInt8)};
    sort.inputs = {counting()};
    std::vector<std::string> reasons;
    int offers = 0;
    const auto take = [&](const plan::Operator&) -> std::optional<int> { return 5 + offers++; };
    const auto left = replace_aggregates(sort, take, &reasons);
    ASSERT_NE(left, nullptr);
    EXPECT_EQ(left->inputs[0].kind, plan::OperatorKind::kRows);
    EXPECT_EQ(left->inputs[0].source, 5);
    EXPECT_EQ(left->inputs[0].output, sort.output);
    EXPECT_EQ(offers, 1);
    const auto none = [](const plan::Operator&) -> std::optional<int> { return std::nullopt; };
    EXPECT_EQ(replace_aggregates(sort, none, &reasons), nullptr);
    EXPECT_TRUE(reasons.empty());
    plan::Operator sorted = sort;
    sorted.inputs[0].inputs = {sort};
    EXPECT_EQ(replace_aggregates(sorted, none, &reasons), nullptr);
    EXPECT_EQ(reasons.size(), 1U);
    // The one below is still there to be offered.
    const auto below = replace_aggregates(sorted, take, &reasons);
    ASSERT_NE(below, nullptr);
    EXPECT_EQ(below->inputs[0].kind, plan::OperatorKind::kAggregate);
}

TEST(Cut, WhatIsSharedIsOfferedOnce) {
    plan::Operator shared;
    shared.kind = plan::OperatorKind::kShared;
    shared.source = 3;
    shared.inputs = {counting()};
    shared.output = shared.inputs[0].output;
    plan::Operator all;
    all.kind = plan::OperatorKind::kAppend;
    all.inputs = {shared, counting(), shared};
    all.output = shared.output;
    std::vector<std::string> reasons;
    int offers = 0;
    const auto take = [&](const plan::Operator&) -> std::optional<int> { return 5 + offers++; };
    const auto left = replace_aggregates(all, take, &reasons);
    ASSERT_NE(left, nullptr);
    EXPECT_EQ(offers, 2);
    for (const size_t i : {0U, 2U}) {
        EXPECT_EQ(left->inputs[i].kind, plan::OperatorKind::kShared);
        EXPECT_EQ(left->inputs[i].source, 3);
        EXPECT_EQ(left->inputs[i].inputs[0].kind, plan::OperatorKind::kRows);
        EXPECT_EQ(left->inputs[i].inputs[0].source, 5);
    }
    EXPECT_EQ(left->inputs[1].source, 6);
}

}  // namespace

}  // namespace loom::gpu
