// Fields with members: lists, structs, unions, runs.

#include <algorithm>
#include <cstring>

#include "format/arrow/field_writer.h"

namespace loom::arrow {

using base::Buffer;
using base::ErrorKind;
using column::ColumnView;
using column::Encoding;
using column::Field;
using column::Storage;
using column::TypeId;

NestedWriter::NestedWriter(const Field& field, int64_t& next_dictionary_id) : FieldWriter(field) {
    for (const Field& child : field.type->children)
        children_.push_back(make_field_writer(child, next_dictionary_id));
}

void NestedWriter::clear() {
    clear_rows();
    for (auto& child : children_) child->clear();
}

bool NestedWriter::full() const {
    for (const auto& child : children_)
        if (child->full()) return true;
    return false;
}

void NestedWriter::list_dictionaries(std::vector<DictionaryWriter*>& out) {
    for (auto& child : children_) child->list_dictionaries(out);
}

void NestedWriter::collect_children(BatchParts& parts) const {
    for (const auto& child : children_) child->collect(parts);
}

namespace {

/// Lists and maps with 32- or 64-bit offsets, and list views, which add a size per row.
template <typename Offset>
class ListWriter final : public NestedWriter {
  public:
    ListWriter(const Field& field, int64_t& next_dictionary_id)
        : NestedWriter(field, next_dictionary_id),
          views_(field.storage == Storage::kView && field.type->id == TypeId::kList) {
        clear();
    }

    void append_nulls(int64_t count) override {
        for (int64_t i = 0; i < count; ++i) append_end(children_[0]->length(), 0);
        append_null_bits(count);
    }
    void collect(BatchParts& parts) const override {
        collect_node(parts);
        parts.buffers.push_back(offsets_.span());
        if (views_) parts.buffers.push_back(sizes_.span());
        collect_children(parts);
    }
    void clear() override {
        NestedWriter::clear();
        offsets_.resize_discarding(0);
        sizes_.resize_discarding(0);
        if (!views_) append_value(offsets_, Offset{0});
    }
    bool full() const override {
        return (sizeof(Offset) == 4 && children_[0]->length() >= (1 << 30)) || NestedWriter::full();
    }

  protected:
    void append_plain(const ColumnView& view, int64_t row, int64_t count) override {
        const int64_t first = view.offsets[row];
        const int64_t last = view.offsets[row + count];
        const int64_t shift = children_[0]->length() - first;
        if (sizeof(Offset) == 4 && shift + last > INT32_MAX)
            base::raise(ErrorKind::kLimit,
                        "column \"{}\" has {} elements in a record batch; store it with large "
                        "offsets",
                        field_.name, shift + last);
        children_[0]->append(view.children[0], first, last - first);
        for (int64_t i = row; i < row + count; ++i)
            append_end(view.offsets[i + 1] + shift, view.offsets[i + 1] - view.offsets[i]);
        append_validity(view, row, count);
    }

  private:
    void append_end(int64_t end, int64_t size) {
        append_value(offsets_, static_cast<Offset>(views_ ? end - size : end));
        if (views_) append_value(sizes_, static_cast<Offset>(size));
    }

    bool views_;
    Buffer offsets_;
    Buffer sizes_;
};

/// Structs and fixed-size lists: `per_row` values of each child a row.
class StructWriter final : public NestedWriter {
  public:
    StructWriter(const Field& field, int64_t& next_dictionary_id, int64_t per_row)
        : NestedWriter(field, next_dictionary_id), per_row_(per_row) {}

    void append_nulls(int64_t count) override {
        for (auto& child : children_) child->append_nulls(count * per_row_);
        append_null_bits(count);
    }
    void collect(BatchParts& parts) const override {
        collect_node(parts);
        collect_children(parts);
    }

  protected:
    void append_plain(const ColumnView& view, int64_t row, int64_t count) override {
        for (size_t i = 0; i < children_.size(); ++i)
            children_[i]->append(view.children[i], row * per_row_, count * per_row_);
        append_validity(view, row, count);
    }

  private:
    int64_t per_row_;
};

/// Unions. They have no NULL of their own: a NULL row becomes a NULL of the first member.
class UnionWriter final : public NestedWriter {
  public:
    UnionWriter(const Field& field, int64_t& next_dictionary_id)
        : NestedWriter(field, next_dictionary_id), dense_(field.type->id == TypeId::kDenseUnion) {
        if (children_.empty())
            base::raise(ErrorKind::kUnsupported, "column \"{}\" is a union without members",
                        field.name);
    }

    void append_nulls(int64_t count) override {
        for (int64_t i = 0; i < count; ++i) append_row(nullptr, 0, 0);
    }
    void collect(BatchParts& parts) const override {
        parts.nodes.push_back({length_, 0});
        parts.buffers.push_back(codes_.span());
        if (dense_) parts.buffers.push_back(offsets_.span());
        collect_children(parts);
    }
    void clear() override {
        NestedWriter::clear();
        codes_.resize_discarding(0);
        offsets_.resize_discarding(0);
    }

  protected:
    void append_plain(const ColumnView& view, int64_t row, int64_t count) override {
        for (int64_t i = row; i < row + count; ++i) {
            if (view.is_null(i))
                append_row(nullptr, 0, 0);
            else
                append_row(&view, static_cast<size_t>(view.as<int8_t>()[i]),
                           dense_ ? view.offsets[i] : i);
        }
    }

