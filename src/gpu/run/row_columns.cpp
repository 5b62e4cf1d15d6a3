#include "gpu/run/row_columns.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "gpu/codegen/expression_text.h"
#include "gpu/memory/block_decoder.h"
#include "sql/numeric.h"

namespace loom::gpu {

namespace {

// Numerics of many digits whose values are small after all.
void narrow(const exec::Vector& vector, DecodedBlock& out) {
    for (int64_t row = 0; row < vector.length; ++row) {
        const bool valid = !vector.is_null(row);
        const __int128 value = valid ? vector.as<__int128>()[row] : 0;
        if (value < INT64_MIN || value > INT64_MAX)
            throw NotInKernels{"results of an aggregate of many digits"};
        out.put(valid, static_cast<int64_t>(value));
    }
}

// Numerics that each have a scale, in the largest of those. Returns that.
int align(const std::vector<plan::Decimal>& decimals, const std::vector<bool>& valid,
          DecodedBlock& out) {
    int64_t scale = 0;
    for (const plan::Decimal& each : decimals) scale = std::max(scale, each.scale);
    if (scale > plan::kMaxPrecision) throw NotInKernels{"results of an aggregate of many digits"};
    for (size_t i = 0; i < decimals.size(); ++i) {
        const __int128 factor = sql::power_of_ten(static_cast<int>(scale - decimals[i].scale));
        __int128 value = 0;
        if (__builtin_mul_overflow(decimals[i].unscaled, factor, &value) || value < INT64_MIN ||
            value > INT64_MAX)
            throw NotInKernels{"results of an aggregate of many digits"};
        out.put(valid[i], static_cast<int64_t>(value));
    }
    return static_cast<int>(scale);
}

std::shared_ptr<const DeviceColumn> put_column(Device& device, Stream& stream, plan::Type type,
                                               DecodedBlock block,
                                               std::shared_ptr<TextDictionary> texts) {
    block.shape.add(block.view());
    auto column = std::make_shared<FileColumn>();
    column->shape = block.shape;
    column->layout = block.shape.layout();
    column->texts = std::move(texts);
    column->rows = static_cast<int64_t>(block.values.size());
    if (column->rows > 0)
        column->blocks.push_back(
            upload_block(device, stream, encode(block.view(), column->layout)));
    return make_column(type, {std::move(column)});
}

}  // namespace

RowColumns load_rows(Device& device, Stream& stream, exec::RowSource& rows,
                     const std::vector<plan::Type>& types, const std::vector<bool>& used) {
    const size_t count = types.size();
    std::vector<DecodedBlock> blocks(count);
    std::vector<std::shared_ptr<TextDictionary>> texts(count);
    std::vector<BlockDecoder> decoders;
    std::vector<std::vector<plan::Decimal>> decimals(count);
    std::vector<std::vector<bool>> valid(count);
    for (size_t c = 0; c < count; ++c) {
        if (used[c] && types[c].id != plan::TypeId::kNumeric && !can_hold(types[c]))
            throw NotInKernels{
                fmt::format("results of an aggregate of type {}", plan::to_string(types[c]))};
        if (types[c].id == plan::TypeId::kText) texts[c] = std::make_shared<TextDictionary>();
        decoders.emplace_back(types[c], texts[c].get());
    }
    RowColumns made;
    made.columns.resize(count);
    std::vector<exec::Vector> vectors(count);
    while (const int64_t more = rows.fetch(vectors)) {
        made.rows += more;
        for (size_t c = 0; c < count; ++c) {
            if (!used[c]) continue;
            if (plan::is_decimal(types[c])) {
                for (int64_t row = 0; row < more; ++row) {
                    valid[c].push_back(!vectors[c].is_null(row));
                    decimals[c].push_back(valid[c].back() ? vectors[c].as<plan::Decimal>()[row]
                                                          : plan::Decimal());
                }
            } else if (plan::physical(types[c]) == plan::Physical::kInt128) {
                narrow(vectors[c], blocks[c]);
            } else {
                decoders[c].add(vectors[c], blocks[c]);
            }
        }
    }
    for (size_t c = 0; c < count; ++c) {
        if (!used[c]) continue;
        plan::Type type = types[c];
        if (plan::is_decimal(type))
            type = plan::make_numeric(plan::kMaxPrecision, align(decimals[c], valid[c], blocks[c]));
        made.columns[c] = put_column(device, stream, type, std::move(blocks[c]), texts[c]);
    }
    return made;
}

}  // namespace loom::gpu
