// approx_count_distinct: a HyperLogLog sketch a group. Groups of few values keep a list of the
// registers that are not 0, which has the same estimate.

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "exec/aggregate/distinct_hash.h"
#include "exec/aggregate/families.h"
#include "sql/hyperloglog.h"

namespace loom::exec {

using plan::Physical;
using plan::TypeId;
using sql::SketchEntry;

namespace {

// Blocks of one size, numbered from 1, zeroed.
class Blocks {
  public:
    Blocks(int64_t bytes, base::MemoryBudget* budget) : bytes_(bytes), buffer_(budget) {}

    uint32_t take() {
        if (!free_.empty()) {
            const uint32_t number = free_.back();
            free_.pop_back();
            return number;
        }
        if (count_ == capacity_) {
            capacity_ = std::max<int64_t>(4, capacity_ * 2);
            buffer_.resize(static_cast<uint64_t>(capacity_ * bytes_));
        }
        ++count_;
        std::memset(at(static_cast<uint32_t>(count_)), 0, static_cast<size_t>(bytes_));
        return static_cast<uint32_t>(count_);
    }
    void give_back(uint32_t number) {
        std::memset(at(number), 0, static_cast<size_t>(bytes_));
        free_.push_back(number);
    }
    uint8_t* at(uint32_t number) { return buffer_.data() + (number - 1) * bytes_; }

  private:
    int64_t bytes_;
    base::Buffer buffer_;
    int64_t count_ = 0;
    int64_t capacity_ = 0;
    std::vector<uint32_t> free_;
};

// A register that is not 0: its index above its rank.
uint32_t packed(SketchEntry entry) {
    return static_cast<uint32_t>(entry.index) << 8 | entry.rank;
}
SketchEntry unpacked(uint32_t entry) {
    return {static_cast<uint16_t>(entry >> 8), static_cast<uint8_t>(entry)};
}

constexpr uint32_t kInGroup = 4;
// A look through so many is still faster than the cache misses of all registers.
constexpr uint32_t kInList = 64;

// Sketches by group, which grow from a few registers in the group's own state over a list to all.
class Sketches {
  public:
    explicit Sketches(base::MemoryBudget* budget)
        : groups_(budget),
          lists_(kInList * sizeof(uint32_t), budget),
          registers_(sql::kSketchRegisters, budget) {}

    void resize(int64_t groups) { groups_.resize(groups); }

    void add(uint32_t group, SketchEntry entry) {
        Group& state = groups_[group];
        if (state.registers != 0) return raise(registers_.at(state.registers), entry);
        uint32_t* entries = list(state);
        for (uint32_t i = 0; i < state.count; ++i) {
            if (entries[i] >> 8 != entry.index) continue;
            entries[i] = std::max(entries[i], packed(entry));
            return;
        }
        if (state.count == (state.list != 0 ? kInList : kInGroup)) {
            if (grow(state)) return raise(registers_.at(state.registers), entry);
            entries = list(state);
        }
        entries[state.count++] = packed(entry);
    }

    void merge(uint32_t group, Sketches& from, uint32_t other) {
        const Group& source = from.groups_[other];
        if (source.registers == 0) {
            const uint32_t* entries = from.list(from.groups_[other]);
            for (uint32_t i = 0; i < source.count; ++i) add(group, unpacked(entries[i]));
            return;
        }
        Group& state = groups_[group];
        while (state.registers == 0) grow(state);
        uint8_t* into = registers_.at(state.registers);
        const uint8_t* registers = from.registers_.at(source.registers);
        for (int i = 0; i < sql::kSketchRegisters; ++i) into[i] = std::max(into[i], registers[i]);
    }

    int64_t estimate(int64_t group) {
        Group& state = groups_[group];
        if (state.registers != 0) return sql::sketch_estimate(registers_.at(state.registers));
        sql::RankCounts counts;
        counts.of[0] = sql::kSketchRegisters - static_cast<int32_t>(state.count);
        const uint32_t* entries = list(state);
        for (uint32_t i = 0; i < state.count; ++i) ++counts.of[unpacked(entries[i]).rank];
        return sql::sketch_estimate(counts);
    }

  private:
    struct Group {
        uint32_t few[kInGroup];
        uint32_t count;      // of registers in `few` or the list
        uint32_t list;       // number of a block, or 0
        uint32_t registers;  // likewise
    };

