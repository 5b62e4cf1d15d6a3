// Orders and their lines. Both tables ask OrderBook for lines, which are functions of order and
// line number; a chunk of either holds the same orders.

#include <algorithm>
#include <limits>

#include "random.h"
#include "tpch.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kChunkOrders = 16'384;
constexpr int kMaxLines = 7;

constexpr std::string_view kPriorities[] = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED",
                                            "5-LOW"};
constexpr std::string_view kInstructions[] = {"DELIVER IN PERSON", "COLLECT COD", "NONE",
                                              "TAKE BACK RETURN"};
constexpr std::string_view kStatuses[] = {"F", "O", "P"};
constexpr std::string_view kReturnFlags[] = {"A", "N", "R"};
enum Status : uint8_t { kFinished, kOpen, kPartly };
enum ReturnFlag : uint8_t { kAccepted, kNone, kReturned };

int32_t day_number(std::chrono::sys_days day) noexcept {
    return static_cast<int32_t>(day.time_since_epoch().count());
}

/// One line; days are counted from 1970, money is in cents.
struct Line {
    uint64_t id = 0;  ///< a position for further random numbers
    int64_t order_key = 0;
    int32_t number = 0;
    int32_t part = 0;
    int32_t supplier = 0;
    int32_t quantity = 0;
    int32_t price = 0;     ///< of the whole quantity
    int32_t discount = 0;  ///< percent
    int32_t tax = 0;       ///< percent
    int32_t ship_day = 0;
    int32_t commit_day = 0;
    int32_t receipt_day = 0;

    Status status() const noexcept {
        return ship_day > day_number(kCurrentDay) ? kOpen : kFinished;
    }
    /// In units of 1/10,000 cent.
    int64_t charge() const noexcept { return int64_t{price} * (100 - discount) * (100 + tax); }
};

class OrderBook {
  public:
    OrderBook(uint64_t seed, const TpchSize& size);

    /// Uses the first 8 of each 32 keys.
    static int64_t key(int64_t order) noexcept { return order / 8 * 32 + order % 8 + 1; }
    column::TypePtr key_type() const;
    int32_t day(int64_t order) const noexcept {
        return day_number(kFirstDay) +
               day_.between(order, 0, day_number(kLastOrderDay) - day_number(kFirstDay));
    }
    int32_t line_count(int64_t order) const noexcept {
        return line_count_.between(order, 1, kMaxLines);
    }
    Line line(int64_t order, int32_t number) const noexcept;

    int64_t chunk_count() const noexcept {
        return (size_.orders + kChunkOrders - 1) / kChunkOrders;
    }
    int64_t first(int64_t chunk) const noexcept { return chunk * kChunkOrders; }
    int64_t end(int64_t chunk) const noexcept {
        return std::min(first(chunk) + kChunkOrders, size_.orders);
    }

  private:
    TpchSize size_;
    Sequence day_, line_count_, part_, supplier_, quantity_, discount_, tax_, ship_, commit_,
        receipt_;
};

OrderBook::OrderBook(uint64_t seed, const TpchSize& size)
    : size_(size),
      day_(seed, "tpch lines", 0),
      line_count_(seed, "tpch lines", 1),
      part_(seed, "tpch lines", 2),
      supplier_(seed, "tpch lines", 3),
      quantity_(seed, "tpch lines", 4),
      discount_(seed, "tpch lines", 5),
      tax_(seed, "tpch lines", 6),
      ship_(seed, "tpch lines", 7),
      commit_(seed, "tpch lines", 8),
      receipt_(seed, "tpch lines", 9) {}

column::TypePtr OrderBook::key_type() const {
    const bool wide = key(size_.orders - 1) > std::numeric_limits<int32_t>::max();
    return make_type(wide ? TypeId::kInt64 : TypeId::kInt32);
}

Line OrderBook::line(int64_t order, int32_t number) const noexcept {
    Line line;
    line.id = static_cast<uint64_t>(order) * 8 + number;
    line.order_key = key(order);
    line.number = number;
    line.part = 1 + part_.between(line.id, 0, static_cast<int32_t>(size_.parts - 1));
    line.supplier = supplier_of_part(
        line.part, static_cast<int>(supplier_.below(line.id, kSuppliersOfPart)), size_.suppliers);
    line.quantity = quantity_.between(line.id, 1, 50);
    line.price = line.quantity * part_price(line.part);
    line.discount = discount_.between(line.id, 0, 10);
    line.tax = tax_.between(line.id, 0, 8);
    line.ship_day = day(order) + ship_.between(line.id, 1, 121);
    line.commit_day = day(order) + commit_.between(line.id, 30, 90);
    line.receipt_day = line.ship_day + receipt_.between(line.id, 1, 30);
    return line;
}

