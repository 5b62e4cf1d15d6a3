#include "exec/expr/test_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/expr/program.h"
#include "exec/functions.h"
#include "simd/mask.h"

namespace loom::exec::test {

Expr call(uint32_t function, std::vector<Expr> args) {
    std::string reason;
    const std::optional<Type> result = result_type(function, args, &reason);
    EXPECT_TRUE(result.has_value()) << "function " << function << ": " << reason;
    return plan::make_call(function, result.value_or(Type{}), std::move(args));
}

Expr node(plan::ExprKind kind, TypeId of, std::vector<Expr> args) {
    Expr expr;
    expr.kind = kind;
    expr.type = type(of);
    expr.args = std::move(args);
    return expr;
}

void* OwnedVector::room(size_t bytes) {
    buffers_.push_back(std::make_unique<base::Buffer>());
    buffers_.back()->resize(bytes);
    // Slots that nothing fills are garbage; a view of it may not be followed.
    std::memset(buffers_.back()->data(), 0x5a, bytes);
    return buffers_.back()->data();
}

namespace {
bool same(const Scalar& a, const Scalar& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case Scalar::Kind::kNone:
            return true;
        case Scalar::Kind::kInt:
            return a.integer == b.integer;
        case Scalar::Kind::kFloat:
            return std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number) ||
                   (a.number != a.number && b.number != b.number);
        case Scalar::Kind::kBytes:
            return a.bytes == b.bytes;
    }
    return false;
}
}  // namespace

OwnedVector OwnedVector::plain(const Column& column) {
    OwnedVector owned;
    const size_t rows = column.rows.size();
    const auto width = static_cast<size_t>(plan::width(plan::physical(column.type)));
    auto* values = static_cast<uint8_t*>(owned.room(rows * width));
    auto* validity = static_cast<uint8_t*>(owned.room(rows / 8 + 1));
    bool nulls = false;
    for (size_t row = 0; row < rows; ++row) {
        const Scalar& scalar = column.rows[row];
        base::put_bit(validity, static_cast<int64_t>(row), scalar.known());
        nulls |= !scalar.known();
        if (!scalar.known()) continue;
        ConstantValue value;
        EXPECT_TRUE(set_constant(column.type, scalar, &value));
        if (plan::physical(column.type) == plan::Physical::kBytes) {
            owned.texts_.push_back(std::make_unique<std::string>(scalar.bytes));
            // Slack as behind a buffer, so that nobody takes two texts for neighbours.
            owned.texts_.back()->reserve(scalar.bytes.size() + base::kBufferSlack);
            const column::BytesView view{
                reinterpret_cast<const uint8_t*>(owned.texts_.back()->data()),
                static_cast<int64_t>(scalar.bytes.size())};
            std::memcpy(values + row * width, &view, width);
        } else {
            std::memcpy(values + row * width, value.value, width);
        }
    }
    owned.vector_.type = column.type;
    owned.vector_.length = static_cast<int64_t>(rows);
    owned.vector_.values = values;
    owned.vector_.validity = nulls ? validity : nullptr;
    return owned;
}

OwnedVector OwnedVector::constant(const Column& column, size_t row) {
    OwnedVector owned = plain({column.type, {column.rows[row]}});
    owned.vector_.form = Form::kConstant;
    return owned;
}

OwnedVector OwnedVector::codes(const Column& column, int code_width, bool null_entry) {
    Column entries{column.type, {}};
    if (null_entry) entries.rows.emplace_back();
    for (size_t row = column.rows.size(); row-- > 0;) {
        const Scalar& scalar = column.rows[row];
        if (scalar.known() &&
            std::none_of(entries.rows.begin(), entries.rows.end(),
                         [&](const Scalar& other) { return same(scalar, other); }))
            entries.rows.push_back(scalar);
    }
    OwnedVector owned = plain(entries);
    owned.dictionary_ = std::make_unique<VectorDictionary>();
    owned.dictionary_->version = column::next_dictionary_version();
    owned.dictionary_->values = owned.vector_;
    const size_t rows = column.rows.size();
    auto* codes = static_cast<uint8_t*>(owned.room(rows * static_cast<size_t>(code_width)));
    auto* validity = static_cast<uint8_t*>(owned.room(rows / 8 + 1));
    bool nulls = false;
    for (size_t row = 0; row < rows; ++row) {
        const Scalar& scalar = column.rows[row];
        uint32_t code = 0;
        for (uint32_t entry = 0; entry < entries.rows.size(); ++entry)
            if (same(entries.rows[entry], scalar)) code = entry;
        const bool known = scalar.known() || (null_entry && row % 2 == 0);
        base::put_bit(validity, static_cast<int64_t>(row), known);
        nulls |= !known;
        std::memcpy(codes + row * static_cast<size_t>(code_width), &code,
                    static_cast<size_t>(code_width));
    }
    owned.vector_.form = Form::kCodes;
    owned.vector_.code_width = static_cast<uint8_t>(code_width);
    owned.vector_.length = static_cast<int64_t>(rows);
    owned.vector_.values = codes;
    owned.vector_.validity = nulls ? validity : nullptr;
    owned.vector_.dictionary = owned.dictionary_.get();
    return owned;
}

