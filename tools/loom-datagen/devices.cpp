// Moving devices that report their place once a minute.

#include <cmath>

#include "random.h"
#include "table.h"
#include "well_known_binary.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kRowsAtScale1 = 10'000'000;
constexpr int64_t kChunkRows = 65'536;
constexpr int64_t kDevices = 2'000;
constexpr int64_t kFirstMicros = 1'735'689'600'000'000;  // 2025-01-01 00:00 UTC
constexpr int64_t kStepMicros = 60'000'000;
constexpr double kPi = 3.14159265358979323846;
constexpr double kMetersPerDegree = 111'320;

class Devices final : public EvenTable {
  public:
    explicit Devices(const Request& request);

  private:
    Block make_rows(int64_t first, int64_t count) const override;
    Point place(int64_t device, double minute) const;

    bool wkb_;
    Sequence home_, period_, radius_;
};

Devices::Devices(const Request& request)
    : wkb_(request.wkb),
      home_(request.seed, "devices", 0),
      period_(request.seed, "devices", 1),
      radius_(request.seed, "devices", 2) {
    name_ = "devices";
    add_field("device_id", make_type(TypeId::kInt32));
    add_field("ts", column::make_timestamp(column::TimeUnit::kMicro, "UTC"));
    for (const char* field : {"lon", "lat", "speed"}) add_field(field, make_type(TypeId::kFloat64));
    if (wkb_) {
        add_field("position", make_type(TypeId::kBinary));
        schema_.metadata.push_back({"geo", geo_metadata("position", "Point")});
    }
    set_rows(wanted_rows(request, kRowsAtScale1), kChunkRows);
}

// A sum of two circles around a home: smooth, bounded, and known at any time.
Point Devices::place(int64_t device, double minute) const {
    const Point home{-10 + 40 * home_.unit(2 * device), 36 + 24 * home_.unit(2 * device + 1)};
    const double slow = 2 * kPi * minute / (300 + 1200 * period_.unit(2 * device));
    const double fast = 2 * kPi * minute / (20 + 60 * period_.unit(2 * device + 1));
    const double wide = 0.05 + 0.4 * radius_.unit(2 * device);
    const double narrow = 0.002 + 0.02 * radius_.unit(2 * device + 1);
    return {home.longitude + wide * std::cos(slow) + narrow * std::cos(fast),
            home.latitude + 0.7 * (wide * std::sin(slow) + narrow * std::sin(fast))};
}

Block Devices::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    for (int field = 0; field < 5; ++field)
        block.columns.push_back(make_fixed(schema_.fields[field].type, count));
    BytesFiller positions(make_type(TypeId::kBinary), wkb_ ? count : 0, 21);
    auto* columns = block.columns.data();
    for (int64_t i = 0; i < count; ++i) {
        const int64_t device = (first + i) % kDevices;
        const int64_t minute = (first + i) / kDevices;
        const Point now = place(device, static_cast<double>(minute));
        const Point before = place(device, static_cast<double>(minute - 1));
        const double north = (now.latitude - before.latitude) * kMetersPerDegree;
        const double east = (now.longitude - before.longitude) * kMetersPerDegree *
                            std::cos(now.latitude * kPi / 180);
        columns[0].values.as<int32_t>()[i] = static_cast<int32_t>(device + 1);
        columns[1].values.as<int64_t>()[i] = kFirstMicros + minute * kStepMicros;
        columns[2].values.as<double>()[i] = now.longitude;
        columns[3].values.as<double>()[i] = now.latitude;
        columns[4].values.as<double>()[i] = std::hypot(north, east) / 60;  // m/s
        if (wkb_) positions.add(point_wkb(now));
    }
    if (wkb_) block.columns.push_back(positions.finish());
    return block;
}

}  // namespace

std::vector<std::unique_ptr<Table>> make_devices(const Request& request) {
    std::vector<std::unique_ptr<Table>> tables;
    tables.push_back(std::make_unique<Devices>(request));
    return tables;
}

}  // namespace loom::datagen
