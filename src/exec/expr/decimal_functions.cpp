#include "exec/expr/decimal_functions.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/core.h>

#include "exec/expr/raise.h"
#include "exec/expr/widen.h"
#include "sql/decimal.h"
#include "sql/integer.h"

namespace loom::exec {

namespace {

using plan::Physical;
using plan::Type;
using plan::TypeId;
using sql::Decimal;
using sql::Fault;
using sql::Int128;
using sql::Rounding;

using Args = std::span<const plan::Expr>;

static_assert(sizeof(Decimal) == sizeof(plan::Decimal));
static_assert(sql::kMaxScale == plan::kMaxDecimalScale && sql::kMaxDigits == plan::kMaxPrecision);

/// How the arguments lie in memory, and what a rounding needs.
struct DecimalState : BoundState {
    Physical physical[2] = {};
    int64_t scales[2] = {};
    int digits = 0;
    Int128 limit = 0;
};

const DecimalState& state_of(const KernelCall& call) {
    return *static_cast<const DecimalState*>(call.state);
}

std::shared_ptr<DecimalState> make_state(Args args) {
    auto state = std::make_shared<DecimalState>();
    for (size_t i = 0; i < args.size() && i < 2; ++i) {
        state->physical[i] = plan::physical(args[i].type);
        state->scales[i] = args[i].type.scale;
    }
    return state;
}

std::shared_ptr<DecimalState> make_state(Type from) {
    auto state = std::make_shared<DecimalState>();
    state->physical[0] = plan::physical(from);
    state->scales[0] = from.scale;
    return state;
}

// Reads an argument of any representation.
class Operand {
  public:
    Operand(const KernelCall& call, int at)
        : values_(call.args[at].values),
          step_(call.args[at].form == Form::kConstant ? 0 : 1),
          physical_(state_of(call).physical[at]),
          scale_(state_of(call).scales[at]) {}

    Decimal operator[](int64_t row) const {
        const int64_t at = row * step_;
        switch (physical_) {
            case Physical::kInt64:
                return {static_cast<const int64_t*>(values_)[at], scale_};
            case Physical::kInt128:
                return {static_cast<const Int128*>(values_)[at], scale_};
            default:
                return static_cast<const Decimal*>(values_)[at];
        }
    }

