#include "exec/pipeline/runtime_filter.h"

#include <algorithm>
#include <optional>

#include "exec/scan/load.h"

namespace loom::exec {

namespace {

// Ranges of keys that row groups are compared with; as many single keys are looked up in Bloom
// filters.
constexpr size_t kMostRanges = 32;

struct Filter {
    int column;  ///< of the scan
    plan::Type type;
    std::vector<BuildKeyRange> ranges;
};

std::optional<Filter> filter_of(const Pipeline& pipeline, const Join& join) {
    if (join.table == nullptr || join.scattered != nullptr || join.keys.size() != 1)
        return std::nullopt;
    const Slot& key = pipeline.slots[static_cast<size_t>(join.keys[0])];
    if (key.kind != Slot::Kind::kScan) return std::nullopt;
    switch (key.type.id) {
        case plan::TypeId::kInt2:
        case plan::TypeId::kInt4:
        case plan::TypeId::kInt8:
        case plan::TypeId::kDate:
        case plan::TypeId::kTimestamp:
        case plan::TypeId::kTimestampTz:
        case plan::TypeId::kText:
            break;
        default:
            return std::nullopt;
    }
    auto ranges = join.table->key_ranges(kMostRanges);
    if (!ranges) return std::nullopt;
    return Filter{key.index, key.type, std::move(*ranges)};
}

std::optional<format::PruneCondition> condition_of(const Filter& filter, const ScanFile& file) {
    format::PruneCondition condition;
    condition.column = file.columns[static_cast<size_t>(filter.column)].field;
    if (condition.column < 0) return std::nullopt;
    const column::DataType& type =
        *file.reader->schema().fields[static_cast<size_t>(condition.column)].type;
    for (const BuildKeyRange& range : filter.ranges) {
        auto low = file_scalar(range.low, type, filter.type);
        auto high = file_scalar(range.high, type, filter.type);
        if (!low || !high) return std::nullopt;
        condition.ranges.push_back({std::move(*low), std::move(*high)});
    }
    condition.text = "join";
    return condition;
}

}  // namespace

std::vector<std::vector<format::PruneCondition>> runtime_filters(const Pipeline& pipeline,
                                                                 const TableSource& table) {
    std::vector<Filter> filters;
    for (const Step& step : pipeline.steps) {
        // Rows that are skipped must not have counted for a limit, nor have raised an error.
        if (step.kind == Step::Kind::kLimit || step.kind == Step::Kind::kCompute) break;
        if (step.expression != nullptr && step.expression->may_fault()) break;
        if (step.join < 0) continue;
        const Join& join = pipeline.joins[static_cast<size_t>(step.join)];
        if (step.negate || !join.drops_unmatched()) continue;
        if (auto filter = filter_of(pipeline, join)) filters.push_back(std::move(*filter));
    }
    std::vector<std::vector<format::PruneCondition>> result;
    if (filters.empty()) return result;
    for (const ScanFile& file : table.files) {
        auto& conditions = result.emplace_back();
        for (const Filter& filter : filters)
            if (auto condition = condition_of(filter, file))
                conditions.push_back(std::move(*condition));
    }
    return result;
}

}  // namespace loom::exec
