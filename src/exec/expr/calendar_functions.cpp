// Dates, timestamps and intervals. What depends on a time zone is in zone_functions.cpp.

#include "sql/calendar.h"

#include <cstring>
#include <optional>

#include <fmt/core.h>

#include "exec/expr/calendar_fields.h"
#include "exec/expr/loops.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::TypeId;
using sql::Fault;
using sql::Field;
using sql::Interval;

using Args = std::span<const Expr>;
using Bind = bool (*)(Args, BoundFunction*, std::string*);

struct FieldState : BoundState {
    Field field;
    explicit FieldState(Field named) : field(named) {}
};

Field field_of(const KernelCall& call) {
    return static_cast<const FieldState*>(call.state)->field;
}

struct FieldName {
    std::string_view name;
    Field field;
};
constexpr FieldName kFields[] = {{"microseconds", Field::kMicroseconds},
                                 {"milliseconds", Field::kMilliseconds},
                                 {"second", Field::kSecond},
                                 {"minute", Field::kMinute},
                                 {"hour", Field::kHour},
                                 {"day", Field::kDay},
                                 {"week", Field::kWeek},
                                 {"month", Field::kMonth},
                                 {"quarter", Field::kQuarter},
                                 {"year", Field::kYear},
                                 {"decade", Field::kDecade},
                                 {"century", Field::kCentury},
                                 {"millennium", Field::kMillennium},
                                 {"dow", Field::kDow},
                                 {"isodow", Field::kIsodow},
                                 {"doy", Field::kDoy},
                                 {"isoyear", Field::kIsoyear},
                                 {"epoch", Field::kEpoch},
                                 {"julian", Field::kJulian}};

// Names a definition for one field, and for `further` template arguments.
void define(const char* name, Field field, const char* further, BoundFunction* bound) {
    bound->definition.name = fmt::format("loom::sql::{}<static_cast<loom::sql::Field>({}){}>", name,
                                         static_cast<int>(field), further);
    bound->definition.first_argument = 1;
    bound->definition.field = field;
}

bool is_time_field(Field field) {
    return field <= Field::kHour;
}

// --- extract, date_part -------------------------------------------------------------------------

template <typename R>
void field_of_date(const KernelCall& call) {
    const Field field = field_of(call);
    run_unary_argument<R, int32_t, true>(call, 1, [=](int32_t date, Fault& fault) {
        return static_cast<R>(sql::date_field(field, date, fault));
    });
}

template <typename R>
void field_of_timestamp(const KernelCall& call) {
    const Field field = field_of(call);
    run_unary_argument<R, int64_t, true>(call, 1, [=](int64_t time, Fault& fault) {
        return static_cast<R>(sql::timestamp_field(field, time, fault));
    });
}

// The most used field, without the choice in the loop.
void year_of_date(const KernelCall& call) {
    run_vector_argument<int64_t, int32_t>(call, 1,
                                          [](int32_t date, Fault& fault) LOOM_INLINE_LAMBDA {
                                              return sql::date_field(Field::kYear, date, fault);
                                          });
}

bool bind_extract_date(Args args, BoundFunction* bound, std::string* reason) {
    const std::optional<Field> field = named_field(args[0], reason);
    if (!field) return false;
    if (is_time_field(*field)) {
        *reason = "a field that a date does not have";
        return false;
    }
    bound->state = std::make_shared<FieldState>(*field);
    define("date_field", *field, "", bound);
    bound->kernel = *field == Field::kYear ? year_of_date : field_of_date<int64_t>;
    bound->type = plan::make_numeric(18, 0);
    return true;
}

