// Regions, nations, suppliers and customers; the list of tables and their sizes.

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "random.h"
#include "tpch.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kChunkRows = 16'384;
constexpr int64_t kOrdersAtScale1 = 1'500'000;
// Keys of parts and customers are int32.
constexpr double kMaxScale = 10'000;

class Region final : public EvenTable {
  public:
    explicit Region(TpchBasePtr base);

  private:
    Block make_rows(int64_t first, int64_t count) const override;

    TpchBasePtr base_;
    Sequence comment_;
};

Region::Region(TpchBasePtr base) : base_(std::move(base)), comment_(base_->seed, "tpch region", 0) {
    name_ = "region";
    add_field("r_regionkey", make_type(TypeId::kInt32));
    for (const char* field : {"r_name", "r_comment"}) add_field(field, make_type(TypeId::kUtf8));
    set_rows(std::size(kRegions), kChunkRows);
}

Block Region::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto key = [&](int64_t row) { return first + row; };
    block.columns.push_back(make_int32(count, key));
    block.columns.push_back(make_text(count, [&](int64_t row) { return kRegions[key(row)]; }));
    block.columns.push_back(make_text(
        count, [&](int64_t row) { return base_->comments.cut(comment_, key(row), 31, 115); }));
    return block;
}

class NationTable final : public EvenTable {
  public:
    explicit NationTable(TpchBasePtr base);

  private:
    Block make_rows(int64_t first, int64_t count) const override;

    TpchBasePtr base_;
    Sequence comment_;
};

NationTable::NationTable(TpchBasePtr base)
    : base_(std::move(base)), comment_(base_->seed, "tpch nation", 0) {
    name_ = "nation";
    add_field("n_nationkey", make_type(TypeId::kInt32));
    add_field("n_name", make_type(TypeId::kUtf8));
    add_field("n_regionkey", make_type(TypeId::kInt32));
    add_field("n_comment", make_type(TypeId::kUtf8));
    set_rows(kNationCount, kChunkRows);
}

Block NationTable::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto key = [&](int64_t row) { return first + row; };
    block.columns.push_back(make_int32(count, key));
    block.columns.push_back(make_text(count, [&](int64_t row) { return kNations[key(row)].name; }));
    block.columns.push_back(
        make_int32(count, [&](int64_t row) { return kNations[key(row)].region_key; }));
    block.columns.push_back(make_text(
        count, [&](int64_t row) { return base_->comments.cut(comment_, key(row), 31, 114); }));
    return block;
}

/// Suppliers and customers: they differ in names, market segment and comments.
class Party final : public EvenTable {
  public:
    Party(TpchBasePtr base, std::string_view name, int64_t rows);

  private:
    Block make_rows(int64_t first, int64_t count) const override;
    uint32_t nation(int64_t key) const { return nation_.below(key, kNationCount); }
    std::string address(int64_t key) const;
    std::string phone(int64_t key) const;
    std::string supplier_comment(int64_t key) const;

    TpchBasePtr base_;
    bool is_customer_;
    Sequence nation_, address_, phone_, balance_, segment_, comment_, remark_;
    Words segments_{kSegments};
};

Party::Party(TpchBasePtr base, std::string_view name, int64_t rows)
    : base_(std::move(base)),
      is_customer_(name == "customer"),
      nation_(base_->seed, fmt::format("tpch {}", name), 0),
      address_(base_->seed, fmt::format("tpch {}", name), 1),
      phone_(base_->seed, fmt::format("tpch {}", name), 2),
      balance_(base_->seed, fmt::format("tpch {}", name), 3),
      segment_(base_->seed, fmt::format("tpch {}", name), 4),
      comment_(base_->seed, fmt::format("tpch {}", name), 5),
      remark_(base_->seed, fmt::format("tpch {}", name), 6) {
    name_ = name;
    const std::string prefix = is_customer_ ? "c_" : "s_";
    const auto text = make_type(TypeId::kUtf8);
    add_field(prefix + (is_customer_ ? "custkey" : "suppkey"), make_type(TypeId::kInt32));
    for (const char* field : {"name", "address"}) add_field(prefix + field, text);
    add_field(prefix + "nationkey", make_type(TypeId::kInt32));
    add_field(prefix + "phone", text);
    add_field(prefix + "acctbal", money_type());
    if (is_customer_) add_field(prefix + "mktsegment", text);
    add_field(prefix + "comment", text);
    set_rows(rows, kChunkRows);
}

std::string Party::address(int64_t key) const {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,";
    static_assert(kLetters.size() == 64);
    constexpr int kLettersOfDraw = 10;
    std::string text(address_.between(key * 8, 10, 40), ' ');
    uint64_t bits = 0;
    for (size_t i = 0; i < text.size(); ++i, bits >>= 6) {
        if (i % kLettersOfDraw == 0) bits = address_.bits(key * 8 + 1 + i / kLettersOfDraw);
        text[i] = kLetters[bits & 63];
    }
    return text;
}

