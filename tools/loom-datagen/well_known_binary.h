#pragma once
// Well-known binary (OGC 06-103r4, 8.2) of points and polygons, little-endian.

#include <span>
#include <string>

namespace loom::datagen {

struct Point {
    double longitude = 0;
    double latitude = 0;
};

std::string point_wkb(Point point);
/// `ring` is closed by this function: its first point is repeated at the end.
std::string polygon_wkb(std::span<const Point> ring);

/// Returns the file metadata "geo" of GeoParquet 1.1 for a column of WKB.
std::string geo_metadata(const std::string& column, const std::string& geometry_type);

}  // namespace loom::datagen
