#pragma once
// What TPC-H specifies (revision 3, 4.2.2 and 4.2.3) and the Star Schema Benchmark shares: words,
// nations, days, the price of a part.

#include <chrono>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace loom::datagen {

inline constexpr std::string_view kRegions[] = {"AFRICA", "AMERICA", "ASIA", "EUROPE",
                                                "MIDDLE EAST"};

/// A nation's number is its place in kNations, and 10 less than the first part of its phone
/// numbers.
struct Nation {
    std::string_view name;
    int32_t region_key;  ///< place in kRegions
    std::string_view region() const noexcept { return kRegions[region_key]; }
};
inline constexpr Nation kNations[] = {
    {"ALGERIA", 0},      {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1},
    {"EGYPT", 4},        {"ETHIOPIA", 0},  {"FRANCE", 3}, {"GERMANY", 3},
    {"INDIA", 2},        {"INDONESIA", 2}, {"IRAN", 4},   {"IRAQ", 4},
    {"JAPAN", 2},        {"JORDAN", 4},    {"KENYA", 0},  {"MOROCCO", 0},
    {"MOZAMBIQUE", 0},   {"PERU", 1},      {"CHINA", 2},  {"ROMANIA", 3},
    {"SAUDI ARABIA", 4}, {"VIETNAM", 2},   {"RUSSIA", 3}, {"UNITED KINGDOM", 3},
    {"UNITED STATES", 1}};
inline constexpr uint32_t kNationCount = std::size(kNations);

inline constexpr std::string_view kSegments[] = {"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY",
                                                 "HOUSEHOLD"};

inline constexpr std::string_view kColors[] = {
    "almond",   "antique",   "aquamarine", "azure",      "beige",     "bisque",    "black",
    "blanched", "blue",      "blush",      "brown",      "burlywood", "burnished", "chartreuse",
    "chiffon",  "chocolate", "coral",      "cornflower", "cornsilk",  "cream",     "cyan",
    "dark",     "deep",      "dim",        "dodger",     "drab",      "firebrick", "floral",
    "forest",   "frosted",   "gainsboro",  "ghost",      "goldenrod", "green",     "grey",
    "honeydew", "hot",       "indian",     "ivory",      "khaki",     "lace",      "lavender",
    "lawn",     "lemon",     "light",      "lime",       "linen",     "magenta",   "maroon",
    "medium",   "metallic",  "midnight",   "mint",       "misty",     "moccasin",  "navajo",
    "navy",     "olive",     "orange",     "orchid",     "pale",      "papaya",    "peach",
    "peru",     "pink",      "plum",       "powder",     "puff",      "purple",    "red",
    "rose",     "rosy",      "royal",      "saddle",     "salmon",    "sandy",     "seashell",
    "sienna",   "sky",       "slate",      "smoke",      "snow",      "spring",    "steel",
    "tan",      "thistle",   "tomato",     "turquoise",  "violet",    "wheat",     "white",
    "yellow"};
inline constexpr std::string_view kTypeSize[] = {"STANDARD", "SMALL",   "MEDIUM",
                                                 "LARGE",    "ECONOMY", "PROMO"};
inline constexpr std::string_view kTypeFinish[] = {"ANODIZED", "BURNISHED", "PLATED", "POLISHED",
                                                   "BRUSHED"};
inline constexpr std::string_view kTypeMetal[] = {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"};
inline constexpr std::string_view kBoxSize[] = {"SM", "MED", "LG", "JUMBO", "WRAP"};
inline constexpr std::string_view kBoxKind[] = {"CASE", "BOX",  "BAG", "JAR",
                                                "PKG",  "PACK", "CAN", "DRUM"};
inline constexpr std::string_view kShipModes[] = {"REG AIR", "AIR",  "RAIL", "SHIP",
                                                  "TRUCK",   "MAIL", "FOB"};

inline constexpr std::chrono::sys_days kFirstDay = std::chrono::year{1992} / 1 / 1;
inline constexpr std::chrono::sys_days kLastDay = std::chrono::year{1998} / 12 / 31;
/// Orders end so early that their lines are received by kLastDay.
inline constexpr std::chrono::sys_days kLastOrderDay = std::chrono::year{1998} / 8 / 2;
/// What was shipped or received until then is so; the rest is under way.
inline constexpr std::chrono::sys_days kCurrentDay = std::chrono::year{1995} / 6 / 17;

/// Returns the retail price of a part in cents.
inline int32_t part_price(int64_t part) noexcept {
    return static_cast<int32_t>(90'000 + part / 10 % 20'001 + 100 * (part % 1'000));
}

}  // namespace loom::datagen
