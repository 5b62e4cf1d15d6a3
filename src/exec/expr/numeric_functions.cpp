// numeric: kernels bound to the scales of their arguments.

#include "sql/numeric.h"

#include <charconv>
#include <cstring>

#include <fmt/core.h>

#include "exec/expr/loops.h"
#include "exec/expr/widen.h"
#include "plan/numeric_type.h"
#include "sql/integer.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::Physical;
using plan::Type;
using plan::TypeId;
using sql::Fault;
using sql::Int128;
using sql::Rounding;

using Args = std::span<const Expr>;

/// What a numeric kernel knows of its scales.
struct NumericState : BoundState {
    Int128 first = 1;   // aligns the first argument
    Int128 second = 1;  // and the second
    Int128 drop = 1;    // the digits that the result loses
    Int128 limit = 0;   // the result must be smaller
    int scale = 0;
};

const NumericState& state_of(const KernelCall& call) {
    return *static_cast<const NumericState*>(call.state);
}

bool is_wide(Type type) {
    return plan::physical(type) == Physical::kInt128;
}

Int128 factor_between(int from, int to) {
    return to > from ? sql::power_of_ten(to - from) : 1;
}

// Whether a value of `type`, brought to `scale`, is sure to have no more than `digits` digits.
bool fits(Type type, int scale, int digits) {
    return plan::integer_digits(type) + scale <= digits;
}

// Picks kernel<A, B> by the representations of two arguments.
template <template <typename, typename> class Kernels>
Kernel by_width(Type a, Type b) {
    if (is_wide(a))
        return is_wide(b) ? Kernels<Int128, Int128>::run : Kernels<Int128, int64_t>::run;
    return is_wide(b) ? Kernels<int64_t, Int128>::run : Kernels<int64_t, int64_t>::run;
}

bool finish(std::optional<Type> type, BoundFunction* bound, std::string* reason) {
    if (!type) {
        *reason = "a numeric of more than 38 digits after the point";
        return false;
    }
    bound->type = *type;
    return true;
}

// --- sums ---------------------------------------------------------------------------------------

enum class Sum : uint8_t { kAdd, kSubtract };

// Everything fits 64 bits.
template <Sum kSum>
void narrow_sum(const KernelCall& call) {
    const auto first = static_cast<int64_t>(state_of(call).first);
    const auto second = static_cast<int64_t>(state_of(call).second);
    run_vector_binary<int64_t, int64_t, int64_t>(
        call, [=](int64_t a, int64_t b, Fault&) LOOM_INLINE_LAMBDA {
            const auto x = static_cast<uint64_t>(sql::wrapping_multiply(a, first));
            const auto y = static_cast<uint64_t>(sql::wrapping_multiply(b, second));
            return static_cast<int64_t>(kSum == Sum::kAdd ? x + y : x - y);
        });
}

template <Sum kSum, bool kChecked>
struct WideSum {
    template <typename A, typename B>
    struct Kernels {
        static void run(const KernelCall& call) {
            const Int128 first = state_of(call).first;
            const Int128 second = state_of(call).second;
            run_binary<Int128, A, B, kChecked>(
                call, [=](A a, B b, Fault& fault) LOOM_INLINE_LAMBDA {
                    if constexpr (kChecked) {
                        const Int128 x = sql::numeric_scale_up_checked(a, first, fault);
                        const Int128 y = sql::numeric_scale_up_checked(b, second, fault);
                        return kSum == Sum::kAdd ? sql::numeric_add_checked(x, y, fault)
                                                 : sql::numeric_subtract_checked(x, y, fault);
                    } else {
                        const Int128 x = sql::wrapping_multiply(Int128{a}, first);
                        const Int128 y = sql::wrapping_multiply(Int128{b}, second);
                        return kSum == Sum::kAdd ? sql::wrapping_add(x, y)
                                                 : sql::wrapping_subtract(x, y);
                    }
                });
        }
    };
};

template <Sum kSum>
bool bind_sum(Args args, BoundFunction* bound, std::string* reason) {
    const Type a = args[0].type;
    const Type b = args[1].type;
    if (!finish(plan::numeric_sum_type(a, b), bound, reason)) return false;
    auto state = std::make_shared<NumericState>();
    state->first = factor_between(a.scale, bound->type.scale);
    state->second = factor_between(b.scale, bound->type.scale);
    bound->state = state;
    const int scale = bound->type.scale;
    const int digits = std::max(plan::integer_digits(a), plan::integer_digits(b)) + 1 + scale;
    bound->may_fault = digits > plan::kMaxPrecision;
    if (!is_wide(bound->type))
        bound->kernel = narrow_sum<kSum>;
    else if (bound->may_fault)
        bound->kernel = by_width<WideSum<kSum, true>::template Kernels>(a, b);
    else
        bound->kernel = by_width<WideSum<kSum, false>::template Kernels>(a, b);
    return true;
}

