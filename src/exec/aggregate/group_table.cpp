#include "exec/aggregate/group_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/fault.h"
#include "exec/key.h"
#include "exec/key_hasher.h"

namespace loom::exec {

using plan::Physical;

namespace {

// Code tuples up to this many are looked up in an array; it stays in the second-level cache.
constexpr int64_t kMaxDirect = 1 << 16;
constexpr uint64_t kFirstSize = 256;
// Integers within a range up to this are looked up in an array: 4 MB, of which only the lines in
// use are in a cache.
constexpr int64_t kMaxRange = 1 << 20;
// Groups merged between two looks at the stop token: some milliseconds.
constexpr int64_t kGroupsPerPoll = 1 << 15;
// Rows hashed and fetched ahead together: their table entries stay in the first-level cache.
constexpr int64_t kAhead = 256;

struct Entry {
    uint32_t tag;
    uint32_t group;  ///< + 1; 0 is free
};

void gather_values_by_code(const Vector& codes, const uint32_t* values, int64_t count,
                           uint32_t* out) {
    if (codes.code_width == 1)
        gather_values(values, sizeof *values, codes.as<uint8_t>(), count, out);
    else if (codes.code_width == 2)
        gather_values(values, sizeof *values, codes.as<uint16_t>(), count, out);
    else
        gather_values(values, sizeof *values, codes.as<uint32_t>(), count, out);
}

// Floats are no words: -0 and 0 are one group, which is shown as the zero that came first.
bool is_word(Physical physical) {
    switch (physical) {
        case Physical::kFloat32:
        case Physical::kFloat64:
        case Physical::kInt128:
        case Physical::kBytes:
        case Physical::kInterval:
        case Physical::kUuid:
        case Physical::kDecimal:
            return false;
        default:
            return true;
    }
}

}  // namespace

GroupTable::GroupTable(std::vector<plan::Type> keys, base::MemoryBudget* budget)
    : types_(std::move(keys)),
      budget_(budget),
      words_(types_.size() + 1),
      group_words_(budget),
      table_(budget),
      row_words_(budget),
      direct_(budget),
      places_(budget) {
    range_.groups = base::Buffer(budget);
    range_.places = base::Buffer(budget);
    if (types_.size() > 64) throw Unrepresentable("more than 64 group keys");
    for (const plan::Type type : types_) {
        KeyState state;
        state.physical = plan::physical(type);
        state.values = base::Buffer(budget);
        state.validity = base::Buffer(budget);
        if (!is_word(state.physical)) state.interner = std::make_unique<Interner>(type, budget);
        keys_.push_back(std::move(state));
    }
    range_.usable = keys_.size() == 1 && is_integer(keys_[0].physical);
    numbers_.usable =
        keys_.size() > 1 && std::all_of(keys_.begin(), keys_.end(),
                                        [](const auto& key) { return key.interner != nullptr; });
    numbers_.bits.assign(keys_.size(), -1);
    numbers_.groups = base::Buffer(budget);
    numbers_.of_rows = base::Buffer(budget);
    grow(kFirstSize);
}

void GroupTable::reserve(int64_t groups) {
    if (groups > capacity_) {
        capacity_ = groups;
        group_words_.resize(static_cast<uint64_t>(capacity_) * words_ * sizeof(uint64_t));
    }
    if (one_interned()) {
        keys_[0].interner->reserve(groups);
        return;
    }
    const uint64_t size = std::bit_ceil(static_cast<uint64_t>(groups) * 2 + 1);
    if (size > mask_ + 1) grow(size);
}

void GroupTable::grow(uint64_t size) {
    table_.resize_discarding(size * sizeof(Entry));
    std::memset(table_.data(), 0, size * sizeof(Entry));
    mask_ = size - 1;
    auto* table = table_.as<Entry>();
    const auto* words = group_words_.as<uint64_t>();
    uint64_t hashes[kAhead];
    for (int64_t group = 0; group < groups_; ++group) {
        const int64_t ahead = group % kAhead;
        if (group % kGroupsPerPoll == kGroupsPerPoll - 1) poll_thread();
        if (ahead == 0)
            hash_words(words + group * static_cast<int64_t>(words_),
                       std::min(kAhead, groups_ - group), hashes);
        const uint64_t hash = hashes[ahead];
        uint64_t place = hash & mask_;
        while (table[place].group != 0) place = (place + 1) & mask_;
        table[place] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(group + 1)};
    }
}