Scalar value_at(const Vector& vector, int64_t row) {
    if (vector.is_null(row)) return {};
    if (vector.form == Form::kCodes) return value_at(vector.dictionary->values, vector.code(row));
    if (vector.form == Form::kConstant) row = 0;
    const plan::Physical physical = plan::physical(vector.type);
    const uint8_t* at = vector.as<uint8_t>() + row * plan::width(physical);
    switch (physical) {
        case plan::Physical::kFloat32: {
            float value = 0;
            std::memcpy(&value, at, sizeof value);
            return f(value);
        }
        case plan::Physical::kFloat64: {
            double value = 0;
            std::memcpy(&value, at, sizeof value);
            return f(value);
        }
        case plan::Physical::kInt128: {
            column::Int128 value = 0;
            std::memcpy(&value, at, sizeof value);
            return i(value);
        }
        case plan::Physical::kDecimal: {
            plan::Decimal value;
            std::memcpy(&value, at, sizeof value);
            return plan::decimal_scalar(value);
        }
        case plan::Physical::kBytes:
            return s(std::string(vector.as<column::BytesView>()[row].text()));
        case plan::Physical::kInterval:
        case plan::Physical::kUuid:
            return s(std::string(reinterpret_cast<const char*>(at), 16));
        default:
            return i(integer_value(physical, at));
    }
}

bool Outcome::operator==(const Outcome& other) const {
    return fault == other.fault && (!fault.empty() || same(value, other.value));
}

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    if (!outcome.fault.empty()) return out << "fault " << outcome.fault;
    switch (outcome.value.kind) {
        case Scalar::Kind::kNone:
            return out << "NULL";
        case Scalar::Kind::kInt:
            return out << column::to_string(outcome.value.integer);
        case Scalar::Kind::kFloat:
            return out << outcome.value.number;
        case Scalar::Kind::kBytes:
            if (const auto decimal = plan::decimal_of(outcome.value))
                return out << column::to_string(decimal->unscaled) << "e-" << decimal->scale;
            return out << '"' << outcome.value.bytes << '"';
    }
    return out;
}

namespace {

struct Batch {
    std::vector<Outcome> rows;
    std::string fault;
};

Batch run(const Expression& expression, const std::vector<OwnedVector>& columns, int64_t length) {
    Batch batch;
    std::vector<Vector> inputs;
    inputs.reserve(columns.size());
    for (const OwnedVector& column : columns) inputs.push_back(column.vector());
    Evaluator evaluator(expression, nullptr);
    std::string faults[3];
    for (std::string& fault : faults) {
        try {
            if (&fault == &faults[2]) {
                if (expression.type().id != TypeId::kBool) break;
                std::vector<uint64_t> mask(static_cast<size_t>(simd::mask_words(length)),
                                           ~uint64_t{0});
                evaluator.select(inputs, length, mask.data());
                for (int64_t row = 0; row < simd::mask_words(length) * 64; ++row) {
                    const bool set = (mask[static_cast<size_t>(row >> 6)] >> (row & 63) & 1) != 0;
                    if (row >= length || !faults[0].empty())
                        EXPECT_FALSE(set && row >= length);
                    else
                        EXPECT_EQ(set, batch.rows[static_cast<size_t>(row)].value.integer == 1)
                            << "select, row " << row;
                }
                break;
            }
            // Twice, so that what is kept from batch to batch is used.
            const Vector result = evaluator.evaluate(inputs, length);
            EXPECT_EQ(result.type, expression.type());
            EXPECT_EQ(result.length, length);
            batch.rows.clear();
            for (int64_t row = 0; row < length; ++row)
                batch.rows.push_back({value_at(result, row), ""});
        } catch (const SqlFault& raised) {
            fault = raised.sqlstate();
        } catch (const Unrepresentable&) {
            fault = "unrepresentable";
        }
    }
    EXPECT_EQ(faults[0], faults[1]);
    batch.fault = faults[0];
    return batch;
}

}  // namespace

