// The fact table. A chunk holds whole orders; values of a line are functions of order and line
// number.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ssb.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kOrdersAtScale1 = 1'500'000;
constexpr int64_t kChunkOrders = 16'384;
constexpr int kMaxLines = 7;

constexpr std::string_view kPriorities[] = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECI",
                                            "5-LOW"};
constexpr std::string_view kShipPriorities[] = {"0"};

/// Lines of a chunk: which order they belong to and their number in it.
struct Lines {
    std::vector<int64_t> order;   // 0-based
    std::vector<int32_t> number;  // 1 to 7
    int64_t size() const { return static_cast<int64_t>(order.size()); }
    uint64_t id(int64_t row) const { return static_cast<uint64_t>(order[row]) * 8 + number[row]; }
};

class Lineorder final : public Table {
  public:
    Lineorder(uint64_t seed, const SsbSize& size);
    Block make_chunk(int64_t chunk) const override;

  private:
    Lines make_lines(int64_t chunk) const;
    column::Column order_keys(const Lines& lines) const;
    void add_prices(const Lines& lines, const int32_t* parts, Block& block) const;
    column::Column codes(const Words& words, const Lines& lines, const Sequence& random,
                         bool per_order) const;

    SsbSize size_;
    Sequence line_count_, customer_, part_, supplier_, order_day_, commit_days_, priority_,
        quantity_, discount_, tax_, ship_mode_;
    Words priorities_{kPriorities}, ship_modes_{kShipModes}, ship_priorities_{kShipPriorities};
};

Lineorder::Lineorder(uint64_t seed, const SsbSize& size)
    : size_(size),
      line_count_(seed, "lineorder", 0),
      customer_(seed, "lineorder", 1),
      part_(seed, "lineorder", 2),
      supplier_(seed, "lineorder", 3),
      order_day_(seed, "lineorder", 4),
      commit_days_(seed, "lineorder", 5),
      priority_(seed, "lineorder", 6),
      quantity_(seed, "lineorder", 7),
      discount_(seed, "lineorder", 8),
      tax_(seed, "lineorder", 9),
      ship_mode_(seed, "lineorder", 10) {
    name_ = "lineorder";
    chunk_count_ = (size.orders + kChunkOrders - 1) / kChunkOrders;
    const bool wide_keys = size.orders > std::numeric_limits<int32_t>::max();
    const auto int32 = make_type(TypeId::kInt32);
    const auto text = make_type(TypeId::kUtf8);
    add_field("lo_orderkey", wide_keys ? make_type(TypeId::kInt64) : int32);
    add_field("lo_linenumber", int32);
    add_field("lo_custkey", int32);
    add_field("lo_partkey", int32);
    add_field("lo_suppkey", int32);
    add_field("lo_orderdate", int32);
    add_field("lo_orderpriority", text);
    add_field("lo_shippriority", text);
    add_field("lo_quantity", int32);
    add_field("lo_extendedprice", int32);
    add_field("lo_ordertotalprice", int32);
    add_field("lo_discount", int32);
    add_field("lo_revenue", int32);
    add_field("lo_supplycost", int32);
    add_field("lo_tax", int32);
    add_field("lo_commitdate", int32);
    add_field("lo_shipmode", text);
    derived_keys_.push_back(
        {"lo_year", "lo_orderdate", [](const column::ColumnView& view, int64_t row) {
             return std::to_string(view.as<int32_t>()[row] / 10'000);
         }});
}

Lines Lineorder::make_lines(int64_t chunk) const {
    Lines lines;
    const int64_t first = chunk * kChunkOrders;
    const int64_t last = std::min(first + kChunkOrders, size_.orders);
    for (int64_t order = first; order < last; ++order) {
        const int32_t count = line_count_.between(order, 1, kMaxLines);
        for (int32_t number = 1; number <= count; ++number) {
            lines.order.push_back(order);
            lines.number.push_back(number);
        }
    }
    return lines;
}

column::Column Lineorder::order_keys(const Lines& lines) const {
    column::Column keys = make_fixed(schema_.fields[0].type, lines.size());
    if (schema_.fields[0].type->id == TypeId::kInt64)
        for (int64_t row = 0; row < lines.size(); ++row)
            keys.values.as<int64_t>()[row] = lines.order[row] + 1;
    else
        for (int64_t row = 0; row < lines.size(); ++row)
            keys.values.as<int32_t>()[row] = static_cast<int32_t>(lines.order[row] + 1);
    return keys;
}

column::Column Lineorder::codes(const Words& words, const Lines& lines, const Sequence& random,
                                bool per_order) const {
    column::Column column = words.make_column(lines.size());
    for (int64_t row = 0; row < lines.size(); ++row)
        column.values.data()[row] = static_cast<uint8_t>(
            random.below(per_order ? static_cast<uint64_t>(lines.order[row]) : lines.id(row),
                         static_cast<uint32_t>(words.size())));
    return column;
}

// Appends the columns from lo_quantity to lo_tax; money is in cents.
void Lineorder::add_prices(const Lines& lines, const int32_t* parts, Block& block) const {
    const int64_t rows = lines.size();
    auto quantity =
        make_int32(rows, [&](int64_t row) { return quantity_.between(lines.id(row), 1, 50); });
    auto discount =
        make_int32(rows, [&](int64_t row) { return discount_.between(lines.id(row), 0, 10); });
    auto tax = make_int32(rows, [&](int64_t row) { return tax_.between(lines.id(row), 0, 8); });
    const int32_t* percent_off = discount.values.as<int32_t>();
    const int32_t* percent_tax = tax.values.as<int32_t>();
    auto price = make_int32(rows, [&](int64_t row) {
        return quantity.values.as<int32_t>()[row] * part_price(parts[row]);
    });
    const int32_t* prices = price.values.as<int32_t>();
    auto revenue = make_int32(rows, [&](int64_t row) {
        return static_cast<int32_t>(int64_t{prices[row]} * (100 - percent_off[row]) / 100);
    });
    auto cost = make_int32(rows, [&](int64_t row) { return 6 * part_price(parts[row]) / 10; });
    // Each line repeats the total of its order.
    auto total = make_fixed(make_type(TypeId::kInt32), rows);
    for (int64_t begin = 0, end = 0; begin < rows; begin = end) {
        int64_t sum = 0;
        for (; end < rows && lines.order[end] == lines.order[begin]; ++end)
            sum +=
                int64_t{prices[end]} * (100 - percent_off[end]) * (100 + percent_tax[end]) / 10'000;
        std::fill(total.values.as<int32_t>() + begin, total.values.as<int32_t>() + end,
                  static_cast<int32_t>(sum));
    }
    for (column::Column* column : {&quantity, &price, &total, &discount, &revenue, &cost, &tax})
        block.columns.push_back(std::move(*column));
}

Block Lineorder::make_chunk(int64_t chunk) const {
    const Lines lines = make_lines(chunk);
    const int64_t rows = lines.size();
    Block block;
    block.rows = rows;
    auto key = [&](const Sequence& random, uint64_t position, int64_t count) {
        return 1 + static_cast<int32_t>(random.below_wide(position, static_cast<uint64_t>(count)));
    };
    const auto order_days = static_cast<uint32_t>((kLastOrderDay - kFirstDay).count() + 1);
    std::vector<std::chrono::sys_days> days(rows);
    for (int64_t row = 0; row < rows; ++row)
        days[row] = kFirstDay + std::chrono::days(order_day_.below(lines.order[row], order_days));
    block.columns.push_back(order_keys(lines));
    block.columns.push_back(make_int32(rows, [&](int64_t row) { return lines.number[row]; }));
    block.columns.push_back(make_int32(
        rows, [&](int64_t row) { return key(customer_, lines.order[row], size_.customers); }));
    block.columns.push_back(
        make_int32(rows, [&](int64_t row) { return key(part_, lines.id(row), size_.parts); }));
    const size_t part_column = block.columns.size() - 1;
    block.columns.push_back(make_int32(
        rows, [&](int64_t row) { return key(supplier_, lines.id(row), size_.suppliers); }));
    block.columns.push_back(make_int32(rows, [&](int64_t row) { return date_key(days[row]); }));
    block.columns.push_back(codes(priorities_, lines, priority_, true));
    block.columns.push_back(codes(ship_priorities_, lines, priority_, true));
    add_prices(lines, block.columns[part_column].values.as<int32_t>(), block);
    block.columns.push_back(make_int32(rows, [&](int64_t row) {
        return date_key(days[row] + std::chrono::days(commit_days_.between(lines.id(row), 30, 90)));
    }));
    block.columns.push_back(codes(ship_modes_, lines, ship_mode_, false));
    return block;
}

}  // namespace

