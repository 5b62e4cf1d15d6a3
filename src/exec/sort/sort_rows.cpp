#include "exec/sort/sort_rows.h"

#include <algorithm>
#include <array>
#include <functional>

#include "exec/fault.h"
#include "exec/sort/row_order.h"

namespace loom::exec {

namespace {

// Comparisons, or rows, between two looks at the stop token: some milliseconds.
constexpr uint32_t kStepsPerPoll = 1 << 16;
// Fewer rows are sorted by comparison.
constexpr size_t kMinRadixRows = 512;
constexpr int kDigits = 8;
constexpr int kBuckets = 256;

struct Item {
    uint64_t word;
    uint32_t row;
};

// Least digit first; digits in which all words agree are skipped.
void radix_sort(std::vector<Item>& items, const Poll& poll) {
    std::vector<std::array<uint32_t, kBuckets>> counts(kDigits);
    for (const Item& item : items)
        for (int digit = 0; digit < kDigits; ++digit)
            ++counts[digit][item.word >> (8 * digit) & 0xff];
    std::vector<Item> other(items.size());
    for (int digit = 0; digit < kDigits; ++digit) {
        std::array<uint32_t, kBuckets>& starts = counts[digit];
        const uint64_t common = items[0].word >> (8 * digit) & 0xff;
        if (starts[common] == items.size()) continue;
        poll();
        uint32_t sum = 0;
        for (uint32_t& start : starts) sum += std::exchange(start, sum);
        for (const Item& item : items) other[starts[item.word >> (8 * digit) & 0xff]++] = item;
        items.swap(other);
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
void settle_ties(std::vector<Item>& items, size_t limit, const RowOrder& order, const Poll& poll) {
    Watched watched(order, poll);
    const auto by_row = [&](const Item& a, const Item& b) { return watched(a.row, b.row); };
    for (size_t begin = 0; begin < limit;) {
        size_t end = begin + 1;
        while (end < items.size() && items[end].word == items[begin].word) ++end;
        const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = items.begin() + static_cast<std::ptrdiff_t>(end);
        if (end > limit)
            std::partial_sort(first, items.begin() + static_cast<std::ptrdiff_t>(limit), last,
                              by_row);
        else if (end - begin > 1)
            std::sort(first, last, by_row);
        begin = end;
    }
}

}  // namespace

RowStore sort_rows(const RowStore& rows, std::vector<uint64_t>& words, size_t first_open,
                   const std::vector<plan::SortKey>& keys, const std::vector<plan::Type>& types,
                   int64_t limit, const Poll& poll, base::MemoryBudget* budget) {
    if (rows.length() > UINT32_MAX) throw Unrepresentable("a sort of more than 4,294,967,295 rows");
    std::vector<Item> items(words.size());
    for (size_t i = 0; i < items.size(); ++i) items[i] = {words[i], static_cast<uint32_t>(i)};
    words = std::vector<uint64_t>();
    if (items.size() >= kMinRadixRows)
        radix_sort(items, poll);
    else
        std::sort(items.begin(), items.end(),
                  [](const Item& a, const Item& b) { return a.word < b.word; });
    const size_t count =
        limit >= 0 ? std::min(items.size(), static_cast<size_t>(limit)) : items.size();
    if (first_open < keys.size()) {
        const RowOrder order(rows, keys, first_open);
        settle_ties(items, count, order, poll);
    }
    std::vector<uint32_t> positions(count);
    for (size_t i = 0; i < count; ++i) positions[i] = items[i].row;
    items = std::vector<Item>();
    RowStore result(types, budget);
    for (size_t i = 0; i < types.size(); ++i) {
        poll();
        result.column(i).append(rows.column(i).view(), positions.data(),
                                static_cast<int64_t>(count));
    }
    result.set_length(static_cast<int64_t>(count));
    return result;
}

}  // namespace loom::exec
