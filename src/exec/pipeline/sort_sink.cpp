#include "exec/pipeline/sort_sink.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/sort/sort_rows.h"

namespace loom::exec {

namespace {

// Up to this many rows are sorted in one piece.
constexpr int64_t kFewRows = 1 << 16;
// Rows of a range: their words and positions, twice, stay in the last-level cache.
constexpr int64_t kRangeRows = 1 << 17;
constexpr int kMaxRangeBits = 9;
// Words are counted by their top bits to find ranges of even size.
constexpr int kBinBits = 14;
constexpr int64_t kCollectRows = 8192;
// Large enough that blocks fill their pages.
constexpr int64_t kChunkRows = 2048;
constexpr int64_t kMinChunkRows = 64;
// A range with so many times more rows than it should have is split.
constexpr int64_t kUnevenness = 4;

// The bits of a word from `shift`, up to 64, on.
uint64_t above(uint64_t word, int shift) {
    return shift < 64 ? word >> shift : 0;
}

// The lowest and highest word of each range.
class Bounds {
  public:
    explicit Bounds(size_t ranges) : lowest_(ranges, UINT64_MAX), highest_(ranges, 0) {}
    void widen(const uint64_t* words, const uint64_t* ranges, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
            lowest_[ranges[i]] = std::min(lowest_[ranges[i]], words[i]);
            highest_[ranges[i]] = std::max(highest_[ranges[i]], words[i]);
        }
    }
    void add_to(std::vector<uint64_t>& lowest, std::vector<uint64_t>& highest) const {
        for (size_t range = 0; range < lowest_.size(); ++range) {
            lowest[range] = std::min(lowest[range], lowest_[range]);
            highest[range] = std::max(highest[range], highest_[range]);
        }
    }

  private:
    std::vector<uint64_t> lowest_;
    std::vector<uint64_t> highest_;
};

// Returns for each bin, given the rows in it, the range that it belongs to: ascending, and with
// about as many rows each as bins allow.
std::vector<uint16_t> even_ranges(const std::vector<int64_t>& bins, size_t ranges, int64_t total) {
    const int64_t target = total / static_cast<int64_t>(ranges) + 1;
    std::vector<uint16_t> result(bins.size());
    uint16_t range = 0;
    int64_t filled = 0;
    for (size_t bin = 0; bin < bins.size(); ++bin) {
        if (filled > 0 && filled + bins[bin] > target && range + 1U < ranges) {
            ++range;
            filled = 0;
        }
        filled += bins[bin];
        result[bin] = range;
    }
    return result;
}

}  // namespace

SortSink::SortSink(std::vector<int> slots, std::vector<plan::Type> types,
                   std::vector<plan::SortKey> keys, int64_t limit, const Resources& resources,
                   SortedStep then)
    : StoreSink(std::move(slots), std::move(types), resources.budget),
      keys_(std::move(keys)),
      sorted_types_(types_),
      ranged_types_(types_),
      limit_(limit),
      resources_(resources),
      then_(std::move(then)) {
    if (!then_.apply && !then_.types.empty()) sorted_types_ = then_.types;
    ranged_types_.push_back(plan::make_type(plan::TypeId::kInt8));
    for (const plan::Type type : ranged_types_) row_bytes_ += plan::width(plan::physical(type));
}

void SortSink::begin(int workers) {
    workers_.clear();
    for (int i = 0; i < workers; ++i) {
        auto worker = std::make_unique<Worker>(budget_);
        worker->rows = std::make_unique<RowPartitions>(types_, HashRange{}, kCollectRows, budget_);
        worker->ranges.resize(keys_.size());
        workers_.push_back(std::move(worker));
    }
}

