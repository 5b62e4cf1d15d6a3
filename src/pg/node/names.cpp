#include "pg/node/names.h"

#include <cstring>
#include <string_view>

#include "exec/query.h"
#include "pg/bridge/bridge.h"
#include "pg/node/value.h"
#include "pg/types/numeric.h"

extern "C" {
#include "utils/date.h"
#include "utils/timestamp.h"
}

namespace loom::pg {

namespace {

struct Suffix {
    std::string_view text;
    const char* op;
};

// Operators' functions carry what they do at the end of their names: int4eq, date_lt, numeric_mul.
constexpr Suffix kSuffixes[] = {
    {"icregexeq", "~*"},   {"icregexne", "!~*"}, {"regexeq", "~"}, {"regexne", "!~"},
    {"nlike", "not like"}, {"like", "like"},     {"eq", "="},      {"ne", "<>"},
    {"lt", "<"},           {"le", "<="},         {"gt", ">"},      {"ge", ">="},
    {"_add", "+"},         {"_sub", "-"},        {"_mul", "*"},    {"_div", "/"},
    {"_mod", "%"},         {"pl", "+"},          {"mi", "-"},      {"mul", "*"},
    {"div", "/"},          {"mod", "%"},         {"textcat", "||"}};

// What the names begin with, so that no other function (time, nullif) is taken for an operator.
constexpr std::string_view kTypes[] = {"int",    "float", "numeric", "date", "time",    "text",
                                       "bpchar", "bool",  "bytea",   "uuid", "interval"};

const char* infix_operator(std::string_view name) {
    if (name == "timezone") return nullptr;
    bool known = false;
    for (const std::string_view type : kTypes) known = known || name.starts_with(type);
    if (!known) return nullptr;
    for (const Suffix& suffix : kSuffixes)
        if (name.ends_with(suffix.text)) return suffix.op;
    return nullptr;
}

}  // namespace

plan::Names::Function BackendNames::function(uint32_t id) const {
    if (id == exec::kApproximateCount) return {"approx_count_distinct", false};
    if (id == exec::kAnyValue) return {"any_value", false};
    const char* name = pg_call([&] { return get_func_name(id); });
    if (name == nullptr) return {fmt::format("#{}", id), false};
    if (const char* op = infix_operator(name)) return {op, true};
    return {name, false};
}

std::string BackendNames::constant(plan::Type type, const column::Scalar& value) const {
    if (!value.known()) return "null";
    const auto integer = static_cast<int64_t>(value.integer);
    auto quoted = [](const char* text) { return fmt::format("'{}'", text); };
    switch (type.id) {
        case plan::TypeId::kNumeric: {
            const plan::Decimal number =
                plan::decimal_of(value).value_or(plan::Decimal{value.integer, type.scale});
            return pg_call([&] {
                return DatumGetCString(DirectFunctionCall1(
                    numeric_out,
                    numeric_from_int128(number.unscaled, static_cast<int>(number.scale))));
            });
        }
        case plan::TypeId::kDate:
            return quoted(pg_call([&] {
                return DatumGetCString(
                    DirectFunctionCall1(date_out, DateADTGetDatum(static_cast<DateADT>(integer))));
            }));
        case plan::TypeId::kTime:
            return quoted(pg_call([&] {
                return DatumGetCString(DirectFunctionCall1(time_out, TimeADTGetDatum(integer)));
            }));
        case plan::TypeId::kTimestamp:
            return quoted(pg_call([&] {
                return DatumGetCString(
                    DirectFunctionCall1(timestamp_out, TimestampGetDatum(integer)));
            }));
        case plan::TypeId::kTimestampTz:
            return quoted(pg_call([&] {
                return DatumGetCString(
                    DirectFunctionCall1(timestamptz_out, TimestampTzGetDatum(integer)));
            }));
        case plan::TypeId::kInterval: {
            Interval interval{};
            if (value.bytes.size() != sizeof interval) break;
            std::memcpy(&interval, value.bytes.data(), sizeof interval);
            return quoted(pg_call([&] {
                return DatumGetCString(
                    DirectFunctionCall1(interval_out, IntervalPGetDatum(&interval)));
            }));
        }
        case plan::TypeId::kBytea:
        case plan::TypeId::kUuid: {
            std::string text = "'\\x";
            for (const char byte : value.bytes)
                text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
            return text + "'";
        }
        case plan::TypeId::kOpaque:
        case plan::TypeId::kOpaqueWord:
            return quoted(pg_call([&] { return opaque_text_maylongjmp(value, type); }));
        default:
            break;
    }
    return Names::constant(type, value);
}

}  // namespace loom::pg