bool bind_extract_timestamp(Args args, BoundFunction* bound, std::string* reason) {
    const std::optional<Field> field = named_field(args[0], reason);
    if (!field) return false;
    if (*field == Field::kJulian) {
        *reason = "the Julian day of a timestamp";
        return false;
    }
    bound->state = std::make_shared<FieldState>(*field);
    const int scale = *field == Field::kSecond || *field == Field::kEpoch ? 6
                      : *field == Field::kMilliseconds                    ? 3
                                                                          : 0;
    if (*field == Field::kEpoch) {
        define("timestamp_field", *field, ", loom::sql::Int128", bound);
        bound->kernel = field_of_timestamp<sql::Int128>;
        bound->type = plan::make_numeric(20, scale);
    } else {
        define("timestamp_field", *field, ", int64_t", bound);
        bound->kernel = field_of_timestamp<int64_t>;
        bound->type = plan::make_numeric(18, scale);
    }
    return true;
}

// timestamp_part: the same as float8.
void part_of_timestamp(const KernelCall& call) {
    const Field field = field_of(call);
    run_unary_argument<double, int64_t, true>(call, 1, [=](int64_t time, Fault& fault) -> double {
        fault.raise(sql::kOther, !sql::is_valid_timestamp(time));
        if (!sql::is_valid_timestamp(time)) return 0;
        const sql::Int128 value = sql::field_of_timestamp(field, time);
        const auto whole = static_cast<int64_t>(value);
        const int64_t seconds = whole / 1'000'000;
        switch (field) {
            case Field::kSecond:
                return static_cast<double>(seconds) +
                       static_cast<double>(whole % 1'000'000) / 1'000'000.0;
            case Field::kMilliseconds:
                return static_cast<double>(seconds) * 1000.0 +
                       static_cast<double>(whole % 1'000'000) / 1000.0;
            case Field::kEpoch:
                fault.raise(sql::kOther, value >= INT64_MAX);
                return static_cast<double>(whole) / 1'000'000.0;
            default:
                return static_cast<double>(whole);
        }
    });
}

bool bind_part_timestamp(Args args, BoundFunction* bound, std::string* reason) {
    const std::optional<Field> field = named_field(args[0], reason);
    if (!field) return false;
    if (*field == Field::kJulian) {
        *reason = "the Julian day of a timestamp";
        return false;
    }
    bound->state = std::make_shared<FieldState>(*field);
    bound->kernel = part_of_timestamp;
    return true;
}

// --- date_trunc ---------------------------------------------------------------------------------

void truncate_timestamp(const KernelCall& call) {
    const Field field = field_of(call);
    run_unary_argument<int64_t, int64_t, true>(call, 1, [=](int64_t time, Fault& fault) {
        return sql::timestamp_truncate_valid(field, time, fault);
    });
}

bool bind_truncate(Args args, BoundFunction* bound, std::string* reason) {
    const std::optional<Field> field = named_field(args[0], reason);
    if (!field) return false;
    if (*field > Field::kMillennium) {
        *reason = "date_trunc() to a field that it does not know";
        return false;
    }
    bound->state = std::make_shared<FieldState>(*field);
    define("timestamp_truncate_valid", *field, "", bound);
    return true;
}

// Days and months of an interval depend on the time zone's rules; pure time does not.
template <bool kSubtract>
bool bind_zoned(Args args, BoundFunction*, std::string* reason) {
    if (args[1].value.known()) {
        Interval span;
        if (args[1].value.bytes.size() == sizeof span)
            std::memcpy(&span, args[1].value.bytes.data(), sizeof span);
        if (span.days == 0 && span.months == 0) return true;
    }
    *reason = "arithmetic with days or months in the session's time zone";
    return false;
}

}  // namespace

std::optional<Field> named_field(const Expr& name, std::string* reason) {
    if (name.value.known())
        for (const FieldName& field : kFields)
            if (field.name == name.value.bytes) return field.field;
    *reason = fmt::format("the field \"{}\" of a date or time", name.value.bytes);
    return std::nullopt;
}

