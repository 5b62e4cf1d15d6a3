#pragma once
// Texts with their hashes, for tests of what looks texts up.

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "column/column_view.h"
#include "exec/hash.h"

namespace loom::exec {

// Texts in blocks of their own, so that a sanitizer sees what is read beyond them.
struct Texts {
    explicit Texts(std::vector<std::string> from) : values(std::move(from)) {
        for (const std::string& value : values) {
            blocks.push_back(std::make_unique<uint8_t[]>(value.size()));
            if (!value.empty()) std::memcpy(blocks.back().get(), value.data(), value.size());
            views.push_back({blocks.back().get(), static_cast<int64_t>(value.size())});
            hashes.push_back(hash_bytes(views.back().data, views.back().size));
        }
    }

    std::vector<std::string> values;
    std::vector<std::unique_ptr<uint8_t[]>> blocks;
    std::vector<column::BytesView> views;
    std::vector<uint64_t> hashes;
};

}  // namespace loom::exec
