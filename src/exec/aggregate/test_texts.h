#pragma once
// Texts with their hashes, for tests of what looks texts up.

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bitmap.h"
#include "column/column_view.h"
#include "exec/hash.h"
#include "exec/vector.h"

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

inline constexpr plan::Type kText = plan::make_type(plan::TypeId::kText);

// A vector of texts and what it points to; each text lies in a block of its own, so that a
// sanitizer sees what is read beyond it.
struct TextRows {
    using Value = std::optional<std::string>;

    explicit TextRows(std::vector<Value> from) : values(std::move(from)) {
        validity.assign(static_cast<size_t>(base::bitmap_bytes(size())) + 8, 0);
        bool nulls = false;
        for (size_t i = 0; i < values.size(); ++i) {
            const size_t bytes = values[i] ? values[i]->size() : 0;
            blocks.push_back(std::make_unique<uint8_t[]>(bytes));
            if (bytes > 0) std::memcpy(blocks.back().get(), values[i]->data(), bytes);
            views.push_back({blocks.back().get(), static_cast<int64_t>(bytes)});
            // Nobody may follow these.
            if (!values[i]) views.back() = {reinterpret_cast<const uint8_t*>(16), 1000};
            base::put_bit(validity.data(), static_cast<int64_t>(i), values[i].has_value());
            nulls = nulls || !values[i];
        }
        vector.type = kText;
        vector.length = size();
        vector.values = views.data();
        vector.validity = nulls ? validity.data() : nullptr;
    }
    int64_t size() const { return static_cast<int64_t>(values.size()); }

    std::vector<Value> values;
    std::vector<std::unique_ptr<uint8_t[]>> blocks;
    std::vector<column::BytesView> views;
    std::vector<uint8_t> validity;
    Vector vector;
};

}  // namespace loom::exec
