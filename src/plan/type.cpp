#include "plan/type.h"

#include <fmt/core.h>

namespace loom::plan {

Physical physical(Type type) noexcept {
    switch (type.id) {
        case TypeId::kBool:
            return Physical::kBool;
        case TypeId::kInt2:
            return Physical::kInt16;
        case TypeId::kInt4:
        case TypeId::kDate:
            return Physical::kInt32;
        case TypeId::kInt8:
        case TypeId::kTime:
        case TypeId::kTimestamp:
        case TypeId::kTimestampTz:
        case TypeId::kOpaqueWord:
            return Physical::kInt64;
        case TypeId::kFloat4:
            return Physical::kFloat32;
        case TypeId::kFloat8:
            return Physical::kFloat64;
        case TypeId::kNumeric:
            return type.precision == 0                 ? Physical::kDecimal
                   : type.precision <= kMaxPrecision64 ? Physical::kInt64
                                                       : Physical::kInt128;
        case TypeId::kInterval:
            return Physical::kInterval;
        case TypeId::kText:
        case TypeId::kBpchar:
        case TypeId::kBytea:
        case TypeId::kOpaque:
            return Physical::kBytes;
        case TypeId::kUuid:
            return Physical::kUuid;
    }
    return Physical::kInt32;
}

int width(Physical physical) noexcept {
    switch (physical) {
        case Physical::kBool:
            return 1;
        case Physical::kInt16:
            return 2;
        case Physical::kInt32:
        case Physical::kFloat32:
            return 4;
        case Physical::kInt64:
        case Physical::kFloat64:
            return 8;
        case Physical::kInt128:
        case Physical::kBytes:
        case Physical::kInterval:
        case Physical::kUuid:
            return 16;
        case Physical::kDecimal:
            return 32;
    }
    return 16;
}

std::string to_string(Type type) {
    switch (type.id) {
        case TypeId::kBool:
            return "bool";
        case TypeId::kInt2:
            return "int2";
        case TypeId::kInt4:
            return "int4";
        case TypeId::kInt8:
            return "int8";
        case TypeId::kFloat4:
            return "float4";
        case TypeId::kFloat8:
            return "float8";
        case TypeId::kNumeric:
            return type.precision == 0 ? "numeric"
                                       : fmt::format("numeric({},{})", type.precision, type.scale);
        case TypeId::kDate:
            return "date";
        case TypeId::kTime:
            return "time";
        case TypeId::kTimestamp:
            return "timestamp";
        case TypeId::kTimestampTz:
            return "timestamptz";
        case TypeId::kInterval:
            return "interval";
        case TypeId::kText:
            return "text";
        case TypeId::kBpchar:
            return "bpchar";
        case TypeId::kBytea:
            return "bytea";
        case TypeId::kUuid:
            return "uuid";
        case TypeId::kOpaque:
        case TypeId::kOpaqueWord:
            return fmt::format("type {}", type.oid);
    }
    return "?";
}

}  // namespace loom::plan
