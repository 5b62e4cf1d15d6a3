// Speed of expressions on full batches that lie in the cache: nanoseconds and cycles of the time
// stamp counter a row, the best of many rounds.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/core.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/buffer.h"
#include "exec/expression.h"
#include "exec/functions.h"
#include "simd/mask.h"

namespace {

using namespace loom;
using column::Scalar;
using exec::Form;
using exec::Vector;
using plan::Expr;
using plan::ExprKind;
using plan::Type;
using plan::TypeId;

constexpr int64_t kRows = exec::kBatchRows;

uint64_t ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

// Runs `body`, which handles kRows rows, and prints what a row takes.
void measure(const char* name, const std::function<void()>& body) {
    double best_ns = 1e9;
    double best_ticks = 1e9;
    for (int round = 0; round < 30; ++round) {
        constexpr int kBatches = 200;
        const auto start = std::chrono::steady_clock::now();
        const uint64_t first = ticks();
        for (int i = 0; i < kBatches; ++i) body();
        const double cycles = static_cast<double>(ticks() - first) / (kBatches * kRows);
        const std::chrono::duration<double, std::nano> spent =
            std::chrono::steady_clock::now() - start;
        best_ns = std::min(best_ns, spent.count() / (kBatches * kRows));
        best_ticks = std::min(best_ticks, cycles);
    }
    fmt::print("{:<44} {:7.3f} ns {:7.2f} cycles\n", name, best_ns, best_ticks);
}

struct Data {
    base::Buffer buffer;
    Vector vector;
    std::vector<std::string> texts;
    exec::VectorDictionary dictionary;
    base::Buffer entries;
};

template <typename T, typename Make>
Data numbers(Type type, Make make) {
    Data data;
    data.buffer.resize(kRows * sizeof(T));
    for (int64_t i = 0; i < kRows; ++i) data.buffer.as<T>()[i] = static_cast<T>(make(i));
    data.vector.type = type;
    data.vector.length = kRows;
    data.vector.values = data.buffer.data();
    return data;
}

// Codes of a dictionary of `count` int32 values 0, 1, ...
template <typename Code>
std::unique_ptr<Data> codes(int64_t count) {
    std::mt19937 random(5);
    std::unique_ptr<Data> data = std::make_unique<Data>(
        numbers<Code>(plan::make_type(TypeId::kInt4), [&](int64_t) { return random() % count; }));
    data->entries.resize(static_cast<uint64_t>(count) * 4);
    for (int64_t i = 0; i < count; ++i) data->entries.as<int32_t>()[i] = static_cast<int32_t>(i);
    data->dictionary.version = column::next_dictionary_version();
    data->dictionary.values.type = data->vector.type;
    data->dictionary.values.length = count;
    data->dictionary.values.values = data->entries.data();
    data->vector.form = Form::kCodes;
    data->vector.code_width = sizeof(Code);
    data->vector.dictionary = &data->dictionary;
    return data;
}

std::unique_ptr<Data> texts() {
    constexpr const char* kWords[] = {"furiously", "quick",  "deposits", "special",  "abc",
                                      "requests",  "ironic", "pending",  "accounts", "sleep"};
    std::mt19937 random(7);
    auto data = std::make_unique<Data>();
    for (int64_t i = 0; i < kRows; ++i) {
        std::string text;
        while (text.size() < 40) text += std::string(kWords[random() % 10]) + " ";
        data->texts.push_back(std::move(text));
    }
    data->buffer.resize(kRows * sizeof(column::BytesView));
    for (int64_t i = 0; i < kRows; ++i)
        data->buffer.as<column::BytesView>()[i] = {
            reinterpret_cast<const uint8_t*>(data->texts[static_cast<size_t>(i)].data()),
            static_cast<int64_t>(data->texts[static_cast<size_t>(i)].size())};
    data->vector.type = plan::make_type(TypeId::kText);
    data->vector.length = kRows;
    data->vector.values = data->buffer.data();
    return data;
}

Expr call(uint32_t function, std::vector<Expr> args) {
    const Type type = *exec::result_type(function, args, nullptr);
    return plan::make_call(function, type, std::move(args));
}

Expr integer(TypeId id, int64_t value) {
    return plan::make_constant(plan::make_type(id), Scalar::of_int(value));
}

void select(const char* name, const Expr& expr, const std::vector<Vector>& inputs) {
    const exec::Expression expression(expr, {});
    exec::Evaluator evaluator(expression, nullptr);
    uint64_t mask[simd::mask_words(kRows)];
    measure(name, [&] { evaluator.select(inputs, kRows, mask); });
}

void evaluate(const char* name, const Expr& expr, const std::vector<Vector>& inputs) {
    const exec::Expression expression(expr, {});
    exec::Evaluator evaluator(expression, nullptr);
    measure(name, [&] { evaluator.evaluate(inputs, kRows); });
}

}  // namespace