void SortSink::consume(int index, Frame& frame) {
    Worker& worker = *workers_[index];
    worker.columns.clear();
    frame.fetch_all(slots_);
    for (const int slot : slots_) worker.columns.push_back(frame.fetch(slot));
    for (size_t k = 0; k < keys_.size(); ++k)
        worker.words.widen(worker.columns[static_cast<size_t>(keys_[k].column)], worker.ranges[k]);
    static constexpr uint64_t kOnePartition[kBatchRows] = {};
    worker.rows->append(worker.columns, kOnePartition, frame.length());
    worker.count += frame.length();
    if (is_full(*worker.rows)) worker.rows->spill(*resources_.space);
}

void SortSink::finish(Tasks& tasks) {
    int64_t total = 0;
    bool spilled = false;
    std::vector<KeyRange> ranges(keys_.size());
    for (const auto& worker : workers_) {
        total += worker->count;
        spilled = spilled || worker->rows->spilled();
        for (size_t k = 0; k < keys_.size(); ++k) ranges[k].merge(worker->ranges[k]);
    }
    const PackedKey key(types_, keys_, ranges);
    if (total <= kFewRows && !spilled) {
        sort_few(key, tasks.poll(0));
        workers_.clear();
        return;
    }
    std::shared_ptr<Ranges> scattered = scatter(key, total, tasks);
    workers_.clear();
    for (const auto& rows : scattered->rows) spilled = spilled || rows->spilled();
    std::vector<Piece> pieces;
    int64_t left = limit_ < 0 ? INT64_MAX : limit_;
    add_pieces(scattered, loose_bits(key), &left, tasks.poll(0), pieces);
    scattered.reset();
    if (spilled) {
        const auto count = static_cast<int64_t>(pieces.size());
        add_made_rows(rows_, count, tasks, result_types(), budget_,
                      [this, pieces = std::move(pieces), key](int64_t i, const Poll& poll) {
                          const Piece& piece = pieces[i];
                          return sort_range(*piece.ranges, piece.range, key, piece.limit, poll);
                      });
        if (then_.apply != nullptr) rows_.let_give_up();
        return;
    }
    std::vector<RowStore> sorted;
    for (size_t i = 0; i < pieces.size(); ++i) sorted.emplace_back(result_types(), budget_);
    tasks.run(static_cast<int64_t>(pieces.size()), [&](int64_t i, int worker) {
        const Piece& piece = pieces[i];
        sorted[i] = sort_range(*piece.ranges, piece.range, key, piece.limit, tasks.poll(worker));
    });
    for (RowStore& rows : sorted) rows_.add(std::move(rows));
}

// Returns the number of low bits of a word by which rows may not be parted.
int SortSink::loose_bits(const PackedKey& key) const {
    return then_.together == 0 ? 0 : key.bits() - key.bits(then_.together);
}

RowStore SortSink::finished(RowStore&& sorted, const Poll& poll) const {
    return then_.apply ? then_.apply(std::move(sorted), poll) : std::move(sorted);
}

const std::vector<plan::Type>& SortSink::result_types() const noexcept {
    return then_.apply ? then_.types : sorted_types_;
}

// Lists the ranges that hold the first `left` rows, split until each has a bearable size.
void SortSink::add_pieces(const std::shared_ptr<Ranges>& ranges, int loose, int64_t* left,
                          const Poll& poll, std::vector<Piece>& pieces) const {
    for (size_t range = 0; range < ranges->counts.size() && *left > 0; ++range) {
        const int64_t rows = ranges->counts[range];
        if (rows == 0) continue;
        if (rows > kUnevenness * most_rows() &&
            above(ranges->lowest[range], loose) < above(ranges->highest[range], loose)) {
            add_pieces(split(*ranges, static_cast<int64_t>(range), loose, poll), loose, left, poll,
                       pieces);
            continue;
        }
        const int64_t limit = std::min(rows, *left);
        pieces.push_back({ranges, static_cast<int64_t>(range), limit});
        *left -= limit;
    }
}