// Hashes keys as KeyHasher does.
void GroupTable::hash_words(const uint64_t* words, int64_t count, uint64_t* hashes) const {
    const auto stride = static_cast<int64_t>(words_);
    const uint64_t* nulls = words + words_ - 1;
    for (size_t k = 0; k < keys_.size(); ++k) {
        const Interner* interner = keys_[k].interner.get();
        const bool first = k == 0;
        for (int64_t i = 0; i < count; ++i) {
            const uint64_t word = words[i * stride + static_cast<int64_t>(k)];
            uint64_t hash = kNullHash;
            if ((nulls[i * stride] >> k & 1) == 0)
                hash = interner != nullptr ? interner->hash_of(word) : mix(word);
            hashes[i] = add_to_key(hashes[i], hash, first);
        }
    }
}

void GroupTable::hash_groups(uint64_t* hashes) const {
    for (int64_t begin = 0; begin < groups_; begin += kGroupsPerPoll) {
        poll_thread();
        hash_words(group_words_.as<uint64_t>() + begin * static_cast<int64_t>(words_),
                   std::min(kGroupsPerPoll, groups_ - begin), hashes + begin);
    }
}

// Of one key whose values are interned, the number leads to the group; the table is not used.
uint32_t GroupTable::find_or_add_interned(const uint64_t* words) {
    const auto entries = static_cast<size_t>(keys_[0].interner->entries().length());
    if (group_of_entry_.size() < entries) group_of_entry_.resize(entries, 0);
    uint32_t& group = words[1] != 0 ? null_group_ : group_of_entry_[words[0]];
    if (group == 0) group = add_group(words) + 1;
    return group - 1;
}

uint32_t GroupTable::find_or_add(const uint64_t* words) {
    if (one_interned()) return find_or_add_interned(words);
    uint64_t hash = 0;
    hash_words(words, 1, &hash);
    return find_or_add(words, hash);
}

uint32_t GroupTable::find_or_add(const uint64_t* words, uint64_t hash) {
    const auto tag = static_cast<uint32_t>(hash >> 32);
    auto* table = table_.as<Entry>();
    uint64_t place = hash & mask_;
    for (; table[place].group != 0; place = (place + 1) & mask_) {
        if (table[place].tag != tag) continue;
        const uint64_t* known = group_words_.as<uint64_t>() + (table[place].group - 1) * words_;
        if (std::memcmp(known, words, words_ * sizeof(uint64_t)) == 0)
            return table[place].group - 1;
    }
    const uint32_t group = add_group(words);
    table[place] = {tag, group + 1};
    if (static_cast<uint64_t>(groups_) * 2 > mask_) grow((mask_ + 1) * 2);
    return group;
}

uint32_t GroupTable::add_group(const uint64_t* words) {
    if (groups_ == capacity_) {
        if (groups_ >= INT32_MAX) throw Unrepresentable("more than 2,147,483,647 groups");
        capacity_ = std::max<int64_t>(256, capacity_ * 2);
        group_words_.resize(static_cast<uint64_t>(capacity_) * words_ * sizeof(uint64_t));
    }
    const auto group = static_cast<uint32_t>(groups_++);
    std::memcpy(group_words_.as<uint64_t>() + group * words_, words, words_ * sizeof(uint64_t));
    return group;
}