template <typename Value>
column::Column make_keys(const column::TypePtr& type, int64_t rows, Value value) {
    return type->id == TypeId::kInt64 ? make_values<int64_t>(type, rows, value)
                                      : make_values<int32_t>(type, rows, value);
}

std::string year_of(const column::ColumnView& view, int64_t row) {
    const std::chrono::sys_days day{std::chrono::days(view.as<int32_t>()[row])};
    return std::to_string(static_cast<int>(std::chrono::year_month_day(day).year()));
}

class Orders final : public Table {
  public:
    explicit Orders(TpchBasePtr base);
    Block make_chunk(int64_t chunk) const override;

  private:
    int32_t customer(int64_t order) const noexcept;

    TpchBasePtr base_;
    OrderBook book_;
    Sequence customer_, priority_, clerk_, comment_;
    Words statuses_{kStatuses}, priorities_{kPriorities};
};

Orders::Orders(TpchBasePtr base)
    : base_(std::move(base)),
      book_(base_->seed, base_->size),
      customer_(base_->seed, "tpch orders", 0),
      priority_(base_->seed, "tpch orders", 1),
      clerk_(base_->seed, "tpch orders", 2),
      comment_(base_->seed, "tpch orders", 3) {
    name_ = "orders";
    chunk_count_ = book_.chunk_count();
    const auto text = make_type(TypeId::kUtf8);
    add_field("o_orderkey", book_.key_type());
    add_field("o_custkey", make_type(TypeId::kInt32));
    add_field("o_orderstatus", text);
    add_field("o_totalprice", money_type());
    add_field("o_orderdate", make_type(TypeId::kDate32));
    add_field("o_orderpriority", text);
    add_field("o_clerk", text);
    add_field("o_shippriority", make_type(TypeId::kInt32));
    add_field("o_comment", text);
    derived_keys_.push_back({"o_year", "o_orderdate", year_of});
}

// Customers whose key is divisible by three never order: the keys are 1, 2, 4, 5, 7, ...
int32_t Orders::customer(int64_t order) const noexcept {
    const int64_t customers = base_->size.customers;
    const auto nth = static_cast<int64_t>(
        customer_.below_wide(order, static_cast<uint64_t>(customers - customers / 3)));
    return static_cast<int32_t>(nth / 2 * 3 + nth % 2 + 1);
}