std::vector<Outcome> evaluate_all(const Expr& expr, const std::vector<Column>& columns,
                                  Depth depth) {
    std::string reason;
    EXPECT_TRUE(supports(expr, &reason)) << reason;
    const Expression expression(expr, {});
    const size_t rows = columns.empty() ? 1 : columns[0].rows.size();

    std::vector<Outcome> expected;
    for (size_t row = 0; row < rows; ++row) {
        std::vector<OwnedVector> vectors;
        std::vector<OwnedVector> constants;
        for (const Column& column : columns) {
            vectors.push_back(OwnedVector::plain({column.type, {column.rows[row]}}));
            constants.push_back(OwnedVector::constant(column, row));
        }
        const Batch alone = run(expression, vectors, 1);
        expected.push_back(alone.fault.empty() ? alone.rows[0] : Outcome{{}, alone.fault});
        if (depth == Depth::kFewForms) continue;
        const Batch repeated = run(expression, constants, 65);
        for (int64_t i = 0; i < 65; i += 64)
            EXPECT_EQ(repeated.fault.empty() ? repeated.rows[static_cast<size_t>(i)]
                                             : (Outcome{{}, repeated.fault}),
                      expected.back())
                << "constants, row " << row;
    }
    // Batches leave out the rows that fault; a batch with one of them must fault.
    std::vector<size_t> good;
    for (size_t row = 0; row < rows; ++row)
        if (expected[row].fault.empty()) good.push_back(row);
    const auto compare = [&](const char* form, const std::vector<OwnedVector>& vectors,
                             const std::vector<size_t>& chosen) {
        if (columns.empty()) return;
        const Batch batch = run(expression, vectors, static_cast<int64_t>(chosen.size()));
        EXPECT_EQ(batch.fault, "") << form;
        if (!batch.fault.empty()) return;
        for (size_t at = 0; at < chosen.size(); ++at)
            EXPECT_EQ(batch.rows[at], expected[chosen[at]]) << form << ", row " << chosen[at];
    };
    // Repeated until the batch is full, and some lengths around words.
    for (size_t length : {good.size(), size_t{63}, size_t{64}, size_t{65}, size_t{4096}}) {
        if (good.empty() || (depth == Depth::kFewForms && length == 4096)) break;
        std::vector<size_t> chosen;
        for (size_t at = 0; at < length; ++at) chosen.push_back(good[at % good.size()]);
        std::vector<Column> data;
        for (const Column& column : columns) {
            data.push_back({column.type, {}});
            for (size_t row : chosen) data.back().rows.push_back(column.rows[row]);
        }
        const auto in_form = [&](const char* form, auto make) {
            std::vector<OwnedVector> vectors;
            for (size_t c = 0; c < data.size(); ++c) vectors.push_back(make(data[c], c));
            compare(form, vectors, chosen);
        };
        in_form("plain", [](const Column& c, size_t) { return OwnedVector::plain(c); });
        if (length > 65 && good.size() < 200) continue;
        if (depth == Depth::kFewForms && length != 65) continue;
        for (int width : {1, 2, 4})
            for (bool null_entry : {false, true}) {
                if (width == 1 && good.size() > 250) continue;
                if (depth == Depth::kFewForms && width != 1) continue;
                in_form("codes", [&](const Column& c, size_t) {
                    return OwnedVector::codes(c, width, null_entry);
                });
                in_form("codes and plain", [&](const Column& c, size_t at) {
                    return at == 0 ? OwnedVector::codes(c, width, null_entry)
                                   : OwnedVector::plain(c);
                });
            }
    }
    if (good.size() < rows && !columns.empty()) {
        std::vector<OwnedVector> vectors;
        vectors.reserve(columns.size());
        for (const Column& column : columns) vectors.push_back(OwnedVector::plain(column));
        EXPECT_NE(run(expression, vectors, static_cast<int64_t>(rows)).fault, "");
    }
    return expected;
}

Outcome evaluate_constant(const Expr& expr) {
    return evaluate_all(expr, {})[0];
}

}  // namespace loom::exec::test