void GroupTable::learn_dictionary(KeyState& state, const Vector& key) {
    if (state.version == key.dictionary->version) return;
    const Vector& entries = key.dictionary->values;
    const auto count = static_cast<size_t>(entries.length);
    state.code_words.assign(std::max<size_t>(count, 1), 0);
    state.code_nulls.assign(std::max<size_t>(count, 1), 0);
    for (size_t i = 0; i < count; ++i) {
        const auto row = static_cast<int64_t>(i);
        if (entries.is_null(row))
            state.code_nulls[i] = 1;
        else
            state.code_words[i] = state.interner != nullptr
                                      ? state.interner->intern(entries, row)
                                      : key_word(entries, state.physical, row);
    }
    state.entries = static_cast<int64_t>(count);
    state.version = key.dictionary->version;
}

// Fills column `key` of the row words; the NULL word is the last.
void GroupTable::words_of(size_t key, const Vector& vector, int64_t count) {
    KeyState& state = keys_[key];
    auto* words = row_words_.as<uint64_t>() + key;
    auto* nulls = row_words_.as<uint64_t>() + words_ - 1;
    const uint64_t null_bit = uint64_t{1} << key;
    if (vector.form == Form::kCodes) {
        learn_dictionary(state, vector);
        for (int64_t i = 0; i < count; ++i) {
            const uint32_t code = vector.code(i);
            const bool null = vector.is_null(i) || state.code_nulls[code] != 0;
            words[i * static_cast<int64_t>(words_)] = null ? 0 : state.code_words[code];
            if (null) nulls[i * static_cast<int64_t>(words_)] |= null_bit;
        }
        return;
    }
    const Vector plain = to_plain(vector, state.values, state.validity);
    uint64_t numbers[kBatchRows];
    if (state.interner != nullptr) state.interner->intern_all(plain, numbers);
    for (int64_t i = 0; i < count; ++i) {
        const auto place = i * static_cast<int64_t>(words_);
        if (plain.is_null(i)) {
            words[place] = 0;
            nulls[place] |= null_bit;
        } else {
            words[place] =
                state.interner != nullptr ? numbers[i] : key_word(plain, state.physical, i);
        }
    }
}

void GroupTable::assign_words(int64_t count, uint32_t* ids) {
    const auto stride = static_cast<int64_t>(words_);
    uint64_t hashes[kAhead];
    for (int64_t begin = 0; begin < count; begin += kAhead) {
        const uint64_t* words = row_words_.as<uint64_t>() + begin * stride;
        const int64_t rows = std::min(kAhead, count - begin);
        hash_words(words, rows, hashes);
        for (int64_t i = 0; i < rows; ++i)
            __builtin_prefetch(table_.as<Entry>() + (hashes[i] & mask_));
        // What the first look into the table names is most often the group.
        for (int64_t i = 0; i < rows; ++i) {
            const uint32_t group = table_.as<Entry>()[hashes[i] & mask_].group;
            if (group != 0) __builtin_prefetch(group_words_.as<uint64_t>() + (group - 1) * words_);
        }
        for (int64_t i = 0; i < rows; ++i)
            ids[begin + i] = find_or_add(words + i * stride, hashes[i]);
    }
}

void GroupTable::assign_interned(int64_t count, uint32_t* ids) {
    const auto entries = static_cast<size_t>(keys_[0].interner->entries().length());
    if (group_of_entry_.size() < entries) group_of_entry_.resize(entries, 0);
    const uint32_t* groups = group_of_entry_.data();
    const auto* words = row_words_.as<uint64_t>();
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t* row = words + i * 2;
        const uint32_t group = row[1] == 0 ? groups[row[0]] : 0;
        ids[i] = group != 0 ? group - 1 : find_or_add_interned(row);
    }
}