Block Orders::make_chunk(int64_t chunk) const {
    const int64_t first = book_.first(chunk);
    const int64_t rows = book_.end(chunk) - first;
    std::vector<int64_t> total(rows);
    std::vector<Status> status(rows);
    for (int64_t row = 0; row < rows; ++row) {
        const int32_t lines = book_.line_count(first + row);
        int32_t open = 0;
        int64_t charge = 0;
        for (int32_t number = 1; number <= lines; ++number) {
            const Line line = book_.line(first + row, number);
            charge += line.charge();
            open += line.status() == kOpen;
        }
        total[row] = (charge + 5'000) / 10'000;
        status[row] = open == 0 ? kFinished : open == lines ? kOpen : kPartly;
    }
    Block block;
    block.rows = rows;
    auto& columns = block.columns;
    columns.push_back(make_keys(schema_.fields[0].type, rows,
                                [&](int64_t row) { return OrderBook::key(first + row); }));
    columns.push_back(make_int32(rows, [&](int64_t row) { return customer(first + row); }));
    columns.push_back(make_codes(statuses_, rows, [&](int64_t row) { return status[row]; }));
    columns.push_back(
        make_values<int64_t>(money_type(), rows, [&](int64_t row) { return total[row]; }));
    columns.push_back(make_values<int32_t>(make_type(TypeId::kDate32), rows,
                                           [&](int64_t row) { return book_.day(first + row); }));
    columns.push_back(make_codes(priorities_, rows, [&](int64_t row) {
        return priority_.below(first + row, std::size(kPriorities));
    }));
    columns.push_back(make_text(rows, [&](int64_t row) {
        const auto clerks = static_cast<uint64_t>(base_->size.clerks);
        return fmt::format("Clerk#{:09}", clerk_.below_wide(first + row, clerks) + 1);
    }));
    columns.push_back(make_int32(rows, [](int64_t) { return 0; }));
    columns.push_back(make_text(
        rows, [&](int64_t row) { return base_->comments.cut(comment_, first + row, 19, 78); }));
    return block;
}

class LineItem final : public Table {
  public:
    explicit LineItem(TpchBasePtr base);
    Block make_chunk(int64_t chunk) const override;

  private:
    ReturnFlag return_flag(const Line& line) const noexcept {
        if (line.receipt_day > day_number(kCurrentDay)) return kNone;
        return return_flag_.below(line.id, 2) == 0 ? kAccepted : kReturned;
    }

    TpchBasePtr base_;
    OrderBook book_;
    Sequence return_flag_, instruction_, mode_, comment_;
    Words return_flags_{kReturnFlags}, statuses_{std::span(kStatuses).first(2)},
        instructions_{kInstructions}, modes_{kShipModes};
};

LineItem::LineItem(TpchBasePtr base)
    : base_(std::move(base)),
      book_(base_->seed, base_->size),
      return_flag_(base_->seed, "tpch lineitem", 0),
      instruction_(base_->seed, "tpch lineitem", 1),
      mode_(base_->seed, "tpch lineitem", 2),
      comment_(base_->seed, "tpch lineitem", 3) {
    name_ = "lineitem";
    chunk_count_ = book_.chunk_count();
    const auto int32 = make_type(TypeId::kInt32);
    const auto text = make_type(TypeId::kUtf8);
    add_field("l_orderkey", book_.key_type());
    for (const char* field : {"l_partkey", "l_suppkey", "l_linenumber"}) add_field(field, int32);
    for (const char* field : {"l_quantity", "l_extendedprice", "l_discount", "l_tax"})
        add_field(field, money_type());
    for (const char* field : {"l_returnflag", "l_linestatus"}) add_field(field, text);
    for (const char* field : {"l_shipdate", "l_commitdate", "l_receiptdate"})
        add_field(field, make_type(TypeId::kDate32));
    for (const char* field : {"l_shipinstruct", "l_shipmode", "l_comment"}) add_field(field, text);
    derived_keys_.push_back({"l_year", "l_shipdate", year_of});
}

Block LineItem::make_chunk(int64_t chunk) const {
    std::vector<Line> lines;
    lines.reserve(kChunkOrders * (1 + kMaxLines) / 2 + kChunkOrders / 8);
    for (int64_t order = book_.first(chunk); order < book_.end(chunk); ++order)
        for (int32_t number = 1, count = book_.line_count(order); number <= count; ++number)
            lines.push_back(book_.line(order, number));
    const auto rows = static_cast<int64_t>(lines.size());
    Block block;
    block.rows = rows;
    auto& columns = block.columns;
    auto add_numbers = [&](int32_t Line::*member) {
        columns.push_back(make_int32(rows, [&](int64_t row) { return lines[row].*member; }));
    };
    auto add_decimals = [&](int32_t Line::*member, int64_t factor) {
        columns.push_back(make_values<int64_t>(
            money_type(), rows, [&](int64_t row) { return factor * (lines[row].*member); }));
    };
    auto add_days = [&](int32_t Line::*member) {
        columns.push_back(make_values<int32_t>(make_type(TypeId::kDate32), rows,
                                               [&](int64_t row) { return lines[row].*member; }));
    };
    auto add_words = [&](const Words& words, const Sequence& random) {
        const auto count = static_cast<uint32_t>(words.size());
        columns.push_back(make_codes(
            words, rows, [&](int64_t row) { return random.below(lines[row].id, count); }));
    };
    columns.push_back(
        make_keys(schema_.fields[0].type, rows, [&](int64_t row) { return lines[row].order_key; }));
    add_numbers(&Line::part);
    add_numbers(&Line::supplier);
    add_numbers(&Line::number);
    add_decimals(&Line::quantity, 100);
    add_decimals(&Line::price, 1);
    add_decimals(&Line::discount, 1);
    add_decimals(&Line::tax, 1);
    columns.push_back(
        make_codes(return_flags_, rows, [&](int64_t row) { return return_flag(lines[row]); }));
    columns.push_back(
        make_codes(statuses_, rows, [&](int64_t row) { return lines[row].status(); }));
    add_days(&Line::ship_day);
    add_days(&Line::commit_day);
    add_days(&Line::receipt_day);
    add_words(instructions_, instruction_);
    add_words(modes_, mode_);
    columns.push_back(make_text(
        rows, [&](int64_t row) { return base_->comments.cut(comment_, lines[row].id, 10, 43); }));
    return block;
}

}  // namespace

std::unique_ptr<Table> make_tpch_orders(TpchBasePtr base) {
    return std::make_unique<Orders>(std::move(base));
}
std::unique_ptr<Table> make_tpch_lineitem(TpchBasePtr base) {
    return std::make_unique<LineItem>(std::move(base));
}

}  // namespace loom::datagen
