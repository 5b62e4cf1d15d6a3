#pragma once
// Columns of files in device memory.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/query.h"
#include "gpu/driver/device.h"
#include "gpu/memory/column_layout.h"
#include "gpu/memory/encode.h"
#include "gpu/memory/text_dictionary.h"
#include "gpu/runtime/tile.h"

namespace loom::gpu {

/// Rows of a file that make a block: whole row groups, about a million rows.
struct BlockRows {
    int file = 0;
    int64_t first_group = 0;
    int64_t groups = 0;
    int64_t rows = 0;
};
/// Returns the blocks of all files, in their order.
std::vector<BlockRows> blocks_of(const exec::TableSource& table);

/// Tells whether kernels can have a column of this type.
bool can_hold(plan::Type type);

/// A column of one file, all blocks of it.
struct FileColumn {
    struct Block {
        BlockView view;    ///< with device addresses; its base is a table's matter
        int64_t base = 0;  ///< what its offsets are counted from, if it has values
        bool has_values = false;
        DeviceMemory memory;  ///< or a part of the column's
    };
    ColumnShape shape;
    ColumnLayout layout;
    std::vector<Block> blocks;
    DeviceMemory memory;
    std::shared_ptr<TextDictionary> texts;  ///< of a column of texts
    int64_t rows = 0;
    uint64_t bytes = 0;  ///< in device memory
};

/// Copies an encoded block to the device. Its base is there if it has values.
FileColumn::Block upload_block(Device& device, Stream& stream, const EncodedBlock& block);

/// A column of a table: those of its files, as one kernel reads them.
struct DeviceColumn {
    ScanColumn facts;
    std::vector<BlockView> views;  ///< by block, with device addresses
    std::vector<std::shared_ptr<const FileColumn>> files;
    std::shared_ptr<TextDictionary> texts;  ///< of a column of texts
};

/// Puts columns of a table's files together, which have one layout (but for NULLs) and one
/// dictionary. Without files it is a column without values.
std::shared_ptr<const DeviceColumn> make_column(
    plan::Type type, std::vector<std::shared_ptr<const FileColumn>> files);

}  // namespace loom::gpu