bool GroupTable::assign_by_codes(std::span<const Vector> keys, int64_t count, uint32_t* ids) {
    int64_t size = 1;
    bool same = direct_versions_.size() == keys.size();
    for (size_t k = 0; k < keys.size(); ++k) {
        if (keys[k].form != Form::kCodes) return false;
        size *= keys[k].dictionary->values.length + 1;  // one place for NULL
        if (size > kMaxDirect) return false;
        same = same && direct_versions_[k] == keys[k].dictionary->version;
    }
    if (!same) {
        // Clearing the array must pay: with a dictionary a row group it is cleared as often.
        direct_.resize_discarding(static_cast<uint64_t>(size) * sizeof(uint32_t));
        std::memset(direct_.data(), 0, static_cast<size_t>(size) * sizeof(uint32_t));
        direct_versions_.clear();
        for (const Vector& key : keys) direct_versions_.push_back(key.dictionary->version);
    }
    places_.resize_discarding(static_cast<uint64_t>(count) * sizeof(uint32_t));
    auto* places = places_.as<uint32_t>();
    std::fill_n(places, count, 0);
    uint32_t stride = 1;
    for (const Vector& key : keys) {
        const auto entries = static_cast<uint32_t>(key.dictionary->values.length);
        const auto add = [&]<typename Code>(const Code* codes) {
            if (key.validity == nullptr)
                for (int64_t i = 0; i < count; ++i) places[i] += codes[i] * stride;
            else
                for (int64_t i = 0; i < count; ++i)
                    places[i] += (base::bit_at(key.validity, i) ? codes[i] : entries) * stride;
        };
        if (key.code_width == 1)
            add(key.as<uint8_t>());
        else if (key.code_width == 2)
            add(key.as<uint16_t>());
        else
            add(key.as<uint32_t>());
        stride *= entries + 1;
    }
    auto* direct = direct_.as<uint32_t>();
    bool missing = false;
    for (int64_t i = 0; i < count; ++i) {
        ids[i] = direct[places[i]] - 1;
        missing |= direct[places[i]] == 0;
    }
    if (!missing) return true;
    for (size_t k = 0; k < keys.size(); ++k) learn_dictionary(keys_[k], keys[k]);
    uint64_t words[65];
    for (int64_t i = 0; i < count; ++i) {
        uint32_t& group = direct[places[i]];
        if (group == 0) {
            words[keys.size()] = 0;
            for (size_t k = 0; k < keys.size(); ++k) {
                const uint32_t code = keys[k].code(i);
                const bool null = keys[k].is_null(i) || keys_[k].code_nulls[code] != 0;
                words[k] = null ? 0 : keys_[k].code_words[code];
                words[keys.size()] |= null ? uint64_t{1} << k : 0;
            }
            group = find_or_add(words) + 1;
        }
        ids[i] = group - 1;
    }
    return true;
}

// Sets numbers[i] to that of row i's value and 1, or to 0 for NULL.
void GroupTable::numbers_of(size_t key, const Vector& vector, int64_t count, uint64_t* numbers) {
    KeyState& state = keys_[key];
    if (vector.form == Form::kCodes) {
        learn_dictionary(state, vector);
        for (int64_t i = 0; i < count; ++i) {
            const uint32_t code = vector.code(i);
            const bool null = vector.is_null(i) || state.code_nulls[code] != 0;
            numbers[i] = null ? 0 : state.code_words[code] + 1;
        }
        return;
    }
    const Vector plain = to_plain(vector, state.values, state.validity);
    state.interner->intern_all(plain, numbers);
    for (int64_t i = 0; i < count; ++i) numbers[i] = plain.is_null(i) ? 0 : numbers[i] + 1;
}

// Makes the array reach as far as the numbers of all keys; false if that is too far.
bool GroupTable::make_room_for_numbers() {
    std::vector<int> bits = numbers_.bits;
    int all_bits = 0;
    for (size_t k = 0; k < keys_.size(); ++k) {
        const auto most = static_cast<uint64_t>(keys_[k].interner->entries().length());
        bits[k] = std::max<int>(bits[k], std::bit_width(most));
        all_bits += bits[k];
    }
    if (bits == numbers_.bits) return true;
    numbers_.usable = all_bits < 32 && int64_t{1} << all_bits <= kMaxDirect;
    if (!numbers_.usable) {
        numbers_.groups.release();
        numbers_.of_rows.release();
        return false;
    }
    const size_t bytes = sizeof(uint32_t) << all_bits;
    numbers_.bits.assign(keys_.size(), -1);  // should there be no memory
    numbers_.groups.resize_discarding(bytes);
    std::memset(numbers_.groups.data(), 0, bytes);
    numbers_.bits = std::move(bits);
    return true;
}

