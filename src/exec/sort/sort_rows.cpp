#include "exec/sort/sort_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "exec/fault.h"
#include "exec/sort/row_order.h"

namespace loom::exec {

namespace {

// Comparisons, or rows, between two looks at the stop token: some milliseconds.
constexpr uint32_t kStepsPerPoll = 1 << 16;
// Fewer rows are sorted by comparison.
constexpr int64_t kMinRadixRows = 512;
// So many buckets are filled at once without leaving the caches.
constexpr int kDigitBits = 10;
constexpr uint64_t kBuckets = uint64_t{1} << kDigitBits;

struct Item {
    uint64_t word;
    uint32_t row;
};

// Sorts `items` with the help of `other`, which has room for as many; least digit first. Digits are
// cut from the bits in which words differ.
void radix_sort(base::Buffer& items, base::Buffer& other, int64_t count, const Poll& poll) {
    uint64_t lowest = UINT64_MAX;
    uint64_t highest = 0;
    for (int64_t i = 0; i < count; ++i) {
        lowest = std::min(lowest, items.as<Item>()[i].word);
        highest = std::max(highest, items.as<Item>()[i].word);
    }
    const int width = std::bit_width(highest - lowest);
    std::vector<uint32_t> starts(kBuckets);
    for (int shift = 0; shift < width; shift += kDigitBits) {
        poll();
        const Item* from = items.as<Item>();
        Item* to = other.as<Item>();
        const auto digit = [&](const Item& item) {
            return ((item.word - lowest) >> shift) & (kBuckets - 1);
        };
        std::fill(starts.begin(), starts.end(), 0);
        for (int64_t i = 0; i < count; ++i) ++starts[digit(from[i])];
        uint32_t sum = 0;
        for (uint32_t& start : starts) sum += std::exchange(start, sum);
        for (int64_t i = 0; i < count; ++i) to[starts[digit(from[i])]++] = from[i];
        std::swap(items, other);
    }
}

// A comparison that looks at the stop token now and then.
class Watched {
  public:
    Watched(const RowOrder& order, const Poll& poll) : order_(order), poll_(poll) {}
    bool operator()(uint32_t a, uint32_t b) {
        if (++steps_ % kStepsPerPoll == 0) poll_();
        return order_(a, b);
    }

  private:
    const RowOrder& order_;
    const Poll& poll_;
    uint32_t steps_ = 0;
};

// Sorts the runs of equal words by the rest of their keys, as far as the first `limit` rows go.
void settle_ties(std::span<Item> items, int64_t limit, const RowOrder& order, const Poll& poll) {
    Watched watched(order, poll);
    const auto by_row = [&](const Item& a, const Item& b) { return watched(a.row, b.row); };
    const auto count = static_cast<int64_t>(items.size());
    for (int64_t begin = 0; begin < limit;) {
        int64_t end = begin + 1;
        while (end < count && items[end].word == items[begin].word) ++end;
        if (end > limit)
            std::partial_sort(items.begin() + begin, items.begin() + limit, items.begin() + end,
                              by_row);
        else if (end - begin > 1)
            std::sort(items.begin() + begin, items.begin() + end, by_row);
        begin = end;
    }
}

}  // namespace

RowStore sort_rows(const RowStore& rows, base::Buffer& words, size_t first_open,
                   const std::vector<plan::SortKey>& keys, const std::vector<plan::Type>& types,
                   int64_t limit, const Poll& poll, base::MemoryBudget* budget) {
    if (rows.length() > UINT32_MAX) throw Unrepresentable("a sort of more than 4,294,967,295 rows");
    const int64_t total = rows.length();
    base::Buffer sorted(budget);
    sorted.resize(static_cast<uint64_t>(total) * sizeof(Item));
    for (int64_t i = 0; i < total; ++i)
        sorted.as<Item>()[i] = {words.as<uint64_t>()[i], static_cast<uint32_t>(i)};
    words.release();
    if (total >= kMinRadixRows) {
        base::Buffer other(budget);
        other.resize(sorted.size());
        radix_sort(sorted, other, total, poll);
    } else {
        std::sort(sorted.as<Item>(), sorted.as<Item>() + total,
                  [](const Item& a, const Item& b) { return a.word < b.word; });
    }
    const std::span<Item> items(sorted.as<Item>(), static_cast<size_t>(total));
    const int64_t count = limit >= 0 ? std::min(total, limit) : total;
    if (first_open < keys.size()) {
        const RowOrder order(rows, keys, first_open);
        settle_ties(items, count, order, poll);
    }
    // Positions take the place of items, from the front.
    auto* positions = sorted.as<uint32_t>();
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t row = items[i].row;
        std::memcpy(positions + i, &row, sizeof row);
    }
    RowStore result(types, budget);
    for (size_t i = 0; i < types.size(); ++i) {
        poll();
        result.column(i).append(rows.column(i).view(), positions, count);
    }
    result.set_length(count);
    return result;
}

}  // namespace loom::exec
