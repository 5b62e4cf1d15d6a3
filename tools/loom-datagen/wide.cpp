// 2,000 columns of doubles: what a reader pays for columns that a query does not touch.

#include "random.h"
#include "table.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kRowsAtScale1 = 100'000;
constexpr int64_t kChunkRows = 1'024;
constexpr int64_t kRowGroupRows = 8'192;
constexpr int kColumns = 2'000;
constexpr int64_t kFirstMicros = 1'735'689'600'000'000;  // 2025-01-01 00:00 UTC
constexpr int64_t kStepMicros = 60'000'000;

class Wide final : public EvenTable {
  public:
    explicit Wide(const Request& request);

  private:
    Block make_rows(int64_t first, int64_t count) const override;

    uint64_t seed_;
};

Wide::Wide(const Request& request) : seed_(request.seed) {
    name_ = "wide";
    row_group_rows_ = kRowGroupRows;
    add_field("id", make_type(TypeId::kInt64));
    add_field("ts", column::make_timestamp(column::TimeUnit::kMicro, "UTC"));
    for (int i = 1; i <= kColumns; ++i)
        add_field(fmt::format("c{:04}", i), make_type(TypeId::kFloat64));
    set_rows(wanted_rows(request, kRowsAtScale1), kChunkRows);
}

Block Wide::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto id = make_fixed(schema_.fields[0].type, count);
    auto time = make_fixed(schema_.fields[1].type, count);
    for (int64_t i = 0; i < count; ++i) {
        id.values.as<int64_t>()[i] = first + i + 1;
        time.values.as<int64_t>()[i] = kFirstMicros + (first + i) * kStepMicros;
    }
    block.columns.push_back(std::move(id));
    block.columns.push_back(std::move(time));
    for (int field = 0; field < kColumns; ++field) {
        const Sequence random(seed_, "wide", static_cast<uint64_t>(field));
        auto column = make_fixed(schema_.fields[field + 2].type, count);
        for (int64_t i = 0; i < count; ++i)
            column.values.as<double>()[i] = field + random.unit(first + i);
        block.columns.push_back(std::move(column));
    }
    return block;
}

}  // namespace

std::vector<std::unique_ptr<Table>> make_wide(const Request& request) {
    std::vector<std::unique_ptr<Table>> tables;
    tables.push_back(std::make_unique<Wide>(request));
    return tables;
}

}  // namespace loom::datagen