  private:
    const void* values_;
    int64_t step_;
    Physical physical_;
    int64_t scale_;
};

// Computes the rows that are not NULL; the scale of a NULL row's garbage means nothing.
template <typename R, typename Compute>
void run_rows(const KernelCall& call, Compute compute) {
    auto* out = static_cast<R*>(call.out);
    for (int64_t i = 0; i < call.rows; ++i) {
        if (call.validity != nullptr && !base::bit_at(call.validity, i)) {
            out[i] = R{};
            continue;
        }
        Fault fault;
        out[i] = compute(i, fault);
        if (fault.bits() != 0) raise(fault);
    }
}

template <Decimal (*kFunction)(Decimal, Decimal, Fault&)>
void binary(const KernelCall& call) {
    const Operand a(call, 0);
    const Operand b(call, 1);
    run_rows<Decimal>(call, [&](int64_t i, Fault& fault) { return kFunction(a[i], b[i], fault); });
}

template <Decimal (*kFunction)(Decimal)>
void unary(const KernelCall& call) {
    const Operand a(call, 0);
    run_rows<Decimal>(call, [&](int64_t i, Fault&) { return kFunction(a[i]); });
}

// Functions, since definitions of src/sql are inlined wherever they are named.
Decimal add(Decimal a, Decimal b, Fault& fault) {
    return sql::decimal_add(a, b, fault);
}
Decimal subtract(Decimal a, Decimal b, Fault& fault) {
    return sql::decimal_subtract(a, b, fault);
}
Decimal multiply(Decimal a, Decimal b, Fault& fault) {
    return sql::decimal_multiply(a, b, fault);
}
Decimal quotient(Decimal a, Decimal b, Fault& fault) {
    return sql::decimal_divide(a, b, fault);
}
Decimal remainder(Decimal a, Decimal b, Fault& fault) {
    return sql::decimal_remainder(a, b, fault);
}
Decimal negate(Decimal a) {
    return sql::decimal_negate(a);
}
Decimal absolute(Decimal a) {
    return sql::decimal_absolute(a);
}
Decimal copy(Decimal a) {
    return a;
}

Kernel kernel_of(DecimalOperation operation) {
    switch (operation) {
        case DecimalOperation::kAdd:
            return binary<add>;
        case DecimalOperation::kSubtract:
            return binary<subtract>;
        case DecimalOperation::kMultiply:
            return binary<multiply>;
        case DecimalOperation::kDivide:
            return binary<quotient>;
        case DecimalOperation::kRemainder:
            return binary<remainder>;
        case DecimalOperation::kNegate:
            return unary<negate>;
        case DecimalOperation::kAbsolute:
            return unary<absolute>;
        case DecimalOperation::kCopy:
            return unary<copy>;
    }
    return nullptr;
}

bool can_fault(DecimalOperation operation) {
    return operation != DecimalOperation::kNegate && operation != DecimalOperation::kAbsolute &&
           operation != DecimalOperation::kCopy;
}

void truncated_quotient(const KernelCall& call) {
    const Operand a(call, 0);
    const Operand b(call, 1);
    run_rows<Int128>(call, [&](int64_t i, Fault& fault) {
        const Int128 value = sql::decimal_divide_truncating(a[i], b[i], fault).unscaled;
        fault.raise(sql::kNumericDigits, !sql::has_38_digits(value));
        return value;
    });
}

// --- comparisons --------------------------------------------------------------------------------

template <Comparison kComparison>
void compare(const KernelCall& call) {
    using Result = std::conditional_t<kComparison == Comparison::kOrder, int32_t, bool>;
    const Operand a(call, 0);
    const Operand b(call, 1);
    run_rows<Result>(call, [&](int64_t i, Fault&) -> Result {
        const int order = sql::decimal_compare(a[i], b[i]);
        switch (kComparison) {
            case Comparison::kEqual:
                return order == 0;
            case Comparison::kNotEqual:
                return order != 0;
            case Comparison::kLess:
                return order < 0;
            case Comparison::kLessEqual:
                return order <= 0;
            case Comparison::kGreater:
                return order > 0;
            case Comparison::kGreaterEqual:
                return order >= 0;
            default:
                return static_cast<Result>(order);
        }
    });
}

Kernel comparison_kernel(Comparison comparison) {
    switch (comparison) {
        case Comparison::kEqual:
            return compare<Comparison::kEqual>;
        case Comparison::kNotEqual:
            return compare<Comparison::kNotEqual>;
        case Comparison::kLess:
            return compare<Comparison::kLess>;
        case Comparison::kLessEqual:
            return compare<Comparison::kLessEqual>;
        case Comparison::kGreater:
            return compare<Comparison::kGreater>;
        case Comparison::kGreaterEqual:
            return compare<Comparison::kGreaterEqual>;
        default:
            return compare<Comparison::kOrder>;
    }
}

// --- roundings and casts ------------------------------------------------------------------------

void sign(const KernelCall& call) {
    const Operand a(call, 0);
    run_rows<int64_t>(call, [&](int64_t i, Fault&) {
        const Int128 value = a[i].unscaled;
        return static_cast<int64_t>((value > 0 ? 1 : 0) - (value < 0 ? 1 : 0));
    });
}

template <Rounding kRounding>
void round(const KernelCall& call) {
    const Operand a(call, 0);
    const int digits = state_of(call).digits;
    run_rows<Int128>(call, [&](int64_t i, Fault& fault) {
        const Int128 value = sql::decimal_round<kRounding>(a[i], digits, fault);
        fault.raise(sql::kNumericDigits, !sql::has_38_digits(value));
        return value;
    });
}

template <typename R>
void to_modifier(const KernelCall& call) {
    const Operand a(call, 0);
    const int digits = state_of(call).digits;
    const Int128 limit = state_of(call).limit;
    run_rows<R>(call, [&](int64_t i, Fault& fault) {
        Fault large;
        const Int128 value = sql::decimal_round<Rounding::kHalfAway>(a[i], digits, large);
        // What 128 bits cannot hold at this scale has too many digits before the point.
        fault.raise(sql::kNumericField, large.bits() != 0 || value >= limit || value <= -limit);
        return static_cast<R>(value);
    });
}

template <typename R>
void to_integer(const KernelCall& call) {
    const Operand a(call, 0);
    run_rows<R>(call, [&](int64_t i, Fault& fault) {
        const Int128 value = sql::decimal_round<Rounding::kHalfAway>(a[i], 0, fault);
        return sql::numeric_to_integer<R>(value, sql::Integer<R>::kRange, fault);
    });
}

template <typename R>
void to_float(const KernelCall& call) {
    const Operand a(call, 0);
    run_rows<R>(call, [&](int64_t i, Fault& fault) {
        const Decimal value = a[i];
        const R number = numeric_as_float<R>(value.unscaled, value.scale);
        fault.raise(sql::kOther, number == 0 && value.unscaled != 0);
        return number;
    });
}

// PostgreSQL prints the float with so many significant digits and reads that.
template <typename A>
Decimal decimal_of_float(A value, Fault& fault) {
    constexpr int kDigits = sizeof(A) == 8 ? 15 : 6;  // DBL_DIG, FLT_DIG
    if (!std::isfinite(value)) {
        fault.raise(sql::kNumericDigits);
        return {};
    }
    char text[64];
    const auto printed = std::to_chars(text, text + sizeof text, static_cast<double>(value),
                                       std::chars_format::general, kDigits);
    Decimal out;
    int64_t exponent = 0;
    bool point = false;
    bool negative = false;
    for (const char* at = text; at < printed.ptr; ++at) {
        if (*at == '-') {
            negative = true;
        } else if (*at == '.') {
            point = true;
        } else if (*at == 'e') {
            const char* digits = at[1] == '+' ? at + 2 : at + 1;
            std::from_chars(digits, printed.ptr, exponent);
            break;
        } else {
            out.unscaled = out.unscaled * 10 + (*at - '0');
            out.scale += point ? 1 : 0;
        }
    }
    out.scale -= exponent;
    if (out.scale < 0) {
        out.unscaled = sql::decimal_align(out, 0, fault);
        out.scale = 0;
    }
    fault.raise(sql::kNumericDigits, !sql::has_38_digits(out.unscaled));
    if (negative) out.unscaled = -out.unscaled;
    return out;
}

template <typename A>
void from_float(const KernelCall& call) {
    const A* values = call.args[0].as<A>();
    run_rows<Decimal>(call,
                      [&](int64_t i, Fault& fault) { return decimal_of_float(values[i], fault); });
}

}  // namespace

template <typename R>
R numeric_as_float(Int128 unscaled, int64_t scale) {
    const bool exact =
        scale <= 22 && (sizeof(R) == 8 ? sql::exact_as_float8(unscaled, static_cast<int>(scale))
                                       : sql::exact_as_float4(unscaled, static_cast<int>(scale)));
    if (exact)
        return static_cast<R>(static_cast<int64_t>(unscaled)) /
               static_cast<R>(sql::kPowersOfTen.at[scale]);
    const std::string text = fmt::format("{}e-{}", column::to_string(unscaled), scale);
    R out = 0;
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
}
template float numeric_as_float<float>(Int128, int64_t);
template double numeric_as_float<double>(Int128, int64_t);

void bind_decimal(DecimalOperation operation, Args args, BoundFunction* bound) {
    bound->type = plan::make_decimal();
    bound->kernel = kernel_of(operation);
    bound->may_fault = can_fault(operation);
    bound->state = make_state(args);
}

void bind_decimal_quotient(Args args, BoundFunction* bound) {
    bound->type = plan::make_numeric(plan::kMaxPrecision, 0);
    bound->kernel = truncated_quotient;
    bound->may_fault = true;
    bound->state = make_state(args);
}

void bind_decimal_comparison(Comparison comparison, Args args, BoundFunction* bound) {
    bound->kernel = comparison_kernel(comparison);
    bound->state = make_state(args);
}

void bind_decimal_sign(Args args, BoundFunction* bound) {
    bound->type = plan::make_numeric(1, 0);
    bound->kernel = sign;
    bound->state = make_state(args);
}

void bind_decimal_round(Rounding rounding, Type from, int digits, BoundFunction* bound) {
    bound->type = plan::make_numeric(plan::kMaxPrecision, std::max(digits, 0));
    bound->kernel = rounding == Rounding::kHalfAway      ? round<Rounding::kHalfAway>
                    : rounding == Rounding::kTowardsZero ? round<Rounding::kTowardsZero>
                    : rounding == Rounding::kUp          ? round<Rounding::kUp>
                                                         : round<Rounding::kDown>;
    bound->may_fault = true;
    auto state = make_state(from);
    state->digits = digits;
    bound->state = state;
}

void bind_decimal_modifier(Type from, Type to, BoundFunction* bound) {
    bound->type = to;
    bound->kernel =
        plan::physical(to) == Physical::kInt128 ? to_modifier<Int128> : to_modifier<int64_t>;
    bound->may_fault = true;
    auto state = make_state(from);
    state->digits = to.scale;
    state->limit = sql::kPowersOfTen.at[to.precision];
    bound->state = state;
}

void bind_decimal_to_number(TypeId to, Type from, BoundFunction* bound) {
    bound->kernel = to == TypeId::kInt2     ? to_integer<int16_t>
                    : to == TypeId::kInt4   ? to_integer<int32_t>
                    : to == TypeId::kInt8   ? to_integer<int64_t>
                    : to == TypeId::kFloat4 ? to_float<float>
                                            : to_float<double>;
    bound->state = make_state(from);
}

void bind_decimal_from_float(TypeId from, BoundFunction* bound) {
    bound->type = plan::make_decimal();
    bound->kernel = from == TypeId::kFloat4 ? from_float<float> : from_float<double>;
    bound->may_fault = true;
}

BoundFunction to_decimal(Type from) {
    BoundFunction bound;
    const plan::Expr args[] = {plan::make_column(0, from)};
    bind_decimal(DecimalOperation::kCopy, args, &bound);
    return bound;
}

}  // namespace loom::exec
