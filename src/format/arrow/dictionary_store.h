#pragma once
// Dictionaries of a file, loaded when a column first needs them and shared between readers.

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "column/column.h"
#include "format/arrow/array_slice.h"
#include "format/arrow/container.h"

namespace loom::arrow {

/// Immutable once made. `dictionary()` points into memory that this object owns or that its file's
/// mapping holds.
class LoadedDictionary {
  public:
    const column::Dictionary& dictionary() const noexcept { return dictionary_; }
    int64_t size() const noexcept { return dictionary_.values.length; }
    /// Returns whether the file had no batch for it; it has no entries then.
    bool missing() const noexcept { return parts_.empty(); }

  private:
    friend class DictionaryStore;
    std::vector<std::unique_ptr<ArrayData>> parts_;
    std::vector<std::unique_ptr<ArraySlice>> slices_;
    column::Column joined_;
    column::Dictionary dictionary_;
};

/// Finds and loads dictionaries. Thread safe.
class DictionaryStore {
  public:
    DictionaryStore(const Source& source, const Container& container)
        : source_(source), container_(container) {}

    /// Returns the dictionary that `layout` refers to, as it stands after the first `seen`
    /// dictionary batches of the file. Adds what loading took to `cost`.
    DictionaryPtr get(const Layout& layout, size_t seen, LoadCost& cost);

  private:
    /// The batches that make up one state of one dictionary: a base and its deltas.
    std::vector<size_t> parts_of(int64_t id, size_t seen) const;
    DictionaryPtr get_locked(const Layout& layout, size_t seen, LoadCost& cost, int depth);
    DictionaryPtr load(const Layout& layout, const std::vector<size_t>& parts, size_t seen,
                       LoadCost& cost, int depth);
    void join(LoadedDictionary& loaded, const Layout& values) const;

    const Source& source_;
    const Container& container_;
    std::mutex mutex_;
    /// Key: id, first and last batch, and `seen` where nested dictionaries may change in between.
    std::map<std::tuple<int64_t, size_t, size_t, size_t>, DictionaryPtr> loaded_;
};

/// Resolves the dictionaries of one record batch.
class BatchDictionaries final : public DictionaryResolver {
  public:
    BatchDictionaries(DictionaryStore& store, size_t seen) : store_(store), seen_(seen) {}
    DictionaryPtr resolve(const Layout& layout) override {
        return store_.get(layout, seen_, cost_);
    }
    const LoadCost& cost() const noexcept { return cost_; }

  private:
    DictionaryStore& store_;
    size_t seen_;
    LoadCost cost_;
};

}  // namespace loom::arrow
