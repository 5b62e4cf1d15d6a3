#include "exec/scan/load.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/bitmap.h"
#include "base/bytes.h"
#include "exec/fault.h"
#include "exec/scan/utf8.h"
#include "exec/sort/order_words.h"

namespace loom::exec {

using column::ColumnView;
using column::DataType;
using column::TimeUnit;

namespace {

// Files count from 1970, PostgreSQL from 2000.
constexpr int64_t kEpochDays = 10957;
constexpr int64_t kEpochMicros = kEpochDays * 86'400'000'000;
// The ends of PostgreSQL's calendar (datatype/timestamp.h).
constexpr int64_t kMinDate = -2451545;
constexpr int64_t kEndDate = 2145031949;
constexpr int64_t kMinTimestamp = -211813488000000000;
constexpr int64_t kEndTimestamp = 9223371331200000000;

[[noreturn]] void out_of_range(plan::Type type) {
    throw Unrepresentable(fmt::format("a value is out of range for type {}", to_string(type)));
}

// Integers of the file to integers of the engine. NULL slots are converted too, but not checked.
template <typename From, typename To>
void widen(const ColumnView& view, uint8_t* out) {
    const From* from = view.as<From>();
    To* to = reinterpret_cast<To*>(out);
    for (int64_t i = 0; i < view.length; ++i) {
        From value;  // files align 16-byte values to 8
        std::memcpy(&value, from + i, sizeof value);
        to[i] = static_cast<To>(value);
    }
}

}  // namespace

// The conversions that a Loader chooses from.
struct LoadSteps {
    template <typename From, typename To>
    static void widened(const ColumnView& view, const Loader&, uint8_t* out) {
        widen<From, To>(view, out);
    }

    static void bits(const ColumnView& view, const Loader&, uint8_t* out) {
        const auto* from = view.as<uint8_t>();
        for (int64_t i = 0; i < view.length; ++i) out[i] = base::bit_at(from, i) ? 1 : 0;
    }

    // (value * factor / divisor) + offset, within [low, high]; what lies outside raises.
    template <typename From, typename To>
    static void scaled(const ColumnView& view, const Loader& self, uint8_t* out) {
        const From* from = view.as<From>();
        To* to = reinterpret_cast<To*>(out);
        bool fault = false;
        for (int64_t i = 0; i < view.length; ++i) {
            int64_t value = from[i];
            bool bad = false;
            if (self.divisor_ != 1) {
                const int64_t quotient = value / self.divisor_;
                value = quotient - (value % self.divisor_ < 0 ? 1 : 0);
            }
            if (self.factor_ != 1) bad = __builtin_mul_overflow(value, self.factor_, &value);
            bad |= __builtin_add_overflow(value, self.offset_, &value);
            bad |= value < self.low_ || value > self.high_;
            fault |= bad && !view.is_null(i);
            to[i] = static_cast<To>(value);
        }
        if (fault) out_of_range(self.type_);
    }

