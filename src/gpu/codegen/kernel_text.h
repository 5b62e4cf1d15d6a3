#pragma once
// Pipelines as text of kernels, once it is known how their data lies in device memory.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/codegen/expression_text.h"
#include "gpu/codegen/pipeline.h"
#include "gpu/driver/device.h"
#include "gpu/memory/column_layout.h"

namespace loom::gpu {

/// A column of a build side that is a key of the groups: so many bits of a word.
struct GroupField {
    int payload = -1;   ///< of the pipeline that makes the build side
    ScanColumn column;  ///< as PayloadArray's
    int shift = 0;
    int bits = 0;  ///< how far the value lies above the least, or as many as there are for NULL

    uint64_t values() const noexcept { return column.has_values() ? column.reach() : 0; }
    uint64_t numbers() const noexcept { return values() + (column.layout.nullable ? 1 : 0); }
};

/// A column of a build side by place, or by row: how far its value lies above the least, or as many
/// as there are values for NULL.
struct PayloadArray {
    int payload = -1;   ///< of the pipeline that makes the build side
    ScanColumn column;  ///< what is known of its values; of the layout, whether they may be NULL
    int bytes = 8;      ///< a place: 1, 2, 4 or 8
    DeviceAddress address = 0;
};

/// A key of a build side as a part of a word: how far it lies above the least.
struct KeyPart {
    int64_t least = 0;
    uint64_t values = 0;  ///< that there can be
    int shift = 0;
};

/// The rows of a build side by key. A place is how far a key lies above the origin, and a bitmap
/// says which keys are there; or all keys make a word, whose slot in a KeySet is the place. If
/// columns are keys of the groups, places have a number for each combination of theirs (`codes`;
/// all bits set: no row). Where several rows of a key count, those of a place are a list, and
/// columns lie by row.
struct BuildTable {
    bool unique = true;  ///< several rows of one key are of no use
    bool nullable_keys = false;
    /// RowLists instead, with room for so many rows; 0: none.
    uint32_t row_room = 0;
    DeviceAddress first_rows = 0;
    DeviceAddress next_rows = 0;
    DeviceAddress row_count = 0;
    int64_t origin = 0;  ///< place 0; a multiple of 32
    uint64_t span = 0;   ///< places
    DeviceAddress bitmap = 0;
    std::vector<KeyPart> hashed;  ///< instead of origin and bitmap
    DeviceAddress key_words = 0;
    DeviceAddress codes = 0;  ///< 0: none
    int code_bytes = 0;       ///< 1 or 2
    std::vector<GroupField> fields;
    // A WordSet of the fields' combinations.
    DeviceAddress set_words = 0;
    DeviceAddress set_numbers = 0;
    DeviceAddress set_in_order = 0;
    DeviceAddress set_count = 0;
    uint32_t set_slots = 0;
    std::vector<PayloadArray> payloads;  ///< columns whose values are used

    bool has_lists() const noexcept { return row_room > 0; }
    /// Places that columns have.
    uint64_t payload_places() const noexcept { return has_lists() ? row_room : span; }
    const PayloadArray* find(int payload) const {
        for (const PayloadArray& array : payloads)
            if (array.payload == payload) return &array;
        return nullptr;
    }
};

/// A value that becomes part of a group's number or word: how far it lies above the least, or
/// `values` for NULL.
struct GroupKey {
    int key = -1;  ///< of the aggregate
    plan::Expr value;
    int64_t least = 0;
    uint64_t values = 1;  ///< that there can be
    bool nullable = false;
    int shift = 0;  ///< of its bits in a word
    int bits = 0;
    int join = -1;  ///< instead of a value: which row of this join's build side it is
    /// Instead of a value: which row of the scan it is, so many bits behind its block's number.
    std::optional<int> row_bits;
    /// Of a value that is made of the texts of one column: its texts.
    std::shared_ptr<const ComputedTexts> texts;
    int word = -1;  ///< of a key that is carried: where a group keeps it

    uint64_t numbers() const noexcept { return values + (nullable ? 1 : 0); }
    bool is_value() const noexcept { return join < 0 && !row_bits; }
};

/// Where a group's number comes from.
struct GroupPart {
    int join = -1;  ///< its build side's code
    int slot = -1;  ///< or a column of the scan: its value above the least; behind all: NULL
    std::optional<GroupKey> computed;  ///< or a value of each row
    std::vector<int> keys;  ///< the keys of the aggregate that it stands for, in the fields' order
    uint64_t most = 1;      ///< numbers that there can be
};

/// One sum or count that groups keep.
struct Accumulator {
    enum class Kind : uint8_t {
        kRows,
        kSum,      ///< modulo 2^64
        kWideSum,  ///< modulo 2^128: the low word, then the high one
        kLargest   ///< order_word() of the largest, or with `least` of the least; 0: nothing yet
    };
    Kind kind = Kind::kRows;
    plan::Expr argument;             ///< kRows: rows where it is not NULL, if there is one
    std::vector<plan::Expr> filter;  ///< nothing or one condition
    bool counts_argument = false;    ///< kRows: `argument` is there
    bool least = false;
    int word = 0;  ///< the first of those that it keeps