void add_calendar_functions(std::vector<Function>& out) {
    constexpr TypeId kBool = TypeId::kBool;
    constexpr TypeId kInt4 = TypeId::kInt4;
    constexpr TypeId kFloat8 = TypeId::kFloat8;
    constexpr TypeId kNumeric = TypeId::kNumeric;
    constexpr TypeId kText = TypeId::kText;
    constexpr TypeId kDate = TypeId::kDate;
    constexpr TypeId kTimestamp = TypeId::kTimestamp;
    constexpr TypeId kTimestampTz = TypeId::kTimestampTz;
    constexpr TypeId kInterval = TypeId::kInterval;

    out.push_back(make_function<sql::date_add>(1141, "date_pli", kDate, kDate, kInt4));
    out.push_back(make_function<sql::date_subtract_days>(1142, "date_mii", kDate, kDate, kInt4));
    out.push_back(make_function<sql::days_add_date>(2550, "integer_pl_date", kDate, kInt4, kDate));
    out.push_back(make_function<sql::date_subtract>(1140, "date_mi", kInt4, kDate, kDate));
    out.push_back(make_function<sql::date_is_finite>(1373, "isfinite", kBool, kDate));
    out.push_back(make_function<sql::timestamp_is_finite>(2048, "isfinite", kBool, kTimestamp));
    out.push_back(make_function<sql::timestamp_is_finite>(1389, "isfinite", kBool, kTimestampTz));
    out.push_back(make_function<sql::date_to_timestamp>(2024, "timestamp", kTimestamp, kDate));
    out.push_back(make_function<sql::timestamp_to_date>(2029, "date", kDate, kTimestamp));
    out.push_back(make_function<sql::timestamp_add>(2032, "timestamp_pl_interval", kTimestamp,
                                                    kTimestamp, kInterval));
    out.push_back(make_function<sql::timestamp_subtract_interval>(
        2033, "timestamp_mi_interval", kTimestamp, kTimestamp, kInterval));
    out.push_back(make_function<sql::date_add_interval>(2071, "date_pl_interval", kTimestamp, kDate,
                                                        kInterval));
    out.push_back(make_function<sql::date_subtract_interval>(2072, "date_mi_interval", kTimestamp,
                                                             kDate, kInterval));
    out.push_back(make_function<sql::timestamp_subtract>(2031, "timestamp_mi", kInterval,
                                                         kTimestamp, kTimestamp));
    out.push_back(make_function<sql::timestamp_subtract>(1188, "timestamptz_mi", kInterval,
                                                         kTimestampTz, kTimestampTz));
    out.push_back(make_function<sql::interval_negate>(1168, "interval_um", kInterval, kInterval));
    out.push_back(
        make_function<sql::interval_add>(1169, "interval_pl", kInterval, kInterval, kInterval));
    out.push_back(make_function<sql::interval_subtract>(1170, "interval_mi", kInterval, kInterval,
                                                        kInterval));

    const auto bound = [&](Function function, Bind bind, uint32_t constant_arguments) {
        function.bind = bind;
        function.info.constant_arguments = constant_arguments;
        out.push_back(std::move(function));
    };
    bound(make_function<sql::timestamp_add>(1189, "timestamptz_pl_interval", kTimestampTz,
                                            kTimestampTz, kInterval),
          bind_zoned<false>, 2);
    bound(make_function<sql::timestamp_subtract_interval>(1190, "timestamptz_mi_interval",
                                                          kTimestampTz, kTimestampTz, kInterval),
          bind_zoned<true>, 2);
    const auto field = [&](uint32_t oid, const char* name, TypeId result, TypeId of, Kernel kernel,
                           Bind bind) {
        Function function;
        function.info.oid = oid;
        function.info.name = name;
        function.info.result = result;
        function.info.arguments = 2;
        function.info.types[0] = kText;
        function.info.types[1] = of;
        function.info.may_fault = true;
        function.kernel = kernel;
        bound(std::move(function), bind, 1);
    };
    field(6199, "extract", kNumeric, kDate, nullptr, bind_extract_date);
    field(6202, "extract", kNumeric, kTimestamp, nullptr, bind_extract_timestamp);
    field(2021, "date_part", kFloat8, kTimestamp, nullptr, bind_part_timestamp);
    field(2020, "date_trunc", kTimestamp, kTimestamp, truncate_timestamp, bind_truncate);
}

}  // namespace loom::exec