SsbSize::SsbSize(double scale) {
    auto at_least_1 = [](double count) { return std::max<int64_t>(1, std::llround(count)); };
    orders = at_least_1(scale * kOrdersAtScale1);
    customers = at_least_1(scale * 30'000);
    suppliers = at_least_1(scale * 2'000);
    parts = scale >= 1 ? static_cast<int64_t>(200'000 * (1 + std::floor(std::log2(scale))))
                       : at_least_1(scale * 200'000);
    if (customers > std::numeric_limits<int32_t>::max())
        base::raise(base::ErrorKind::kBadOption, "ssb has no scale above 71000");
}

int32_t date_key(std::chrono::sys_days day) noexcept {
    const std::chrono::year_month_day date(day);
    return static_cast<int>(date.year()) * 10'000 +
           static_cast<int>(static_cast<unsigned>(date.month())) * 100 +
           static_cast<int>(static_cast<unsigned>(date.day()));
}

std::unique_ptr<Table> make_lineorder(uint64_t seed, const SsbSize& size) {
    return std::make_unique<Lineorder>(seed, size);
}

std::vector<std::unique_ptr<Table>> make_ssb(const Request& request) {
    // An order has four lines on average.
    const double scale = request.rows == 0
                             ? request.scale
                             : static_cast<double>(request.rows) / (4.0 * kOrdersAtScale1);
    const SsbSize size(scale);
    std::vector<std::unique_ptr<Table>> tables;
    tables.push_back(make_date());
    tables.push_back(make_customer(request.seed, size));
    tables.push_back(make_supplier(request.seed, size));
    tables.push_back(make_part(request.seed, size));
    tables.push_back(make_lineorder(request.seed, size));
    return tables;
}

}  // namespace loom::datagen
