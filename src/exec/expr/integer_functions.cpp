// Arithmetic and casts of int2, int4, int8.

#include "sql/integer.h"

#include "exec/expr/loops.h"

namespace loom::exec {

using plan::TypeId;

void add_integer_functions(std::vector<Function>& out) {
    out.push_back(make_function<sql::integer_add<int16_t, int16_t>>(176, "int2pl", TypeId::kInt2,
                                                                    TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::integer_subtract<int16_t, int16_t>>(
        180, "int2mi", TypeId::kInt2, TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::integer_multiply<int16_t, int16_t>>(
        152, "int2mul", TypeId::kInt2, TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::integer_divide<int16_t, int16_t>>(
        153, "int2div", TypeId::kInt2, TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::integer_add<int16_t, int32_t>>(178, "int24pl", TypeId::kInt4,
                                                                    TypeId::kInt2, TypeId::kInt4));
    out.push_back(make_function<sql::integer_subtract<int16_t, int32_t>>(
        182, "int24mi", TypeId::kInt4, TypeId::kInt2, TypeId::kInt4));
    out.push_back(make_function<sql::integer_multiply<int16_t, int32_t>>(
        170, "int24mul", TypeId::kInt4, TypeId::kInt2, TypeId::kInt4));
    out.push_back(make_function<sql::integer_divide<int16_t, int32_t>>(
        172, "int24div", TypeId::kInt4, TypeId::kInt2, TypeId::kInt4));
    out.push_back(make_function<sql::integer_add<int16_t, int64_t>>(841, "int28pl", TypeId::kInt8,
                                                                    TypeId::kInt2, TypeId::kInt8));
    out.push_back(make_function<sql::integer_subtract<int16_t, int64_t>>(
        942, "int28mi", TypeId::kInt8, TypeId::kInt2, TypeId::kInt8));
    out.push_back(make_function<sql::integer_multiply<int16_t, int64_t>>(
        943, "int28mul", TypeId::kInt8, TypeId::kInt2, TypeId::kInt8));
    out.push_back(make_function<sql::integer_divide<int16_t, int64_t>>(
        948, "int28div", TypeId::kInt8, TypeId::kInt2, TypeId::kInt8));
    out.push_back(make_function<sql::integer_add<int32_t, int16_t>>(179, "int42pl", TypeId::kInt4,
                                                                    TypeId::kInt4, TypeId::kInt2));
    out.push_back(make_function<sql::integer_subtract<int32_t, int16_t>>(
        183, "int42mi", TypeId::kInt4, TypeId::kInt4, TypeId::kInt2));
    out.push_back(make_function<sql::integer_multiply<int32_t, int16_t>>(
        171, "int42mul", TypeId::kInt4, TypeId::kInt4, TypeId::kInt2));
    out.push_back(make_function<sql::integer_divide<int32_t, int16_t>>(
        173, "int42div", TypeId::kInt4, TypeId::kInt4, TypeId::kInt2));
    out.push_back(make_function<sql::integer_add<int32_t, int32_t>>(177, "int4pl", TypeId::kInt4,
                                                                    TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::integer_subtract<int32_t, int32_t>>(
        181, "int4mi", TypeId::kInt4, TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::integer_multiply<int32_t, int32_t>>(
        141, "int4mul", TypeId::kInt4, TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::integer_divide<int32_t, int32_t>>(
        154, "int4div", TypeId::kInt4, TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::integer_add<int32_t, int64_t>>(1278, "int48pl", TypeId::kInt8,
                                                                    TypeId::kInt4, TypeId::kInt8));
    out.push_back(make_function<sql::integer_subtract<int32_t, int64_t>>(
        1279, "int48mi", TypeId::kInt8, TypeId::kInt4, TypeId::kInt8));
    out.push_back(make_function<sql::integer_multiply<int32_t, int64_t>>(
        1280, "int48mul", TypeId::kInt8, TypeId::kInt4, TypeId::kInt8));
    out.push_back(make_function<sql::integer_divide<int32_t, int64_t>>(
        1281, "int48div", TypeId::kInt8, TypeId::kInt4, TypeId::kInt8));
    out.push_back(make_function<sql::integer_add<int64_t, int16_t>>(837, "int82pl", TypeId::kInt8,
                                                                    TypeId::kInt8, TypeId::kInt2));
    out.push_back(make_function<sql::integer_subtract<int64_t, int16_t>>(
        838, "int82mi", TypeId::kInt8, TypeId::kInt8, TypeId::kInt2));
    out.push_back(make_function<sql::integer_multiply<int64_t, int16_t>>(
        839, "int82mul", TypeId::kInt8, TypeId::kInt8, TypeId::kInt2));
    out.push_back(make_function<sql::integer_divide<int64_t, int16_t>>(
        840, "int82div", TypeId::kInt8, TypeId::kInt8, TypeId::kInt2));
    out.push_back(make_function<sql::integer_add<int64_t, int32_t>>(1274, "int84pl", TypeId::kInt8,
                                                                    TypeId::kInt8, TypeId::kInt4));
    out.push_back(make_function<sql::integer_subtract<int64_t, int32_t>>(
        1275, "int84mi", TypeId::kInt8, TypeId::kInt8, TypeId::kInt4));
    out.push_back(make_function<sql::integer_multiply<int64_t, int32_t>>(
        1276, "int84mul", TypeId::kInt8, TypeId::kInt8, TypeId::kInt4));
    out.push_back(make_function<sql::integer_divide<int64_t, int32_t>>(
        1277, "int84div", TypeId::kInt8, TypeId::kInt8, TypeId::kInt4));
    out.push_back(make_function<sql::integer_add<int64_t, int64_t>>(463, "int8pl", TypeId::kInt8,
                                                                    TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::integer_subtract<int64_t, int64_t>>(
        464, "int8mi", TypeId::kInt8, TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::integer_multiply<int64_t, int64_t>>(
        465, "int8mul", TypeId::kInt8, TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::integer_divide<int64_t, int64_t>>(
        466, "int8div", TypeId::kInt8, TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::integer_remainder<int16_t>>(155, "int2mod", TypeId::kInt2,
                                                                 TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::integer_remainder<int16_t>>(940, "mod", TypeId::kInt2,
                                                                 TypeId::kInt2, TypeId::kInt2));
    out.push_back(
        make_function<sql::integer_negate<int16_t>>(213, "int2um", TypeId::kInt2, TypeId::kInt2));
    out.push_back(
        make_function<sql::identity<int16_t>>(1911, "int2up", TypeId::kInt2, TypeId::kInt2));
    out.push_back(
        make_function<sql::integer_abs<int16_t>>(1253, "int2abs", TypeId::kInt2, TypeId::kInt2));
    out.push_back(
        make_function<sql::integer_abs<int16_t>>(1398, "abs", TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::bit_and<int16_t>>(1892, "int2and", TypeId::kInt2,
                                                       TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::bit_or<int16_t>>(1893, "int2or", TypeId::kInt2, TypeId::kInt2,
                                                      TypeId::kInt2));
    out.push_back(make_function<sql::bit_xor<int16_t>>(1894, "int2xor", TypeId::kInt2,
                                                       TypeId::kInt2, TypeId::kInt2));
    out.push_back(
        make_function<sql::bit_not<int16_t>>(1895, "int2not", TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::integer_larger<int16_t>>(770, "int2larger", TypeId::kInt2,
                                                              TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::integer_smaller<int16_t>>(771, "int2smaller", TypeId::kInt2,
                                                               TypeId::kInt2, TypeId::kInt2));
    out.push_back(make_function<sql::integer_remainder<int32_t>>(156, "int4mod", TypeId::kInt4,
                                                                 TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::integer_remainder<int32_t>>(941, "mod", TypeId::kInt4,
                                                                 TypeId::kInt4, TypeId::kInt4));
    out.push_back(
        make_function<sql::integer_negate<int32_t>>(212, "int4um", TypeId::kInt4, TypeId::kInt4));
    out.push_back(
        make_function<sql::identity<int32_t>>(1912, "int4up", TypeId::kInt4, TypeId::kInt4));
    out.push_back(
        make_function<sql::integer_abs<int32_t>>(1251, "int4abs", TypeId::kInt4, TypeId::kInt4));
    out.push_back(
        make_function<sql::integer_abs<int32_t>>(1397, "abs", TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::bit_and<int32_t>>(1898, "int4and", TypeId::kInt4,
                                                       TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::bit_or<int32_t>>(1899, "int4or", TypeId::kInt4, TypeId::kInt4,
                                                      TypeId::kInt4));
    out.push_back(make_function<sql::bit_xor<int32_t>>(1900, "int4xor", TypeId::kInt4,
                                                       TypeId::kInt4, TypeId::kInt4));
    out.push_back(
        make_function<sql::bit_not<int32_t>>(1901, "int4not", TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::integer_larger<int32_t>>(768, "int4larger", TypeId::kInt4,
                                                              TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::integer_smaller<int32_t>>(769, "int4smaller", TypeId::kInt4,
                                                               TypeId::kInt4, TypeId::kInt4));
    out.push_back(make_function<sql::integer_remainder<int64_t>>(945, "int8mod", TypeId::kInt8,
                                                                 TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::integer_remainder<int64_t>>(947, "mod", TypeId::kInt8,
                                                                 TypeId::kInt8, TypeId::kInt8));
    out.push_back(
        make_function<sql::integer_negate<int64_t>>(462, "int8um", TypeId::kInt8, TypeId::kInt8));
    out.push_back(
        make_function<sql::identity<int64_t>>(1910, "int8up", TypeId::kInt8, TypeId::kInt8));
    out.push_back(
        make_function<sql::integer_abs<int64_t>>(1230, "int8abs", TypeId::kInt8, TypeId::kInt8));
    out.push_back(
        make_function<sql::integer_abs<int64_t>>(1396, "abs", TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::bit_and<int64_t>>(1904, "int8and", TypeId::kInt8,
                                                       TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::bit_or<int64_t>>(1905, "int8or", TypeId::kInt8, TypeId::kInt8,
                                                      TypeId::kInt8));
    out.push_back(make_function<sql::bit_xor<int64_t>>(1906, "int8xor", TypeId::kInt8,
                                                       TypeId::kInt8, TypeId::kInt8));
    out.push_back(
        make_function<sql::bit_not<int64_t>>(1907, "int8not", TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::integer_larger<int64_t>>(1236, "int8larger", TypeId::kInt8,
                                                              TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::integer_smaller<int64_t>>(1237, "int8smaller", TypeId::kInt8,
                                                               TypeId::kInt8, TypeId::kInt8));
    out.push_back(make_function<sql::integer_narrow<int16_t, int32_t>>(314, "int2", TypeId::kInt2,
                                                                       TypeId::kInt4));
    out.push_back(make_function<sql::integer_narrow<int16_t, int64_t>>(714, "int2", TypeId::kInt2,
                                                                       TypeId::kInt8));
    out.push_back(make_function<sql::integer_widen<int32_t, int16_t>>(313, "int4", TypeId::kInt4,
                                                                      TypeId::kInt2));
    out.push_back(make_function<sql::integer_narrow<int32_t, int64_t>>(480, "int4", TypeId::kInt4,
                                                                       TypeId::kInt8));
    out.push_back(make_function<sql::integer_widen<int64_t, int16_t>>(754, "int8", TypeId::kInt8,
                                                                      TypeId::kInt2));
    out.push_back(make_function<sql::integer_widen<int64_t, int32_t>>(481, "int8", TypeId::kInt8,
                                                                      TypeId::kInt4));
    out.push_back(make_function<sql::int4_bool>(2557, "bool", TypeId::kBool, TypeId::kInt4));
    out.push_back(make_function<sql::bool_int4>(2558, "int4", TypeId::kInt4, TypeId::kBool));
}

}  // namespace loom::exec