bool GroupTable::assign_by_numbers(std::span<const Vector> keys, int64_t count, uint32_t* ids) {
    numbers_.of_rows.resize_discarding(static_cast<uint64_t>(count) * keys.size() *
                                       sizeof(uint64_t));
    auto* const numbers = numbers_.of_rows.as<uint64_t>();
    for (size_t k = 0; k < keys.size(); ++k)
        numbers_of(k, keys[k], count, numbers + static_cast<int64_t>(k) * count);
    if (!make_room_for_numbers()) return false;
    places_.resize_discarding(static_cast<uint64_t>(count) * sizeof(uint32_t));
    auto* places = places_.as<uint32_t>();
    std::fill_n(places, count, 0);
    for (size_t k = 0; k < keys.size(); ++k)
        for (int64_t i = 0; i < count; ++i)
            places[i] = places[i] << numbers_.bits[k] |
                        static_cast<uint32_t>(numbers[static_cast<int64_t>(k) * count + i]);
    auto* groups = numbers_.groups.as<uint32_t>();
    bool missing = false;
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t group = groups[places[i]];
        ids[i] = group - 1;
        missing |= group == 0;
    }
    if (!missing) return true;
    uint64_t words[65];
    for (int64_t i = 0; i < count; ++i) {
        uint32_t& group = groups[places[i]];
        if (group == 0) {
            words[keys.size()] = 0;
            for (size_t k = 0; k < keys.size(); ++k) {
                const uint64_t number = numbers[static_cast<int64_t>(k) * count + i];
                words[k] = number == 0 ? 0 : number - 1;
                words[keys.size()] |= number == 0 ? uint64_t{1} << k : 0;
            }
            group = find_or_add(words) + 1;
        }
        ids[i] = group - 1;
    }
    return true;
}

// Makes the array reach from `lowest` to `highest`; false if that is too far.
bool GroupTable::widen_range(int64_t lowest, int64_t highest) {
    Range& range = range_;
    if (range.size > 0) {
        lowest = std::min(lowest, range.lowest);
        highest = std::max(highest, range.lowest + range.size - 1);
    }
    int64_t distance;
    range.usable = !__builtin_sub_overflow(highest, lowest, &distance) && distance < kMaxRange;
    if (!range.usable) {
        range.groups.release();
        return false;
    }
    // Some room on both sides, so that a slowly growing range is not made anew each time.
    const int64_t room = std::min(distance / 2, (kMaxRange - distance - 1) / 2);
    range.lowest = lowest < INT64_MIN + room ? INT64_MIN : lowest - room;
    range.size = distance + 1 + 2 * room;
    range.version = 0;
    range.groups.resize_discarding(static_cast<uint64_t>(range.size) * sizeof(uint32_t));
    std::memset(range.groups.data(), 0, static_cast<size_t>(range.size) * sizeof(uint32_t));
    auto* groups = range.groups.as<uint32_t>();
    const auto* words = group_words_.as<uint64_t>();
    for (int64_t group = 0; group < groups_; ++group)
        if (words[group * 2 + 1] == 0) {
            const uint64_t offset = words[group * 2] - static_cast<uint64_t>(range.lowest);
            if (offset < static_cast<uint64_t>(range.size))
                groups[offset] = static_cast<uint32_t>(group + 1);
        }
    return true;
}

