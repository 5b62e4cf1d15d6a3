#include "gpu/codegen/expression_facts.h"

#include <algorithm>
#include <string_view>

#include "exec/functions.h"
#include "sql/calendar.h"
#include "sql/numeric.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;
using plan::Physical;
using sql::Int128;

namespace {

// What leaves 128 bits is as wide as can be.
constexpr ValueBounds kAnything{static_cast<Int128>(sql::UInt128{1} << 127),
                                static_cast<Int128>(~(sql::UInt128{1} << 127))};

ValueBounds within(ValueBounds a, ValueBounds b) {
    return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
ValueBounds either(ValueBounds a, ValueBounds b) {
    if (a.none()) return b;
    if (b.none()) return a;
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// The range of a ring operation over two ranges: its extremes are at their ends.
template <typename Operation>
ValueBounds ends(ValueBounds a, ValueBounds b, const Operation& operation) {
    if (a.none() || b.none()) return {};
    ValueBounds result;
    bool first = true;
    for (const Int128 x : {a.low, a.high})
        for (const Int128 y : {b.low, b.high}) {
            Int128 value = 0;
            if (operation(x, y, &value)) return kAnything;
            result = first ? ValueBounds{value, value} : either(result, {value, value});
            first = false;
        }
    return result;
}
bool add(Int128 a, Int128 b, Int128* out) {
    return __builtin_add_overflow(a, b, out);
}
bool subtract(Int128 a, Int128 b, Int128* out) {
    return __builtin_sub_overflow(a, b, out);
}
bool multiply(Int128 a, Int128 b, Int128* out) {
    return __builtin_mul_overflow(a, b, out);
}
ValueBounds scaled(ValueBounds a, Int128 factor) {
    return ends(a, {factor, factor}, multiply);
}
ValueBounds negated(ValueBounds a) {
    return ends({0, 0}, a, subtract);
}

// Fields that grow with the day, and those that go round.
ValueBounds of_field(sql::Field field, ValueBounds days) {
    using sql::Field;
    switch (field) {
        case Field::kMinute:
            return {0, 59};
        case Field::kHour:
            return {0, 24};
        case Field::kDay:
            return {1, 31};
        case Field::kWeek:
            return {1, 53};
        case Field::kMonth:
            return {1, 12};
        case Field::kQuarter:
            return {1, 4};
        case Field::kDow:
            return {0, 6};
        case Field::kIsodow:
            return {1, 7};
        case Field::kDoy:
            return {1, 366};
        case Field::kYear:
        case Field::kDecade:
        case Field::kCentury:
        case Field::kMillennium:
        case Field::kIsoyear:
        case Field::kJulian: {
            // Dates beyond these fault.
            const ValueBounds valid = within(days, {sql::kFirstDay, sql::kDateEnd - 1});
            if (valid.none()) return {};
            return {sql::field_of_day(field, static_cast<int32_t>(valid.low)),
                    sql::field_of_day(field, static_cast<int32_t>(valid.high))};
        }
        default:
            return kAnything;
    }
}

bool same_scalar(const column::Scalar& a, const column::Scalar& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case column::Scalar::Kind::kInt:
            return a.integer == b.integer;
        case column::Scalar::Kind::kFloat:
            return __builtin_bit_cast(uint64_t, a.number) == __builtin_bit_cast(uint64_t, b.number);
        case column::Scalar::Kind::kBytes:
            return a.bytes == b.bytes;
        default:
            return true;
    }
}

}  // namespace

bool ValueBounds::adds_up(uint64_t count, SumWidth width) const noexcept {
    if (none() || count == 0) return true;
    Int128 lowest = 0;
    Int128 highest = 0;
    if (multiply(low, static_cast<Int128>(count), &lowest) ||
        multiply(high, static_cast<Int128>(count), &highest))
        return false;
    return width == SumWidth::k128 || (lowest >= INT64_MIN && highest <= INT64_MAX);
}

ValueBounds bounds_of_type(plan::Type type) {
    if (type.id == plan::TypeId::kNumeric) {
        if (plan::is_decimal(type)) return kAnything;
        const Int128 end = sql::power_of_ten(type.precision);
        return {1 - end, end - 1};
    }
    switch (plan::physical(type)) {
        case Physical::kBool:
            return {0, 1};
        case Physical::kInt16:
            return {INT16_MIN, INT16_MAX};
        case Physical::kInt32:
            return {INT32_MIN, INT32_MAX};
        case Physical::kInt64:
            return {INT64_MIN, INT64_MAX};
        default:
            return kAnything;
    }
}

const column::Scalar& ExpressionFacts::constant(const Expr& expr) const {
    return expr.kind == ExprKind::kConstant ? expr.value
                                            : parameters_[static_cast<size_t>(expr.index)].value;
}

ValueBounds ExpressionFacts::bounds(const Expr& expr) const {
    const ValueBounds of_type = bounds_of_type(expr.type);
    switch (expr.kind) {
        case ExprKind::kColumn: {
            const ScanColumn& column = column_(expr.index);
            return column.has_values() ? ValueBounds{column.min, column.max} : ValueBounds{};
        }
        case ExprKind::kConstant:
        case ExprKind::kParameter: {
            const column::Scalar& value = constant(expr);
            if (!value.known()) return {};
            if (value.kind != column::Scalar::Kind::kInt) return kAnything;
            return {value.integer, value.integer};
        }
        case ExprKind::kCall:
            return within(call(expr), of_type);
        case ExprKind::kCase: {
            const ValueBounds otherwise = bounds(expr.args.back());
            return either(all_of(expr, 1, 2), otherwise);
        }
        case ExprKind::kCoalesce:
        case ExprKind::kGreatest:
        case ExprKind::kLeast:
            return all_of(expr, 0, 1);
        case ExprKind::kNullIf:
            return bounds(expr.args[0]);
        default:
            return of_type;
    }
}

ValueBounds ExpressionFacts::all_of(const Expr& expr, size_t first, size_t step) const {
    ValueBounds result;
    for (size_t i = first; i < expr.args.size(); i += step)
        result = either(result, bounds(expr.args[i]));
    return result;
}

ValueBounds ExpressionFacts::call(const Expr& expr) const {
    const exec::BoundDefinition definition = exec::definition_of(expr.function, expr.args);
    constexpr std::string_view kFolder = "loom::sql::";
    std::string_view name = definition.name;
    if (!name.starts_with(kFolder)) return kAnything;
    name.remove_prefix(kFolder.size());
    name = name.substr(0, name.find('<'));
    const auto argument = [&](size_t i) {
        const ValueBounds of = bounds(expr.args[i]);
        return i < definition.constants.size() && !of.none() ? scaled(of, definition.constants[i])
                                                             : of;
    };
    if (name == "date_field")
        return of_field(*definition.field,
                        bounds(expr.args[static_cast<size_t>(definition.first_argument)]));
    if (name == "timestamp_field") {
        const ValueBounds times = bounds(expr.args[static_cast<size_t>(definition.first_argument)]);
        if (times.none()) return times;
        return of_field(*definition.field,
                        {sql::day_of_timestamp(static_cast<int64_t>(times.low)),
                         sql::day_of_timestamp(static_cast<int64_t>(times.high))});
    }
    if (name == "numeric_add" || name == "numeric_add_aligned" || name == "integer_add")
        return ends(argument(0), argument(1), add);
    if (name == "numeric_subtract" || name == "numeric_subtract_aligned" ||
        name == "integer_subtract")
        return ends(argument(0), argument(1), subtract);
    if (name == "numeric_multiply" || name == "numeric_multiply_checked" ||
        name == "integer_multiply")
        return ends(argument(0), argument(1), multiply);
    if (name == "numeric_negate" || name == "integer_negate") return negated(argument(0));
    if (name == "numeric_absolute" || name == "integer_abs") {
        const ValueBounds of = argument(0);
        const ValueBounds all = either(of, negated(of));
        return all.none() ? all : within(all, {0, kAnything.high});
    }
    if (name == "numeric_identity" || name == "identity" || name == "integer_widen" ||
        name == "integer_narrow")
        return bounds(expr.args[0]);
    if (name == "numeric_rescale") {
        // Dropped digits may round away from zero.
        const ValueBounds of = bounds(expr.args[0]);
        if (of.none()) return of;
        const Int128 drop = definition.constants[0];
        const ValueBounds dropped =
            drop == 1 ? of : ValueBounds{of.low / drop - 1, of.high / drop + 1};
        return scaled(dropped, definition.constants[1]);
    }
    return kAnything;
}

bool ExpressionFacts::may_be_null(const Expr& expr) const {
    switch (expr.kind) {
        case ExprKind::kColumn:
            return column_(expr.index).layout.nullable;
        case ExprKind::kConstant:
        case ExprKind::kParameter:
            return !constant(expr).known();
        case ExprKind::kCall:
            return std::any_of(expr.args.begin(), expr.args.end(),
                               [&](const Expr& arg) { return may_be_null(arg); });
        default:
            return true;
    }
}

// A field of a date or timestamp that is one for all values.
bool ExpressionFacts::is_valid_field(const Expr& expr) const {
    const exec::BoundDefinition definition = exec::definition_of(expr.function, expr.args);
    const bool date = definition.name.starts_with("loom::sql::date_field");
    if (!date && !definition.name.starts_with("loom::sql::timestamp_field")) return false;
    const ValueBounds of = bounds(expr.args[static_cast<size_t>(definition.first_argument)]);
    if (of.none()) return true;
    if (date)
        return sql::is_valid_date(static_cast<int32_t>(of.low)) &&
               sql::is_valid_date(static_cast<int32_t>(of.high));
    return sql::is_valid_timestamp(static_cast<int64_t>(of.low)) &&
           sql::is_valid_timestamp(static_cast<int64_t>(of.high)) &&
           bounds(expr).high < sql::kTimestampInfinity;
}

bool ExpressionFacts::can_fault(const Expr& expr) const {
    if (!may_fault(expr)) return false;
    if (expr.kind != ExprKind::kCall || !is_valid_field(expr)) return true;
    return std::any_of(expr.args.begin(), expr.args.end(),
                       [&](const Expr& arg) { return can_fault(arg); });
}

bool may_fault(const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::kHost:
            return true;
        case ExprKind::kCall: {
            const exec::BoundDefinition definition = exec::definition_of(expr.function, expr.args);
            if (definition.name.empty() ? exec::may_raise(expr) : definition.may_fault) return true;
            break;
        }
        case ExprKind::kAnyOf:
        case ExprKind::kAllOf: {
            // Elements of numerics come in the scale of the value.
            const exec::FunctionInfo* function = exec::find_function(expr.function);
            if (function == nullptr || function->may_fault) return true;
            break;
        }
        default:
            break;
    }
    return std::any_of(expr.args.begin(), expr.args.end(), may_fault);
}

bool is_same(const Expr& a, const Expr& b) {
    return a.kind == b.kind && a.type == b.type && a.index == b.index && a.function == b.function &&
           a.list_null == b.list_null && same_scalar(a.value, b.value) &&
           std::equal(a.list.begin(), a.list.end(), b.list.begin(), b.list.end(), same_scalar) &&
           std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), is_same);
}

}  // namespace loom::gpu