// --- products -----------------------------------------------------------------------------------

void narrow_product(const KernelCall& call) {
    run_vector_binary<int64_t, int64_t, int64_t>(
        call, [](int64_t a, int64_t b, Fault&)
                  LOOM_INLINE_LAMBDA { return sql::wrapping_multiply(a, b); });
}

template <bool kChecked>
struct WideProduct {
    template <typename A, typename B>
    struct Kernels {
        static void run(const KernelCall& call) {
            run_binary<Int128, A, B, kChecked>(call, [](A a, B b, Fault& fault) LOOM_INLINE_LAMBDA {
                if constexpr (kChecked)
                    return sql::numeric_multiply_checked(a, b, fault);
                else
                    return sql::numeric_multiply(a, b);
            });
        }
    };
};

bool bind_product(Args args, BoundFunction* bound, std::string* reason) {
    const Type a = args[0].type;
    const Type b = args[1].type;
    if (!finish(plan::numeric_product_type(a, b), bound, reason)) return false;
    bound->may_fault = a.precision + b.precision > plan::kMaxPrecision;
    if (!is_wide(bound->type))
        bound->kernel = narrow_product;
    else if (bound->may_fault)
        bound->kernel = by_width<WideProduct<true>::Kernels>(a, b);
    else
        bound->kernel = by_width<WideProduct<false>::Kernels>(a, b);
    return true;
}

// --- remainders ---------------------------------------------------------------------------------

template <typename R>
struct Remainder {
    template <typename A, typename B>
    struct Kernels {
        static void run(const KernelCall& call) {
            const Int128 first = state_of(call).first;
            const Int128 second = state_of(call).second;
            run_binary<R, A, B, true>(call, [=](A a, B b, Fault& fault) {
                const Int128 x = sql::numeric_scale_up_checked(a, first, fault);
                const Int128 y = sql::numeric_scale_up_checked(b, second, fault);
                return static_cast<R>(sql::numeric_remainder(x, y, fault));
            });
        }
    };
};

bool bind_remainder(Args args, BoundFunction* bound, std::string* reason) {
    const Type a = args[0].type;
    const Type b = args[1].type;
    if (!finish(plan::numeric_remainder_type(a, b), bound, reason)) return false;
    auto state = std::make_shared<NumericState>();
    state->first = factor_between(a.scale, bound->type.scale);
    state->second = factor_between(b.scale, bound->type.scale);
    bound->state = state;
    bound->kernel = is_wide(bound->type) ? by_width<Remainder<Int128>::Kernels>(a, b)
                                         : by_width<Remainder<int64_t>::Kernels>(a, b);
    return true;
}

// --- comparisons --------------------------------------------------------------------------------

template <Comparison kComparison>
struct Compare {
    using Result = std::conditional_t<kComparison == Comparison::kOrder, int32_t, bool>;

    static LOOM_SQL Result of(int order) {
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
    }

    // Aligned values fit 64 bits.
    static void narrow(const KernelCall& call) {
        const auto first = static_cast<int64_t>(state_of(call).first);
        const auto second = static_cast<int64_t>(state_of(call).second);
        run_vector_binary<Result, int64_t, int64_t>(
            call, [=](int64_t a, int64_t b, Fault&) LOOM_INLINE_LAMBDA {
                const int64_t x = sql::wrapping_multiply(a, first);
                const int64_t y = sql::wrapping_multiply(b, second);
                return of((x > y ? 1 : 0) - (x < y ? 1 : 0));
            });
    }

    template <typename A, typename B>
    struct Kernels {
        static void run(const KernelCall& call) {
            const Int128 first = state_of(call).first;
            const Int128 second = state_of(call).second;
            run_binary<Result, A, B, false>(call, [=](A a, B b, Fault&) {
                return of(sql::numeric_compare(a, first, b, second));
            });
        }
    };
};