namespace {

template <typename T>
void lowest_and_highest(const T* values, int64_t count, int64_t* lowest, int64_t* highest) {
    T low = values[0];
    T high = values[0];
    for (int64_t i = 1; i < count; ++i) {
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
    }
    *lowest = low;
    *highest = high;
}

// Calls body(values) with the typed values of a plain vector of integers.
template <typename Body>
void with_integers(const Vector& vector, Physical physical, Body&& body) {
    if (physical == Physical::kInt16)
        body(vector.as<int16_t>());
    else if (physical == Physical::kInt32)
        body(vector.as<int32_t>());
    else
        body(vector.as<int64_t>());
}

}  // namespace

bool GroupTable::assign_by_range(const Vector& key, int64_t count, uint32_t* ids) {
    Range& range = range_;
    if (key.form == Form::kConstant || key.validity != nullptr) return false;
    const Physical physical = keys_[0].physical;
    const bool codes = key.form == Form::kCodes;
    const Vector& plain = codes ? key.dictionary->values : key;
    if (codes && (plain.validity != nullptr || plain.length == 0)) return false;
    const bool known = codes && range.version == key.dictionary->version;
    if (!known) {
        int64_t lowest = 0;
        int64_t highest = 0;
        with_integers(plain, physical, [&](const auto* values) {
            lowest_and_highest(values, codes ? plain.length : count, &lowest, &highest);
        });
        if (range.size == 0 || lowest < range.lowest || highest - range.lowest >= range.size)
            if (!widen_range(lowest, highest)) return false;
    }
    const auto base = static_cast<uint64_t>(range.lowest);
    if (codes && !known) {
        range.offsets.resize(static_cast<size_t>(plain.length));
        with_integers(plain, physical, [&](const auto* values) {
            for (int64_t i = 0; i < plain.length; ++i)
                range.offsets[static_cast<size_t>(i)] =
                    static_cast<uint32_t>(static_cast<uint64_t>(int64_t{values[i]}) - base);
        });
        range.version = key.dictionary->version;
    }
    range.places.resize_discarding(static_cast<uint64_t>(count) * sizeof(uint32_t));
    auto* places = range.places.as<uint32_t>();
    if (codes)
        gather_values_by_code(key, range.offsets.data(), count, places);
    else
        with_integers(plain, physical, [&](const auto* values) {
            for (int64_t i = 0; i < count; ++i)
                places[i] = static_cast<uint32_t>(static_cast<uint64_t>(int64_t{values[i]}) - base);
        });
    auto* groups = range.groups.as<uint32_t>();
    bool missing = false;
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t group = groups[places[i]];
        ids[i] = group - 1;
        missing |= group == 0;
    }
    if (!missing) return true;
    for (int64_t i = 0; i < count; ++i) {
        uint32_t& group = groups[places[i]];
        if (group == 0) {
            const uint64_t words[] = {base + places[i], 0};
            group = find_or_add(words) + 1;
        }
        ids[i] = group - 1;
    }
    return true;
}

void GroupTable::assign(std::span<const Vector> keys, int64_t count, uint32_t* ids) {
    if (count == 0) return;
    if (range_.usable && assign_by_range(keys[0], count, ids)) return;
    if (assign_by_codes(keys, count, ids)) return;
    if (numbers_.usable && assign_by_numbers(keys, count, ids)) return;
    const uint64_t bytes = static_cast<uint64_t>(count) * words_ * sizeof(uint64_t);
    row_words_.resize_discarding(bytes);
    auto* nulls = row_words_.as<uint64_t>() + words_ - 1;
    for (int64_t i = 0; i < count; ++i) nulls[i * static_cast<int64_t>(words_)] = 0;
    for (size_t k = 0; k < keys.size(); ++k) words_of(k, keys[k], count);
    if (one_interned())
        assign_interned(count, ids);
    else
        assign_words(count, ids);
}

