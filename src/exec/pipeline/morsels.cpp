#include "exec/pipeline/morsels.h"

#include <algorithm>

#include "exec/scan/load.h"

namespace loom::exec {

namespace {

// A part of a row group has at least this many rows: opening it decodes the dictionaries again.
constexpr int64_t kMinPartRows = 65'536;
// Parts a worker should have, so that the last one does not wait long.
constexpr int64_t kPartsPerWorker = 4;
// Row groups whose pages are compared with the keys of joins before it is given up.
constexpr int64_t kPagesTried = 4;

}  // namespace

MorselQueue::MorselQueue(const TableSource& table, int workers) : table_(table) {
    int64_t rows = 0;
    for (const ScanFile& file : table.files) {
        row_groups_ += file.reader->row_group_count();
        rows += file.reader->row_count();
    }
    int64_t part_rows = INT64_MAX;
    if (workers > 1 && row_groups_ < workers * kPartsPerWorker)
        part_rows = std::max(kMinPartRows, rows / (workers * kPartsPerWorker) / 64 * 64);
    for (size_t i = 0; i < table.files.size(); ++i) {
        const format::TableReader& reader = *table.files[i].reader;
        for (int64_t group = 0; group < reader.row_group_count(); ++group) {
            const int64_t count = reader.row_group_rows(group);
            for (int64_t begin = 0; begin < count;) {
                // The rest stays in one part if it is less than two.
                const int64_t left = count - begin;
                const int64_t take = left / 2 < part_rows ? left : part_rows;
                parts_.push_back({static_cast<int>(i), group, begin, begin + take, 0});
                begin += take;
            }
        }
    }
}

// Returns a place that no row of the part comes before; 0 if nothing is known.
uint64_t MorselQueue::best_place(const Part& part, const TopBound& bound, plan::Type type) const {
    const ScanFile& file = table_.files[part.file];
    const int field = file.columns[static_cast<size_t>(bound.scan_column)].field;
    if (field < 0) return 0;
    const format::ColumnStatistics statistics = file.reader->statistics(part.row_group, field);
    if (bound.nulls_first && statistics.null_count != 0) return 0;
    const bool floats = type.id == plan::TypeId::kFloat4 || type.id == plan::TypeId::kFloat8;
    // NaN is the largest number, and no bound counts it.
    if (bound.descending && floats && statistics.nan_count != 0) return 0;
    const auto word =
        order_word(bound.descending ? statistics.max : statistics.min,
                   *file.reader->schema().fields[static_cast<size_t>(field)].type, type);
    if (!word) return 0;
    return bound.descending ? ~*word : *word;
}

void MorselQueue::follow(const TopBound& bound, const std::vector<plan::Type>& types) {
    bound_ = &bound;
    const plan::Type type = types[static_cast<size_t>(bound.scan_column)];
    for (Part& part : parts_) part.best = best_place(part, bound, type);
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const Part& a, const Part& b) { return a.best < b.best; });
}

// Takes away the rows that no condition allows; returns whether none is left.
bool MorselQueue::exclude(const Part& part, Morsel* morsel) {
    const ScanFile& file = table_.files[part.file];
    const auto narrow = [&](const std::vector<format::PruneCondition>& conditions) {
        morsel->ranges = format::intersect(
            morsel->ranges, format::matching_rows(*file.reader, part.row_group, conditions));
    };
    if (!file.conditions.empty()) {
        if (format::excluding_condition(*file.reader, part.row_group, file.conditions)) return true;
        narrow(file.conditions);
        if (morsel->ranges.empty()) return true;
    }
    if (conditions_.empty() || conditions_[static_cast<size_t>(part.file)].empty()) return false;
    const auto& conditions = conditions_[static_cast<size_t>(part.file)];
    if (format::excluding_condition(*file.reader, part.row_group, conditions)) return true;
    // Reading the page index is worth it where rows lie in the order of a key, more or less.
    const int64_t asked = pages_asked_.load(std::memory_order_relaxed);
    if (asked >= kPagesTried && pages_gained_.load(std::memory_order_relaxed) * 4 < asked)
        return false;
    const format::RowRanges before = morsel->ranges;
    narrow(conditions);
    pages_asked_.fetch_add(1, std::memory_order_relaxed);
    if (morsel->ranges != before) pages_gained_.fetch_add(1, std::memory_order_relaxed);
    return morsel->ranges.empty();
}

bool MorselQueue::next(Morsel* morsel) {
    for (;;) {
        const size_t index = position_.fetch_add(1, std::memory_order_relaxed);
        if (index >= parts_.size()) return false;
        const Part& part = parts_[index];
        if (bound_ != nullptr && part.best > bound_->last.load(std::memory_order_relaxed)) {
            skipped_.fetch_add(part.begin == 0 ? 1 : 0, std::memory_order_relaxed);
            continue;
        }
        const ScanFile& file = table_.files[part.file];
        const int64_t rows = file.reader->row_group_rows(part.row_group);
        morsel->file = part.file;
        morsel->row_group = part.row_group;
        morsel->ranges = {{part.begin, part.end}};
        if (exclude(part, morsel)) {
            skipped_.fetch_add(part.begin == 0 ? 1 : 0, std::memory_order_relaxed);
            continue;
        }
        morsel->partial =
            morsel->ranges.size() != 1 || morsel->ranges[0] != format::RowRange{0, rows};
        return true;
    }
}

}  // namespace loom::exec
