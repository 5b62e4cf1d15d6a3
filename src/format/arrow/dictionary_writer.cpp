#include "format/arrow/dictionary_writer.h"

#include <cstring>

#include "format/arrow/gather.h"

namespace loom::arrow {

using column::ColumnView;
using column::Encoding;
using column::Field;

namespace {

constexpr int64_t kUnmapped = -2;

Field values_field(Field field) {
    field.dictionary_index_width = 0;
    return field;
}

}  // namespace

DictionaryWriter::DictionaryWriter(const Field& field, int64_t& next_dictionary_id)
    : FieldWriter(field), id_(next_dictionary_id++) {
    values_ = make_plain_writer(values_field(field), next_dictionary_id);
    const int bits = field.dictionary_index_width * 8;
    index_limit_ = bits >= 64 ? INT64_MAX : (int64_t{1} << (bits - 1));
}

void DictionaryWriter::append_indices() {
    const size_t width = field_.dictionary_index_width;
    const size_t before = indices_.size();
    indices_.resize(before + pending_.size() * width);
    uint8_t* to = indices_.data() + before;
    validity_.assign((pending_.size() + 7) / 8, 0);
    for (size_t i = 0; i < pending_.size(); ++i, to += width) {
        const bool valid = pending_[i] != kNullRow;
        const int64_t index = valid ? pending_[i] : 0;
        std::memcpy(to, &index, width);
        base::put_bit(validity_.data(), static_cast<int64_t>(i), valid);
    }
    ColumnView bits;
    bits.validity = validity_.data();
    append_validity(bits, 0, static_cast<int64_t>(pending_.size()));
    pending_.clear();
}

int64_t DictionaryWriter::index_of(const ColumnView& values, int64_t row) {
    key_.clear();
    append_value_key(values, row, key_);
    const auto [found, fresh] = known_.try_emplace(key_, static_cast<int64_t>(known_.size()));
    if (fresh) {
        if (found->second >= index_limit_)
            base::raise(base::ErrorKind::kLimit,
                        "column \"{}\" has more than {} different values, which is all that "
                        "dictionary indices of {} bytes can count",
                        field_.name, index_limit_, field_.dictionary_index_width);
        values_->append(values, row, 1);
    }
    return found->second;
}

void DictionaryWriter::append_plain(const ColumnView& view, int64_t row, int64_t count) {
    for (int64_t i = row; i < row + count; ++i)
        pending_.push_back(view.is_null(i) ? kNullRow : index_of(view, i));
    append_indices();
}

bool DictionaryWriter::append_encoded(const ColumnView& view, int64_t row, int64_t count) {
    if (view.encoding != Encoding::kDictionary) return false;
    const ColumnView& entries = view.dictionary->values;
    if (view.dictionary->version != mapped_version_) {
        mapped_.assign(static_cast<size_t>(entries.length), kUnmapped);
        mapped_version_ = view.dictionary->version;
    }
    for (int64_t i = row; i < row + count; ++i) {
        if (view.is_null(i)) {
            pending_.push_back(kNullRow);
            continue;
        }
        const uint32_t code = view.code(i);
        int64_t& index = mapped_[code];
        if (index == kUnmapped) index = entries.is_null(code) ? kNullRow : index_of(entries, code);
        pending_.push_back(index);
    }
    append_indices();
    return true;
}

void DictionaryWriter::append_nulls(int64_t count) {
    pending_.assign(static_cast<size_t>(count), kNullRow);
    append_indices();
}

void DictionaryWriter::collect(BatchParts& parts) const {
    collect_node(parts);
    parts.buffers.push_back(indices_.span());
}

void DictionaryWriter::clear() {
    clear_rows();
    indices_.resize_discarding(0);
}

void DictionaryWriter::list_dictionaries(std::vector<DictionaryWriter*>& out) {
    values_->list_dictionaries(out);
    out.push_back(this);
}

void DictionaryWriter::entries_written() {
    written_ = true;
    values_->clear();
}

}  // namespace loom::arrow
