#pragma once
// Kernels from definitions of src/sql: loops over dense arrays, one for each way in which arguments
// are constant. A fault of any row, NULL rows included, sends the batch through a second loop that
// looks at the rows that count, one by one.

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/bitmap.h"
#include "exec/expr/raise.h"
#include "exec/expr/registry.h"
#include "simd/instruction_set.h"
#include "sql/fault.h"

namespace loom::exec {

/// What the loops need to know of a definition: its result, its arguments, whether a Fault& follows
/// them.
template <typename Pointer>
struct SignatureOf;
template <typename R, typename... Args>
struct SignatureOf<R (*)(Args...)> {
    using Result = R;
    using Tuple = std::tuple<std::remove_cvref_t<Args>...>;
    static constexpr bool kFaults = (std::is_same_v<Args, sql::Fault&> || ...);
    static constexpr int kArguments = static_cast<int>(sizeof...(Args)) - (kFaults ? 1 : 0);
    template <size_t kAt>
    using Argument = std::tuple_element_t<kAt, Tuple>;
};
template <auto kFunction>
using Signature = SignatureOf<decltype(kFunction)>;

/// Whether arguments are views, whose bytes must not be looked at in NULL rows.
template <auto kFunction, size_t... kAt>
constexpr bool takes_views(std::index_sequence<kAt...>) {
    return (std::is_same_v<typename Signature<kFunction>::template Argument<kAt>, sql::Bytes> ||
            ...);
}
template <auto kFunction>
inline constexpr bool kTakesViews =
    takes_views<kFunction>(std::make_index_sequence<Signature<kFunction>::kArguments>{});

template <auto kFunction, size_t... kAt>
void view_loop(const KernelCall& call, std::index_sequence<kAt...>) {
    using S = Signature<kFunction>;
    const std::tuple<const typename S::template Argument<kAt>*...> args{
        call.args[kAt].template as<typename S::template Argument<kAt>>()...};
    const int64_t steps[] = {call.args[kAt].form == Form::kConstant ? 0 : 1 ...};
    auto* out = static_cast<typename S::Result*>(call.out);
    for (int64_t i = 0; i < call.rows; ++i) {
        if (call.validity != nullptr && !base::bit_at(call.validity, i)) {
            out[i] = typename S::Result{};
            continue;
        }
        if constexpr (S::kFaults) {
            sql::Fault fault;
            out[i] = kFunction(std::get<kAt>(args)[i * steps[kAt]]..., fault);
            if (fault.bits() != 0) raise(fault);
        } else {
            out[i] = kFunction(std::get<kAt>(args)[i * steps[kAt]]...);
        }
    }
}

/// For definitions over views, and for those of more than two arguments: row by row.
template <auto kFunction>
void view_kernel(const KernelCall& call) {
    view_loop<kFunction>(call, std::make_index_sequence<Signature<kFunction>::kArguments>{});
}

/// Calls test(row, fault) for each row that is not NULL and raises the first fault.
template <typename Test>
void raise_first(const KernelCall& call, Test test) {
    for (int64_t i = 0; i < call.rows; ++i) {
        if (call.validity != nullptr && !base::bit_at(call.validity, i)) continue;
        sql::Fault fault;
        test(i, fault);
        if (fault.bits() != 0) raise(fault);
    }
}

/// For lambdas that a loop of any instruction set must swallow.
#define LOOM_INLINE_LAMBDA __attribute__((always_inline))

// GCC prefers 256-bit vectors unless told; clang has no such option here.
#if defined(__clang__)
#define LOOM_WIDE_VECTORS
#else
#define LOOM_WIDE_VECTORS ",prefer-vector-width=512"
#endif

// The loops, once for each instruction set.
#define LOOM_LOOP_NAMESPACE portable
#define LOOM_LOOP_TARGET
#include "exec/expr/loops_body.inc"
#undef LOOM_LOOP_NAMESPACE
#undef LOOM_LOOP_TARGET
#if defined(__x86_64__)
#define LOOM_LOOP_NAMESPACE avx2
#define LOOM_LOOP_TARGET __attribute__((target("avx2")))
#include "exec/expr/loops_body.inc"
#undef LOOM_LOOP_NAMESPACE
#undef LOOM_LOOP_TARGET
#define LOOM_LOOP_NAMESPACE avx512
#define LOOM_LOOP_TARGET \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl" LOOM_WIDE_VECTORS)))
#include "exec/expr/loops_body.inc"
#undef LOOM_LOOP_NAMESPACE
#undef LOOM_LOOP_TARGET
#endif

/// Runs `op(a, fault)` or `op(a, b, fault)` over the rows of a call; kFaults says whether it can
/// fault. For kernels with a state, whose op is a lambda that holds its numbers.
template <typename R, typename A, bool kFaults, typename Op>
void run_unary(const KernelCall& call, const Op& op) {
    portable::unary_loop<R, A, kFaults>(call, op);
}
/// The same over argument `at` alone; the others are constants that the kernel's state knows.
template <typename R, typename A, bool kFaults, typename Op>
void run_unary_argument(const KernelCall& call, int at, const Op& op) {
    KernelCall one = call;
    one.args = call.args + at;
    portable::unary_loop<R, A, kFaults>(one, op);
}
template <typename R, typename A, typename B, bool kFaults, typename Op>
void run_binary(const KernelCall& call, const Op& op) {
    portable::binary<R, A, B, kFaults>(call, op);
}

/// The same without faults, by the widest vectors that the processor has.
template <typename R, typename A, typename B, typename Op>
void run_vector_binary(const KernelCall& call, const Op& op) {
#if defined(__x86_64__)
    static const simd::InstructionSet set = simd::best_instruction_set();
    if (set == simd::InstructionSet::kAvx512) return avx512::binary<R, A, B, false>(call, op);
    if (set == simd::InstructionSet::kAvx2) return avx2::binary<R, A, B, false>(call, op);
#endif
    portable::binary<R, A, B, false>(call, op);
}

template <typename R, typename A, typename Op>
void run_vector_argument(const KernelCall& call, int at, const Op& op) {
    KernelCall one = call;
    one.args = call.args + at;
#if defined(__x86_64__)
    static const simd::InstructionSet set = simd::best_instruction_set();
    if (set == simd::InstructionSet::kAvx512) return avx512::unary_loop<R, A, true>(one, op);
    if (set == simd::InstructionSet::kAvx2) return avx2::unary_loop<R, A, true>(one, op);
#endif
    portable::unary_loop<R, A, true>(one, op);
}

/// Whether a loop over the types gains from wider vectors.
template <typename T>
inline constexpr bool kVectorType = std::is_arithmetic_v<T>;

/// Runs a kernel with its arguments exchanged: a > b is b < a.
template <Kernel (*kChoose)()>
void swapped_kernel(const KernelCall& call) {
    static const Kernel kernel = kChoose();
    const Vector args[] = {call.args[1], call.args[0]};
    KernelCall swapped = call;
    swapped.args = args;
    kernel(swapped);
}

template <auto kFunction>
Kernel best_kernel() {
    using S = Signature<kFunction>;
    using First = typename S::template Argument<0>;
    if constexpr (kTakesViews<kFunction> || S::kArguments > 2) {
        return view_kernel<kFunction>;
    } else {
#if defined(__x86_64__)
        if constexpr (kVectorType<typename S::Result> && kVectorType<First>) {
            const simd::InstructionSet set = simd::best_instruction_set();
            if (set == simd::InstructionSet::kAvx512) return avx512::kernel<kFunction>;
            if (set == simd::InstructionSet::kAvx2) return avx2::kernel<kFunction>;
        }
#endif
        return portable::kernel<kFunction>;
    }
}

/// Returns how C++ names a function, as the compiler prints it: with a static function of a
/// template's instance whole, its arguments included.
template <auto kFunction>
std::string definition_name() {
    const std::string_view text = __PRETTY_FUNCTION__;
    const size_t begin = text.find("kFunction = ") + std::string_view("kFunction = ").size();
    std::string_view name = text.substr(begin, text.find_first_of(";]", begin) - begin);
    if (name.starts_with('&')) name.remove_prefix(1);
    return std::string(name);
}

/// Registers a definition whose result has no modifier.
template <auto kFunction>
Function make_function(uint32_t oid, std::string name, plan::TypeId result, plan::TypeId first,
                       plan::TypeId second = plan::TypeId::kBool) {
    using S = Signature<kFunction>;
    Function function;
    function.info.oid = oid;
    function.info.name = std::move(name);
    function.info.result = result;
    function.info.arguments = S::kArguments;
    function.info.types[0] = first;
    function.info.types[1] = second;
    function.info.may_fault = S::kFaults;
    function.info.definition = definition_name<kFunction>();
    function.kernel = best_kernel<kFunction>();
    return function;
}

}  // namespace loom::exec
