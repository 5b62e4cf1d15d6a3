#pragma once
// Collects the rows of one field until a record batch is full, in the layout that the field asks
// for.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "column/column.h"

namespace loom::arrow {

/// What a record batch message consists of, in the format's order. Spans point into the writers.
struct BatchParts {
    struct Node {
        int64_t length = 0;
        int64_t null_count = 0;
    };
    std::vector<Node> nodes;
    std::vector<base::ByteSpan> buffers;
    std::vector<int64_t> view_buffers;  ///< data buffers of each view field
};

class DictionaryWriter;

/// Collects one field. Not thread safe.
class FieldWriter {
  public:
    explicit FieldWriter(const column::Field& field) : field_(field) {}
    FieldWriter(const FieldWriter&) = delete;
    FieldWriter& operator=(const FieldWriter&) = delete;
    virtual ~FieldWriter() = default;

    /// Appends rows [row, row + count) of a view of the field's type, in any encoding.
    void append(const column::ColumnView& view, int64_t row, int64_t count);
    virtual void append_nulls(int64_t count) = 0;
    /// Adds nodes and buffers of what was appended. They stay valid until the next append or clear.
    virtual void collect(BatchParts& parts) const = 0;
    /// Forgets all rows; keeps memory and dictionaries.
    virtual void clear() = 0;
    /// Returns whether a record batch should end here, before 32-bit offsets overflow.
    virtual bool full() const { return false; }
    /// Adds the dictionaries of this field and its members; those that others refer to come first.
    virtual void list_dictionaries(std::vector<DictionaryWriter*>& out) = 0;

    int64_t length() const noexcept { return length_; }
    const column::Field& field() const noexcept { return field_; }

  protected:
    /// Appends rows of a plain view.
    virtual void append_plain(const column::ColumnView& view, int64_t row, int64_t count) = 0;
    /// Takes a dictionary or runs as they are; returns false if they have to be made plain first.
    virtual bool append_encoded(const column::ColumnView&, int64_t, int64_t) { return false; }

    void append_validity(const column::ColumnView& view, int64_t row, int64_t count);
    void append_null_bits(int64_t count);
    void collect_node(BatchParts& parts) const;
    void clear_rows();

    column::Field field_;
    int64_t length_ = 0;
    int64_t null_count_ = 0;

  private:
    base::Buffer validity_;  ///< empty until the first NULL
    column::Column plain_;
};

/// A writer with one writer per member.
class NestedWriter : public FieldWriter {
  public:
    NestedWriter(const column::Field& field, int64_t& next_dictionary_id);
    void clear() override;
    bool full() const override;
    void list_dictionaries(std::vector<DictionaryWriter*>& out) override;

  protected:
    void collect_children(BatchParts& parts) const;
    std::vector<std::unique_ptr<FieldWriter>> children_;
};

/// Makes the writer for a field with its type, storage and dictionary. Dictionary ids are given out
/// in the order of the schema, a field before its members.
std::unique_ptr<FieldWriter> make_field_writer(const column::Field& field,
                                               int64_t& next_dictionary_id);

/// Makes the writer for a field whose values are neither dictionary nor run-end encoded.
std::unique_ptr<FieldWriter> make_plain_writer(const column::Field& field,
                                               int64_t& next_dictionary_id);
std::unique_ptr<FieldWriter> make_nested_writer(const column::Field& field,
                                                int64_t& next_dictionary_id);
std::unique_ptr<FieldWriter> make_run_writer(const column::Field& field,
                                             int64_t& next_dictionary_id);

/// Appends `bytes` to `buffer`.
void append_to(base::Buffer& buffer, const void* bytes, size_t size);
template <typename T>
void append_value(base::Buffer& buffer, T value) {
    append_to(buffer, &value, sizeof value);
}

/// Appends bytes that are equal for equal values of a type and differ otherwise.
void append_value_key(const column::ColumnView& view, int64_t row, std::string& out);

}  // namespace loom::arrow
