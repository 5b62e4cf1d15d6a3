// numeric: arithmetic and comparisons, bound to the scales of their arguments.

#include <cstring>

#include "exec/expr/decimal_functions.h"
#include "exec/expr/numeric_state.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::Type;
using plan::TypeId;
using sql::Fault;
using sql::Int128;

using Args = std::span<const Expr>;

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

// --- sums ---------------------------------------------------------------------------------------

enum class Sum : uint8_t { kAdd, kSubtract };

// Everything fits 64 bits.
template <Sum kSum>
void narrow_sum(const KernelCall& call) {
    const auto first = static_cast<int64_t>(numeric_state(call).first);
    const auto second = static_cast<int64_t>(numeric_state(call).second);
    run_vector_binary<int64_t, int64_t, int64_t>(
        call, [=](int64_t a, int64_t b, Fault&) LOOM_INLINE_LAMBDA {
            return kSum == Sum::kAdd ? sql::numeric_add(a, b, first, second)
                                     : sql::numeric_subtract(a, b, first, second);
        });
}

template <Sum kSum, bool kChecked>
struct WideSum {
    template <typename A, typename B>
    struct Kernels {
        static void run(const KernelCall& call) {
            const Int128 first = numeric_state(call).first;
            const Int128 second = numeric_state(call).second;
            run_binary<Int128, A, B, kChecked>(call, [=](A a, B b,
                                                         Fault& fault) LOOM_INLINE_LAMBDA {
                if constexpr (kChecked)
                    return kSum == Sum::kAdd
                               ? sql::numeric_add_aligned(a, b, first, second, fault)
                               : sql::numeric_subtract_aligned(a, b, first, second, fault);
                else
                    return kSum == Sum::kAdd ? sql::numeric_add<Int128>(a, b, first, second)
                                             : sql::numeric_subtract<Int128>(a, b, first, second);
            });
        }
    };
};

template <Sum kSum>
bool bind_sum(Args args, BoundFunction* bound, std::string*) {
    if (any_decimal(args)) {
        bind_decimal(kSum == Sum::kAdd ? DecimalOperation::kAdd : DecimalOperation::kSubtract, args,
                     bound);
        return true;
    }
    const Type a = args[0].type;
    const Type b = args[1].type;
    bound->type = plan::numeric_sum_type(a, b);
    auto state = std::make_shared<NumericState>();
    state->first = factor_between(a.scale, bound->type.scale);
    state->second = factor_between(b.scale, bound->type.scale);
    bound->state = state;
    const int scale = bound->type.scale;
    const int digits = std::max(plan::integer_digits(a), plan::integer_digits(b)) + 1 + scale;
    bound->may_fault = digits > plan::kMaxPrecision;
    const std::string name =
        kSum == Sum::kAdd ? "loom::sql::numeric_add" : "loom::sql::numeric_subtract";
    bound->definition.name = bound->may_fault ? name + "_aligned" : name + "<loom::sql::Int128>";
    bound->definition.constants = {state->first, state->second};
    bound->definition.modulo_64 = name + "<int64_t>";
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
                  LOOM_INLINE_LAMBDA { return sql::numeric_multiply(a, b); });
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
                    return sql::numeric_multiply<Int128>(a, b);
            });
        }
    };
};

bool bind_product(Args args, BoundFunction* bound, std::string*) {
    const Type a = args[0].type;
    const Type b = args[1].type;
    const std::optional<Type> type =
        any_decimal(args) ? std::nullopt : plan::numeric_product_type(a, b);
    if (!type) {
        bind_decimal(DecimalOperation::kMultiply, args, bound);
        return true;
    }
    bound->type = *type;
    bound->may_fault = a.precision + b.precision > plan::kMaxPrecision;
    bound->definition.name = bound->may_fault ? "loom::sql::numeric_multiply_checked"
                                              : "loom::sql::numeric_multiply<loom::sql::Int128>";
    bound->definition.modulo_64 = "loom::sql::numeric_multiply<int64_t>";
    if (!is_wide(bound->type))
        bound->kernel = narrow_product;
    else if (bound->may_fault)
        bound->kernel = by_width<WideProduct<true>::Kernels>(a, b);
    else
        bound->kernel = by_width<WideProduct<false>::Kernels>(a, b);
    return true;
}

// --- quotients and remainders
// ---------------------------------------------------------------------------------

// Each quotient has the scale that its operands ask for.
bool bind_quotient(Args args, BoundFunction* bound, std::string*) {
    bind_decimal(DecimalOperation::kDivide, args, bound);
    return true;
}