// Of one key whose values are interned, each group has a value of its own.
void GroupTable::assign_interned_groups(const GroupTable& other, std::span<GroupPair> map) {
    const auto* groups = other.group_words_.as<uint64_t>();
    uint64_t entries[kAhead];
    uint64_t numbers[kAhead];
    for (size_t begin = 0; begin < map.size(); begin += kAhead) {
        const std::span<GroupPair> some =
            map.subspan(begin, std::min<size_t>(kAhead, map.size() - begin));
        for (const GroupPair& pair : some) __builtin_prefetch(groups + pair.from * 2);
        size_t count = 0;
        for (const GroupPair& pair : some)
            if (groups[pair.from * 2 + 1] == 0) entries[count++] = groups[pair.from * 2];
        keys_[0].interner->intern_entries(*other.keys_[0].interner, {entries, count}, numbers);
        count = 0;
        for (GroupPair& pair : some) {
            const uint64_t null = groups[pair.from * 2 + 1];
            const uint64_t words[] = {null == 0 ? numbers[count++] : 0, null};
            pair.to = find_or_add_interned(words);
        }
    }
}

void GroupTable::assign_groups(const GroupTable& other, GroupMap& map, const Poll& poll) {
    if (one_interned()) {
        for (size_t begin = 0; begin < map.size(); begin += kGroupsPerPoll) {
            poll();
            assign_interned_groups(
                other, std::span(map).subspan(
                           begin, std::min<size_t>(kGroupsPerPoll, map.size() - begin)));
        }
        return;
    }
    // Numbers of the other table's interned values here, as they come up.
    std::vector<std::vector<uint32_t>> interned(keys_.size());
    std::vector<Vector> entries(keys_.size());
    for (size_t k = 0; k < keys_.size(); ++k) {
        if (other.keys_[k].interner == nullptr) continue;
        entries[k] = other.keys_[k].interner->entries().view();
        interned[k].assign(static_cast<size_t>(entries[k].length), 0);
    }
    std::vector<uint64_t> words(words_);
    for (size_t i = 0; i < map.size(); ++i) {
        if (i % kGroupsPerPoll == 0) poll();
        const uint64_t* from = other.group_words_.as<uint64_t>() + map[i].from * words_;
        std::copy_n(from, words_, words.begin());
        for (size_t k = 0; k < keys_.size(); ++k) {
            if (interned[k].empty() || (from[words_ - 1] >> k & 1) != 0) continue;
            uint32_t& number = interned[k][from[k]];
            if (number == 0)
                number = keys_[k].interner->intern(entries[k], static_cast<int64_t>(from[k])) + 1;
            words[k] = number - 1;
        }
        map[i].to = find_or_add(words.data());
    }
}

namespace {

template <typename T>
void put_word(uint64_t word, uint8_t* place) {
    const auto value = static_cast<T>(word);
    std::memcpy(place, &value, sizeof value);
}

void put_word(uint64_t word, Physical physical, uint8_t* place) {
    switch (physical) {
        case Physical::kBool:
            return put_word<uint8_t>(word, place);
        case Physical::kInt16:
            return put_word<int16_t>(word, place);
        case Physical::kInt32:
            return put_word<int32_t>(word, place);
        default:
            return put_word<int64_t>(word, place);
    }
}

}  // namespace

Vector GroupTable::view(size_t key, base::Buffer& values, base::Buffer& validity) const {
    const KeyState& state = keys_[key];
    const int width = plan::width(state.physical);
    values.resize_discarding(static_cast<uint64_t>(groups_) * width);
    validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(groups_)));
    const auto* words = group_words_.as<uint64_t>();
    const uint8_t* entries =
        state.interner != nullptr ? state.interner->entries().values<uint8_t>() : nullptr;
    for (int64_t group = 0; group < groups_; ++group) {
        if (group % kGroupsPerPoll == kGroupsPerPoll - 1) poll_thread();
        const uint64_t* from = words + group * static_cast<int64_t>(words_);
        const bool null = (from[words_ - 1] >> key & 1) != 0;
        base::put_bit(validity.data(), group, !null);
        uint8_t* place = values.data() + group * width;
        if (null)
            std::memset(place, 0, static_cast<size_t>(width));
        else if (entries != nullptr)
            std::memcpy(place, entries + from[key] * static_cast<uint64_t>(width),
                        static_cast<size_t>(width));
        else
            put_word(from[key], state.physical, place);
    }
    Vector vector;
    vector.type = types_[key];
    vector.length = groups_;
    vector.values = values.data();
    vector.validity = validity.data();
    return vector;
}

