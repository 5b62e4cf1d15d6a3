#pragma once
// The build sides of a run: how their rows are found by key, which of their columns are kept, and
// where all of that lies on the device.

#include <cstdint>
#include <vector>

#include "gpu/codegen/kernel_text.h"
#include "gpu/run/arena.h"
#include "gpu/run/bound_pipeline.h"

namespace loom::gpu {

/// `bound`, all pipelines of the run, must outlive this. The build side of a pipeline has its
/// number.
class BuildSides {
  public:
    /// Finds out what is known of the values of all slots that are columns of build sides, and
    /// decides how rows are found. Raises NotInKernels.
    explicit BuildSides(std::vector<Bound>& bound);

    /// Keeps what the steps and the keys of all pipelines read, and nothing else.
    void restart();
    /// Keeps the columns of build sides that an expression over a pipeline's slots reads.
    void keep(size_t pipeline, const plan::Expr& expr);
    /// Whether a slot's values are held as integers of 64 bits, or codes of texts.
    bool is_usable(size_t pipeline, int slot) const {
        return !unusable_[pipeline][static_cast<size_t>(slot)];
    }
    /// Numbers the combinations of group keys of a build side by one more of its columns; false if
    /// that takes too many bits.
    bool add_field(size_t pipeline, int slot);
    void drop_fields();
    void set_code_bytes(size_t build, int bytes) { builds_[build].table.code_bytes = bytes; }

    /// Makes room for more keys where they are hashed, and for more rows where they are lists.
    /// Raises NotInKernels if there is enough.
    void grow();
    /// Keeps all rows of a key of these build sides (duplicate_bit()), where that matters.
    void keep_lists(uint32_t builds);
    /// Returns how many rows come to a pipeline's sink at most.
    uint64_t most_rows(size_t pipeline) const;

    size_t size() const noexcept { return builds_.size(); }
    const BuildTable& table(size_t build) const { return builds_[build].table; }
    /// Returns the build side of a pipeline's join.
    size_t build_of(size_t pipeline, int join) const {
        return static_cast<size_t>(
            bound_[pipeline].pipeline->joins[static_cast<size_t>(join)].build);
    }

    /// Reserves memory for what is kept, and says where it lies once that is known.
    void reserve(Arena& arena);
    void settle();

  private:
    /// A build side, and the addresses that it is waiting for.
    struct Build {
        BuildTable table;
        uint64_t room = 0;              // of a table that is hashed: for rows
        DeviceAddress* keys = nullptr;  // bitmap or words
        DeviceAddress* first_rows = nullptr;
        DeviceAddress* next_rows = nullptr;
        DeviceAddress* row_count = nullptr;
        DeviceAddress* codes = nullptr;
        DeviceAddress* set_words = nullptr;
        DeviceAddress* set_numbers = nullptr;
        DeviceAddress* set_in_order = nullptr;
        DeviceAddress* set_count = nullptr;
        std::vector<DeviceAddress*> payloads;
    };

    void find_payloads(size_t pipeline);
    void plan_keys(size_t build);
    static void set_room(Build& build, uint64_t rows);
    void keep_payload(size_t pipeline, int slot);

    std::vector<Bound>& bound_;
    std::vector<Build> builds_;
    std::vector<std::vector<bool>> unusable_;  // by pipeline and slot
};

/// Tells whether a type's values are held as integers, which kernels compute with.
bool is_integer(plan::Type type);

}  // namespace loom::gpu