bool bind_truncated_quotient(Args args, BoundFunction* bound, std::string*) {
    bind_decimal_quotient(args, bound);
    return true;
}

template <typename R>
struct Remainder {
    template <typename A, typename B>
    struct Kernels {
        static void run(const KernelCall& call) {
            const Int128 first = numeric_state(call).first;
            const Int128 second = numeric_state(call).second;
            run_binary<R, A, B, true>(call, [=](A a, B b, Fault& fault) {
                return sql::numeric_remainder_aligned<R>(a, b, first, second, fault);
            });
        }
    };
};

bool bind_remainder(Args args, BoundFunction* bound, std::string*) {
    if (any_decimal(args)) {
        bind_decimal(DecimalOperation::kRemainder, args, bound);
        return true;
    }
    const Type a = args[0].type;
    const Type b = args[1].type;
    bound->type = plan::numeric_remainder_type(a, b);
    auto state = std::make_shared<NumericState>();
    state->first = factor_between(a.scale, bound->type.scale);
    state->second = factor_between(b.scale, bound->type.scale);
    bound->state = state;
    bound->definition.name = is_wide(bound->type)
                                 ? "loom::sql::numeric_remainder_aligned<loom::sql::Int128>"
                                 : "loom::sql::numeric_remainder_aligned<int64_t>";
    bound->definition.constants = {state->first, state->second};
    bound->kernel = is_wide(bound->type) ? by_width<Remainder<Int128>::Kernels>(a, b)
                                         : by_width<Remainder<int64_t>::Kernels>(a, b);
    return true;
}

// --- comparisons --------------------------------------------------------------------------------

template <Comparison kComparison>
struct Compare {
    using Result = std::conditional_t<kComparison == Comparison::kOrder, int32_t, bool>;

    template <typename T>
    static LOOM_SQL Result of(T a, T b, T first, T second) {
        switch (kComparison) {
            case Comparison::kEqual:
                return sql::numeric_equal<T>(a, b, first, second);
            case Comparison::kNotEqual:
                return sql::numeric_not_equal<T>(a, b, first, second);
            case Comparison::kLess:
                return sql::numeric_less<T>(a, b, first, second);
            case Comparison::kLessEqual:
                return sql::numeric_less_equal<T>(a, b, first, second);
            case Comparison::kGreater:
                return sql::numeric_greater<T>(a, b, first, second);
            case Comparison::kGreaterEqual:
                return sql::numeric_greater_equal<T>(a, b, first, second);
            default:
                return static_cast<Result>(sql::numeric_order<T>(a, b, first, second));
        }
    }
    static constexpr const char* kNames[] = {"",
                                             "numeric_equal",
                                             "numeric_not_equal",
                                             "numeric_less",
                                             "numeric_less_equal",
                                             "numeric_greater",
                                             "numeric_greater_equal",
                                             "numeric_order"};

    // Aligned values fit 64 bits.
    static void narrow(const KernelCall& call) {
        const auto first = static_cast<int64_t>(numeric_state(call).first);
        const auto second = static_cast<int64_t>(numeric_state(call).second);
        run_vector_binary<Result, int64_t, int64_t>(
            call, [=](int64_t a, int64_t b, Fault&)
                      LOOM_INLINE_LAMBDA { return of<int64_t>(a, b, first, second); });
    }

    template <typename A, typename B>
    struct Kernels {
        static void run(const KernelCall& call) {
            const Int128 first = numeric_state(call).first;
            const Int128 second = numeric_state(call).second;
            run_binary<Result, A, B, false>(
                call, [=](A a, B b, Fault&) { return of<Int128>(a, b, first, second); });
        }
    };
};

template <Comparison kComparison>
bool bind_comparison(Args args, BoundFunction* bound, std::string*) {
    if (any_decimal(args)) {
        bind_decimal_comparison(kComparison, args, bound);
        return true;
    }
    const Type a = args[0].type;
    const Type b = args[1].type;
    const int scale = std::max(a.scale, b.scale);
    auto state = std::make_shared<NumericState>();
    state->first = factor_between(a.scale, scale);
    state->second = factor_between(b.scale, scale);
    bound->state = state;
    const std::string name =
        std::string("loom::sql::") + Compare<kComparison>::kNames[static_cast<int>(kComparison)];
    bound->definition.name = name + "<loom::sql::Int128>";
    bound->definition.constants = {state->first, state->second};
    bound->definition.aligned_64 = name + "<int64_t>";
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
        return kAbsolute ? sql::numeric_absolute(a) : sql::numeric_negate(a);
    });
}

