#pragma once
// Comments in the words and the grammar of TPC-H (4.2.2.10 and 4.2.2.14).

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "random.h"

namespace loom::datagen {

/// A long text of sentences from which comments are cut, wherever a word happens to be. It depends
/// on the seed only and is made at the first use. Thread safe.
class CommentPool {
  public:
    explicit CommentPool(uint64_t seed) : random_(seed, "comments", 0) {}

    /// Returns the comment at `position` of `random`, of `low` to `high` bytes. It lives as long
    /// as the pool.
    std::string_view cut(const Sequence& random, uint64_t position, int32_t low,
                         int32_t high) const;

  private:
    void write() const;

    Sequence random_;
    mutable std::once_flag once_;
    mutable std::string text_;
};

}  // namespace loom::datagen
