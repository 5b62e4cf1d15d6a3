#include <cstring>

#include "exec/pipeline/frame.h"

namespace loom::exec {

ScanCursor::ScanCursor(const TableSource& table, const std::vector<plan::Type>& types,
                       base::MemoryBudget* budget)
    : table_(table), types_(types), budget_(budget) {
    column_bytes.resize(types.size());
    columns_.resize(types.size());
    for (Column& column : columns_) column.constant = base::Buffer(budget);
}

void ScanCursor::enter(int file, int64_t row_group, const format::RowRanges& ranges, bool partial) {
    leave();
    file_ = file;
    row_group_ = row_group;
    ranges_ = partial ? ranges : format::RowRanges{};
}

void ScanCursor::leave() {
    for (size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].reader == nullptr) continue;
        const auto bytes = static_cast<int64_t>(columns_[i].reader->profile().bytes_read);
        column_bytes[i] += bytes;
        bytes_read += bytes;
        columns_[i].reader.reset();
    }
}

void ScanCursor::check_file() const {
    if (file_ >= 0) table_.files[file_].reader->file().check_mapping();
}

format::ColumnReader& ScanCursor::open(int column) {
    Column& state = columns_[column];
    if (state.reader != nullptr) return *state.reader;
    const ScanFile& file = table_.files[file_];
    const int field = file.columns[column].field;
    if (state.loader_file != file_) {
        const column::DataType& type = *file.reader->schema().fields[field].type;
        const plan::Layout* layout = file.columns[column].layout.get();
        state.loader.reset();
        state.nested.reset();
        if (layout != nullptr)
            state.nested = std::make_unique<NestedLoader>(type, *layout, budget_);
        else
            state.loader = std::make_unique<Loader>(type, types_[column], budget_,
                                                    file.columns[column].characters);
        state.loader_file = file_;
    }
    format::ReadOptions options;
    options.rows = ranges_;
    state.reader = file.reader->open_column(row_group_, field, options);
    return *state.reader;
}

// A column that is the same for the whole file: a path key, or one that the file lacks.
Vector ScanCursor::constant(int column, int64_t count) {
    static constexpr uint8_t kInvalid = 0;
    Column& state = columns_[column];
    const column::Scalar& value = table_.files[file_].columns[column].value;
    const plan::Physical physical = plan::physical(types_[column]);
    state.constant.resize_discarding(static_cast<uint64_t>(plan::width(physical)));
    std::memset(state.constant.data(), 0, static_cast<size_t>(plan::width(physical)));
    Vector vector;
    vector.type = types_[column];
    vector.form = Form::kConstant;
    vector.length = count;
    vector.values = state.constant.data();
    switch (value.kind) {
        case column::Scalar::Kind::kNone:
            vector.validity = &kInvalid;
            break;
        case column::Scalar::Kind::kInt:
            std::memcpy(state.constant.data(), &value.integer,
                        static_cast<size_t>(plan::width(physical)));
            break;
        case column::Scalar::Kind::kFloat:
            if (physical == plan::Physical::kFloat32)
                *state.constant.as<float>() = static_cast<float>(value.number);
            else
                *state.constant.as<double>() = value.number;
            break;
        case column::Scalar::Kind::kBytes:
            if (physical == plan::Physical::kBytes)
                *state.constant.as<column::BytesView>() = {
                    reinterpret_cast<const uint8_t*>(value.bytes.data()),
                    static_cast<int64_t>(value.bytes.size())};
            else
                std::memcpy(state.constant.data(), value.bytes.data(),
                            std::min(value.bytes.size(), size_t{16}));
            break;
    }
    return vector;
}

Vector ScanCursor::load(int column, const column::ColumnView& view) {
    const Column& state = columns_[column];
    return state.nested != nullptr ? state.nested->load(view) : state.loader->load(view);
}

Vector ScanCursor::read(int column, int64_t row, int64_t count) {
    if (table_.files[file_].columns[column].field < 0) return constant(column, count);
    format::ColumnReader& reader = open(column);
    return load(column, reader.read(row, count));
}

Vector ScanCursor::gather(int column, int64_t row, int64_t count,
                          std::span<const uint16_t> selection) {
    if (table_.files[file_].columns[column].field < 0)
        return constant(column, static_cast<int64_t>(selection.size()));
    format::ColumnReader& reader = open(column);
    return load(column, reader.gather(row, count, selection));
}

}  // namespace loom::exec
