#include "format/arrow/dictionary_store.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "format/arrow/gather.h"

namespace loom::arrow {

using base::corrupt;

namespace {

// Dictionaries whose values hold dictionaries again: deeper than this only in crafted files.
constexpr int kMaxDepth = 16;

// Resolves nested dictionaries while the lock is held.
class NestedResolver final : public DictionaryResolver {
  public:
    using Get = std::function<DictionaryPtr(const Layout&)>;
    explicit NestedResolver(Get get) : get_(std::move(get)) {}
    DictionaryPtr resolve(const Layout& layout) override { return get_(layout); }

  private:
    Get get_;
};

void append_all(const column::ColumnView& view, column::Column& out) {
    if (view.length > kGatherLimit - out.length)
        base::raise(base::ErrorKind::kLimit,
                    "a dictionary of more than {} entries in several parts", kGatherLimit);
    constexpr int64_t kPortion = 16384;
    std::vector<int64_t> rows;
    for (int64_t done = 0; done < view.length; done += kPortion) {
        rows.resize(static_cast<size_t>(std::min(kPortion, view.length - done)));
        std::iota(rows.begin(), rows.end(), done);
        gather_rows(view, rows, out);
    }
}

}  // namespace

DictionaryPtr DictionaryStore::get(const Layout& layout, size_t seen, LoadCost& cost) {
    std::lock_guard<std::mutex> lock(mutex_);
    return base::with_where([&] { return fmt::format("dictionary {}", layout.dictionary_id); },
                            [&] { return get_locked(layout, seen, cost, 0); });
}

std::vector<size_t> DictionaryStore::parts_of(int64_t id, size_t seen) const {
    std::vector<size_t> parts;
    for (size_t i = 0; i < seen; ++i) {
        const DictionaryPlace& place = container_.dictionaries[i];
        if (place.id != id) continue;
        if (!place.is_delta) {
            if (!parts.empty() && !container_.is_stream)
                corrupt("a file may not replace dictionary {}", id);
            parts.clear();
        }
        parts.push_back(i);
    }
    return parts;
}

DictionaryPtr DictionaryStore::get_locked(const Layout& layout, size_t seen, LoadCost& cost,
                                          int depth) {
    if (depth > kMaxDepth) corrupt("dictionaries refer to each other {} deep", depth);
    const std::vector<size_t> parts = parts_of(layout.dictionary_id, seen);
    // The layout of an id's values is the same for all fields that share the id, see read_schema().
    const auto key = std::make_tuple(layout.dictionary_id, parts.empty() ? SIZE_MAX : parts.front(),
                                     parts.empty() ? SIZE_MAX : parts.back(),
                                     layout.values_nest_dictionaries ? seen : 0);
    auto found = loaded_.find(key);
    if (found != loaded_.end()) return found->second;
    DictionaryPtr fresh = load(layout, parts, seen, cost, depth);
    loaded_.emplace(key, fresh);
    return fresh;
}

DictionaryPtr DictionaryStore::load(const Layout& layout, const std::vector<size_t>& parts,
                                    size_t seen, LoadCost& cost, int depth) {
    auto loaded = std::make_shared<LoadedDictionary>();
    const Layout& values = *layout.dictionary_values;
    NestedResolver nested(
        [&](const Layout& inner) { return get_locked(inner, seen, cost, depth + 1); });
    for (size_t part : parts) {
        const BatchHeader header(source_, container_.dictionaries[part].place);
        ArrayLoader loader(source_, header, container_.schema.big_endian, nested);
        loaded->parts_.push_back(std::make_unique<ArrayData>(loader.load(values)));
        ArrayData& data = *loaded->parts_.back();
        if (data.length < header.rows()) corrupt("{} entries of {}", data.length, header.rows());
        loaded->slices_.push_back(
            std::make_unique<ArraySlice>(data, SliceOptions{}, source_.budget()));
        cost.bytes += loader.cost().bytes;
        cost.decode_ns += loader.cost().decode_ns;
        cost.buffers += loader.cost().buffers;
    }
    join(*loaded, values);
    loaded->dictionary_.version = column::next_dictionary_version();
    source_.check();
    return loaded;
}

void DictionaryStore::join(LoadedDictionary& loaded, const Layout& values) const {
    if (loaded.parts_.size() == 1) {
        loaded.dictionary_.values = loaded.slices_[0]->read(0, loaded.parts_[0]->length);
    } else {
        loaded.joined_ = new_column(values.type, source_.budget());
        for (size_t i = 0; i < loaded.parts_.size(); ++i)
            append_all(loaded.slices_[i]->read(0, loaded.parts_[i]->length), loaded.joined_);
        loaded.dictionary_.values = gathered_view(loaded.joined_);
    }
    constexpr int64_t kMaxEntries = int64_t{1} << 32;
    if (loaded.size() > kMaxEntries)
        base::raise(base::ErrorKind::kLimit, "a dictionary of {} entries", loaded.size());
}

}  // namespace loom::arrow
