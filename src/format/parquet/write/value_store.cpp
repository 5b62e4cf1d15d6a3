#include "format/parquet/write/value_store.h"

namespace loom::parquet::write {

void ValueStore::append_many(const column::BytesView* values, int64_t count) {
    size_t total = 0;
    for (int64_t i = 0; i < count; ++i) total += values[i].size;
    size_t at = bytes_.size();
    bytes_.resize(at + total);
    for (int64_t i = 0; i < count; ++i) {
        if (values[i].size != 0) std::memcpy(bytes_.data() + at, values[i].data, values[i].size);
        at += values[i].size;
        if (width_ == 0) ends_.push_back(at);
    }
    size_ += count;
}

}  // namespace loom::parquet::write
