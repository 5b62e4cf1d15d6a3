#include "edge_values.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace loom::test {

using column::Int128;
using column::Scalar;
using plan::TypeId;

namespace {

std::vector<Scalar> integers(std::initializer_list<Int128> values) {
    std::vector<Scalar> scalars{Scalar{}};
    for (const Int128 value : values) scalars.push_back(Scalar::of_int(value));
    return scalars;
}
std::vector<Scalar> floats(std::initializer_list<double> values) {
    std::vector<Scalar> scalars{Scalar{}};
    for (const double value : values) scalars.push_back(Scalar::of_float(value));
    return scalars;
}
std::vector<Scalar> strings(std::initializer_list<std::string> values) {
    std::vector<Scalar> scalars{Scalar{}};
    for (const std::string& value : values) scalars.push_back(Scalar::of_bytes(value));
    return scalars;
}

std::vector<Scalar> numerics(int precision) {
    Int128 end = 1;
    for (int i = 0; i < precision; ++i) end *= 10;
    std::vector<Scalar> values = integers({0, 1, -1, 5, -5, 49, 50, 51, -50, 99, 12345, end - 1,
                                           1 - end, end / 2, end / 7, -end / 3});
    if (precision > 11)
        for (const Int128 value : {Int128{INT32_MAX}, Int128{INT32_MAX} * 10 + 5})
            values.push_back(Scalar::of_int(value));
    return values;
}

// Equal values of different scales among them, and scales beyond those of types.
std::vector<Scalar> decimals() {
    Int128 most = 1;
    for (int i = 0; i < 38; ++i) most *= 10;
    --most;
    const plan::Decimal values[] = {{0, 0},         {0, 4},         {1, 0},
                                    {10, 1},        {11, 1},        {110, 2},
                                    {-15, 1},       {25, 1},        {-5, 1},
                                    {3, 0},         {-7, 0},        {1, 20},
                                    {-1, 40},       {5, 3},         {10000, 0},
                                    {9999, 0},      {99999999, 4},  {12345678901234567, 10},
                                    {most, 0},      {-most, 38},    {most, 60},
                                    {most / 3, 2},  {INT32_MAX, 0}, {2147483647499, 3},
                                    {INT64_MAX, 0}, {327675, 1},    {7, 300}};
    std::vector<Scalar> scalars{Scalar{}};
    for (const plan::Decimal& value : values) scalars.push_back(plan::decimal_scalar(value));
    return scalars;
}

std::vector<Scalar> intervals() {
    const plan::Interval values[] = {{0, 0, 0},
                                     {1, 0, 0},
                                     {-1, 0, 0},
                                     {86'400'000'000, 0, 0},
                                     {0, 1, 0},
                                     {0, -1, 0},
                                     {0, 30, 0},
                                     {0, 0, 1},
                                     {0, 0, -1},
                                     {0, 0, 12},
                                     {3'600'000'000, 1, 1},
                                     {-5, 31, -13},
                                     {0, 100'000'000, 0},
                                     {0, 0, 100'000},
                                     {0, 0, -100'000},
                                     {3'456'000'000'000, -10, -1},
                                     {0, 2147483646, 0},
                                     {1'000'000'000'000'000, 0, 0}};
    std::vector<Scalar> scalars{Scalar{}};
    for (const plan::Interval& value : values)
        scalars.push_back(
            Scalar::of_bytes(std::string(reinterpret_cast<const char*>(&value), sizeof value)));
    return scalars;
}

}  // namespace

std::vector<Scalar> edge_values(plan::Type type) {
    switch (type.id) {
        case TypeId::kBool:
            return integers({0, 1});
        case TypeId::kInt2:
            return integers({-32768, -32767, -7, -1, 0, 1, 2, 181, 32767});
        case TypeId::kInt4:
            return integers({INT32_MIN, INT32_MIN + 1, -46341, -7, -1, 0, 1, 2, 3, 7, 46341,
                             INT32_MAX - 1, INT32_MAX});
        case TypeId::kInt8:
            return integers({INT64_MIN, INT64_MIN + 1, -3'037'000'500, -7, -1, 0, 1, 2, 65536,
                             3'037'000'500, INT64_MAX - 1, INT64_MAX});
        case TypeId::kFloat4:
            return floats({NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.5F, 2.5F, -0.5F, 3.4e38F,
                           -3.4e38F, 1e-45F, 1e-30F, 32767.4F, -32768.5F, 2147483648.0F,
                           9.223372e18F});
        case TypeId::kFloat8:
            return floats({NAN,
                           INFINITY,
                           -INFINITY,
                           0.0,
                           -0.0,
                           1,
                           -1,
                           2,
                           3,
                           -3,
                           0.5,
                           1.5,
                           2.5,
                           -0.5,
                           -2.5,
                           1e308,
                           -1e308,
                           5e-324,
                           1e-200,
                           1e200,
                           709.9,
                           -745.2,
                           -750,
                           1e39,
                           1e-46,
                           32767.5,
                           2147483647.4,
                           2147483647.5,
                           -2147483648.5,
                           9223372036854775807.0});
        case TypeId::kNumeric:
            return plan::is_decimal(type) ? decimals() : numerics(type.precision);
        case TypeId::kDate:
            return integers({INT32_MIN, INT32_MAX, -2451545, -2451544, 2145031948, 106751982,
                             106751983, 0,         -1,       58,       59,         60,
                             -730426,   -730485,   -36525,   8765,     -10957,     365,
                             366,       1000000,   -1000000, -730119,  9131});
        case TypeId::kTime:
            return integers({0, 1, 86'399'999'999, 86'400'000'000});
        case TypeId::kTimestamp:
        case TypeId::kTimestampTz:
            return integers({INT64_MIN, INT64_MAX, -211'813'488'000'000'000,
                             9'223'371'331'199'999'999, 0, -1, 1, 86'399'999'999, -86'400'000'001,
                             758'937'599'123'456, -946'684'800'000'000, 5'097'600'000'000,
                             5'140'799'999'999, -63'113'904'000'000'000, -63'113'904'000'000'001,
                             -30'000'000'000'000'000, 788'918'399'999'999, -94'608'000'000'005});
        case TypeId::kInterval:
            return intervals();
        case TypeId::kText:
            return strings({"",           "a",
                            "abc",        "abcabc",
                            "%b%",        "a_c",
                            "_",          "%",
                            "%\\%",       "a\\",
                            "\\a%",       "b",
                            "bc",         "  pad  ",
                            "   ",        "\xc3\xa4\xc3\xb6x",
                            "_\xc3\xb6%", "x\xe2\x82\xac",
                            "ABC def",    "%c",
                            "a%c%",       "__%",
                            "\\%",        "abcdefghijklmnopqrstuvwxyz0123456789",
                            "%xyz0%",     "it's"});
        case TypeId::kBpchar:
            return strings({"", "a  ", "abc", "abc   ", "b ", "   ", "\xc3\xa4 "});
        case TypeId::kBytea:
            return strings({"", "a", std::string("\0x", 2), "\xff", "ab"});
        case TypeId::kUuid:
            return strings({std::string(16, '\0'), std::string(16, '\xff'), "0123456789abcdef"});
        case TypeId::kOpaque:
        case TypeId::kOpaqueWord:
            break;  // no function takes them
    }
    return {};
}

std::vector<Scalar> constant_arguments(const exec::FunctionInfo& info, int index) {
    std::vector<Scalar> values;
    const TypeId id = info.types[index];
    if (info.name == "timezone" || (info.name == "date_trunc" && index == 2))
        for (const char* zone :
             {"Etc/UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
              "Africa/Casablanca", "Europe/Dublin", "Pacific/Apia", "Asia/Kathmandu"})
            values.push_back(Scalar::of_bytes(zone));
    else if (id == TypeId::kText)
        for (const char* field :
             {"microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month",
              "quarter", "year", "decade", "century", "millennium", "dow", "isodow", "doy",
              "isoyear", "epoch", "julian"})
            values.push_back(Scalar::of_bytes(field));
    else if (id == TypeId::kInt4 && info.name == "numeric") {
        values.push_back(Scalar::of_int(-1));  // no modifier
        for (const auto& [precision, scale] : {std::pair{5, 2}, {10, 0}, {38, 4}, {3, 3}})
            values.push_back(Scalar::of_int(((precision << 16) | scale) + 4));
    } else if (id == TypeId::kInt4)
        for (int digits : {-3, -1, 0, 1, 2, 5}) values.push_back(Scalar::of_int(digits));
    else
        values = edge_values(plan::make_type(id));
    return values;
}

}  // namespace loom::test
