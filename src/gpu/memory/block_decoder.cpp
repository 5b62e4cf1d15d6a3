#include "gpu/memory/block_decoder.h"

#include <algorithm>

#include "exec/scan/load.h"

namespace loom::gpu {

namespace {

constexpr int64_t kExpectedRows = int64_t{1} << 20;

int64_t integer_at(const exec::Vector& vector, plan::Physical physical, int64_t row) {
    switch (physical) {
        case plan::Physical::kBool:
            return vector.as<uint8_t>()[row];
        case plan::Physical::kInt16:
            return vector.as<int16_t>()[row];
        case plan::Physical::kInt32:
            return vector.as<int32_t>()[row];
        default:
            return vector.as<int64_t>()[row];
    }
}

}  // namespace

DecodedBlock BlockDecoder::decode(const exec::ScanFile& file, const BlockRows& block, int column) {
    DecodedBlock out;
    // A file may state more rows than it has.
    const auto expected = static_cast<size_t>(std::min(block.rows, kExpectedRows));
    out.values.reserve(expected);
    out.valid.reserve((expected + 7) / 8);
    const exec::ScanFile::Column& bound = file.columns[static_cast<size_t>(column)];
    if (bound.field < 0) {
        const bool known = bound.value.known();
        int64_t value = 0;
        if (known)
            value = texts_ != nullptr ? texts_->code(bound.value.bytes)
                                      : static_cast<int64_t>(bound.value.integer);
        for (int64_t row = 0; row < block.rows; ++row) out.put(known, value);
    } else {
        exec::Loader loader(*file.reader->schema().fields[static_cast<size_t>(bound.field)].type,
                            type_, nullptr, bound.characters);
        for (int64_t group = block.first_group; group < block.first_group + block.groups; ++group) {
            const auto reader = file.reader->open_column(group, bound.field, {});
            const int64_t rows = file.reader->row_group_rows(group);
            for (int64_t row = 0; row < rows; row += column::kBatchRows)
                add(loader.load(
                        reader->read(row, std::min<int64_t>(column::kBatchRows, rows - row))),
                    out);
        }
    }
    out.shape.add(out.view());
    return out;
}

void DecodedBlock::put(bool row_valid, int64_t value) {
    const size_t row = values.size();
    if (valid.size() <= row / 8) valid.resize(row / 8 + 1);
    if (row_valid)
        valid[row / 8] |= static_cast<uint8_t>(1U << row % 8);
    else
        has_null = true;
    values.push_back(value);
}

void BlockDecoder::add(const exec::Vector& vector, DecodedBlock& out) {
    if (vector.form == exec::Form::kCodes) return add_codes(vector, out);
    const bool constant = vector.form == exec::Form::kConstant;
    const plan::Physical physical = plan::physical(type_);
    for (int64_t row = 0; row < vector.length; ++row) {
        const bool valid = !vector.is_null(row);
        const int64_t at = constant ? 0 : row;
        int64_t value = 0;
        if (valid)
            value = texts_ != nullptr ? code_of(vector.as<column::BytesView>()[at])
                                      : integer_at(vector, physical, at);
        out.put(valid, value);
    }
}

void BlockDecoder::add_codes(const exec::Vector& vector, DecodedBlock& out) {
    const exec::Vector& entries = vector.dictionary->values;
    if (version_ != vector.dictionary->version || entries_.empty()) {
        version_ = vector.dictionary->version;
        entries_.assign(static_cast<size_t>(entries.length), 0);
        for (int64_t i = 0; i < entries.length; ++i)
            if (!entries.is_null(i))
                entries_[static_cast<size_t>(i)] =
                    texts_ != nullptr ? code_of(entries.as<column::BytesView>()[i])
                                      : integer_at(entries, plan::physical(type_), i);
    }
    for (int64_t row = 0; row < vector.length; ++row) {
        const bool valid = !vector.is_null(row) && !entries.is_null(vector.code(row));
        out.put(valid, valid ? entries_[vector.code(row)] : 0);
    }
}

// Texts that this block has had are found without the lock.
int64_t BlockDecoder::code_of(const column::BytesView& bytes) {
    const auto [at, fresh] = known_.try_emplace(std::string(bytes.text()), 0);
    if (fresh) at->second = texts_->code(bytes.text());
    return at->second;
}

}  // namespace loom::gpu
