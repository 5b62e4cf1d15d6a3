// Readings of many devices, second by second: numbers that drift, gaps, and a JSON payload.

#include <chrono>
#include <cmath>

#include "random.h"
#include "table.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kRowsAtScale1 = 10'000'000;
constexpr int64_t kChunkRows = 65'536;
constexpr int64_t kDevices = 1'000;
constexpr int64_t kFirstMicros = 1'735'689'600'000'000;  // 2025-01-01 00:00 UTC
constexpr int64_t kStepMicros = 1'000'000;
constexpr double kDayMicros = 86'400e6;
constexpr double kPi = 3.14159265358979323846;

class Sensors final : public EvenTable {
  public:
    explicit Sensors(const Request& request);

  private:
    Block make_rows(int64_t first, int64_t count) const override;

    Sequence device_noise_, temperature_, humidity_, pressure_, voltage_, gap_, quality_, payload_;
};

Sensors::Sensors(const Request& request)
    : device_noise_(request.seed, "sensors", 0),
      temperature_(request.seed, "sensors", 1),
      humidity_(request.seed, "sensors", 2),
      pressure_(request.seed, "sensors", 3),
      voltage_(request.seed, "sensors", 4),
      gap_(request.seed, "sensors", 5),
      quality_(request.seed, "sensors", 6),
      payload_(request.seed, "sensors", 7) {
    name_ = "sensors";
    add_field("device_id", make_type(TypeId::kInt32));
    add_field("ts", column::make_timestamp(column::TimeUnit::kMicro, "UTC"));
    add_field("temperature", make_type(TypeId::kFloat64), true);
    add_field("humidity", make_type(TypeId::kFloat64), true);
    add_field("pressure", make_type(TypeId::kFloat64));
    add_field("voltage", make_type(TypeId::kFloat32));
    add_field("quality", make_type(TypeId::kInt16));
    add_field("payload", with_annotation(*make_type(TypeId::kUtf8), column::Annotation::kJson),
              true);
    set_rows(wanted_rows(request, kRowsAtScale1), kChunkRows);
}

double rounded(double value, double steps) {
    return std::round(value * steps) / steps;
}

Block Sensors::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    for (int field = 0; field < 7; ++field)
        block.columns.push_back(make_fixed(schema_.fields[field].type, count));
    BytesFiller payload(schema_.fields[7].type, count, 48);
    std::vector<int64_t> no_temperature, no_humidity;
    auto* columns = block.columns.data();
    for (int64_t i = 0; i < count; ++i) {
        const int64_t row = first + i;
        const int64_t device = row % kDevices;
        const int64_t time = kFirstMicros + row / kDevices * kStepMicros + device * 731;
        const double day =
            std::sin(2 * kPi * static_cast<double>(time - kFirstMicros) / kDayMicros);
        columns[0].values.as<int32_t>()[i] = static_cast<int32_t>(device + 1);
        columns[1].values.as<int64_t>()[i] = time;
        columns[2].values.as<double>()[i] =
            rounded(15 + 10 * device_noise_.unit(device) + 6 * day + temperature_.unit(row), 100);
        columns[3].values.as<double>()[i] = rounded(60 - 15 * day + 5 * humidity_.unit(row), 10);
        columns[4].values.as<double>()[i] =
            1013.25 + 20 * (device_noise_.unit(device + kDevices) - 0.5) + pressure_.unit(row);
        columns[5].values.as<float>()[i] =
            static_cast<float>(rounded(3.3 - 0.3 * voltage_.unit(row), 1000));
        const bool bad = quality_.chance(row, 0.02);
        columns[6].values.as<int16_t>()[i] =
            static_cast<int16_t>(bad ? quality_.below(row, 90) : 100);
        if (gap_.chance(2 * row, 0.01)) no_temperature.push_back(i);
        if (gap_.chance(2 * row + 1, 0.05)) no_humidity.push_back(i);
        if (payload_.chance(2 * row, 0.5))
            payload.add_null();
        else
            payload.add(fmt::format(R"({{"fw":"{}.{}","rssi":{},"ok":{}}})", 1 + device % 3,
                                    device % 10,
                                    -30 - static_cast<int>(payload_.below(2 * row + 1, 60)), !bad));
    }
    set_nulls(columns[2], no_temperature);
    set_nulls(columns[3], no_humidity);
    block.columns.push_back(payload.finish());
    return block;
}

}  // namespace

std::vector<std::unique_ptr<Table>> make_sensors(const Request& request) {
    std::vector<std::unique_ptr<Table>> tables;
    tables.push_back(std::make_unique<Sensors>(request));
    return tables;
}

}  // namespace loom::datagen
