#include "well_known_binary.h"

#include <cstdint>

#include <fmt/core.h>

namespace loom::datagen {

namespace {

constexpr char kLittleEndian = 1;
constexpr uint32_t kPoint = 1;
constexpr uint32_t kPolygon = 3;

template <typename T>
void append(T value, std::string& out) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_point(Point point, std::string& out) {
    append(point.longitude, out);
    append(point.latitude, out);
}

}  // namespace

std::string point_wkb(Point point) {
    std::string out;
    append(kLittleEndian, out);
    append(kPoint, out);
    append_point(point, out);
    return out;
}

std::string polygon_wkb(std::span<const Point> ring) {
    std::string out;
    append(kLittleEndian, out);
    append(kPolygon, out);
    append(uint32_t{1}, out);
    append(static_cast<uint32_t>(ring.size() + 1), out);
    for (const Point& point : ring) append_point(point, out);
    append_point(ring[0], out);
    return out;
}

std::string geo_metadata(const std::string& column, const std::string& geometry_type) {
    return fmt::format(R"({{"version":"1.1.0","primary_column":"{0}","columns":{{"{0}":)"
                       R"({{"encoding":"WKB","geometry_types":["{1}"]}}}}}})",
                       column, geometry_type);
}

}  // namespace loom::datagen