template <Comparison kComparison>
bool bind_comparison(Args args, BoundFunction* bound, std::string*) {
    const Type a = args[0].type;
    const Type b = args[1].type;
    const int scale = std::max(a.scale, b.scale);
    auto state = std::make_shared<NumericState>();
    state->first = factor_between(a.scale, scale);
    state->second = factor_between(b.scale, scale);
    bound->state = state;
    const bool narrow = !is_wide(a) && !is_wide(b) && fits(a, scale, plan::kMaxPrecision64) &&
                        fits(b, scale, plan::kMaxPrecision64);
    bound->kernel = narrow ? Compare<kComparison>::narrow
                           : by_width<Compare<kComparison>::template Kernels>(a, b);
    return true;
}

// --- one argument -------------------------------------------------------------------------------

template <typename T, bool kAbsolute>
void negate(const KernelCall& call) {
    run_unary<T, T, false>(call, [](T a, Fault&) {
        const T opposite = static_cast<T>(0 - static_cast<sql::UInt128>(a));
        return kAbsolute && a >= 0 ? a : opposite;
    });
}

template <bool kAbsolute>
bool bind_negate(Args args, BoundFunction* bound, std::string*) {
    bound->type = args[0].type;
    bound->kernel = is_wide(bound->type) ? negate<Int128, kAbsolute> : negate<int64_t, kAbsolute>;
    return true;
}

template <typename T>
void copy(const KernelCall& call) {
    std::memcpy(call.out, call.args[0].values, static_cast<size_t>(call.rows) * sizeof(T));
}

bool bind_identity(Args args, BoundFunction* bound, std::string*) {
    bound->type = args[0].type;
    bound->kernel = is_wide(bound->type) ? copy<Int128> : copy<int64_t>;
    return true;
}

template <typename A>
void sign(const KernelCall& call) {
    run_unary<int64_t, A, false>(
        call, [](A a, Fault&) { return static_cast<int64_t>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0)); });
}

bool bind_sign(Args args, BoundFunction* bound, std::string*) {
    bound->type = plan::make_numeric(1, 0);
    bound->kernel = is_wide(args[0].type) ? sign<Int128> : sign<int64_t>;
    return true;
}

// --- changes of scale ---------------------------------------------------------------------------

template <typename R, typename A, Rounding kRounding>
void rescale(const KernelCall& call) {
    const Int128 up = state_of(call).first;
    const Int128 drop = state_of(call).drop;
    const Int128 limit = state_of(call).limit;
    run_unary<R, A, true>(call, [=](A a, Fault& fault) {
        Int128 value = a;
        if (drop != 1) {
            // 64-bit division where it does.
            if (sizeof(A) == 8 && drop <= INT64_MAX)
                value = sql::numeric_scale_down<kRounding, int64_t>(static_cast<int64_t>(a),
                                                                    static_cast<int64_t>(drop));
            else
                value = sql::numeric_scale_down<kRounding, Int128>(value, drop);
        }
        if (up != 1) value = sql::numeric_scale_up_checked(value, up, fault);
        if (limit != 0)
            fault.raise(sql::kNumericField, value >= limit || value <= -limit);
        else if (sizeof(R) == 16)
            fault.raise(sql::kNumericDigits, !sql::has_38_digits(value));
        return static_cast<R>(value);
    });
}

// Sets the kernel that takes `from` to `scale` digits (less than 0: to tens, hundreds, ...), with a
// result of bound->type.
template <Rounding kRounding>
void set_rescale(Type from, int scale, NumericState* state, BoundFunction* bound) {
    if (scale < from.scale) {
        state->drop = sql::power_of_ten(from.scale - scale);
        // Dropped digits before the point come back as zeros.
        if (scale < 0) state->first = sql::power_of_ten(-scale);
    } else {
        state->first = sql::power_of_ten(scale - from.scale);
    }
    const bool wide = is_wide(bound->type);
    bound->kernel = is_wide(from) ? wide ? rescale<Int128, Int128, kRounding>
                                         : rescale<int64_t, Int128, kRounding>
                    : wide ? rescale<Int128, int64_t, kRounding>
                                  : rescale<int64_t, int64_t, kRounding>;
}

template <Rounding kRounding>
bool bind_round(Args args, BoundFunction* bound, std::string* reason) {
    int digits = 0;
    if (args.size() == 2) {
        if (!args[1].value.known()) {
            *reason = "rounding to NULL digits";
            return false;
        }
        if (args[1].value.integer > plan::kMaxPrecision ||
            args[1].value.integer < -plan::kMaxPrecision) {
            *reason = "rounding to more digits than the engine has";
            return false;
        }
        digits = static_cast<int>(args[1].value.integer);
    }
    const Type from = args[0].type;
    if (from.scale - digits > plan::kMaxPrecision) {
        *reason = "rounding to more digits than the engine has";
        return false;
    }
    if (!finish(plan::numeric_round_type(from, digits), bound, reason)) return false;
    auto state = std::make_shared<NumericState>();
    set_rescale<kRounding>(from, digits, state.get(), bound);
    bound->may_fault = plan::integer_digits(from) + 1 + std::max(digits, 0) > plan::kMaxPrecision;
    bound->state = state;
    return true;
}

