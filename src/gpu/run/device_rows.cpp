#include "gpu/run/device_rows.h"

#include <algorithm>
#include <cstring>

#include "base/bitmap.h"

namespace loom::gpu {

namespace {

bool is_bytes(plan::Type type) {
    return plan::physical(type) == plan::Physical::kBytes;
}

}  // namespace

DeviceRows::DeviceRows(std::vector<plan::Type> types)
    : columns_(types.size()), types_(std::move(types)) {
    for (size_t c = 0; c < columns_.size(); ++c)
        columns_[c].width = is_bytes(types_[c]) ? static_cast<int>(sizeof(int64_t))
                                                : plan::width(plan::physical(types_[c]));
}

void DeviceRows::add_null(size_t column) {
    if (is_bytes(types_[column])) {
        add_text(column, {});
    } else {
        const uint8_t* place = add_value(column);
        static_cast<void>(place);
    }
    columns_[column].valid.back() = false;
}

uint8_t* DeviceRows::add_value(size_t column) {
    Column& to = columns_[column];
    to.valid.push_back(true);
    to.values.resize(to.values.size() + static_cast<size_t>(to.width));
    return to.values.data() + to.values.size() - to.width;
}

void DeviceRows::add_integer(size_t column, __int128 value) {
    // Little-endian: the low bytes come first.
    uint8_t* place = add_value(column);
    std::memcpy(place, &value, std::min(sizeof value, static_cast<size_t>(columns_[column].width)));
}

void DeviceRows::add_text(size_t column, std::string_view text) {
    columns_[column].bytes += text;
    add_integer(column, static_cast<int64_t>(columns_[column].bytes.size()));
}

void DeviceRows::add_from(const DeviceRows& other, size_t column, int64_t row) {
    const Column& from = other.columns_[column];
    if (!from.valid[static_cast<size_t>(row)])
        add_null(column);
    else if (is_bytes(types_[column]))
        add_text(column, text(from, row));
    else
        std::memcpy(add_value(column), from.values.data() + row * from.width,
                    static_cast<size_t>(from.width));
}

void DeviceRows::append_bytes(size_t column, int64_t row, std::string& out) const {
    const Column& from = columns_[column];
    out += from.valid[static_cast<size_t>(row)] ? 'v' : 'n';
    if (!from.valid[static_cast<size_t>(row)]) return;
    if (!is_bytes(types_[column])) {
        out.append(reinterpret_cast<const char*>(from.values.data() + row * from.width),
                   static_cast<size_t>(from.width));
        return;
    }
    const std::string_view value = text(from, row);
    const uint64_t size = value.size();
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out += value;
}

std::string_view DeviceRows::text(const Column& column, int64_t row) const {
    const auto end_of = [&](int64_t of) {
        int64_t end = 0;
        if (of >= 0) std::memcpy(&end, column.values.data() + of * column.width, sizeof end);
        return static_cast<size_t>(end);
    };
    const size_t begin = end_of(row - 1);
    return std::string_view(column.bytes).substr(begin, end_of(row) - begin);
}

int64_t DeviceRows::fetch(std::span<exec::Vector> vectors) {
    const int64_t count = std::min<int64_t>(exec::kBatchRows, rows_ - next_);
    for (size_t c = 0; c < vectors.size(); ++c) {
        Column& column = columns_[c];
        const int width = plan::width(plan::physical(types_[c]));
        column.batch.resize_discarding(static_cast<uint64_t>(count) * static_cast<uint64_t>(width));
        column.validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
        for (int64_t i = 0; i < count; ++i)
            base::put_bit(column.validity.data(), i, column.valid[static_cast<size_t>(next_ + i)]);
        const uint8_t* from = column.values.data() + next_ * column.width;
        if (is_bytes(types_[c])) {
            for (int64_t i = 0; i < count; ++i) {
                const std::string_view value = text(column, next_ + i);
                const column::BytesView view{reinterpret_cast<const uint8_t*>(value.data()),
                                             static_cast<int64_t>(value.size())};
                std::memcpy(column.batch.data() + i * width, &view, sizeof view);
            }
        } else if (count > 0) {
            std::memcpy(column.batch.data(), from,
                        static_cast<size_t>(count) * static_cast<size_t>(width));
        }
        exec::Vector& vector = vectors[c];
        vector = exec::Vector();
        vector.type = types_[c];
        vector.length = count;
        vector.values = column.batch.data();
        vector.validity = column.validity.data();
    }
    next_ += count;
    return count;
}

}  // namespace loom::gpu
