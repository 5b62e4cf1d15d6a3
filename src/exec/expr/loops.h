#pragma once
// Kernels from definitions of src/sql: loops over dense arrays, one for each way in which arguments
// are constant. A fault of any row, NULL rows included, sends the batch through a second loop that
// looks at the rows that count, one by one.

#include "base/bitmap.h"
#include "exec/expr/raise.h"
#include "exec/expr/registry.h"
#include "sql/fault.h"

namespace loom::exec {

/// What the loops need to know of a definition.
template <auto kFunction>
struct Signature;
template <typename R, typename A, R (*kFunction)(A)>
struct Signature<kFunction> {
    using Result = R;
    using First = A;
    static constexpr int kArguments = 1;
    static constexpr bool kFaults = false;
};
template <typename R, typename A, R (*kFunction)(A, sql::Fault&)>
struct Signature<kFunction> {
    using Result = R;
    using First = A;
    static constexpr int kArguments = 1;
    static constexpr bool kFaults = true;
};
template <typename R, typename A, typename B, R (*kFunction)(A, B)>
struct Signature<kFunction> {
    using Result = R;
    using First = A;
    using Second = B;
    static constexpr int kArguments = 2;
    static constexpr bool kFaults = false;
};
template <typename R, typename A, typename B, R (*kFunction)(A, B, sql::Fault&)>
struct Signature<kFunction> {
    using Result = R;
    using First = A;
    using Second = B;
    static constexpr int kArguments = 2;
    static constexpr bool kFaults = true;
};

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
    const auto* a = call.args[0].as<typename S::First>();
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
    const auto* __restrict a = call.args[0].as<typename S::First>();
    const auto* __restrict b = call.args[1].as<typename S::Second>();
    auto* __restrict out = static_cast<typename S::Result*>(call.out);
    const typename S::First a0 = a[0];
    const typename S::Second b0 = b[0];
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
    function.info = {oid, std::move(name), result, S::kArguments, {first, second}, S::kFaults, 0};
    if constexpr (S::kArguments == 1)
        function.kernel = unary_kernel<kFunction>;
    else
        function.kernel = binary_kernel<kFunction>;
    return function;
}

}  // namespace loom::exec