    static void raise(uint8_t* registers, SketchEntry entry) {
        registers[entry.index] = std::max(registers[entry.index], entry.rank);
    }
    uint32_t* list(Group& state) {
        return state.list != 0 ? reinterpret_cast<uint32_t*>(lists_.at(state.list)) : state.few;
    }
    // Goes on to the next form; tells whether that has all registers.
    bool grow(Group& state) {
        if (state.list == 0) {
            const uint32_t number = lists_.take();
            std::memcpy(lists_.at(number), state.few, state.count * sizeof(uint32_t));
            state.list = number;
            return false;
        }
        state.registers = registers_.take();
        uint8_t* registers = registers_.at(state.registers);
        const uint32_t* entries = list(state);
        for (uint32_t i = 0; i < state.count; ++i) raise(registers, unpacked(entries[i]));
        lists_.give_back(state.list);
        state.list = 0;
        return true;
    }

    PerGroup<Group> groups_;
    Blocks lists_;
    Blocks registers_;
};

// Hashes a value of type T; numerics are integers of `scale` digits behind the point.
template <typename T, bool numeric>
uint64_t hash_of(const T& value, [[maybe_unused]] int scale) {
    if constexpr (numeric)
        return distinct_hash(plan::Decimal{value, scale});
    else if constexpr (std::is_floating_point_v<T>)
        return distinct_hash(static_cast<double>(value));
    else if constexpr (std::is_integral_v<T>)
        return distinct_hash(static_cast<int64_t>(value));
    else if constexpr (std::is_same_v<T, plan::Uuid>)
        return distinct_hash(column::BytesView{value.bytes, sizeof value.bytes});
    else
        return distinct_hash(value);
}

template <typename T, bool numeric = false>
class ApproximateCount final : public Accumulator {
  public:
    ApproximateCount(plan::Type arg, base::MemoryBudget* budget)
        : blanks_do_not_count_(arg.id == TypeId::kBpchar), scale_(arg.scale), sketches_(budget) {}

    void resize(int64_t groups) override { sketches_.resize(groups); }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        for_rows(groups, arg, [&](uint32_t group, int64_t row) {
            T value = values[row];
            if constexpr (std::is_same_v<T, column::BytesView>)
                if (blanks_do_not_count_) value = without_blanks(value);
            sketches_.add(group, sql::sketch_entry(hash_of<T, numeric>(value, scale_)));
        });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<ApproximateCount&>(other);
        for (const auto [g, to] : map) sketches_.merge(to, from.sketches_, g);
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer values;
        values.resize(static_cast<uint64_t>(groups) * sizeof(int64_t));
        for (int64_t g = 0; g < groups; ++g) values.as<int64_t>()[g] = sketches_.estimate(g);
        put(out, groups, values.as<int64_t>(), nullptr);
    }

  private:
    bool blanks_do_not_count_;
    int scale_;
    Sketches sketches_;
};

}  // namespace

std::unique_ptr<Accumulator> make_approximate_count(plan::Type arg, base::MemoryBudget* budget) {
    const bool numeric = arg.id == TypeId::kNumeric;
    switch (plan::physical(arg)) {
        case Physical::kBool:
            return std::make_unique<ApproximateCount<uint8_t>>(arg, budget);
        case Physical::kInt16:
            return std::make_unique<ApproximateCount<int16_t>>(arg, budget);
        case Physical::kInt32:
            return std::make_unique<ApproximateCount<int32_t>>(arg, budget);
        case Physical::kInt64:
            if (numeric) return std::make_unique<ApproximateCount<int64_t, true>>(arg, budget);
            return std::make_unique<ApproximateCount<int64_t>>(arg, budget);
        case Physical::kInt128:
            return std::make_unique<ApproximateCount<column::Int128, true>>(arg, budget);
        case Physical::kDecimal:
            return std::make_unique<ApproximateCount<plan::Decimal>>(arg, budget);
        case Physical::kFloat32:
            return std::make_unique<ApproximateCount<float>>(arg, budget);
        case Physical::kFloat64:
            return std::make_unique<ApproximateCount<double>>(arg, budget);
        case Physical::kBytes:
            return std::make_unique<ApproximateCount<column::BytesView>>(arg, budget);
        case Physical::kInterval:
            return std::make_unique<ApproximateCount<plan::Interval>>(arg, budget);
        case Physical::kUuid:
            return std::make_unique<ApproximateCount<plan::Uuid>>(arg, budget);
    }
    return nullptr;
}

}  // namespace loom::exec