// numeric(numeric, int4): the cast to numeric(p, s).
bool bind_modifier(Args args, BoundFunction* bound, std::string* reason) {
    const std::optional<Type> to =
        args[1].value.known()
            ? plan::numeric_type_of_modifier(static_cast<int>(args[1].value.integer))
            : std::nullopt;
    if (!to) {
        *reason = "a cast to a numeric of more than 38 digits or of negative scale";
        return false;
    }
    const Type from = args[0].type;
    bound->type = *to;
    auto state = std::make_shared<NumericState>();
    set_rescale<Rounding::kHalfAway>(from, to->scale, state.get(), bound);
    // One digit more, as rounding may carry.
    if (plan::integer_digits(from) + (from.scale > to->scale ? 1 : 0) > plan::integer_digits(*to)) {
        state->limit = sql::power_of_ten(to->precision);
        bound->may_fault = true;
    } else {
        bound->may_fault = false;
    }
    bound->state = state;
    return true;
}

// --- casts --------------------------------------------------------------------------------------

template <typename R, typename A>
void from_integer(const KernelCall& call) {
    run_unary<R, A, false>(call, [](A a, Fault&) LOOM_INLINE_LAMBDA { return static_cast<R>(a); });
}

template <TypeId kFrom>
bool bind_from_integer(Args, BoundFunction* bound, std::string*) {
    bound->type = *plan::numeric_from_integer_type(kFrom);
    bound->kernel = kFrom == TypeId::kInt2   ? from_integer<int64_t, int16_t>
                    : kFrom == TypeId::kInt4 ? from_integer<int64_t, int32_t>
                                             : from_integer<Int128, int64_t>;
    return true;
}

template <typename R, typename A>
void to_integer(const KernelCall& call) {
    const Int128 drop = state_of(call).drop;
    run_unary<R, A, true>(call, [=](A a, Fault& fault) {
        const Int128 value = sizeof(A) == 8 && drop <= INT64_MAX
                                 ? Int128{sql::numeric_scale_down<Rounding::kHalfAway, int64_t>(
                                       static_cast<int64_t>(a), static_cast<int64_t>(drop))}
                                 : sql::numeric_scale_down<Rounding::kHalfAway, Int128>(a, drop);
        return sql::numeric_to_integer<R>(value, sql::Integer<R>::kRange, fault);
    });
}

template <typename R>
bool bind_to_integer(Args args, BoundFunction* bound, std::string*) {
    auto state = std::make_shared<NumericState>();
    state->drop = sql::power_of_ten(args[0].type.scale);
    bound->state = state;
    bound->kernel = is_wide(args[0].type) ? to_integer<R, Int128> : to_integer<R, int64_t>;
    return true;
}

// PostgreSQL prints the numeric and reads it as a float; so does the slow path.
template <typename R>
R parse_numeric(Int128 value, int scale) {
    std::string text = column::to_string(value);
    text += fmt::format("e-{}", scale);
    R out = 0;
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
}

template <typename R, typename A>
void to_float(const KernelCall& call) {
    const int scale = state_of(call).scale;
    const R divisor = static_cast<R>(sql::power_of_ten(std::min(scale, 22)));
    run_unary<R, A, false>(call, [=](A a, Fault&) -> R {
        const bool exact =
            sizeof(R) == 8 ? sql::exact_as_float8(a, scale) : sql::exact_as_float4(a, scale);
        return exact ? static_cast<R>(static_cast<int64_t>(a)) / divisor
                     : parse_numeric<R>(a, scale);
    });
}

template <typename R>
bool bind_to_float(Args args, BoundFunction* bound, std::string*) {
    auto state = std::make_shared<NumericState>();
    state->scale = args[0].type.scale;
    bound->state = state;
    bound->kernel = is_wide(args[0].type) ? to_float<R, Int128> : to_float<R, int64_t>;
    return true;
}

}  // namespace

BoundFunction widening(Type type) {
    BoundFunction bound;
    bound.type = type;
    bound.kernel = from_integer<Int128, int64_t>;
    return bound;
}