    int words() const noexcept { return kind == Kind::kWideSum ? 2 : 1; }
};

/// Where the results of the last pipeline go: for each word of the accumulators 8 bytes a group. A
/// group's number is made of its parts', and a byte a group says whether it has rows; or the keys
/// are put together as a word, which a set of words numbers.
struct GroupTable {
    std::vector<GroupPart> parts;
    std::vector<GroupKey> hashed;  ///< instead of parts
    /// Keys that are one for all rows of a group by `hashed`, a word each.
    std::vector<GroupKey> carried;
    std::vector<Accumulator> accumulators;
    int words = 0;      ///< that all accumulators and carried keys keep
    uint64_t most = 1;  ///< groups that there is room for
    DeviceAddress sums = 0;
    DeviceAddress seen = 0;
    // Of `hashed`: a NumberedSet with room for `most` words.
    DeviceAddress set_words = 0;
    DeviceAddress set_numbers = 0;
    DeviceAddress set_in_order = 0;
    DeviceAddress set_count = 0;
    uint32_t set_slots = 0;

    DeviceAddress word(int word) const { return sums + static_cast<uint64_t>(word) * most * 8; }
};

/// A pipeline's data.
struct PipelineData {
    /// By slot. Of a column of a build side what is known of its values, not how they lie.
    std::vector<ScanColumn> columns;
    std::vector<const BuildTable*> builds;  ///< by join
    DeviceAddress blocks = 0;  ///< BlockViews, block by block, a view a slot of the scan
    int views = 0;             ///< a block
    DeviceAddress spans = 0;
    uint32_t shares = 0;  ///< that the first spans begin
    uint64_t rows = 0;    ///< of the scanned table
    DeviceAddress status = 0;
    std::span<const plan::ParameterValue> parameters;
};

struct KernelText {
    std::string text;
    std::vector<std::string> kernels;  ///< to be launched one after the other
    std::vector<uint32_t> grids;  ///< blocks that each is launched with; 0: as many as run at once
    KernelWords words;
    std::vector<LookUp> look_ups;
    uint32_t threads = 0;  ///< a block
    int blocks = 1;        ///< a multiprocessor, of the last kernel
    uint32_t shared_bytes = 0;
};

/// What a device offers to a block of threads.
struct BlockLimits {
    uint32_t threads = 1024;
    uint32_t shared_bytes = 48 * 1024;
    uint32_t blocks = 1;  ///< of few threads that run at once
};

/// How kernels go about it. What is left open is chosen by what there is to
/// do; benchmarks try the others.
struct KernelChoices {
    std::optional<bool> queue;  ///< survivors wait for a warp of them
    std::optional<bool>
        carry;  ///< of the queue: survivors take along what the tests of the tile have read
    std::optional<bool> ahead;        ///< the first column of the next tile is read early
    std::optional<int> blocks;        ///< of threads a multiprocessor: half of the registers with 2
    std::optional<int> stages;        ///< tests of whole tiles
    std::optional<uint32_t> threads;  ///< a block
    /// Of a build side: up to so many rows each thread takes one or two of them. Tests of tiles
    /// would save nothing there, and NVRTC takes three times as long for them (Q3.4: 550 and 180
    /// ms).
    uint64_t few_rows = uint64_t{1} << 19;
};

/// A build side and the pipeline whose rows it is made of.
struct BuildPipeline {
    const Pipeline* pipeline = nullptr;
    const PipelineData* data = nullptr;
    const BuildTable* made = nullptr;
    int level = 0;  ///< above those of the build sides that it probes
};

/// Returns the bit of Status::duplicate_keys that stands for a build side; the last one stands for
/// all others.
constexpr uint32_t duplicate_bit(size_t build) {
    return 1U << (build < 31 ? build : 31);
}

/// Writes the kernels that fill all build sides of a program, module by module in the order in
/// which they are to be launched: one that numbers the groups, if there are any, then one that
/// writes bitmaps, codes and values. The small build sides of a level share a module and its
/// kernels; each large one has its own, since NVRTC takes long for those, and compiles several at
/// once.
std::vector<KernelText> write_builds(const std::vector<BuildPipeline>& builds,
                                     const BlockLimits& limits, const KernelChoices& choices);

/// Writes the kernel that groups the rows of a pipeline whose sink is kAggregate.
KernelText write_aggregate(const Pipeline& pipeline, const PipelineData& data,
                           const GroupTable& groups, const BlockLimits& limits,
                           const KernelChoices& choices);

}  // namespace loom::gpu