// Rows that a range should have: it must fit memory by itself.
int64_t SortSink::most_rows() const noexcept {
    const uint64_t share = resources_.spill_limit() / 16;
    return static_cast<int64_t>(
        std::clamp<uint64_t>(share / static_cast<uint64_t>(row_bytes_), 1024, kRangeRows));
}

void SortSink::sort_few(const PackedKey& key, const Poll& poll) {
    RowStore all(types_, budget_);
    base::Buffer packed(budget_);
    for (const auto& worker : workers_) {
        worker->rows->read(0, budget_, [&](std::span<const Vector> columns, int64_t count) {
            poll();
            packed.resize(static_cast<uint64_t>(all.length() + count) * sizeof(uint64_t));
            key.pack(columns, count, worker->words, packed.as<uint64_t>() + all.length());
            all.append({columns.begin(), columns.end()}, count);
        });
        worker->rows->release(0);
    }
    rows_.add(finished(
        sort_rows(all, packed, key.first_open(), keys_, sorted_types_, limit_, poll, budget_),
        poll));
}

// Counts words by their bits from `shift` on.
std::vector<int64_t> SortSink::count_bins(const PackedKey& key, int shift, size_t bins,
                                          Tasks& tasks) {
    std::vector<std::vector<int64_t>> counts(workers_.size());
    tasks.run(static_cast<int64_t>(workers_.size()), [&](int64_t index, int by) {
        Worker& worker = *workers_[index];
        std::vector<int64_t>& own = counts[index];
        own.assign(bins, 0);
        std::vector<uint64_t> packed(kBatchRows);
        worker.rows->read(0, budget_, [&](std::span<const Vector> columns, int64_t count) {
            tasks.poll(by)();
            key.pack(columns, count, worker.words, packed.data());
            for (int64_t i = 0; i < count; ++i) ++own[above(packed[i], shift)];
        });
    });
    for (size_t i = 1; i < counts.size(); ++i)
        for (size_t bin = 0; bin < bins; ++bin) counts[0][bin] += counts[i][bin];
    return std::move(counts[0]);
}

std::shared_ptr<SortSink::Ranges> SortSink::make_ranges(size_t parts, int64_t total) const {
    const int bits =
        std::min(kMaxRangeBits,
                 static_cast<int>(std::bit_width(static_cast<uint64_t>(total / most_rows()))));
    int64_t chunk_rows = kChunkRows;
    // The chunks that are being filled must fit memory, too.
    while (chunk_rows > kMinChunkRows &&
           static_cast<uint64_t>(row_bytes_ * chunk_rows << bits) * parts >
               resources_.spill_limit() / 4)
        chunk_rows /= 2;
    auto ranges = std::make_shared<Ranges>();
    for (size_t i = 0; i < parts; ++i)
        ranges->rows.push_back(std::make_unique<RowPartitions>(ranged_types_, HashRange{0, bits},
                                                               chunk_rows, budget_));
    const size_t count = size_t{1} << bits;
    ranges->counts.assign(count, 0);
    ranges->lowest.assign(count, UINT64_MAX);
    ranges->highest.assign(count, 0);
    return ranges;
}

