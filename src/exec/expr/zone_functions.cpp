// Functions of time zones. A zone is a constant text: its name, NUL, and its table (sql/zone.h),
// which the host puts there.

#include <cstring>

#include "exec/expr/calendar_fields.h"
#include "exec/expr/loops.h"
#include "sql/zone.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::TypeId;
using sql::Fault;

using Args = std::span<const Expr>;

struct ZoneState : BoundState {
    std::vector<sql::ZonePeriod> periods;
    sql::Field field = sql::Field::kMicroseconds;

    sql::Zone zone() const noexcept {
        return {periods.data(), static_cast<int64_t>(periods.size())};
    }
};

std::shared_ptr<ZoneState> zone_of(const Expr& arg, std::string* reason) {
    const std::string& bytes = arg.value.bytes;
    const size_t name = bytes.find('\0');
    if (arg.kind != plan::ExprKind::kConstant || name == std::string::npos ||
        (bytes.size() - name - 1) % sizeof(sql::ZonePeriod) != 0 || name + 1 == bytes.size()) {
        *reason = "a time zone that is not known when the query is planned";
        return nullptr;
    }
    auto state = std::make_shared<ZoneState>();
    state->periods.resize((bytes.size() - name - 1) / sizeof(sql::ZonePeriod));
    std::memcpy(state->periods.data(), bytes.data() + name + 1, bytes.size() - name - 1);
    return state;
}

const ZoneState& state_of(const KernelCall& call) {
    return *static_cast<const ZoneState*>(call.state);
}

// Runs op(time, fault) for each moment that the tables know; infinities stay what they are, and
// what comes out has to be a timestamp.
template <typename Op>
void run_zoned(const KernelCall& call, const Op& op) {
    run_unary_argument<int64_t, int64_t, true>(call, 1, [&](int64_t time, Fault& fault) -> int64_t {
        if (sql::is_infinite_timestamp(time)) return time;
        fault.raise(sql::kOther, !sql::is_zoned(time));
        if (!sql::is_zoned(time)) return 0;
        const int64_t result = op(time, fault);
        fault.raise(sql::kOther, !sql::is_valid_timestamp(result));
        return result;
    });
}

// timestamptz_zone: UTC to local time.
void to_local(const KernelCall& call) {
    const sql::Zone zone = state_of(call).zone();
    int64_t hint = 0;
    run_zoned(call, [&](int64_t time, Fault&) {
        hint = sql::zone_period(zone, sql::unix_seconds(time), hint);
        return time + zone.periods[hint].offset * 1'000'000;
    });
}

// timestamp_zone: local time to UTC.
void to_utc(const KernelCall& call) {
    const sql::Zone zone = state_of(call).zone();
    int64_t hint = 0;
    run_zoned(call, [&](int64_t time, Fault&) {
        return time - sql::local_offset(zone, sql::unix_seconds(time), &hint) * 1'000'000;
    });
}

// timestamptz_trunc_zone. Units of less than a day keep the offset of the moment.
void truncate(const KernelCall& call) {
    const ZoneState& state = state_of(call);
    const sql::Zone zone = state.zone();
    const sql::Field field = state.field;
    int64_t hint = 0;
    int64_t local_hint = 0;
    run_zoned(call, [&](int64_t time, Fault& fault) {
        hint = sql::zone_period(zone, sql::unix_seconds(time), hint);
        int64_t offset = zone.periods[hint].offset;
        const int64_t local = sql::timestamp_truncate(field, time + offset * 1'000'000, fault);
        if (field > sql::Field::kHour)
            offset = sql::local_offset(zone, sql::unix_seconds(local), &local_hint);
        return local - offset * 1'000'000;
    });
}

bool bind_zone(Args args, BoundFunction* bound, std::string* reason) {
    bound->state = zone_of(args[0], reason);
    return bound->state != nullptr;
}

bool bind_truncate(Args args, BoundFunction* bound, std::string* reason) {
    const auto field = named_field(args[0], reason);
    if (!field) return false;
    if (*field > sql::Field::kMillennium) {
        *reason = "date_trunc() to a field that it does not know";
        return false;
    }
    auto state = zone_of(args[2], reason);
    if (state == nullptr) return false;
    state->field = *field;
    bound->state = std::move(state);
    return true;
}

}  // namespace

void add_zone_functions(std::vector<Function>& out) {
    const auto add = [&](uint32_t oid, const char* name, TypeId result, std::vector<TypeId> types,
                         uint32_t constants, Kernel kernel, decltype(Function::bind) bind) {
        Function function;
        function.info.oid = oid;
        function.info.name = name;
        function.info.result = result;
        function.info.arguments = static_cast<int>(types.size());
        for (size_t i = 0; i < types.size(); ++i) function.info.types[i] = types[i];
        function.info.constant_arguments = constants;
        function.info.may_fault = true;
        function.kernel = kernel;
        function.bind = bind;
        out.push_back(std::move(function));
    };
    add(1159, "timezone", TypeId::kTimestamp, {TypeId::kText, TypeId::kTimestampTz}, 1, to_local,
        bind_zone);
    add(2069, "timezone", TypeId::kTimestampTz, {TypeId::kText, TypeId::kTimestamp}, 1, to_utc,
        bind_zone);
    add(1284, "date_trunc", TypeId::kTimestampTz,
        {TypeId::kText, TypeId::kTimestampTz, TypeId::kText}, 5, truncate, bind_truncate);
}

}  // namespace loom::exec