int main() {
    std::mt19937 random(3);
    const Type int4 = plan::make_type(TypeId::kInt4);
    const Type int8 = plan::make_type(TypeId::kInt8);
    const Type price = plan::make_numeric(12, 2);
    const Type wide = plan::make_numeric(24, 4);
    const auto small = [&](int64_t) { return random() % 1000; };
    const Data a = numbers<int32_t>(int4, small);
    const Data b = numbers<int32_t>(int4, small);
    const Data c = numbers<int64_t>(int8, small);
    const Data d = numbers<int64_t>(int8, small);
    const Data e = numbers<int64_t>(price, small);
    const Data f = numbers<int64_t>(price, small);
    const Data g = numbers<__int128>(wide, small);
    const Data x = numbers<double>(plan::make_type(TypeId::kFloat8), small);
    const auto u8 = codes<uint8_t>(200);
    const auto u16 = codes<uint16_t>(2400);
    const auto u32 = codes<uint32_t>(20000);
    const auto words = texts();
    const Expr a0 = plan::make_column(0, int4);
    const Expr a1 = plan::make_column(1, int4);

    Expr between;
    between.kind = ExprKind::kAnd;
    between.type = plan::make_type(TypeId::kBool);
    between.args = {call(150, {a0, integer(TypeId::kInt4, 100)}),
                    call(149, {a0, integer(TypeId::kInt4, 300)})};
    Expr in;
    in.kind = ExprKind::kAnyOf;
    in.type = between.type;
    in.function = 65;
    in.args = {a0};
    for (int value : {3, 70, 71, 400, 990}) in.list.push_back(Scalar::of_int(value));

    select("int4 between, plain", between, {a.vector});
    select("int4 in (5 values), plain", in, {a.vector});
    select("int4 between, u8 codes", between, {u8->vector});
    select("int4 between, u16 codes", between, {u16->vector});
    select("int4 between, u32 codes", between, {u32->vector});
    select("int4 < int4", call(66, {a0, a1}), {a.vector, b.vector});
    evaluate("int4 * int4", call(141, {a0, a1}), {a.vector, b.vector});
    evaluate("int4 + constant", call(177, {a0, integer(TypeId::kInt4, 5)}), {a.vector});
    evaluate("int8 + int8", call(463, {plan::make_column(0, int8), plan::make_column(1, int8)}),
             {c.vector, d.vector});
    evaluate("int8 * int8", call(465, {plan::make_column(0, int8), plan::make_column(1, int8)}),
             {c.vector, d.vector});
    evaluate("numeric(12,2) + numeric(12,2)",
             call(1724, {plan::make_column(0, price), plan::make_column(1, price)}),
             {e.vector, f.vector});
    evaluate("numeric(12,2) * numeric(12,2)",
             call(1726, {plan::make_column(0, price), plan::make_column(1, price)}),
             {e.vector, f.vector});
    evaluate("numeric(24,4) * numeric(12,2), unchecked",
             call(1726, {plan::make_column(0, wide), plan::make_column(1, price)}),
             {g.vector, f.vector});
    evaluate("numeric(24,4) * numeric(24,4), checked",
             call(1726, {plan::make_column(0, wide), plan::make_column(0, wide)}), {g.vector});
    const Type float8 = plan::make_type(TypeId::kFloat8);
    evaluate("float8 * float8",
             call(216, {plan::make_column(0, float8), plan::make_column(0, float8)}), {x.vector});
    const Expr text = plan::make_column(0, words->vector.type);
    const auto like = [&](const char* pattern) {
        return call(850,
                    {text, plan::make_constant(words->vector.type, Scalar::of_bytes(pattern))});
    };
    select("text like '%abc%', 40 bytes", like("%abc%"), {words->vector});
    select("text like '%special%requests%'", like("%special%requests%"), {words->vector});
    select("text like 'abc%'", like("abc%"), {words->vector});
    select("text like '_bc%'", like("_bc%"), {words->vector});
    select("text = constant",
           call(67, {text, plan::make_constant(words->vector.type, Scalar::of_bytes("abc"))}),
           {words->vector});
    const Data days = numbers<int32_t>(plan::make_type(TypeId::kDate), small);
    evaluate("extract(year from date)",
             call(6199, {plan::make_constant(words->vector.type, Scalar::of_bytes("year")),
                         plan::make_column(0, days.vector.type)}),
             {days.vector});
    Expr choice;
    choice.kind = ExprKind::kCase;
    choice.type = int4;
    choice.args = {call(66, {a0, integer(TypeId::kInt4, 500)}), a1, integer(TypeId::kInt4, 0)};
    evaluate("case when int4 < c then int4 else 0", choice, {a.vector, b.vector});
    return 0;
}
