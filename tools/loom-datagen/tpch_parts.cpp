// Parts, and which supplier has them at what cost.

#include <algorithm>
#include <array>

#include "random.h"
#include "tpch.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kChunkParts = 16'384;
constexpr int kMakers = 5;
constexpr int kBrandsOfMaker = 5;
constexpr int kColorsOfName = 5;

// All pairs, the second word changing fastest.
std::vector<std::string> combined(std::span<const std::string_view> first,
                                  std::span<const std::string_view> second) {
    std::vector<std::string> texts;
    for (const auto a : first)
        for (const auto b : second) texts.push_back(fmt::format("{} {}", a, b));
    return texts;
}

std::vector<std::string> part_types() {
    std::vector<std::string> texts;
    for (const std::string& a : combined(kTypeSize, kTypeFinish))
        for (const auto b : kTypeMetal) texts.push_back(fmt::format("{} {}", a, b));
    return texts;
}

std::vector<std::string> makers() {
    std::vector<std::string> texts;
    for (int maker = 1; maker <= kMakers; ++maker)
        texts.push_back(fmt::format("Manufacturer#{}", maker));
    return texts;
}

std::vector<std::string> brands() {
    std::vector<std::string> texts;
    for (int maker = 1; maker <= kMakers; ++maker)
        for (int brand = 1; brand <= kBrandsOfMaker; ++brand)
            texts.push_back(fmt::format("Brand#{}{}", maker, brand));
    return texts;
}

class Part final : public EvenTable {
  public:
    explicit Part(TpchBasePtr base);

  private:
    Block make_rows(int64_t first, int64_t count) const override;
    std::string name(int64_t key) const;

    TpchBasePtr base_;
    Sequence color_, brand_, type_, size_, container_, comment_;
    Words makers_{makers()}, brands_{brands()}, types_{part_types()},
        containers_{combined(kBoxSize, kBoxKind)};
};

Part::Part(TpchBasePtr base)
    : base_(std::move(base)),
      color_(base_->seed, "tpch part", 0),
      brand_(base_->seed, "tpch part", 1),
      type_(base_->seed, "tpch part", 2),
      size_(base_->seed, "tpch part", 3),
      container_(base_->seed, "tpch part", 4),
      comment_(base_->seed, "tpch part", 5) {
    name_ = "part";
    const auto text = make_type(TypeId::kUtf8);
    add_field("p_partkey", make_type(TypeId::kInt32));
    for (const char* field : {"p_name", "p_mfgr", "p_brand", "p_type"}) add_field(field, text);
    add_field("p_size", make_type(TypeId::kInt32));
    add_field("p_container", text);
    add_field("p_retailprice", money_type());
    add_field("p_comment", text);
    set_rows(base_->size.parts, kChunkParts);
}

// Five colours, no two the same: each is drawn from those that are left.
std::string Part::name(int64_t key) const {
    std::array<uint32_t, kColorsOfName> used{};  // in order
    std::string text;
    for (int i = 0; i < kColorsOfName; ++i) {
        uint32_t color = color_.below(key * 8 + i, std::size(kColors) - i);
        int at = 0;
        for (; at < i && used[at] <= color; ++at) ++color;
        std::copy_backward(used.begin() + at, used.begin() + i, used.begin() + i + 1);
        used[at] = color;
        if (i != 0) text += ' ';
        text += kColors[color];
    }
    return text;
}

Block Part::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto& columns = block.columns;
    auto key = [&](int64_t row) { return first + row + 1; };
    auto brand = [&](int64_t row) { return brand_.below(key(row), kMakers * kBrandsOfMaker); };
    auto add_words = [&](const Words& words, const Sequence& random) {
        const auto size = static_cast<uint32_t>(words.size());
        columns.push_back(
            make_codes(words, count, [&](int64_t row) { return random.below(key(row), size); }));
    };
    columns.push_back(make_int32(count, key));
    columns.push_back(make_text(count, [&](int64_t row) { return name(key(row)); }));
    columns.push_back(
        make_codes(makers_, count, [&](int64_t row) { return brand(row) / kBrandsOfMaker; }));
    columns.push_back(make_codes(brands_, count, brand));
    add_words(types_, type_);
    columns.push_back(
        make_int32(count, [&](int64_t row) { return size_.between(key(row), 1, 50); }));
    add_words(containers_, container_);
    columns.push_back(make_values<int64_t>(money_type(), count,
                                           [&](int64_t row) { return part_price(key(row)); }));
    columns.push_back(make_text(
        count, [&](int64_t row) { return base_->comments.cut(comment_, key(row), 5, 22); }));
    return block;
}

class PartSupp final : public EvenTable {
  public:
    explicit PartSupp(TpchBasePtr base);

  private:
    Block make_rows(int64_t first, int64_t count) const override;

    TpchBasePtr base_;
    Sequence quantity_, cost_, comment_;
};

PartSupp::PartSupp(TpchBasePtr base)
    : base_(std::move(base)),
      quantity_(base_->seed, "tpch partsupp", 0),
      cost_(base_->seed, "tpch partsupp", 1),
      comment_(base_->seed, "tpch partsupp", 2) {
    name_ = "partsupp";
    for (const char* field : {"ps_partkey", "ps_suppkey", "ps_availqty"})
        add_field(field, make_type(TypeId::kInt32));
    add_field("ps_supplycost", money_type());
    add_field("ps_comment", make_type(TypeId::kUtf8));
    set_rows(base_->size.parts * kSuppliersOfPart, kChunkParts * kSuppliersOfPart);
}

Block PartSupp::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto& columns = block.columns;
    auto part = [&](int64_t row) { return (first + row) / kSuppliersOfPart + 1; };
    columns.push_back(make_int32(count, part));
    columns.push_back(make_int32(count, [&](int64_t row) {
        return supplier_of_part(part(row), static_cast<int>((first + row) % kSuppliersOfPart),
                                base_->size.suppliers);
    }));
    columns.push_back(
        make_int32(count, [&](int64_t row) { return quantity_.between(first + row, 1, 9'999); }));
    columns.push_back(make_values<int64_t>(money_type(), count, [&](int64_t row) {
        return cost_.between(first + row, 100, 100'000);
    }));
    columns.push_back(make_text(
        count, [&](int64_t row) { return base_->comments.cut(comment_, first + row, 49, 198); }));
    return block;
}

}  // namespace

// The specification steps through the suppliers by a quarter of them, plus one for each time that
// the parts have gone round all suppliers. Below scale 0.024 (240 suppliers) that addend can make
// steps of a third or a half, and a supplier would come twice; so there it is kept below a twelfth.
int32_t supplier_of_part(int64_t part, int which, int64_t suppliers) noexcept {
    const int64_t round = (part - 1) / suppliers % std::max<int64_t>(1, suppliers / 12);
    return static_cast<int32_t>((part + which * (suppliers / 4 + round)) % suppliers + 1);
}

std::unique_ptr<Table> make_tpch_part(TpchBasePtr base) {
    return std::make_unique<Part>(std::move(base));
}
std::unique_ptr<Table> make_tpch_partsupp(TpchBasePtr base) {
    return std::make_unique<PartSupp>(std::move(base));
}

}  // namespace loom::datagen
