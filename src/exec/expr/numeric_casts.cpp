// numeric: roundings and casts, bound to the scales of their arguments.

#include <cstring>

#include <fmt/core.h>

#include "exec/expr/decimal_functions.h"
#include "exec/expr/numeric_state.h"
#include "exec/expr/widen.h"
#include "sql/integer.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::Type;
using plan::TypeId;
using sql::Fault;
using sql::Int128;
using sql::Rounding;

using Args = std::span<const Expr>;

// How a kernel's text names the representation of a type.
const char* width_name(Type type) {
    return is_wide(type) ? "loom::sql::Int128" : "int64_t";
}

// --- changes of scale ---------------------------------------------------------------------------

template <typename R, typename A, Rounding kRounding>
void rescale(const KernelCall& call) {
    const Int128 up = numeric_state(call).first;
    const Int128 drop = numeric_state(call).drop;
    const Int128 limit = numeric_state(call).limit;
    run_unary<R, A, true>(call, [=](A a, Fault& fault) {
        return sql::numeric_rescale<R, A, kRounding>(a, drop, up, limit, fault);
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
    bound->definition.name =
        fmt::format("loom::sql::numeric_rescale<{}, {}, loom::sql::Rounding::{}>",
                    width_name(bound->type), width_name(from),
                    kRounding == Rounding::kHalfAway      ? "kHalfAway"
                    : kRounding == Rounding::kTowardsZero ? "kTowardsZero"
                    : kRounding == Rounding::kUp          ? "kUp"
                                                          : "kDown");
    bound->definition.arguments = 1;
    bound->definition.takes_fault = true;
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
    if (plan::is_decimal(from)) {
        bind_decimal_round(kRounding, from, digits, bound);
        return true;
    }
    if (from.scale - digits > plan::kMaxPrecision) {
        *reason = "rounding to more digits than the engine has";
        return false;
    }
    bound->type = plan::numeric_round_type(from, digits);
    auto state = std::make_shared<NumericState>();
    set_rescale<kRounding>(from, digits, state.get(), bound);
    bound->may_fault = plan::integer_digits(from) + 1 + std::max(digits, 0) > plan::kMaxPrecision;
    bound->definition.constants = {state->drop, state->first, state->limit};
    bound->state = state;
    return true;
}

// numeric(numeric, int4): the cast to numeric(p, s). A modifier below 0 changes nothing, and makes
// a Decimal of any numeric.
bool bind_modifier(Args args, BoundFunction* bound, std::string* reason) {
    if (args[1].value.known() && args[1].value.integer < 0) {
        bind_decimal(DecimalOperation::kCopy, args, bound);
        return true;
    }
    const std::optional<Type> to =
        args[1].value.known()
            ? plan::numeric_type_of_modifier(static_cast<int>(args[1].value.integer))
            : std::nullopt;
    if (!to) {
        *reason = "a cast to a numeric of more than 38 digits or of negative scale";
        return false;
    }
    const Type from = args[0].type;
    if (plan::is_decimal(from)) {
        bind_decimal_modifier(from, *to, bound);
        return true;
    }
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
    bound->definition.constants = {state->drop, state->first, state->limit};
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
    bound->definition.name = "loom::sql::numeric_identity<loom::sql::Int128>";
    bound->definition.modulo_64 = "loom::sql::numeric_identity<int64_t>";
    bound->kernel = kFrom == TypeId::kInt2   ? from_integer<int64_t, int16_t>
                    : kFrom == TypeId::kInt4 ? from_integer<int64_t, int32_t>
                                             : from_integer<Int128, int64_t>;
    return true;
}

template <typename R, typename A>
void to_integer(const KernelCall& call) {
    const Int128 drop = numeric_state(call).drop;
    run_unary<R, A, true>(call, [=](A a, Fault& fault) {
        return sql::numeric_round_to_integer<R, sql::Integer<R>::kRange, A>(a, drop, fault);
    });
}

template <typename R>
bool bind_to_integer(Args args, BoundFunction* bound, std::string*) {
    if (plan::is_decimal(args[0].type)) {
        bind_decimal_to_number(bound->type.id, args[0].type, bound);
        return true;
    }
    auto state = std::make_shared<NumericState>();
    state->drop = sql::power_of_ten(args[0].type.scale);
    bound->state = state;
    const int bits = static_cast<int>(sizeof(R)) * 8;
    bound->definition.name =
        fmt::format("loom::sql::numeric_round_to_integer<int{}_t, loom::sql::kInt{}Range, {}>",
                    bits, bits / 8, width_name(args[0].type));
    bound->definition.constants = {state->drop};
    bound->kernel = is_wide(args[0].type) ? to_integer<R, Int128> : to_integer<R, int64_t>;
    return true;
}

template <typename R, typename A>
void to_float(const KernelCall& call) {
    const int scale = numeric_state(call).scale;
    const R divisor = static_cast<R>(sql::power_of_ten(std::min(scale, 22)));
    run_unary<R, A, false>(call, [=](A a, Fault&) -> R {
        const bool exact =
            sizeof(R) == 8 ? sql::exact_as_float8(a, scale) : sql::exact_as_float4(a, scale);
        return exact ? static_cast<R>(static_cast<int64_t>(a)) / divisor
                     : numeric_as_float<R>(a, scale);
    });
}

template <typename R>
bool bind_to_float(Args args, BoundFunction* bound, std::string*) {
    if (plan::is_decimal(args[0].type)) {
        bound->may_fault = true;
        bind_decimal_to_number(bound->type.id, args[0].type, bound);
        return true;
    }
    auto state = std::make_shared<NumericState>();
    state->scale = args[0].type.scale;
    bound->state = state;
    bound->kernel = is_wide(args[0].type) ? to_float<R, Int128> : to_float<R, int64_t>;
    return true;
}

template <TypeId kFrom>
bool bind_from_float(Args, BoundFunction* bound, std::string*) {
    bind_decimal_from_float(kFrom, bound);
    return true;
}

}  // namespace

BoundFunction widening(Type type) {
    BoundFunction bound;
    bound.type = type;
    bound.kernel = from_integer<Int128, int64_t>;
    return bound;
}

void add_numeric_casts(std::vector<Function>& out) {
    constexpr TypeId kNumeric = TypeId::kNumeric;
    const auto rounding = [&](uint32_t oid, const char* name, BindNumeric bind) {
        add_numeric(out, oid, name, kNumeric, {kNumeric}, bind, true);
    };
    const auto with_digits = [&](uint32_t oid, const char* name, BindNumeric bind) {
        add_numeric(out, oid, name, kNumeric, {kNumeric, TypeId::kInt4}, bind, true, 2);
    };
    with_digits(1707, "round", bind_round<Rounding::kHalfAway>);
    rounding(1708, "round", bind_round<Rounding::kHalfAway>);
    with_digits(1709, "trunc", bind_round<Rounding::kTowardsZero>);
    rounding(1710, "trunc", bind_round<Rounding::kTowardsZero>);
    rounding(1711, "ceil", bind_round<Rounding::kUp>);
    rounding(2167, "ceiling", bind_round<Rounding::kUp>);
    rounding(1712, "floor", bind_round<Rounding::kDown>);
    with_digits(1703, "numeric", bind_modifier);

    const auto cast = [&](uint32_t oid, const char* name, TypeId to, TypeId from, BindNumeric bind,
                          bool may_fault) {
        add_numeric(out, oid, name, to, {from}, bind, may_fault);
    };
    cast(1782, "numeric", kNumeric, TypeId::kInt2, bind_from_integer<TypeId::kInt2>, false);
    cast(1740, "numeric", kNumeric, TypeId::kInt4, bind_from_integer<TypeId::kInt4>, false);
    cast(1781, "numeric", kNumeric, TypeId::kInt8, bind_from_integer<TypeId::kInt8>, false);
    cast(1742, "numeric", kNumeric, TypeId::kFloat4, bind_from_float<TypeId::kFloat4>, true);
    cast(1743, "numeric", kNumeric, TypeId::kFloat8, bind_from_float<TypeId::kFloat8>, true);
    cast(1783, "int2", TypeId::kInt2, kNumeric, bind_to_integer<int16_t>, true);
    cast(1744, "int4", TypeId::kInt4, kNumeric, bind_to_integer<int32_t>, true);
    cast(1779, "int8", TypeId::kInt8, kNumeric, bind_to_integer<int64_t>, true);
    cast(1745, "float4", TypeId::kFloat4, kNumeric, bind_to_float<float>, false);
    cast(1746, "float8", TypeId::kFloat8, kNumeric, bind_to_float<double>, false);
}

}  // namespace loom::exec