std::shared_ptr<SortSink::Ranges> SortSink::scatter(const PackedKey& key, int64_t total,
                                                    Tasks& tasks) {
    const int bin_bits = std::min(kBinBits, key.bits() - loose_bits(key));
    const int shift = key.bits() - bin_bits;
    auto ranges = make_ranges(workers_.size(), total);
    const std::vector<uint16_t> range_of = even_ranges(
        count_bins(key, shift, size_t{1} << bin_bits, tasks), ranges->counts.size(), total);
    std::vector<Bounds> bounds(workers_.size(), Bounds(ranges->counts.size()));
    tasks.run(static_cast<int64_t>(workers_.size()), [&](int64_t index, int by) {
        Worker& worker = *workers_[index];
        RowPartitions& out = *ranges->rows[index];
        std::vector<uint64_t> packed(kBatchRows);
        std::vector<uint64_t> targets(kBatchRows);
        std::vector<Vector> row;
        worker.rows->drain(0, budget_, [&](std::span<const Vector> columns, int64_t count) {
            tasks.poll(by)();
            key.pack(columns, count, worker.words, packed.data());
            for (int64_t i = 0; i < count; ++i) targets[i] = range_of[above(packed[i], shift)];
            bounds[index].widen(packed.data(), targets.data(), count);
            row.assign(columns.begin(), columns.end());
            Vector& word = row.emplace_back();
            word.type = ranged_types_.back();
            word.length = count;
            word.values = packed.data();
            out.append(row, targets.data(), count);
            if (is_full(out)) out.spill(*resources_.space);
        });
    });
    for (const Bounds& own : bounds) own.add_to(ranges->lowest, ranges->highest);
    for (size_t range = 0; range < ranges->counts.size(); ++range)
        for (const auto& part : ranges->rows)
            ranges->counts[range] += part->rows(static_cast<int64_t>(range));
    return ranges;
}

// Scatters one range over finer ones.
std::shared_ptr<SortSink::Ranges> SortSink::split(Ranges& ranges, int64_t range, int loose,
                                                  const Poll& poll) const {
    const uint64_t lowest = above(ranges.lowest[range], loose);
    const int width = std::bit_width(above(ranges.highest[range], loose) - lowest);
    const int shift = std::max(0, width - kBinBits);
    const auto bin_of = [&](uint64_t word) { return (above(word, loose) - lowest) >> shift; };
    const int64_t total = ranges.counts[range];
    std::vector<int64_t> bins((size_t{1} << kBinBits), 0);
    for (const auto& part : ranges.rows)
        part->read(range, budget_, [&](std::span<const Vector> columns, int64_t count) {
            poll();
            const auto* words = columns.back().as<uint64_t>();
            for (int64_t i = 0; i < count; ++i) ++bins[bin_of(words[i])];
        });
    auto finer = make_ranges(1, total);
    const std::vector<uint16_t> range_of = even_ranges(bins, finer->counts.size(), total);
    Bounds bounds(finer->counts.size());
    std::vector<uint64_t> targets(kBatchRows);
    for (const auto& part : ranges.rows)
        part->drain(range, budget_, [&](std::span<const Vector> columns, int64_t count) {
            poll();
            const auto* words = columns.back().as<uint64_t>();
            for (int64_t i = 0; i < count; ++i) targets[i] = range_of[bin_of(words[i])];
            bounds.widen(words, targets.data(), count);
            finer->rows[0]->append(columns, targets.data(), count);
            if (is_full(*finer->rows[0])) finer->rows[0]->spill(*resources_.space);
        });
    bounds.add_to(finer->lowest, finer->highest);
    for (size_t i = 0; i < finer->counts.size(); ++i)
        finer->counts[i] = finer->rows[0]->rows(static_cast<int64_t>(i));
    return finer;
}

RowStore SortSink::sort_range(Ranges& ranges, int64_t range, const PackedKey& key, int64_t limit,
                              const Poll& poll) const {
    RowStore rows(types_, budget_);
    base::Buffer words(budget_);
    words.resize(static_cast<uint64_t>(ranges.counts[range]) * sizeof(uint64_t));
    for (const auto& part : ranges.rows)
        part->drain(range, budget_, [&](std::span<const Vector> columns, int64_t count) {
            poll();
            std::memcpy(words.as<uint64_t>() + rows.length(), columns.back().values,
                        static_cast<size_t>(count) * sizeof(uint64_t));
            columns = columns.first(types_.size());
            rows.append({columns.begin(), columns.end()}, count);
        });
    return finished(
        sort_rows(rows, words, key.first_open(), keys_, sorted_types_, limit, poll, budget_), poll);
}

}  // namespace loom::exec
