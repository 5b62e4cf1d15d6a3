// What comes back of groups.

#include <algorithm>
#include <map>

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

std::unique_ptr<DeviceRows> Groups::collect(Results& results, PartialGroups* partial) {
    auto rows = std::make_unique<DeviceRows>(aggregate_.output);
    DeviceRows& to = partial != nullptr ? partial->keys : *rows;
    if (partial != nullptr) {
        partial->results.clear();
        for (const Result& result : results_) partial->results.push_back(result.made);
    }
    const bool all = table_.hashed.empty() ? collect_numbers(results, to, partial)
                                           : collect_words(results, to, partial);
    return all ? std::move(rows) : nullptr;
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

// False where there are more groups than planned; nothing has been added then.
bool Groups::collect_numbers(Results& results, DeviceRows& rows, PartialGroups* partial) {
    std::vector<uint32_t> counts;
    uint64_t groups = 1;
    if (!count_parts(results, counts, groups)) {
        words_only_ = true;
        return false;
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
    const bool always = table_.parts.empty() && !aggregate_.grouped;
    for (uint64_t g = 0; g < groups; ++g) {
        if (seen[g] == 0 && !always) continue;
        put_parts(g, counts, keys, words, rows);
        put_results(sums, g, seen[g] != 0, rows, partial);
        rows.end_row();
    }
    return true;
}

bool Groups::collect_words(Results& results, DeviceRows& rows, PartialGroups* partial) {
    uint32_t count = 0;
    results.download(&count, table_.set_count, sizeof count);
    results.wait();
    if (count > table_.most) {
        grow();
        return false;
    }
    std::vector<uint64_t> words(count);
    Words sums = download_sums(results, count);
    if (count > 0) results.download(words.data(), table_.set_in_order, count * uint64_t{8});
    results.wait();
    std::vector<bool> merged(count);
    if (merges_) merge(sums, words, merged);
    for (uint32_t g = 0; g < count; ++g) {
        if (merged[g]) continue;
        for (const GroupKey& key : table_.hashed)
            if (key.is_value()) put_key(key, part_of(words[g], key), rows);
        for (const GroupKey& key : table_.carried)
            put_key(key, sums[static_cast<size_t>(key.word)][g], rows);
        put_results(sums, g, true, rows, partial);
        rows.end_row();
    }
    return true;
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

void Groups::put_results(const Words& sums, uint64_t group, bool seen, DeviceRows& rows,
                         PartialGroups* partial) const {
    for (size_t i = 0; i < results_.size(); ++i) {
        const GroupState state = state_of(sums, group, seen, results_[i]);
        const size_t column = aggregate_.group_keys.size() + i;
        if (partial != nullptr)
            partial->states.push_back(state);
        else
            put_result(results_[i].made, state, aggregate_.output[column], column, rows);
    }
}

GroupState Groups::state_of(const Words& sums, uint64_t group, bool seen,
                            const Result& result) const {
    const auto word = [&](int accumulator, int at = 0) {
        const Accumulator& of = table_.accumulators[static_cast<size_t>(accumulator)];
        return sums[static_cast<size_t>(of.word + at)][group];
    };
    GroupState state;
    switch (result.made.kind) {
        case AggregateKind::kCount:
        case AggregateKind::kCountRows:
            state.value = static_cast<int64_t>(word(result.value));
            return state;
        case AggregateKind::kSum:
        case AggregateKind::kAverage:
            state.value = static_cast<int64_t>(word(result.value));
            if (table_.accumulators[static_cast<size_t>(result.value)].kind ==
                Accumulator::Kind::kWideSum)
                state.value = static_cast<__int128>(
                    static_cast<unsigned __int128>(word(result.value, 1)) << 64 |
                    word(result.value));
            state.scale = result.scale;
            if (result.shown >= 0)
                state.shown = static_cast<int>(of_order_word<false>(word(result.shown)));
            break;
        default:
            state.value = result.made.least ? of_order_word<true>(word(result.value))
                                            : of_order_word<false>(word(result.value));
    }
    state.count = !seen ? 0 : result.count >= 0 ? static_cast<int64_t>(word(result.count)) : 1;
    return state;
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
