#pragma once
// Arrays and composite values in the form in which PostgreSQL keeps them (src/include/utils/array.h
// "ArrayType", src/include/access/htup_details.h "HeapTupleHeaderData"), as
// construct_md_array() and heap_form_tuple() make them.

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "exec/vector.h"
#include "plan/layout.h"

namespace loom::exec {

/// Collects varlenas, one behind the other. A value is written from its begin_...() to its
/// end_...(); values may stand in each other. Raises Unrepresentable for what passes 1 GB.
class ValueWriter {
  public:
    explicit ValueWriter(base::MemoryBudget* budget) : bytes_(budget) {}

    /// Forgets all values.
    void clear() noexcept { size_ = 0; }
    /// Starts a value that stands in no other, and returns its number of bytes so far.
    uint64_t start_value();
    /// Returns what lies behind the header of the value that start_value() began at `start`. Valid
    /// until the next call.
    column::BytesView payload(uint64_t start) const noexcept;
    /// Appends row `row` of `values` as `layout`, a single value, says. The row is not NULL.
    void put(const plan::Layout& layout, const Vector& values, int64_t row);

    /// An array: elements are put in their order, put_null() for NULL.
    class Array {
      public:
        /// `nulls` says whether there are any.
        Array(ValueWriter& writer, const plan::Layout& element, int64_t count, bool nulls);
        void put_null() { ++index_; }
        /// Calls write(), which has to append one value.
        template <typename Write>
        void put(Write&& write) {
            mark();
            write();
            writer_.pad(start_, element_.alignment);
        }
        void finish();

      private:
        void mark();

        ValueWriter& writer_;
        const plan::Layout& element_;
        uint64_t start_;
        uint64_t bitmap_ = 0;  ///< where it lies, or 0
        int64_t index_ = 0;
    };

    /// A composite value of the attributes of `layout`.
    class Composite {
      public:
        /// present[i] says whether attribute i is not NULL.
        Composite(ValueWriter& writer, const plan::Layout& layout,
                  std::span<const uint8_t> present);
        template <typename Write>
        void put(size_t attribute, Write&& write) {
            const plan::Layout& part = layout_.parts[attribute];
            const uint64_t before = writer_.size_;
            writer_.pad(start_, part.alignment);
            const uint64_t begin = writer_.size_;
            write();
            if (part.length == -1 && part.is_packed) writer_.shorten(before, begin);
        }
        void finish();

      private:
        ValueWriter& writer_;
        const plan::Layout& layout_;
        uint64_t start_;
    };

  private:
    uint8_t* grow(uint64_t bytes);
    void pad(uint64_t start, uint64_t alignment);
    void put_bytes(const void* bytes, uint64_t count);
    void put_varlena(const void* bytes, uint64_t count);
    void set_header(uint64_t start);
    void shorten(uint64_t before, uint64_t begin);

    base::Buffer bytes_;
    uint64_t size_ = 0;
};

}  // namespace loom::exec
