// Arithmetic, casts and mathematics of float4 and float8.

#include "sql/float.h"

#include "exec/expr/loops.h"

namespace loom::exec {

using plan::TypeId;

void add_float_functions(std::vector<Function>& out) {
    out.push_back(make_function<sql::float_add<float, float>>(204, "float4pl", TypeId::kFloat4,
                                                              TypeId::kFloat4, TypeId::kFloat4));
    out.push_back(make_function<sql::float_subtract<float, float>>(
        205, "float4mi", TypeId::kFloat4, TypeId::kFloat4, TypeId::kFloat4));
    out.push_back(make_function<sql::float_multiply<float, float>>(
        202, "float4mul", TypeId::kFloat4, TypeId::kFloat4, TypeId::kFloat4));
    out.push_back(make_function<sql::float_divide<float, float>>(203, "float4div", TypeId::kFloat4,
                                                                 TypeId::kFloat4, TypeId::kFloat4));
    out.push_back(make_function<sql::float_add<float, double>>(281, "float48pl", TypeId::kFloat8,
                                                               TypeId::kFloat4, TypeId::kFloat8));
    out.push_back(make_function<sql::float_subtract<float, double>>(
        282, "float48mi", TypeId::kFloat8, TypeId::kFloat4, TypeId::kFloat8));
    out.push_back(make_function<sql::float_multiply<float, double>>(
        279, "float48mul", TypeId::kFloat8, TypeId::kFloat4, TypeId::kFloat8));
    out.push_back(make_function<sql::float_divide<float, double>>(
        280, "float48div", TypeId::kFloat8, TypeId::kFloat4, TypeId::kFloat8));
    out.push_back(make_function<sql::float_add<double, float>>(285, "float84pl", TypeId::kFloat8,
                                                               TypeId::kFloat8, TypeId::kFloat4));
    out.push_back(make_function<sql::float_subtract<double, float>>(
        286, "float84mi", TypeId::kFloat8, TypeId::kFloat8, TypeId::kFloat4));
    out.push_back(make_function<sql::float_multiply<double, float>>(
        283, "float84mul", TypeId::kFloat8, TypeId::kFloat8, TypeId::kFloat4));
    out.push_back(make_function<sql::float_divide<double, float>>(
        284, "float84div", TypeId::kFloat8, TypeId::kFloat8, TypeId::kFloat4));
    out.push_back(make_function<sql::float_add<double, double>>(218, "float8pl", TypeId::kFloat8,
                                                                TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_subtract<double, double>>(
        219, "float8mi", TypeId::kFloat8, TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_multiply<double, double>>(
        216, "float8mul", TypeId::kFloat8, TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_divide<double, double>>(
        217, "float8div", TypeId::kFloat8, TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(
        make_function<sql::float_negate<float>>(206, "float4um", TypeId::kFloat4, TypeId::kFloat4));
    out.push_back(
        make_function<sql::identity<float>>(1913, "float4up", TypeId::kFloat4, TypeId::kFloat4));
    out.push_back(make_function<static_cast<float (*)(float)>(sql::float_abs)>(
        207, "float4abs", TypeId::kFloat4, TypeId::kFloat4));
    out.push_back(make_function<static_cast<float (*)(float)>(sql::float_abs)>(
        1394, "abs", TypeId::kFloat4, TypeId::kFloat4));
    out.push_back(make_function<sql::to_float<float, int16_t>>(236, "float4", TypeId::kFloat4,
                                                               TypeId::kInt2));
    out.push_back(make_function<sql::float_to_integer<int16_t, float>>(238, "int2", TypeId::kInt2,
                                                                       TypeId::kFloat4));
    out.push_back(make_function<sql::to_float<float, int32_t>>(318, "float4", TypeId::kFloat4,
                                                               TypeId::kInt4));
    out.push_back(make_function<sql::float_to_integer<int32_t, float>>(319, "int4", TypeId::kInt4,
                                                                       TypeId::kFloat4));
    out.push_back(make_function<sql::to_float<float, int64_t>>(652, "float4", TypeId::kFloat4,
                                                               TypeId::kInt8));
    out.push_back(make_function<sql::float_to_integer<int64_t, float>>(653, "int8", TypeId::kInt8,
                                                                       TypeId::kFloat4));
    out.push_back(make_function<sql::float_negate<double>>(220, "float8um", TypeId::kFloat8,
                                                           TypeId::kFloat8));
    out.push_back(
        make_function<sql::identity<double>>(1914, "float8up", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<static_cast<double (*)(double)>(sql::float_abs)>(
        221, "float8abs", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<static_cast<double (*)(double)>(sql::float_abs)>(
        1395, "abs", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::to_float<double, int16_t>>(235, "float8", TypeId::kFloat8,
                                                                TypeId::kInt2));
    out.push_back(make_function<sql::float_to_integer<int16_t, double>>(237, "int2", TypeId::kInt2,
                                                                        TypeId::kFloat8));
    out.push_back(make_function<sql::to_float<double, int32_t>>(316, "float8", TypeId::kFloat8,
                                                                TypeId::kInt4));
    out.push_back(make_function<sql::float_to_integer<int32_t, double>>(317, "int4", TypeId::kInt4,
                                                                        TypeId::kFloat8));
    out.push_back(make_function<sql::to_float<double, int64_t>>(482, "float8", TypeId::kFloat8,
                                                                TypeId::kInt8));
    out.push_back(make_function<sql::float_to_integer<int64_t, double>>(483, "int8", TypeId::kInt8,
                                                                        TypeId::kFloat8));
    out.push_back(make_function<sql::to_float<double, float>>(311, "float8", TypeId::kFloat8,
                                                              TypeId::kFloat4));
    out.push_back(
        make_function<sql::float8_to_float4>(312, "float4", TypeId::kFloat4, TypeId::kFloat8));
    out.push_back(make_function<sql::float_round>(1342, "round", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_round>(228, "dround", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_ceil>(2308, "ceil", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(
        make_function<sql::float_ceil>(2320, "ceiling", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_floor>(2309, "floor", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(
        make_function<sql::float_truncate>(1343, "trunc", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(
        make_function<sql::float_truncate>(229, "dtrunc", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_sign>(2310, "sign", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_sqrt>(1344, "sqrt", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_sqrt>(230, "dsqrt", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_cbrt>(1345, "cbrt", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_cbrt>(231, "dcbrt", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_exp>(1347, "exp", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_exp>(233, "dexp", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_ln>(1341, "ln", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_ln>(234, "dlog1", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_log10>(1340, "log", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_log10>(1194, "log10", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(
        make_function<sql::float_log10>(1339, "dlog10", TypeId::kFloat8, TypeId::kFloat8));
    out.push_back(make_function<sql::float_power>(1346, "pow", TypeId::kFloat8, TypeId::kFloat8,
                                                  TypeId::kFloat8));
    out.push_back(make_function<sql::float_power>(1368, "power", TypeId::kFloat8, TypeId::kFloat8,
                                                  TypeId::kFloat8));
    out.push_back(make_function<sql::float_power>(232, "dpow", TypeId::kFloat8, TypeId::kFloat8,
                                                  TypeId::kFloat8));
}

}  // namespace loom::exec
