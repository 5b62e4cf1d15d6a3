// Expressions that the host evaluates, whichever worker meets them.

#include <gtest/gtest.h>

#include <thread>

#include "exec/test_tables.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::Operator;
using plan::OperatorKind;
using plan::TypeId;

constexpr plan::Type kInt4 = plan::make_type(TypeId::kInt4);
constexpr plan::Type kInt8 = plan::make_type(TypeId::kInt8);

// Doubles int4 values; NULL becomes -1, and multiples of ten NULL.
class DoublingHost final : public Host {
  public:
    void check_interrupts() override {}
    Vector evaluate(int expression, std::span<const Vector> args, int64_t rows) override {
        EXPECT_EQ(std::this_thread::get_id(), thread_);
        EXPECT_EQ(expression, 3);
        values_.resize_discarding(static_cast<uint64_t>(rows) * 8);
        known_.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(rows)));
        for (int64_t i = 0; i < rows; ++i) {
            const int64_t from = args[0].form == Form::kConstant ? 0 : i;
            const int32_t value = args[0].is_null(from) ? 0 : args[0].as<int32_t>()[from];
            if (value == fails_at) throw Unrepresentable("a value that the host does not like");
            values_.as<int64_t>()[i] = args[0].is_null(from) ? -1 : int64_t{2} * value;
            base::put_bit(known_.data(), i, args[0].is_null(from) || value % 10 != 0);
        }
        ++calls;
        Vector result;
        result.type = kInt8;
        result.length = rows;
        result.values = values_.data();
        result.validity = known_.data();
        return result;
    }

    int calls = 0;
    int32_t fails_at = -1;

  private:
    std::thread::id thread_ = std::this_thread::get_id();
    base::Buffer values_;
    base::Buffer known_;
};

class HostQuery : public testing::Test {
  protected:
    // The doubles of 0 to kRows - 1 and a NULL, by as many threads as find something to do.
    std::vector<Value> run(int threads) {
        Table table{{kInt4}, {}};
        for (int64_t i = 0; i < kRows; ++i) table.rows.push_back({i});
        table.rows.push_back({Value()});
        Operator shared;
        shared.kind = OperatorKind::kShared;
        shared.source = 0;
        shared.output = table.types;
        Operator rows_of_table;
        rows_of_table.kind = OperatorKind::kRows;
        rows_of_table.source = 0;
        rows_of_table.output = table.types;
        shared.inputs = {rows_of_table};
        Operator project;
        project.kind = OperatorKind::kProject;
        project.output = {kInt8};
        Expr call;
        call.kind = plan::ExprKind::kHost;
        call.type = kInt8;
        call.index = 3;
        call.args = {plan::make_column(0, kInt4)};
        project.expressions = {call};
        project.inputs = {shared};
        TableRows rows(table, kBatchRows);
        Inputs inputs;
        inputs.rows = {&rows};
        Options options;
        options.threads = threads;
        Query query(project, std::move(inputs), options);
        std::vector<Value> result;
        while (const Batch* batch = query.next(host))
            for (int64_t i = 0; i < batch->rows; ++i)
                result.push_back(value_at(batch->columns[0], i));
        std::sort(result.begin(), result.end());
        return result;
    }

    static constexpr int64_t kRows = 200'000;
    DoublingHost host;
};

}  // namespace

TEST_F(HostQuery, HostsThreadAnswersAllWorkers) {
    std::vector<Value> expected(kRows / 10, Value());
    expected.emplace_back(int64_t{-1});
    for (int64_t i = 0; i < kRows; ++i)
        if (i % 10 != 0) expected.emplace_back(2 * i);
    for (const int threads : {1, 2, 5}) EXPECT_EQ(run(threads), expected) << threads;
    EXPECT_GE(host.calls, 3 * kRows / kBatchRows);
}

TEST_F(HostQuery, HostsErrorsEndTheQuery) {
    for (const int32_t row : {0, 3, 99'999, 199'999}) {
        host.fails_at = row;
        for (const int threads : {1, 4}) EXPECT_THROW(run(threads), Unrepresentable);
    }
}

}  // namespace loom::exec