std::string Party::phone(int64_t key) const {
    return fmt::format("{}-{}-{}-{}", nation(key) + 10, phone_.between(key * 4, 100, 999),
                       phone_.between(key * 4 + 1, 100, 999),
                       phone_.between(key * 4 + 2, 1000, 9999));
}

// Of 2,000 suppliers one is complained of and one recommended, which makes 5 of each at scale 1:
// one in every 1,000, the two kinds in turn.
std::string Party::supplier_comment(int64_t key) const {
    std::string text(base_->comments.cut(comment_, key, 25, 100));
    const int64_t group = (key - 1) / 1'000;
    if ((key - 1) % 1'000 != remark_.below(group * 4, 1'000)) return text;
    const bool first_complains = remark_.below(group / 2 * 8 + 1, 2) == 0;
    const std::string_view whose = "Customer";
    const std::string_view remark =
        first_complains == (group % 2 == 0) ? "Complaints" : "Recommends";
    const auto spare = static_cast<uint32_t>(text.size() - whose.size() - remark.size());
    const uint32_t between = remark_.below(group * 4 + 2, spare + 1);
    const uint32_t before = remark_.below(group * 4 + 3, spare - between + 1);
    text.replace(before, whose.size(), whose);
    text.replace(before + whose.size() + between, remark.size(), remark);
    return text;
}

Block Party::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto& columns = block.columns;
    auto key = [&](int64_t row) { return first + row + 1; };
    const std::string_view title = is_customer_ ? "Customer" : "Supplier";
    columns.push_back(make_int32(count, key));
    columns.push_back(
        make_text(count, [&](int64_t row) { return fmt::format("{}#{:09}", title, key(row)); }));
    columns.push_back(make_text(count, [&](int64_t row) { return address(key(row)); }));
    columns.push_back(make_int32(count, [&](int64_t row) { return nation(key(row)); }));
    columns.push_back(make_text(count, [&](int64_t row) { return phone(key(row)); }));
    columns.push_back(make_values<int64_t>(money_type(), count, [&](int64_t row) {
        return balance_.between(key(row), -99'999, 999'999);
    }));
    if (is_customer_)
        columns.push_back(make_codes(segments_, count, [&](int64_t row) {
            return segment_.below(key(row), std::size(kSegments));
        }));
    if (is_customer_)
        columns.push_back(make_text(
            count, [&](int64_t row) { return base_->comments.cut(comment_, key(row), 29, 116); }));
    else
        columns.push_back(
            make_text(count, [&](int64_t row) { return supplier_comment(key(row)); }));
    return block;
}

}  // namespace

TpchSize::TpchSize(double scale) {
    auto at_least = [&](int64_t least, double count) {
        return std::max<int64_t>(least, std::llround(scale * count));
    };
    if (scale > kMaxScale)
        base::raise(base::ErrorKind::kBadOption, "tpch has no scale above {}", kMaxScale);
    orders = at_least(1, kOrdersAtScale1);
    customers = at_least(1, 150'000);
    suppliers = at_least(kSuppliersOfPart, 10'000);
    parts = at_least(1, 200'000);
    clerks = at_least(1, 1'000);
}

column::TypePtr money_type() {
    static const column::TypePtr type = column::make_decimal(15, 2);
    return type;
}

std::unique_ptr<Table> make_tpch_region(TpchBasePtr base) {
    return std::make_unique<Region>(std::move(base));
}
std::unique_ptr<Table> make_tpch_nation(TpchBasePtr base) {
    return std::make_unique<NationTable>(std::move(base));
}
std::unique_ptr<Table> make_tpch_supplier(TpchBasePtr base) {
    const int64_t rows = base->size.suppliers;
    return std::make_unique<Party>(std::move(base), "supplier", rows);
}
std::unique_ptr<Table> make_tpch_customer(TpchBasePtr base) {
    const int64_t rows = base->size.customers;
    return std::make_unique<Party>(std::move(base), "customer", rows);
}

std::vector<std::unique_ptr<Table>> make_tpch(const Request& request) {
    // An order has four lines on average.
    const double scale = request.rows == 0
                             ? request.scale
                             : static_cast<double>(request.rows) / (4.0 * kOrdersAtScale1);
    const auto base = std::make_shared<const TpchBase>(request.seed, TpchSize(scale));
    std::vector<std::unique_ptr<Table>> tables;
    for (const auto make :
         {make_tpch_region, make_tpch_nation, make_tpch_supplier, make_tpch_customer,
          make_tpch_part, make_tpch_partsupp, make_tpch_orders, make_tpch_lineitem})
        tables.push_back(make(base));
    return tables;
}

}  // namespace loom::datagen
