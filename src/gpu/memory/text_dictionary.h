#pragma once
// Texts of columns in device memory, as numbers.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace loom::gpu {

/// Texts and their codes, which count up from 0. May be used by several threads.
class TextDictionary {
  public:
    uint32_t code(std::string_view text);
    uint32_t size() const;
    /// Valid as long as the dictionary.
    std::string_view text(uint32_t code) const;

  private:
    mutable std::mutex mutex_;
    std::unordered_map<std::string, uint32_t> codes_;
    std::vector<const std::string*> texts_;
};

}  // namespace loom::gpu
