#pragma once
// Sets of constants for IN: integers as a bitmap or a hash table, byte strings as a hash table.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "column/column_view.h"
#include "plan/type.h"

namespace loom::exec {

/// A set of values of one physical type: kInt16, kInt32, kInt64 or kBytes.
class MemberSet {
  public:
    void set_integers(std::vector<int64_t> values);
    void set_strings(std::vector<std::string> values);

    /// Sets the bits of the rows whose value is a member. `values` is a plain array; strings are
    /// looked at only where `known` has its bit set.
    void to_mask(plan::Physical physical, const void* values, int64_t rows, const uint64_t* known,
                 uint64_t* mask) const noexcept;
    bool contains(int64_t value) const noexcept;
    bool contains(std::string_view value) const noexcept;

  private:
    void strings_to_mask(const column::BytesView* values, int64_t rows, const uint64_t* known,
                         uint64_t* mask) const noexcept;

    int64_t base_ = 0;
    std::vector<uint64_t> bitmap_;  // over [base_, base_ + size_), if the values lie close together
    uint32_t size_ = 0;

    std::vector<int64_t> integers_;  // open addressing, a power of two of slots
    std::vector<uint8_t> integer_used_;
    std::vector<std::string> strings_;
    std::vector<uint32_t> string_slots_;  // index into strings_ plus 1; 0: free
};

}  // namespace loom::exec
