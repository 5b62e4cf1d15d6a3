#include "gpu/memory/text_dictionary.h"

namespace loom::gpu {

uint32_t TextDictionary::code(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    const auto [at, fresh] =
        codes_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
    if (fresh) texts_.push_back(&at->first);
    return at->second;
}

uint32_t TextDictionary::size() const {
    const std::scoped_lock lock(mutex_);
    return static_cast<uint32_t>(texts_.size());
}

std::string_view TextDictionary::text(uint32_t code) const {
    const std::scoped_lock lock(mutex_);
    return *texts_[code];
}

}  // namespace loom::gpu