void GroupTable::output(size_t key, StoredColumn& out) const {
    base::Buffer values(budget_);
    base::Buffer validity(budget_);
    out.append(view(key, values, validity));
}

void GroupTable::hash_key(size_t key, uint64_t* hashes) const {
    const auto* words = group_words_.as<uint64_t>();
    const Interner* interner = keys_[key].interner.get();
    for (int64_t group = 0; group < groups_; ++group, words += words_)
        hashes[group] = (words[words_ - 1] >> key & 1) != 0 ? kNullHash
                        : interner != nullptr               ? interner->hash_of(words[key])
                                                            : mix(words[key]);
}

void GroupTable::list_texts(KnownTexts& texts) const {
    const Interner& interner = *keys_[0].interner;
    const auto* entries = interner.entries().values<column::BytesView>();
    const auto* words = group_words_.as<uint64_t>();
    for (int64_t group = 0; group < groups_; ++group, words += words_)
        if (words[1] == 0)
            texts.add(entries[words[0]], interner.hash_of(words[0]), static_cast<uint32_t>(group));
}

bool GroupTable::contains(const uint64_t* words, uint64_t hash) const noexcept {
    const auto tag = static_cast<uint32_t>(hash >> 32);
    const auto* table = table_.as<Entry>();
    for (uint64_t place = hash & mask_; table[place].group != 0; place = (place + 1) & mask_) {
        if (table[place].tag != tag) continue;
        const uint64_t* known = group_words_.as<uint64_t>() + (table[place].group - 1) * words_;
        if (std::memcmp(known, words, words_ * sizeof(uint64_t)) == 0) return true;
    }
    return false;
}

void GroupTable::drop_known(const uint32_t* groups, const Vector& values, const uint64_t* hashes,
                            uint64_t* rows) const {
    const KeyState& state = keys_.back();
    const auto word_of_group = [&](int64_t row) {
        return static_cast<uint64_t>(int64_t{static_cast<int32_t>(groups[row])});
    };
    const auto hash_of = [&](int64_t row) {
        return groups == nullptr ? hashes[row] : combine(mix(word_of_group(row)), hashes[row]);
    };
    const bool pairs = state.interner == nullptr || groups != nullptr;
    int64_t numbers[Interner::kAhead];
    for (int64_t begin = 0; begin < values.length; begin += Interner::kAhead) {
        static_assert(Interner::kAhead == 64);
        if (rows[begin >> 6] == 0) continue;
        const int64_t end = std::min(values.length, begin + Interner::kAhead);
        if (pairs)
            for (int64_t i = begin; i < end; ++i)
                __builtin_prefetch(table_.as<Entry>() + (hash_of(i) & mask_));
        if (state.interner != nullptr)
            state.interner->find_all(values, begin, end - begin, hashes + begin, numbers);
        for (int64_t i = begin; i < end; ++i) {
            if ((rows[i >> 6] >> (i & 63) & 1) == 0) continue;
            uint64_t words[3] = {};
            uint64_t* value = words;
            if (groups != nullptr) *value++ = word_of_group(i);
            bool known = true;
            if (state.interner != nullptr) {
                known = numbers[i - begin] >= 0;
                *value = static_cast<uint64_t>(numbers[i - begin]);
            } else {
                *value = key_word(values, state.physical, i);
            }
            // Each interned value of a table with one key is a group.
            if (known && pairs) known = contains(words, hash_of(i));
            if (known) rows[i >> 6] &= ~(uint64_t{1} << (i & 63));
        }
    }
}

}  // namespace loom::exec
