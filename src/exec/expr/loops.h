#pragma once
// Kernels from definitions of src/sql: loops over dense arrays, one for each way in which arguments
// are constant. A fault of any row, NULL rows included, sends the batch through a second loop that
// looks at the rows that count, one by one.

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/bitmap.h"
#include "exec/expr/raise.h"
#include "exec/expr/registry.h"
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
            if (fault.bits != 0) raise(fault);
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
        if (fault.bits != 0) raise(fault);
    }
}

template <auto kFunction>
void unary_kernel(const KernelCall& call) {
    using S = Signature<kFunction>;
    const auto* a = call.args[0].as<typename S::template Argument<0>>();
    auto* out = static_cast<typename S::Result*>(call.out);
    if constexpr (S::kFaults) {
        sql::Fault fault;
        for (int64_t i = 0; i < call.rows; ++i) out[i] = kFunction(a[i], fault);
        if (fault.bits != 0)
            raise_first(call, [a](int64_t i, sql::Fault& f) { kFunction(a[i], f); });
    } else {
        for (int64_t i = 0; i < call.rows; ++i) out[i] = kFunction(a[i]);
    }
}

template <auto kFunction, bool kFirstConstant, bool kSecondConstant>
void binary_loop(const KernelCall& call) {
    using S = Signature<kFunction>;
    const auto* __restrict a = call.args[0].as<typename S::template Argument<0>>();
    const auto* __restrict b = call.args[1].as<typename S::template Argument<1>>();
    auto* __restrict out = static_cast<typename S::Result*>(call.out);
    if (call.rows == 0) return;
    const typename S::template Argument<0> a0 = a[0];
    const typename S::template Argument<1> b0 = b[0];
    if constexpr (S::kFaults) {
        sql::Fault fault;
        for (int64_t i = 0; i < call.rows; ++i)
            out[i] = kFunction(kFirstConstant ? a0 : a[i], kSecondConstant ? b0 : b[i], fault);
        if (fault.bits != 0)
            raise_first(call, [=](int64_t i, sql::Fault& f) {
                kFunction(kFirstConstant ? a0 : a[i], kSecondConstant ? b0 : b[i], f);
            });
    } else {
        for (int64_t i = 0; i < call.rows; ++i)
            out[i] = kFunction(kFirstConstant ? a0 : a[i], kSecondConstant ? b0 : b[i]);
    }
}

template <auto kFunction>
void binary_kernel(const KernelCall& call) {
    if (call.args[0].form == Form::kConstant)
        binary_loop<kFunction, true, false>(call);
    else if (call.args[1].form == Form::kConstant)
        binary_loop<kFunction, false, true>(call);
    else
        binary_loop<kFunction, false, false>(call);
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
    if constexpr (kTakesViews<kFunction> || S::kArguments > 2)
        function.kernel = view_kernel<kFunction>;
    else if constexpr (S::kArguments == 1)
        function.kernel = unary_kernel<kFunction>;
    else
        function.kernel = binary_kernel<kFunction>;
    return function;
}

}  // namespace loom::exec
