#include "exec/key_hasher.h"

#include "exec/key.h"
#include "exec/row_store.h"

namespace loom::exec {

using plan::Physical;

namespace {

// Calls hash_of(row) for each row and adds the result to the keys.
template <typename HashOf>
void add_column(const Vector& vector, int64_t count, bool first, uint64_t* hashes,
                const HashOf& hash_of) {
    if (vector.validity == nullptr) {
        if (first)
            for (int64_t i = 0; i < count; ++i) hashes[i] = hash_of(i);
        else
            for (int64_t i = 0; i < count; ++i) hashes[i] = combine(hashes[i], hash_of(i));
        return;
    }
    for (int64_t i = 0; i < count; ++i)
        hashes[i] =
            add_to_key(hashes[i], base::bit_at(vector.validity, i) ? hash_of(i) : kNullHash, first);
}

}  // namespace

KeyHasher::KeyHasher(const std::vector<plan::Type>& types, base::MemoryBudget* budget)
    : values_(budget), validity_(budget) {
    for (const plan::Type type : types) {
        Column column;
        column.physical = plan::physical(type);
        columns_.push_back(std::move(column));
    }
}

void KeyHasher::learn(Column& column, const Vector& vector) {
    if (column.version == vector.dictionary->version) return;
    const Vector& entries = vector.dictionary->values;
    column.entries.assign(static_cast<size_t>(entries.length) + 1, kNullHash);
    for (int64_t i = 0; i < entries.length; ++i)
        if (!entries.is_null(i))
            column.entries[static_cast<size_t>(i)] = key_hash(entries, column.physical, i);
    column.version = vector.dictionary->version;
}

void KeyHasher::hash(std::span<const Vector> columns, int64_t count, uint64_t* hashes) {
    for (size_t c = 0; c < columns.size(); ++c) {
        Column& column = columns_[c];
        const bool first = c == 0;
        if (columns[c].form == Form::kCodes) {
            learn(column, columns[c]);
            const uint64_t* entries = column.entries.data();
            const Vector& codes = columns[c];
            add_column(codes, count, first, hashes,
                       [&](int64_t row) { return entries[codes.code(row)]; });
            continue;
        }
        const Vector plain = to_plain(columns[c], values_, validity_);
        switch (column.physical) {
            case Physical::kInt32:
                add_column(plain, count, first, hashes,
                           [values = plain.as<int32_t>()](int64_t row) {
                               return mix(static_cast<uint64_t>(int64_t{values[row]}));
                           });
                break;
            case Physical::kInt64:
                add_column(plain, count, first, hashes,
                           [values = plain.as<int64_t>()](int64_t row) {
                               return mix(static_cast<uint64_t>(values[row]));
                           });
                break;
            case Physical::kBytes:
                add_column(plain, count, first, hashes,
                           [values = plain.as<column::BytesView>()](int64_t row) {
                               return hash_bytes(values[row].data, values[row].size);
                           });
                break;
            default:
                add_column(plain, count, first, hashes,
                           [&](int64_t row) { return key_hash(plain, column.physical, row); });
        }
    }
}

}  // namespace loom::exec
