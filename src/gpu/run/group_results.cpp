// What comes back of groups.

#include <algorithm>
#include <cstring>
#include <map>

#include "exec/aggregate/exact_sum.h"
#include "gpu/codegen/expression_text.h"
#include "gpu/run/groups.h"
#include "gpu/runtime/group.h"

namespace loom::gpu {

using exec::AggregateKind;
using plan::Expr;
using plan::ExprKind;

namespace {

// The bits of a word that are a key's.
uint64_t part_of(uint64_t word, const GroupKey& key) {
    return word >> key.shift & ((uint64_t{1} << key.bits) - 1);
}

}  // namespace

std::unique_ptr<DeviceRows> Groups::collect(Results& results) {
    return table_.hashed.empty() ? collect_numbers(results) : collect_words(results);
}

Groups::Words Groups::download_sums(Results& results, uint64_t groups) const {
    Words sums(static_cast<size_t>(table_.words), std::vector<uint64_t>(groups));
    if (groups == 0) return sums;
    for (size_t i = 0; i < sums.size(); ++i)
        results.download(sums[i].data(), table_.word(static_cast<int>(i)), groups * 8);
    return sums;
}

// Counts the numbers of each part; false if a build side has more than there are codes.
bool Groups::count_parts(Results& results, std::vector<uint32_t>& counts, uint64_t& groups) const {
    counts.assign(table_.parts.size(), 1);
    for (size_t i = 0; i < counts.size(); ++i) {
        const GroupPart& part = table_.parts[i];
        if (part.join < 0)
            counts[i] = static_cast<uint32_t>(part.most);
        else
            results.download(&counts[i], table_of(part.join).set_count, 4);
    }
    results.wait();
    groups = 1;
    for (size_t i = 0; i < counts.size(); ++i) {
        const GroupPart& part = table_.parts[i];
        // Numbers have to fit codes, whose highest value says that there is no row.
        if (part.join >= 0 &&
            counts[i] > std::min<uint32_t>(table_of(part.join).set_slots / 2,
                                           table_of(part.join).code_bytes == 1 ? 255 : 65535))
            return false;
        groups *= counts[i];
    }
    return true;
}

std::unique_ptr<DeviceRows> Groups::collect_numbers(Results& results) {
    std::vector<uint32_t> counts;
    uint64_t groups = 1;
    if (!count_parts(results, counts, groups)) {
        words_only_ = true;
        return nullptr;
    }
    std::vector<uint8_t> seen(groups);
    const Words sums = download_sums(results, groups);
    std::vector<std::vector<uint64_t>> words(counts.size());
    if (groups > 0) {
        results.download(seen.data(), table_.seen, groups);
        for (size_t i = 0; i < counts.size(); ++i) {
            if (table_.parts[i].join < 0) continue;
            words[i].resize(counts[i]);
            results.download(words[i].data(), table_of(table_.parts[i].join).set_in_order,
                             counts[i] * uint64_t{8});
        }
    }
    results.wait();
    std::vector<GroupKey> keys(counts.size());
    for (size_t i = 0; i < counts.size(); ++i) {
        const GroupPart& part = table_.parts[i];
        if (part.join < 0)
            keys[i] = part.computed ? *part.computed
                                    : key_of(plan::make_column(part.slot, slot(part.slot).type),
                                             part.keys[0]);
    }
    auto rows = std::make_unique<DeviceRows>(aggregate_.output);
    const bool always = table_.parts.empty() && !aggregate_.grouped;
    for (uint64_t g = 0; g < groups; ++g) {
        if (seen[g] == 0 && !always) continue;
        put_parts(g, counts, keys, words, *rows);
        put_results(sums, g, seen[g] != 0, *rows);
        rows->end_row();
    }
    return rows;
}

std::unique_ptr<DeviceRows> Groups::collect_words(Results& results) {
    uint32_t count = 0;
    results.download(&count, table_.set_count, sizeof count);
    results.wait();
    if (count > table_.most) {
        grow();
        return nullptr;
    }
    std::vector<uint64_t> words(count);
    Words sums = download_sums(results, count);
    if (count > 0) results.download(words.data(), table_.set_in_order, count * uint64_t{8});
    results.wait();
    std::vector<bool> merged(count);
    if (merges_) merge(sums, words, merged);
    auto rows = std::make_unique<DeviceRows>(aggregate_.output);
    for (uint32_t g = 0; g < count; ++g) {
        if (merged[g]) continue;
        for (const GroupKey& key : table_.hashed)
            if (key.is_value()) put_key(key, part_of(words[g], key), *rows);
        for (const GroupKey& key : table_.carried)
            put_key(key, sums[static_cast<size_t>(key.word)][g], *rows);
        put_results(sums, g, true, *rows);
        rows->end_row();
    }
    return rows;
}

// Adds groups of the same keys to the first of them.
void Groups::merge(Words& sums, const std::vector<uint64_t>& words,
                   std::vector<bool>& merged) const {
    std::map<std::vector<uint64_t>, size_t> firsts;
    for (size_t g = 0; g < words.size(); ++g) {
        std::vector<uint64_t> keys;
        for (const GroupKey& key : table_.hashed)
            if (key.is_value()) keys.push_back(part_of(words[g], key));
        for (const GroupKey& key : table_.carried)
            keys.push_back(sums[static_cast<size_t>(key.word)][g]);
        const auto [at, fresh] = firsts.emplace(std::move(keys), g);
        merged[g] = !fresh;
        if (fresh) continue;
        for (const Accumulator& each : table_.accumulators) {
            const auto low = static_cast<size_t>(each.word);
            uint64_t& to = sums[low][at->second];
            const uint64_t add = sums[low][g];
            if (each.kind == Accumulator::Kind::kLargest) {
                to = std::max(to, add);
                continue;
            }
            to += add;
            if (each.kind == Accumulator::Kind::kWideSum)
                sums[low + 1][at->second] += sums[low + 1][g] + (to < add ? 1 : 0);
        }
    }
}

void Groups::put_results(const Words& sums, uint64_t group, bool seen, DeviceRows& rows) const {
    const auto word = [&](int accumulator, int at = 0) {
        const Accumulator& of = table_.accumulators[static_cast<size_t>(accumulator)];
        return sums[static_cast<size_t>(of.word + at)][group];
    };
    for (size_t i = 0; i < results_.size(); ++i) {
        const Result& result = results_[i];
        const size_t column = aggregate_.group_keys.size() + i;
        if (result.kind == AggregateKind::kCount || result.kind == AggregateKind::kCountRows) {
            rows.add_integer(column, static_cast<int64_t>(word(result.value)));
            continue;
        }
        const auto count = static_cast<int64_t>(result.count >= 0 ? word(result.count) : 1);
        if (!seen || count == 0) {
            rows.add_null(column);
            continue;
        }
        if (result.kind != AggregateKind::kSum && result.kind != AggregateKind::kAverage) {
            const uint64_t largest = word(result.value);
            rows.add_integer(column, result.least ? of_order_word<true>(largest)
                                                  : of_order_word<false>(largest));
            continue;
        }
        const Accumulator& of = table_.accumulators[static_cast<size_t>(result.value)];
        __int128 sum = static_cast<int64_t>(word(result.value));
        if (of.kind == Accumulator::Kind::kWideSum)
            sum = static_cast<__int128>(
                static_cast<unsigned __int128>(word(result.value, 1)) << 64 | word(result.value));
        int scale = result.scale;
        if (result.shown >= 0)
            for (const auto shown = of_order_word<false>(word(result.shown)); scale > shown;
                 --scale)
                sum /= 10;
        if (result.shown >= 0 && result.kind == AggregateKind::kSum) {
            plan::Decimal value{0, scale};
            exec::put_exact_sum(plan::make_numeric(plan::kMaxPrecision, 0), sum, 0, count,
                                reinterpret_cast<uint8_t*>(&value.unscaled));
            std::memcpy(rows.add_value(column), &value, sizeof value);
            continue;
        }
        exec::put_exact_sum(aggregate_.output[column], sum, scale, count, rows.add_value(column));
    }
}

void Groups::put_parts(uint64_t group, const std::vector<uint32_t>& counts,
                       const std::vector<GroupKey>& keys,
                       const std::vector<std::vector<uint64_t>>& words, DeviceRows& rows) const {
    for (size_t i = counts.size(); i-- > 0;) {
        const auto number = static_cast<uint32_t>(group % counts[i]);
        group /= counts[i];
        const GroupPart& part = table_.parts[i];
        if (part.join < 0) {
            put_key(keys[i], number, rows);
            continue;
        }
        const std::vector<GroupField>& fields = table_of(part.join).fields;
        for (size_t f = 0; f < fields.size(); ++f)
            put_field(part.keys[f], fields[f], words[i][number], rows);
    }
}

void Groups::put_field(int key, const GroupField& field, uint64_t word, DeviceRows& rows) const {
    const auto at = static_cast<size_t>(key);
    word >>= field.shift;
    const uint64_t above = word & ((uint64_t{1} << field.bits) - 1);
    const int64_t value = field.column.min + static_cast<int64_t>(above);
    if (field.column.layout.nullable && above == field.values())
        rows.add_null(at);
    else if (field.column.dictionary)
        rows.add_text(at, column_of(last(), bound_, last().pipeline->keys[at].index)
                              ->texts->text(static_cast<uint32_t>(value)));
    else
        rows.add_integer(at, value);
}

void Groups::put_key(const GroupKey& key, uint64_t above, DeviceRows& rows) const {
    const auto at = static_cast<size_t>(key.key);
    const auto value = static_cast<int64_t>(static_cast<uint64_t>(key.least) + above);
    if (key.nullable && above == key.values) {
        rows.add_null(at);
    } else if (key.texts != nullptr) {
        rows.add_text(at, key.texts->texts[above]);
    } else if (key.value.kind == ExprKind::kColumn &&
               last().data.columns[static_cast<size_t>(key.value.index)].dictionary) {
        rows.add_text(
            at,
            column_of(last(), bound_, key.value.index)->texts->text(static_cast<uint32_t>(value)));
    } else {
        rows.add_integer(at, value);
    }
}

}  // namespace loom::gpu
