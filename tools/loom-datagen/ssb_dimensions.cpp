// Customer, supplier, part and date of the Star Schema Benchmark.

#include <array>

#include "ssb.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kChunkRows = 16'384;

constexpr uint32_t kCitiesPerNation = 10;

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kWeekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                          "Thursday", "Friday", "Saturday"};

/// Customers and suppliers: they differ in names and in the market segment.
class Party final : public EvenTable {
  public:
    Party(uint64_t seed, std::string_view name, int64_t rows);

  private:
    Block make_rows(int64_t first, int64_t count) const override;
    std::string address(int64_t key) const;
    std::string phone(int64_t key, uint32_t nation) const;

    std::string title_;  // before the number in names
    bool has_segment_;
    Sequence city_, address_, phone_, segment_;
};

Party::Party(uint64_t seed, std::string_view name, int64_t rows)
    : title_(name == "customer" ? "Customer#" : "Supplier#"),
      has_segment_(name == "customer"),
      city_(seed, name, 0),
      address_(seed, name, 1),
      phone_(seed, name, 2),
      segment_(seed, name, 3) {
    name_ = name;
    const std::string prefix = has_segment_ ? "c_" : "s_";
    const auto text = make_type(TypeId::kUtf8);
    add_field(prefix + (has_segment_ ? "custkey" : "suppkey"), make_type(TypeId::kInt32));
    for (const char* field : {"name", "address", "city", "nation", "region", "phone"})
        add_field(prefix + field, text);
    if (has_segment_) add_field(prefix + "mktsegment", text);
    set_rows(rows, kChunkRows);
}

std::string Party::address(int64_t key) const {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,";
    const int32_t length = address_.between(key * 32, 10, 25);
    std::string text;
    for (int32_t i = 1; i <= length; ++i)
        text += kLetters[address_.below(key * 32 + i, static_cast<uint32_t>(kLetters.size()))];
    return text;
}

std::string Party::phone(int64_t key, uint32_t nation) const {
    return fmt::format("{}-{}-{}-{}", nation + 10, phone_.between(key * 4, 100, 999),
                       phone_.between(key * 4 + 1, 100, 999),
                       phone_.between(key * 4 + 2, 1000, 9999));
}

Block Party::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto key = [&](int64_t row) { return first + row + 1; };
    auto city = [&](int64_t row) { return city_.below(key(row), kNationCount * kCitiesPerNation); };
    auto nation = [&](int64_t row) { return city(row) / kCitiesPerNation; };
    auto& columns = block.columns;
    columns.push_back(make_int32(count, key));
    columns.push_back(
        make_text(count, [&](int64_t row) { return fmt::format("{}{:09}", title_, key(row)); }));
    columns.push_back(make_text(count, [&](int64_t row) { return address(key(row)); }));
    // The paper: the nation's first 9 characters and a digit, e.g. "UNITED KI1", "PERU     0".
    columns.push_back(make_text(count, [&](int64_t row) {
        return fmt::format("{:<9.9}{}", kNations[nation(row)].name, city(row) % kCitiesPerNation);
    }));
    columns.push_back(make_text(count, [&](int64_t row) { return kNations[nation(row)].name; }));
    columns.push_back(
        make_text(count, [&](int64_t row) { return kNations[nation(row)].region(); }));
    columns.push_back(make_text(count, [&](int64_t row) { return phone(key(row), nation(row)); }));
    if (has_segment_)
        columns.push_back(make_text(count, [&](int64_t row) {
            return kSegments[segment_.below(key(row), std::size(kSegments))];
        }));
    return block;
}

class Part final : public EvenTable {
  public:
    Part(uint64_t seed, int64_t rows);

  private:
    Block make_rows(int64_t first, int64_t count) const override;

    Sequence brand_, name_color_, color_, type_, size_, container_;
};

Part::Part(uint64_t seed, int64_t rows)
    : brand_(seed, "part", 0),
      name_color_(seed, "part", 1),
      color_(seed, "part", 2),
      type_(seed, "part", 3),
      size_(seed, "part", 4),
      container_(seed, "part", 5) {
    name_ = "part";
    const auto text = make_type(TypeId::kUtf8);
    add_field("p_partkey", make_type(TypeId::kInt32));
    for (const char* field : {"p_name", "p_mfgr", "p_category", "p_brand1", "p_color", "p_type"})
        add_field(field, text);
    add_field("p_size", make_type(TypeId::kInt32));
    add_field("p_container", text);
    set_rows(rows, kChunkRows);
}

Block Part::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto key = [&](int64_t row) { return first + row + 1; };
    // 5 manufacturers of 5 categories of 40 brands, all equally frequent.
    auto brand = [&](int64_t row) { return brand_.below(key(row), 1000); };
    auto pick = [&](const Sequence& random, int64_t row, auto& words) {
        return words[random.below(key(row), std::size(words))];
    };
    auto& columns = block.columns;
    columns.push_back(make_int32(count, key));
    columns.push_back(make_text(count, [&](int64_t row) {
        return fmt::format("{} {}", kColors[name_color_.below(2 * key(row), std::size(kColors))],
                           kColors[name_color_.below(2 * key(row) + 1, std::size(kColors))]);
    }));
    columns.push_back(make_text(
        count, [&](int64_t row) { return fmt::format("MFGR#{}", brand(row) / 200 + 1); }));
    columns.push_back(make_text(count, [&](int64_t row) {
        return fmt::format("MFGR#{}{}", brand(row) / 200 + 1, brand(row) / 40 % 5 + 1);
    }));
    columns.push_back(make_text(count, [&](int64_t row) {
        return fmt::format("MFGR#{}{}{}", brand(row) / 200 + 1, brand(row) / 40 % 5 + 1,
                           brand(row) % 40 + 1);
    }));
    columns.push_back(make_text(count, [&](int64_t row) { return pick(color_, row, kColors); }));
    columns.push_back(make_text(count, [&](int64_t row) {
        const uint32_t type = type_.below(key(row), 150);
        return fmt::format("{} {} {}", kTypeSize[type / 25], kTypeFinish[type / 5 % 5],
                           kTypeMetal[type % 5]);
    }));
    columns.push_back(
        make_int32(count, [&](int64_t row) { return size_.between(key(row), 1, 50); }));
    columns.push_back(make_text(count, [&](int64_t row) {
        const uint32_t box = container_.below(key(row), 40);
        return fmt::format("{} {}", kBoxSize[box / 8], kBoxKind[box % 8]);
    }));
    return block;
}

