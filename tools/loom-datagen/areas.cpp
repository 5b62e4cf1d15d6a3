// Areas as polygons that don't cross themselves: corners around a centre in order of their angle.

#include <cmath>

#include "random.h"
#include "table.h"
#include "well_known_binary.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kRowsAtScale1 = 100'000;
constexpr int64_t kChunkRows = 8'192;
constexpr double kPi = 3.14159265358979323846;
constexpr uint32_t kMaxCorners = 30;

constexpr std::string_view kSyllables[] = {"al",  "ber", "dor",  "en", "feld", "gar",
                                           "hof", "im",  "ken",  "lo", "mar",  "nor",
                                           "os",  "ri",  "stet", "wal"};

class Areas final : public EvenTable {
  public:
    explicit Areas(const Request& request);

  private:
    Block make_rows(int64_t first, int64_t count) const override;
    std::string name_of(int64_t row) const;
    std::string polygon(int64_t row) const;

    Sequence word_, centre_, size_, corner_;
};

Areas::Areas(const Request& request)
    : word_(request.seed, "areas", 0),
      centre_(request.seed, "areas", 1),
      size_(request.seed, "areas", 2),
      corner_(request.seed, "areas", 3) {
    name_ = "areas";
    add_field("id", make_type(TypeId::kInt64));
    add_field("name", make_type(TypeId::kUtf8));
    add_field("geom", make_type(TypeId::kBinary));
    schema_.metadata.push_back({"geo", geo_metadata("geom", "Polygon")});
    set_rows(wanted_rows(request, kRowsAtScale1), kChunkRows);
}

std::string Areas::name_of(int64_t row) const {
    std::string text;
    const uint32_t syllables = 2 + word_.below(8 * row, 3);
    for (uint32_t i = 1; i <= syllables; ++i)
        text += kSyllables[word_.below(8 * row + i, std::size(kSyllables))];
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string Areas::polygon(int64_t row) const {
    const Point centre{-10 + 40 * centre_.unit(2 * row), 36 + 24 * centre_.unit(2 * row + 1)};
    // Many small areas, few large ones.
    const double radius = 0.005 + size_.exponential(2 * row, 0.05);
    const uint32_t corners = 5 + size_.below(2 * row + 1, kMaxCorners - 4);
    std::vector<Point> ring;
    for (uint32_t i = 0; i < corners; ++i) {
        const uint64_t at = static_cast<uint64_t>(row) * 2 * kMaxCorners + 2 * i;
        const double angle = 2 * kPi * (i + 0.8 * corner_.unit(at)) / corners;
        const double distance = radius * (0.5 + 0.5 * corner_.unit(at + 1));
        ring.push_back({centre.longitude + distance * std::cos(angle),
                        centre.latitude + distance * std::sin(angle)});
    }
    return polygon_wkb(ring);
}

Block Areas::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto id = make_fixed(schema_.fields[0].type, count);
    BytesFiller names(make_type(TypeId::kUtf8), count, 12);
    BytesFiller polygons(make_type(TypeId::kBinary), count, 300);
    for (int64_t i = 0; i < count; ++i) {
        id.values.as<int64_t>()[i] = first + i + 1;
        names.add(name_of(first + i));
        polygons.add(polygon(first + i));
    }
    block.columns.push_back(std::move(id));
    block.columns.push_back(names.finish());
    block.columns.push_back(polygons.finish());
    return block;
}

}  // namespace

std::vector<std::unique_ptr<Table>> make_areas(const Request& request) {
    std::vector<std::unique_ptr<Table>> tables;
    tables.push_back(std::make_unique<Areas>(request));
    return tables;
}

}  // namespace loom::datagen
