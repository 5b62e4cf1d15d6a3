#pragma once
// Gives each distinct tuple of group keys a number.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "exec/aggregate/accumulator.h"
#include "exec/aggregate/interner.h"
#include "exec/aggregate/known_texts.h"
#include "exec/row_store.h"
#include "exec/tasks.h"

namespace loom::exec {

/// Group keys as words: one word a key (the value, or an interned number), and one that says which
/// keys are NULL. Owned by one worker.
class GroupTable {
  public:
    GroupTable(std::vector<plan::Type> keys, base::MemoryBudget* budget);

    /// Makes room for so many groups.
    void reserve(int64_t groups);
    /// Sets ids[i] to the group of row i, making new groups as they appear. Keys of any form.
    void assign(std::span<const Vector> keys, int64_t count, uint32_t* ids);
    /// Adds groups of another table: map[i].from is known, map[i].to is set. Calls `poll` now and
    /// then.
    void assign_groups(const GroupTable& other, GroupMap& map, const Poll& poll);

    int64_t groups() const noexcept { return groups_; }
    /// Adds the texts of the only key, which is of that kind, and their groups.
    void list_texts(KnownTexts& texts) const;
    /// Sets hashes[g] to what KeyHasher gives for the keys of group g.
    void hash_groups(uint64_t* hashes) const;
    /// Clears the bits of `rows` whose last key, which is not NULL, is known in its group: its
    /// tuple is `groups` (null: there is one key only) and row i of the plain vector `values`,
    /// whose hash is hashes[i].
    void drop_known(const uint32_t* groups, const Vector& values, const uint64_t* hashes,
                    uint64_t* rows) const;
    /// Points at key `key` of all groups; bytes stay where they are. Fills the buffers.
    Vector view(size_t key, base::Buffer& values, base::Buffer& validity) const;
    /// Sets hashes[g] to what KeyHasher gives for key `key` of group g alone.
    void hash_key(size_t key, uint64_t* hashes) const;
    /// Appends key `key` of groups [0, groups()).
    void output(size_t key, StoredColumn& out) const;

  private:
    // What is remembered of the last dictionary a key came with.
    struct KeyState {
        plan::Physical physical;
        std::unique_ptr<Interner> interner;  ///< keys that are not words themselves
        uint64_t version = 0;
        int64_t entries = 0;
        std::vector<uint64_t> code_words;  ///< by code
        std::vector<uint8_t> code_nulls;
        base::Buffer values;
        base::Buffer validity;
    };

    bool assign_by_range(const Vector& key, int64_t count, uint32_t* ids);
    bool widen_range(int64_t lowest, int64_t highest);
    bool assign_by_codes(std::span<const Vector> keys, int64_t count, uint32_t* ids);
    bool assign_by_numbers(std::span<const Vector> keys, int64_t count, uint32_t* ids);
    bool make_room_for_numbers();
    void numbers_of(size_t key, const Vector& vector, int64_t count, uint64_t* numbers);
    void learn_dictionary(KeyState& state, const Vector& key);
    void words_of(size_t key, const Vector& vector, int64_t count);
    void assign_words(int64_t count, uint32_t* ids);
    void assign_interned(int64_t count, uint32_t* ids);
    void assign_interned_groups(const GroupTable& other, std::span<GroupPair> map);
    void hash_words(const uint64_t* words, int64_t count, uint64_t* hashes) const;
    uint32_t find_or_add(const uint64_t* words, uint64_t hash);
    uint32_t find_or_add(const uint64_t* words);
    uint32_t find_or_add_interned(const uint64_t* words);
    uint32_t add_group(const uint64_t* words);
    bool one_interned() const noexcept { return keys_.size() == 1 && keys_[0].interner != nullptr; }
    bool contains(const uint64_t* words, uint64_t hash) const noexcept;
    void grow(uint64_t size);

    std::vector<plan::Type> types_;
    base::MemoryBudget* budget_;
    std::vector<KeyState> keys_;
    size_t words_;  ///< words of a group: one a key, and the NULL word
    int64_t groups_ = 0;
    base::Buffer group_words_;
    int64_t capacity_ = 0;
    base::Buffer table_;  ///< Entry
    uint64_t mask_ = 0;
    base::Buffer row_words_;
    std::vector<uint32_t> group_of_entry_;  ///< a single interned key: its entry's group + 1
    uint32_t null_group_ = 0;               ///< likewise: that of NULL + 1

    // Groups by value, while there is one integer key whose values lie close together.
    struct Range {
        bool usable = true;
        int64_t lowest = 0;
        int64_t size = 0;               ///< values from `lowest` on
        base::Buffer groups;            ///< uint32 group + 1 by value, or 0
        uint64_t version = 0;           ///< dictionary of `offsets`
        std::vector<uint32_t> offsets;  ///< from `lowest`, by code
        int64_t dictionary_lowest = 0;
        int64_t dictionary_highest = 0;
        base::Buffer places;
    };
    Range range_;

    // Groups by the numbers of several interned values, while there are few combinations.
    struct Numbers {
        bool usable = false;
        std::vector<int> bits;  ///< by key, -1 at first; 0 is NULL, a value has its number + 1
        base::Buffer groups;    ///< uint32 group + 1 by place, or 0
        base::Buffer of_rows;   ///< uint64, key by key
    };
    Numbers numbers_;

    // Groups by code tuple, while all keys are codes of few combinations.
    base::Buffer direct_;
    std::vector<uint64_t> direct_versions_;
    base::Buffer places_;
};

}  // namespace loom::exec
