// Comparisons of two values, and the three-way comparisons of their btree orders.

#include "sql/compare.h"

#include <array>

#include "exec/expr/loops.h"
#include "sql/calendar.h"
#include "sql/text_compare.h"

namespace loom::exec {

namespace {

using plan::TypeId;
using sql::Bytes;
using sql::BytesOrder;
using sql::DateTimestampOrder;
using sql::FloatOrder;
using sql::IntegerOrder;
using sql::Interval;
using sql::IntervalOrder;
using sql::PaddedOrder;
using sql::Uuid;
using sql::UuidOrder;

// The OIDs of =, <>, <, <=, >, >= and of the three-way comparison.
using OrderOids = std::array<uint32_t, 7>;

template <typename Order, typename A, typename B>
void add_order(std::vector<Function>& out, TypeId a, TypeId b,
               const std::array<std::string, 7>& names, const OrderOids& oids) {
    const auto add = [&](Comparison comparison, Function function) {
        function.comparison = comparison;
        out.push_back(std::move(function));
    };
    const TypeId yes = TypeId::kBool;
    add(Comparison::kEqual, make_function<sql::equal<Order, A, B>>(oids[0], names[0], yes, a, b));
    add(Comparison::kNotEqual,
        make_function<sql::not_equal<Order, A, B>>(oids[1], names[1], yes, a, b));
    add(Comparison::kLess, make_function<sql::less<Order, A, B>>(oids[2], names[2], yes, a, b));
    add(Comparison::kLessEqual,
        make_function<sql::less_equal<Order, A, B>>(oids[3], names[3], yes, a, b));
    const auto exchanged = [&](Comparison comparison, Function function, Kernel kernel) {
        std::swap(function.info.types[0], function.info.types[1]);
        function.info.swapped = true;
        function.kernel = kernel;
        add(comparison, std::move(function));
    };
    exchanged(Comparison::kGreater,
              make_function<sql::less<Order, B, A>>(oids[4], names[4], yes, b, a),
              swapped_kernel<best_kernel<sql::less<Order, B, A>>>);
    exchanged(Comparison::kGreaterEqual,
              make_function<sql::less_equal<Order, B, A>>(oids[5], names[5], yes, b, a),
              swapped_kernel<best_kernel<sql::less_equal<Order, B, A>>>);
    Function order =
        make_function<sql::three_way<Order, A, B>>(oids[6], names[6], TypeId::kInt4, a, b);
    add(Comparison::kOrder, std::move(order));
}

// Names as most types have them: a prefix and eq, ne, lt, le, gt, ge.
template <typename Order, typename A, typename B>
void add_order(std::vector<Function>& out, TypeId a, TypeId b, const std::string& prefix,
               const char* three_way, const OrderOids& oids) {
    add_order<Order, A, B>(out, a, b,
                           {prefix + "eq", prefix + "ne", prefix + "lt", prefix + "le",
                            prefix + "gt", prefix + "ge", three_way},
                           oids);
}

}  // namespace

void add_comparisons(std::vector<Function>& out) {
    add_order<IntegerOrder, int16_t, int16_t>(out, TypeId::kInt2, TypeId::kInt2, "int2",
                                              "btint2cmp", {63, 145, 64, 148, 146, 151, 350});
    add_order<IntegerOrder, int16_t, int32_t>(out, TypeId::kInt2, TypeId::kInt4, "int24",
                                              "btint24cmp", {158, 164, 160, 166, 162, 168, 2190});
    add_order<IntegerOrder, int16_t, int64_t>(out, TypeId::kInt2, TypeId::kInt8, "int28",
                                              "btint28cmp",
                                              {1850, 1851, 1852, 1854, 1853, 1855, 2192});
    add_order<IntegerOrder, int32_t, int16_t>(out, TypeId::kInt4, TypeId::kInt2, "int42",
                                              "btint42cmp", {159, 165, 161, 167, 163, 169, 2191});
    add_order<IntegerOrder, int32_t, int32_t>(out, TypeId::kInt4, TypeId::kInt4, "int4",
                                              "btint4cmp", {65, 144, 66, 149, 147, 150, 351});
    add_order<IntegerOrder, int32_t, int64_t>(out, TypeId::kInt4, TypeId::kInt8, "int48",
                                              "btint48cmp", {852, 853, 854, 856, 855, 857, 2188});
    add_order<IntegerOrder, int64_t, int16_t>(out, TypeId::kInt8, TypeId::kInt2, "int82",
                                              "btint82cmp",
                                              {1856, 1857, 1858, 1860, 1859, 1861, 2193});
    add_order<IntegerOrder, int64_t, int32_t>(out, TypeId::kInt8, TypeId::kInt4, "int84",
                                              "btint84cmp", {474, 475, 476, 478, 477, 479, 2189});
    add_order<IntegerOrder, int64_t, int64_t>(out, TypeId::kInt8, TypeId::kInt8, "int8",
                                              "btint8cmp", {467, 468, 469, 471, 470, 472, 842});
    add_order<FloatOrder, float, float>(out, TypeId::kFloat4, TypeId::kFloat4, "float4",
                                        "btfloat4cmp", {287, 288, 289, 290, 291, 292, 354});
    add_order<FloatOrder, double, double>(out, TypeId::kFloat8, TypeId::kFloat8, "float8",
                                          "btfloat8cmp", {293, 294, 295, 296, 297, 298, 355});
    add_order<FloatOrder, float, double>(out, TypeId::kFloat4, TypeId::kFloat8, "float48",
                                         "btfloat48cmp", {299, 300, 301, 302, 303, 304, 2194});
    add_order<FloatOrder, double, float>(out, TypeId::kFloat8, TypeId::kFloat4, "float84",
                                         "btfloat84cmp", {305, 306, 307, 308, 309, 310, 2195});
    add_order<IntegerOrder, uint8_t, uint8_t>(out, TypeId::kBool, TypeId::kBool, "bool",
                                              "btboolcmp", {60, 84, 56, 1691, 57, 1692, 1693});
    add_order<IntegerOrder, int32_t, int32_t>(out, TypeId::kDate, TypeId::kDate, "date_",
                                              "date_cmp",
                                              {1086, 1091, 1087, 1088, 1089, 1090, 1092});
    add_order<IntegerOrder, int64_t, int64_t>(out, TypeId::kTime, TypeId::kTime, "time_",
                                              "time_cmp",
                                              {1145, 1106, 1102, 1103, 1104, 1105, 1107});
    add_order<IntegerOrder, int64_t, int64_t>(out, TypeId::kTimestamp, TypeId::kTimestamp,
                                              "timestamp_", "timestamp_cmp",
                                              {2052, 2053, 2054, 2055, 2057, 2056, 2045});
    add_order<IntegerOrder, int64_t, int64_t>(out, TypeId::kTimestampTz, TypeId::kTimestampTz,
                                              "timestamptz_", "timestamptz_cmp",
                                              {1152, 1153, 1154, 1155, 1157, 1156, 1314});
    add_order<PaddedOrder, Bytes, Bytes>(out, TypeId::kBpchar, TypeId::kBpchar, "bpchar",
                                         "bpcharcmp", {1048, 1053, 1049, 1050, 1051, 1052, 1078});
    add_order<BytesOrder, Bytes, Bytes>(out, TypeId::kBytea, TypeId::kBytea, "bytea", "byteacmp",
                                        {1948, 1953, 1949, 1950, 1951, 1952, 1954});
    add_order<UuidOrder, Uuid, Uuid>(out, TypeId::kUuid, TypeId::kUuid, "uuid_", "uuid_cmp",
                                     {2956, 2959, 2954, 2955, 2958, 2957, 2960});
    add_order<IntervalOrder, Interval, Interval>(out, TypeId::kInterval, TypeId::kInterval,
                                                 "interval_", "interval_cmp",
                                                 {1162, 1163, 1164, 1165, 1167, 1166, 1315});
    add_order<DateTimestampOrder, int32_t, int64_t>(
        out, TypeId::kDate, TypeId::kTimestamp,
        {"date_eq_timestamp", "date_ne_timestamp", "date_lt_timestamp", "date_le_timestamp",
         "date_gt_timestamp", "date_ge_timestamp", "date_cmp_timestamp"},
        {2340, 2343, 2338, 2339, 2341, 2342, 2344});
    add_order<DateTimestampOrder, int64_t, int32_t>(
        out, TypeId::kTimestamp, TypeId::kDate,
        {"timestamp_eq_date", "timestamp_ne_date", "timestamp_lt_date", "timestamp_le_date",
         "timestamp_gt_date", "timestamp_ge_date", "timestamp_cmp_date"},
        {2366, 2369, 2364, 2365, 2367, 2368, 2370});
    add_order<BytesOrder, Bytes, Bytes>(
        out, TypeId::kText, TypeId::kText,
        {"texteq", "textne", "text_lt", "text_le", "text_gt", "text_ge", "bttextcmp"},
        {67, 157, 740, 741, 742, 743, 360});
}

}  // namespace loom::exec
