#pragma once
// The buffers of one field of one record batch, ready for use: located, decompressed, byte-swapped,
// aligned, and long enough for the number of values that the header states.

#include <memory>
#include <vector>

#include "column/column_view.h"
#include "format/arrow/batch_header.h"

namespace loom::arrow {

/// The values of a dictionary in plain form, with the memory they point to.
class LoadedDictionary;
using DictionaryPtr = std::shared_ptr<const LoadedDictionary>;

/// Owns or borrows the buffers of one field and its children. What the buffers contain (offsets,
/// codes, views) is not checked yet; whoever uses it as an index has to.
struct ArrayData {
    const Layout* layout = nullptr;
    int64_t length = 0;
    int64_t null_count = 0;  ///< as the header says; -1 unknown
    Bytes validity;          ///< size 0: no NULLs
    Bytes values;            ///< bits, values, bytes, views, indices, union type codes
    Bytes offsets;           ///< bytes, lists, dense unions
    Bytes sizes;             ///< list views
    std::vector<Bytes> view_buffers;
    std::vector<ArrayData> children;
    DictionaryPtr dictionary;
};

/// Gives the dictionaries that a field refers to.
class DictionaryResolver {
  public:
    virtual ~DictionaryResolver() = default;
    /// Returns the dictionary for `layout` (Shape::kDictionary); it says so if the file has none
    /// yet.
    virtual DictionaryPtr resolve(const Layout& layout) = 0;
};

/// What a field costs to read, gathered while it is loaded.
struct LoadCost {
    uint64_t bytes = 0;      ///< taken from the file
    uint64_t decode_ns = 0;  ///< decompression and byte swapping
    int64_t buffers = 0;
};

/// Loads fields of one batch. Raises kCorrupt where header, body and layout do not fit together.
class ArrayLoader {
  public:
    ArrayLoader(const Source& source, const BatchHeader& header, bool big_endian,
                DictionaryResolver& dictionaries);

    ArrayData load(const Layout& layout);
    const LoadCost& cost() const noexcept { return cost_; }

  private:
    Bytes fetch(int32_t index, size_t alignment);
    Bytes decompress(const BufferPlace& place);
    void load_buffers(ArrayData& array);
    void load_validity(ArrayData& array, int32_t index);
    void load_fixed(ArrayData& array, int32_t index);
    void load_offsets(ArrayData& array, int32_t index);
    void load_views(ArrayData& array, int32_t first);
    void load_children(ArrayData& array);
    void load_runs(ArrayData& array);
    Bytes load_sized(int32_t index, int64_t values, size_t width, const char* what);

    const Source& source_;
    const BatchHeader& header_;
    bool big_endian_;
    DictionaryResolver& dictionaries_;
    LoadCost cost_;
};

/// Lists the buffers of `layout` and its children in `header`.
std::vector<BufferPlace> buffer_places(const BatchHeader& header, const Layout& layout,
                                       const LayoutCursor& end);

/// Reverses the bytes of each element of `width` bytes (2, 4, 8, 16 or 32), into owned memory.
void swap_elements(Bytes& bytes, size_t width, base::MemoryBudget* budget);

/// Returns the length that a compressed buffer states for its content; the length itself if stored
/// as is. `prefix` are the first 8 bytes of the buffer.
int64_t stated_length(const uint8_t* prefix, uint64_t buffer_length);

}  // namespace loom::arrow