template <bool kAbsolute>
bool bind_negate(Args args, BoundFunction* bound, std::string*) {
    if (any_decimal(args)) {
        bind_decimal(kAbsolute ? DecimalOperation::kAbsolute : DecimalOperation::kNegate, args,
                     bound);
        return true;
    }
    bound->type = args[0].type;
    const std::string name =
        kAbsolute ? "loom::sql::numeric_absolute" : "loom::sql::numeric_negate";
    bound->definition.name = name + "<loom::sql::Int128>";
    (kAbsolute ? bound->definition.aligned_64 : bound->definition.modulo_64) = name + "<int64_t>";
    bound->kernel = is_wide(bound->type) ? negate<Int128, kAbsolute> : negate<int64_t, kAbsolute>;
    return true;
}

template <typename T>
void copy(const KernelCall& call) {
    std::memcpy(call.out, call.args[0].values, static_cast<size_t>(call.rows) * sizeof(T));
}

bool bind_identity(Args args, BoundFunction* bound, std::string*) {
    if (any_decimal(args)) {
        bind_decimal(DecimalOperation::kCopy, args, bound);
        return true;
    }
    bound->type = args[0].type;
    bound->definition.name = "loom::sql::numeric_identity<loom::sql::Int128>";
    bound->definition.modulo_64 = "loom::sql::numeric_identity<int64_t>";
    bound->kernel = is_wide(bound->type) ? copy<Int128> : copy<int64_t>;
    return true;
}

template <typename A>
void sign(const KernelCall& call) {
    run_unary<int64_t, A, false>(
        call, [](A a, Fault&) { return static_cast<int64_t>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0)); });
}

bool bind_sign(Args args, BoundFunction* bound, std::string*) {
    if (any_decimal(args)) {
        bind_decimal_sign(args, bound);
        return true;
    }
    bound->type = plan::make_numeric(1, 0);
    bound->kernel = is_wide(args[0].type) ? sign<Int128> : sign<int64_t>;
    return true;
}

}  // namespace

void add_numeric(std::vector<Function>& out, uint32_t oid, const char* name, TypeId result,
                 std::initializer_list<TypeId> types, BindNumeric bind, bool may_fault,
                 uint32_t constant_arguments) {
    Function function;
    function.info.oid = oid;
    function.info.name = name;
    function.info.result = result;
    function.info.arguments = static_cast<int>(types.size());
    std::copy(types.begin(), types.end(), function.info.types);
    function.info.may_fault = may_fault;
    function.info.constant_arguments = constant_arguments;
    function.bind = bind;
    out.push_back(std::move(function));
}

void add_numeric_functions(std::vector<Function>& out) {
    constexpr TypeId kNumeric = TypeId::kNumeric;
    const auto compare = [&](uint32_t oid, const char* name, Comparison comparison,
                             BindNumeric bind) {
        add_numeric(out, oid, name,
                    comparison == Comparison::kOrder ? TypeId::kInt4 : TypeId::kBool,
                    {kNumeric, kNumeric}, bind, false);
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

    const auto binary = [&](uint32_t oid, const char* name, BindNumeric bind) {
        add_numeric(out, oid, name, kNumeric, {kNumeric, kNumeric}, bind, true);
    };
    binary(1724, "numeric_add", bind_sum<Sum::kAdd>);
    binary(1725, "numeric_sub", bind_sum<Sum::kSubtract>);
    binary(1726, "numeric_mul", bind_product);
    binary(1727, "numeric_div", bind_quotient);
    binary(1728, "mod", bind_remainder);
    binary(1729, "numeric_mod", bind_remainder);
    binary(1973, "div", bind_truncated_quotient);
    binary(1980, "numeric_div_trunc", bind_truncated_quotient);

    const auto unary = [&](uint32_t oid, const char* name, BindNumeric bind) {
        add_numeric(out, oid, name, kNumeric, {kNumeric}, bind, false);
    };
    unary(1771, "numeric_uminus", bind_negate<false>);
    unary(1915, "numeric_uplus", bind_identity);
    unary(1704, "numeric_abs", bind_negate<true>);
    unary(1705, "abs", bind_negate<true>);
    unary(1706, "sign", bind_sign);
    add_numeric_casts(out);
}

}  // namespace loom::exec