  private:
    void append_row(const ColumnView* view, size_t member, int64_t row) {
        append_value(codes_, field_.type->type_codes.empty() ? static_cast<int8_t>(member)
                                                             : field_.type->type_codes[member]);
        if (dense_) append_value(offsets_, static_cast<int32_t>(children_[member]->length()));
        for (size_t i = 0; i < children_.size(); ++i) {
            if (dense_ && i != member) continue;
            if (view == nullptr)
                children_[i]->append_nulls(1);
            else
                children_[i]->append(view->children[i], row, 1);
        }
        ++length_;
    }

    bool dense_;
    Buffer codes_;
    Buffer offsets_;
};

Field values_field(Field field) {
    field.storage = Storage::kDefault;
    return field;
}

/// Run-end encoded values with 32-bit run ends. Equal neighbours share a run.
class RunWriter final : public FieldWriter {
  public:
    RunWriter(const Field& field, int64_t& next_dictionary_id)
        : FieldWriter(field), values_(make_field_writer(values_field(field), next_dictionary_id)) {}

    void append_nulls(int64_t count) override {
        if (count == 0) return;
        length_ += count;
        if (last_key_ == kNullKey && !ends_empty()) return set_last_end();
        values_->append_nulls(1);
        last_key_ = kNullKey;
        add_end();
    }
    void collect(BatchParts& parts) const override {
        parts.nodes.push_back({length_, 0});
        parts.nodes.push_back({values_->length(), 0});
        parts.buffers.emplace_back();  // run ends are never NULL
        parts.buffers.push_back(ends_.span());
        values_->collect(parts);
    }
    void clear() override {
        clear_rows();
        ends_.resize_discarding(0);
        values_->clear();
        last_key_.clear();
    }
    bool full() const override { return values_->full(); }
    void list_dictionaries(std::vector<DictionaryWriter*>& out) override {
        values_->list_dictionaries(out);
    }

  protected:
    void append_plain(const ColumnView& view, int64_t row, int64_t count) override {
        for (int64_t i = row; i < row + count; ++i) append_run(view, view, i, i, 1);
    }
    bool append_encoded(const ColumnView& view, int64_t row, int64_t count) override {
        ColumnView slots = view;
        if (view.encoding == Encoding::kRuns) {
            slots.encoding = view.dictionary != nullptr ? Encoding::kDictionary : Encoding::kPlain;
            slots.length = view.run_count;
        }
        const ColumnView& plain = view.dictionary != nullptr ? view.dictionary->values : slots;
        int64_t done = row;
        for (int32_t run = 0; view.encoding == Encoding::kRuns && run < view.run_count; ++run) {
            const int64_t end = std::min<int64_t>(view.run_ends[run], row + count);
            if (end <= done) continue;
            append_slot(slots, plain, run, end - done);
            done = end;
        }
        for (; view.encoding == Encoding::kDictionary && done < row + count; ++done)
            append_slot(slots, plain, done, 1);
        return true;
    }

  private:
    static constexpr const char* kNullKey = "";

    void append_slot(const ColumnView& slots, const ColumnView& plain, int64_t slot, int64_t rows) {
        const int64_t entry =
            slots.dictionary == nullptr || slots.is_null(slot) ? slot : int64_t{slots.code(slot)};
        append_run(slots, plain, slot, entry, rows);
    }
    // Appends `rows` times the value that slot `slot` of `slots` has, which is row `entry` of
    // `plain`.
    void append_run(const ColumnView& slots, const ColumnView& plain, int64_t slot, int64_t entry,
                    int64_t rows) {
        if (slots.is_null(slot) || plain.is_null(entry)) return append_nulls(rows);
        key_.clear();
        append_value_key(plain, entry, key_);
        length_ += rows;
        if (!ends_empty() && key_ == last_key_) return set_last_end();
        values_->append(slots, slot, 1);
        last_key_ = key_;
        add_end();
    }
    bool ends_empty() const { return ends_.size() == 0; }
    void add_end() { append_value(ends_, static_cast<int32_t>(length_)); }
    void set_last_end() {
        base::store(ends_.data() + ends_.size() - sizeof(int32_t), static_cast<int32_t>(length_));
    }

    std::unique_ptr<FieldWriter> values_;
    Buffer ends_;
    std::string key_;
    std::string last_key_;
};

}  // namespace

std::unique_ptr<FieldWriter> make_nested_writer(const Field& field, int64_t& next_dictionary_id) {
    switch (field.type->id) {
        case TypeId::kStruct:
            return std::make_unique<StructWriter>(field, next_dictionary_id, 1);
        case TypeId::kFixedList:
            return std::make_unique<StructWriter>(field, next_dictionary_id, field.type->list_size);
        case TypeId::kSparseUnion:
        case TypeId::kDenseUnion:
            return std::make_unique<UnionWriter>(field, next_dictionary_id);
        default:
            break;
    }
    if (field.storage == Storage::kLarge && field.type->id == TypeId::kList)
        return std::make_unique<ListWriter<int64_t>>(field, next_dictionary_id);
    return std::make_unique<ListWriter<int32_t>>(field, next_dictionary_id);
}

std::unique_ptr<FieldWriter> make_run_writer(const Field& field, int64_t& next_dictionary_id) {
    return std::make_unique<RunWriter>(field, next_dictionary_id);
}

}  // namespace loom::arrow