    static void duration(const ColumnView& view, const Loader& self, uint8_t* out) {
        base::Buffer micros;
        micros.resize(static_cast<uint64_t>(view.length) * sizeof(int64_t));
        scaled<int64_t, int64_t>(view, self, micros.data());
        auto* to = reinterpret_cast<plan::Interval*>(out);
        for (int64_t i = 0; i < view.length; ++i) to[i] = {micros.as<int64_t>()[i], 0, 0};
    }
    static void months(const ColumnView& view, const Loader&, uint8_t* out) {
        auto* to = reinterpret_cast<plan::Interval*>(out);
        for (int64_t i = 0; i < view.length; ++i) to[i] = {0, 0, view.as<int32_t>()[i]};
    }
    static void day_millis(const ColumnView& view, const Loader&, uint8_t* out) {
        auto* to = reinterpret_cast<plan::Interval*>(out);
        const auto* from = view.as<int32_t>();
        for (int64_t i = 0; i < view.length; ++i)
            to[i] = {int64_t{from[2 * i + 1]} * 1'000, from[2 * i], 0};
    }
    static void month_day_nanos(const ColumnView& view, const Loader&, uint8_t* out) {
        auto* to = reinterpret_cast<plan::Interval*>(out);
        for (int64_t i = 0; i < view.length; ++i) {
            const uint8_t* from = view.as<uint8_t>() + i * 16;
            const auto nanos = base::load<int64_t>(from + 8);
            to[i] = {nanos / 1'000 - (nanos % 1'000 < 0 ? 1 : 0), base::load<int32_t>(from + 4),
                     base::load<int32_t>(from)};
        }
    }
};

namespace {

int64_t unit_factor(TimeUnit unit) {
    return unit == TimeUnit::kSecond ? 1'000'000 : unit == TimeUnit::kMilli ? 1'000 : 1;
}

// Characters of valid UTF-8.
int64_t count_characters(const column::BytesView& text) {
    int64_t count = 0;
    for (int64_t i = 0; i < text.size; ++i) count += (text.data[i] & 0xC0) != 0x80 ? 1 : 0;
    return count;
}

bool is_wide_decimal(const DataType& file) {
    return column::byte_width(file) > 16;
}

}  // namespace

bool can_load(const DataType& file, plan::Type type) {
    using F = column::TypeId;
    using T = plan::TypeId;
    switch (type.id) {
        case T::kBool:
            return file.id == F::kBool;
        case T::kInt2:
            return file.id == F::kInt8 || file.id == F::kInt16 || file.id == F::kUInt8;
        case T::kInt4:
            return file.id == F::kInt8 || file.id == F::kInt16 || file.id == F::kInt32 ||
                   file.id == F::kUInt8 || file.id == F::kUInt16;
        case T::kInt8:
            return column::is_integer(file.id) && file.id != F::kUInt64;
        case T::kFloat4:
            return file.id == F::kFloat32;
        case T::kFloat8:
            return file.id == F::kFloat64 || file.id == F::kFloat32;
        case T::kNumeric:
            return file.id == F::kDecimal && !is_wide_decimal(file) && file.scale == type.scale &&
                   file.precision <= type.precision;
        case T::kDate:
            return file.id == F::kDate32 || file.id == F::kDate64;
        case T::kTimestamp:
            return file.id == F::kTimestamp && file.timezone.empty();
        case T::kTimestampTz:
            return file.id == F::kTimestamp && !file.timezone.empty();
        case T::kTime:
            return file.id == F::kTime;
        case T::kText:
        case T::kBpchar:
            return file.id == F::kUtf8 && file.annotation == column::Annotation::kNone;
        case T::kUuid:
            return file.id == F::kFixedBinary && file.fixed_width == 16;
        case T::kInterval:
            return file.id == F::kDuration || file.id == F::kIntervalMonths ||
                   file.id == F::kIntervalDayTime || file.id == F::kIntervalMonthDayNano;
        case T::kBytea:
            return file.id == F::kBinary && file.annotation == column::Annotation::kNone;
        default:
            return false;
    }
}

Loader::Loader(const DataType& file, plan::Type type, base::MemoryBudget* budget,
               int32_t characters)
    : type_(type), characters_(characters) {
    using F = column::TypeId;
    using T = plan::TypeId;
    for (Room* room : {&room_, &known_.room}) {
        room->values = base::Buffer(budget);
        room->heap = base::Buffer(budget);
    }
    if (!can_load(file, type))
        throw Unrepresentable(fmt::format("{} is not read as {} by the engine",
                                          column::to_string(file), plan::to_string(type)));
    const auto from_integer = [&]<typename To>(To) -> Convert {
        switch (file.id) {
            case F::kInt8:
                return LoadSteps::widened<int8_t, To>;
            case F::kUInt8:
                return LoadSteps::widened<uint8_t, To>;
            case F::kInt16:
                return sizeof(To) == 2 ? nullptr : LoadSteps::widened<int16_t, To>;
            case F::kUInt16:
                return LoadSteps::widened<uint16_t, To>;
            case F::kInt32:
                return sizeof(To) == 4 ? nullptr : LoadSteps::widened<int32_t, To>;
            case F::kUInt32:
                return LoadSteps::widened<uint32_t, To>;
            default:
                return nullptr;
        }
    };
    switch (type.id) {
        case T::kBool:
            convert_ = LoadSteps::bits;
            break;
        case T::kInt2:
            convert_ = from_integer(int16_t{});
            break;
        case T::kInt4:
            convert_ = from_integer(int32_t{});
            break;
        case T::kInt8:
            convert_ = from_integer(int64_t{});
            break;
        case T::kFloat8:
            if (file.id == F::kFloat32) convert_ = LoadSteps::widened<float, double>;
            break;
        case T::kNumeric: {
            const int width = column::byte_width(file);
            if (physical(type) == plan::Physical::kInt64)
                convert_ = width == 4   ? LoadSteps::widened<int32_t, int64_t>
                           : width == 8 ? nullptr
                                        : LoadSteps::widened<column::Int128, int64_t>;
            else
                convert_ = width == 4   ? LoadSteps::widened<int32_t, column::Int128>
                           : width == 8 ? LoadSteps::widened<int64_t, column::Int128>
                                        : LoadSteps::widened<column::Int128, column::Int128>;
            break;
        }
        case T::kDate:
            offset_ = -kEpochDays;
            low_ = kMinDate;
            high_ = kEndDate - 1;
            if (file.id == F::kDate64) divisor_ = 86'400'000;
            convert_ = file.id == F::kDate64 ? LoadSteps::scaled<int64_t, int32_t>
                                             : LoadSteps::scaled<int32_t, int32_t>;
            break;
        case T::kTimestamp:
        case T::kTimestampTz:
            offset_ = -kEpochMicros;
            low_ = kMinTimestamp;
            high_ = kEndTimestamp - 1;
            factor_ = unit_factor(file.unit);
            if (file.unit == TimeUnit::kNano) divisor_ = 1'000;
            convert_ = LoadSteps::scaled<int64_t, int64_t>;
            break;
        case T::kTime:
            low_ = 0;
            high_ = 86'400'000'000;
            factor_ = unit_factor(file.unit);
            if (file.unit == TimeUnit::kNano) divisor_ = 1'000;
            convert_ = column::byte_width(file) == 4 ? LoadSteps::scaled<int32_t, int64_t>
                                                     : LoadSteps::scaled<int64_t, int64_t>;
            break;
        case T::kText:
        case T::kBpchar:
            text_ = true;
            break;
        case T::kUuid:
            convert_ = LoadSteps::widened<column::Int128, column::Int128>;
            break;
        case T::kInterval:
            factor_ = unit_factor(file.unit);
            if (file.unit == TimeUnit::kNano) divisor_ = 1'000;
            convert_ = file.id == F::kDuration          ? LoadSteps::duration
                       : file.id == F::kIntervalMonths  ? LoadSteps::months
                       : file.id == F::kIntervalDayTime ? LoadSteps::day_millis
                                                        : LoadSteps::month_day_nanos;
            break;
        default:
            break;
    }
}

void Loader::check_text(const ColumnView& view) const {
    if (!are_server_texts(view.as<column::BytesView>(), view.validity, view.length))
        throw Unrepresentable("a text is not valid UTF-8, or holds a zero byte");
}

// The extremes of all parts mean infinity, from PostgreSQL 17 on; a file's numbers never do.
void Loader::check_finite(const Vector& vector) const {
    const auto* values = vector.as<plan::Interval>();
    for (int64_t i = 0; i < vector.length; ++i) {
        const bool extreme = (values[i].months == INT32_MAX && values[i].days == INT32_MAX) ||
                             (values[i].months == INT32_MIN && values[i].days == INT32_MIN);
        if (extreme && !vector.is_null(i)) out_of_range(type_);
    }
}

void Loader::check_length(const ColumnView& view) const {
    const auto* texts = view.as<column::BytesView>();
    for (int64_t i = 0; i < view.length; ++i)
        if (texts[i].size > characters_ && !view.is_null(i) &&
            count_characters(texts[i]) > characters_)
            throw Unrepresentable("a text is longer than its type");
}

// Fills texts up with blanks.
void Loader::pad_texts(const ColumnView& view, Room& room) const {
    const auto* texts = view.as<column::BytesView>();
    uint64_t bytes = 0;
    for (int64_t i = 0; i < view.length; ++i)
        if (!view.is_null(i))
            bytes +=
                static_cast<uint64_t>(texts[i].size + characters_ - count_characters(texts[i]));
    room.values.resize_discarding(static_cast<uint64_t>(view.length) * sizeof(column::BytesView));
    room.heap.resize_discarding(bytes);
    auto* to = room.values.as<column::BytesView>();
    uint8_t* place = room.heap.data();
    for (int64_t i = 0; i < view.length; ++i) {
        to[i] = {};
        if (view.is_null(i)) continue;
        const int64_t blanks = characters_ - count_characters(texts[i]);
        to[i] = {place, texts[i].size + blanks};
        if (texts[i].size > 0)
            std::memcpy(place, texts[i].data, static_cast<size_t>(texts[i].size));
        std::memset(place + texts[i].size, ' ', static_cast<size_t>(blanks));
        place += to[i].size;
    }
}

// Kernels rely on a numeric's digits: a file that has more than it declares is PostgreSQL's.
void Loader::check_digits(const Vector& vector) const {
    const auto check = [&](auto limit, const auto* values) {
        for (int i = 0; i < type_.precision; ++i) limit *= 10;
        bool wide = false;
        for (int64_t i = 0; i < vector.length; ++i)
            wide |= (values[i] <= -limit || values[i] >= limit) && !vector.is_null(i);
        if (wide)
            throw Unrepresentable(
                fmt::format("a value has more digits than {}", plan::to_string(type_)));
    };
    if (physical(type_) == plan::Physical::kInt64)
        check(int64_t{1}, vector.as<int64_t>());
    else
        check(column::Int128{1}, vector.as<column::Int128>());
}

Vector Loader::plain(const ColumnView& view, Room& room) {
    if (text_) check_text(view);
    if (characters_ >= 0) check_length(view);
    Vector vector;
    vector.type = type_;
    vector.length = view.length;
    vector.validity = view.validity;
    vector.values = view.values;
    if (convert_ != nullptr) {
        room.values.resize_discarding(static_cast<uint64_t>(view.length) * width(physical(type_)));
        convert_(view, *this, room.values.data());
        vector.values = room.values.data();
    }
    if (type_.id == plan::TypeId::kBpchar && characters_ >= 0) {
        pad_texts(view, room);
        vector.values = room.values.data();
    }
    if (type_.id == plan::TypeId::kNumeric) check_digits(vector);
    if (type_.id == plan::TypeId::kInterval) check_finite(vector);
    return vector;
}

Vector Loader::load(const ColumnView& view) {
    if (view.encoding == column::Encoding::kPlain) return plain(view, room_);
    const column::Dictionary& source = *view.dictionary;
    if (known_.source_version != source.version) {
        known_.source_version = 0;
        known_.dictionary.values = plain(source.values, known_.room);
        known_.dictionary.version = column::next_dictionary_version();
        known_.source_version = source.version;
    }
    Vector vector;
    vector.type = type_;
    vector.form = Form::kCodes;
    vector.code_width = view.code_width;
    vector.length = view.length;
    vector.validity = view.validity;
    vector.values = view.values;
    vector.dictionary = &known_.dictionary;
    return vector;
}

std::optional<column::Scalar> file_scalar(const column::Scalar& value, const DataType& file,
                                          plan::Type type) {
    if (!can_load(file, type)) return std::nullopt;
    if (type.id == plan::TypeId::kText) return value;
    const bool time = file.id == column::TypeId::kDate32 || file.id == column::TypeId::kTimestamp;
    if (!time && !column::is_integer(file.id)) return std::nullopt;
    const Loader loader(file, type, nullptr);
    if (loader.factor_ != 1 || loader.divisor_ != 1) return std::nullopt;
    return column::Scalar::of_int(value.integer - loader.offset_);
}

std::optional<uint64_t> order_word(const column::Scalar& bound, const DataType& file,
                                   plan::Type type) {
    // What a char(n) is filled up with is not known here; intervals are ordered by what they last.
    if (!bound.known() || type.id == plan::TypeId::kBpchar || type.id == plan::TypeId::kInterval ||
        !can_load(file, type))
        return std::nullopt;
    base::Buffer value;
    value.resize(sizeof(column::Int128) + sizeof(column::BytesView));
    ColumnView view;
    view.type = &file;
    view.length = 1;
    view.values = value.data();
    switch (bound.kind) {
        case column::Scalar::Kind::kInt:
            std::memcpy(value.data(), &bound.integer, sizeof bound.integer);
            break;
        case column::Scalar::Kind::kFloat:
            if (file.id == column::TypeId::kFloat32)
                *value.as<float>() = static_cast<float>(bound.number);
            else
                *value.as<double>() = bound.number;
            break;
        case column::Scalar::Kind::kBytes:
            if (type.id == plan::TypeId::kUuid) {
                if (bound.bytes.size() != sizeof(plan::Uuid)) return std::nullopt;
                std::memcpy(value.data(), bound.bytes.data(), sizeof(plan::Uuid));
                break;
            }
            *value.as<column::BytesView>() = {reinterpret_cast<const uint8_t*>(bound.bytes.data()),
                                              static_cast<int64_t>(bound.bytes.size())};
            break;
        case column::Scalar::Kind::kNone:
            return std::nullopt;
    }
    try {
        Loader loader(file, type, nullptr);
        uint64_t word = 0;
        order_words(loader.load(view), 1, &word);
        return word;
    } catch (const Unrepresentable&) {
        return std::nullopt;
    }
}

}  // namespace loom::exec