void add_numeric_functions(std::vector<Function>& out) {
    using Bind = bool (*)(Args, BoundFunction*, std::string*);
    const auto add = [&](uint32_t oid, const char* name, TypeId result, std::vector<TypeId> types,
                         Bind bind, bool may_fault, uint32_t constant_arguments = 0) {
        Function function;
        function.info.oid = oid;
        function.info.name = name;
        function.info.result = result;
        function.info.arguments = static_cast<int>(types.size());
        for (size_t i = 0; i < types.size(); ++i) function.info.types[i] = types[i];
        function.info.may_fault = may_fault;
        function.info.constant_arguments = constant_arguments;
        function.bind = bind;
        out.push_back(std::move(function));
    };
    constexpr TypeId kNumeric = TypeId::kNumeric;
    const std::vector<TypeId> one{kNumeric};
    const std::vector<TypeId> two{kNumeric, kNumeric};
    const std::vector<TypeId> with_int4{kNumeric, TypeId::kInt4};

    const auto compare = [&](uint32_t oid, const char* name, Comparison comparison, Bind bind) {
        add(oid, name, comparison == Comparison::kOrder ? TypeId::kInt4 : TypeId::kBool, two, bind,
            false);
        out.back().comparison = comparison;
    };
    compare(1718, "numeric_eq", Comparison::kEqual, bind_comparison<Comparison::kEqual>);
    compare(1719, "numeric_ne", Comparison::kNotEqual, bind_comparison<Comparison::kNotEqual>);
    compare(1722, "numeric_lt", Comparison::kLess, bind_comparison<Comparison::kLess>);
    compare(1723, "numeric_le", Comparison::kLessEqual, bind_comparison<Comparison::kLessEqual>);
    compare(1720, "numeric_gt", Comparison::kGreater, bind_comparison<Comparison::kGreater>);
    compare(1721, "numeric_ge", Comparison::kGreaterEqual,
            bind_comparison<Comparison::kGreaterEqual>);
    compare(1769, "numeric_cmp", Comparison::kOrder, bind_comparison<Comparison::kOrder>);

    add(1724, "numeric_add", kNumeric, two, bind_sum<Sum::kAdd>, true);
    add(1725, "numeric_sub", kNumeric, two, bind_sum<Sum::kSubtract>, true);
    add(1726, "numeric_mul", kNumeric, two, bind_product, true);
    add(1728, "mod", kNumeric, two, bind_remainder, true);
    add(1729, "numeric_mod", kNumeric, two, bind_remainder, true);
    add(1771, "numeric_uminus", kNumeric, one, bind_negate<false>, false);
    add(1915, "numeric_uplus", kNumeric, one, bind_identity, false);
    add(1704, "numeric_abs", kNumeric, one, bind_negate<true>, false);
    add(1705, "abs", kNumeric, one, bind_negate<true>, false);
    add(1706, "sign", kNumeric, one, bind_sign, false);

    add(1707, "round", kNumeric, with_int4, bind_round<Rounding::kHalfAway>, true, 2);
    add(1708, "round", kNumeric, one, bind_round<Rounding::kHalfAway>, true);
    add(1709, "trunc", kNumeric, with_int4, bind_round<Rounding::kTowardsZero>, true, 2);
    add(1710, "trunc", kNumeric, one, bind_round<Rounding::kTowardsZero>, true);
    add(1711, "ceil", kNumeric, one, bind_round<Rounding::kUp>, true);
    add(2167, "ceiling", kNumeric, one, bind_round<Rounding::kUp>, true);
    add(1712, "floor", kNumeric, one, bind_round<Rounding::kDown>, true);
    add(1703, "numeric", kNumeric, with_int4, bind_modifier, true, 2);

    add(1782, "numeric", kNumeric, {TypeId::kInt2}, bind_from_integer<TypeId::kInt2>, false);
    add(1740, "numeric", kNumeric, {TypeId::kInt4}, bind_from_integer<TypeId::kInt4>, false);
    add(1781, "numeric", kNumeric, {TypeId::kInt8}, bind_from_integer<TypeId::kInt8>, false);
    add(1783, "int2", TypeId::kInt2, one, bind_to_integer<int16_t>, true);
    add(1744, "int4", TypeId::kInt4, one, bind_to_integer<int32_t>, true);
    add(1779, "int8", TypeId::kInt8, one, bind_to_integer<int64_t>, true);
    add(1745, "float4", TypeId::kFloat4, one, bind_to_float<float>, false);
    add(1746, "float8", TypeId::kFloat8, one, bind_to_float<double>, false);
}

}  // namespace loom::exec