/// A day of the calendar, taken apart.
struct Day {
    int year = 0, month = 0, day = 0, weekday = 0, day_of_year = 0;
    bool last_in_month = false;

    explicit Day(std::chrono::sys_days date) {
        const std::chrono::year_month_day ymd(date);
        year = static_cast<int>(ymd.year());
        month = static_cast<int>(static_cast<unsigned>(ymd.month()));
        day = static_cast<int>(static_cast<unsigned>(ymd.day()));
        weekday = static_cast<int>(std::chrono::weekday(date).c_encoding());
        day_of_year =
            static_cast<int>((date - std::chrono::sys_days(ymd.year() / 1 / 1)).count()) + 1;
        last_in_month =
            std::chrono::year_month_day(date + std::chrono::days(1)).month() != ymd.month();
    }
    std::string_view season() const {
        if (month >= 11) return "Christmas";
        if (month >= 9) return "Fall";
        if (month >= 5) return "Summer";
        return month >= 3 ? "Spring" : "Winter";
    }
    bool is_holiday() const {
        constexpr std::array<std::pair<int, int>, 8> kHolidays = {
            {{1, 1}, {2, 20}, {4, 20}, {5, 20}, {7, 20}, {8, 20}, {9, 20}, {12, 25}}};
        for (auto [holiday_month, holiday] : kHolidays)
            if (month == holiday_month && day == holiday) return true;
        return false;
    }
};

class DateTable final : public EvenTable {
  public:
    DateTable();

  private:
    Block make_rows(int64_t first, int64_t count) const override;
};

DateTable::DateTable() {
    name_ = "date";
    const auto int32 = make_type(TypeId::kInt32);
    const auto text = make_type(TypeId::kUtf8);
    add_field("d_datekey", int32);
    for (const char* field : {"d_date", "d_dayofweek", "d_month"}) add_field(field, text);
    add_field("d_year", int32);
    add_field("d_yearmonthnum", int32);
    add_field("d_yearmonth", text);
    for (const char* field : {"d_daynuminweek", "d_daynuminmonth", "d_daynuminyear",
                              "d_monthnuminyear", "d_weeknuminyear"})
        add_field(field, int32);
    add_field("d_sellingseason", text);
    for (const char* field :
         {"d_lastdayinweekfl", "d_lastdayinmonthfl", "d_holidayfl", "d_weekdayfl"})
        add_field(field, int32);
    set_rows((kLastDay - kFirstDay).count() + 1, kChunkRows);
}

Block DateTable::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    std::vector<Day> days;
    for (int64_t row = 0; row < count; ++row)
        days.emplace_back(kFirstDay + std::chrono::days(first + row));
    auto add_number = [&](auto value) {
        block.columns.push_back(make_int32(count, [&](int64_t row) { return value(days[row]); }));
    };
    auto add_text = [&](auto value) {
        block.columns.push_back(make_text(count, [&](int64_t row) { return value(days[row]); }));
    };
    add_number([](const Day& d) { return d.year * 10'000 + d.month * 100 + d.day; });
    add_text(
        [](const Day& d) { return fmt::format("{} {}, {}", kMonths[d.month - 1], d.day, d.year); });
    add_text([](const Day& d) { return kWeekdays[d.weekday]; });
    add_text([](const Day& d) { return kMonths[d.month - 1]; });
    add_number([](const Day& d) { return d.year; });
    add_number([](const Day& d) { return d.year * 100 + d.month; });
    add_text([](const Day& d) { return fmt::format("{:.3}{}", kMonths[d.month - 1], d.year); });
    add_number([](const Day& d) { return d.weekday + 1; });
    add_number([](const Day& d) { return d.day; });
    add_number([](const Day& d) { return d.day_of_year; });
    add_number([](const Day& d) { return d.month; });
    add_number([](const Day& d) { return (d.day_of_year - 1) / 7 + 1; });
    add_text([](const Day& d) { return d.season(); });
    add_number([](const Day& d) { return d.weekday == 6; });
    add_number([](const Day& d) { return d.last_in_month; });
    add_number([](const Day& d) { return d.is_holiday(); });
    add_number([](const Day& d) { return d.weekday >= 1 && d.weekday <= 5; });
    return block;
}

}  // namespace

std::unique_ptr<Table> make_customer(uint64_t seed, const SsbSize& size) {
    return std::make_unique<Party>(seed, "customer", size.customers);
}
std::unique_ptr<Table> make_supplier(uint64_t seed, const SsbSize& size) {
    return std::make_unique<Party>(seed, "supplier", size.suppliers);
}
std::unique_ptr<Table> make_part(uint64_t seed, const SsbSize& size) {
    return std::make_unique<Part>(seed, size.parts);
}
std::unique_ptr<Table> make_date() {
    return std::make_unique<DateTable>();
}

}  // namespace loom::datagen
