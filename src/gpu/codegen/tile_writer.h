#pragma once
// The text of a pipeline: how a block of threads goes through its rows.
//
// Tests that are cheap on all rows of a tile are stages: a warp reads their columns for the rows
// that are still alive, 16 a lane, and keeps a mask. Survivors are queued in shared memory until a
// warp's worth of them is there; then each lane takes one through what is left of the steps and
// into the sink, and reads other columns for that row alone. A pipeline without stages gives each
// thread a row.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpu/codegen/kernel_file.h"
#include "gpu/codegen/stage_order.h"

namespace loom::gpu {

/// Shared memory of a kernel, as functions divide it.
class SharedMemory {
  public:
    explicit SharedMemory(uint32_t limit) : limit_(limit) {}
    /// Returns where `bytes` begin.
    uint32_t take(uint32_t bytes) {
        const uint32_t at = bytes_;
        bytes_ += (bytes + 15) / 16 * 16;
        return at;
    }
    bool fits(uint32_t bytes) const { return bytes_ + bytes <= limit_; }
    uint32_t bytes() const noexcept { return bytes_; }

  private:
    uint32_t limit_;
    uint32_t bytes_ = 0;
};

class TileWriter {
  public:
    TileWriter(KernelFile& file, const Pipeline& pipeline, const PipelineData& data,
               const KernelChoices& choices);
    virtual ~TileWriter() = default;

  protected:
    /// Appends what becomes of a row that all steps keep; `leave` takes it out.
    virtual void write_sink(std::string_view leave) = 0;
    /// Appends reads of the slots that the sink computes with, where rows that come so far are
    /// likely to reach it.
    virtual void read_early() {}
    /// Whether the sink reads a slot, and the code of a join.
    virtual bool sink_reads(int slot) const = 0;
    virtual bool sink_reads_code(int join) const = 0;
    /// Decides on stages, queue and shared memory, of which the sink has taken its part.
    void plan(SharedMemory& memory, uint32_t threads);
    /// Appends the way through all rows.
    void write_rows();

    std::string word(uint64_t value) { return file_.word(value); }
    std::string word32(uint64_t value) { return file_.word32(value); }
    /// Appends statements that leave the row (by `leave`) unless a condition holds.
    void filter(const plan::Expr& predicate, std::string_view leave);
    /// Returns the place of a key among those of a build side.
    std::string place(const std::string& offset, const ScanColumn& column, const BuildTable& table);
    /// Appends what computes how far a value lies above its least (or the number of NULL), and
    /// returns it, as 64 bits.
    std::string number(const plan::Expr& value, int64_t least, uint64_t values, bool nullable);
    /// Whether an expression reads a slot, be it to find a row of a build side.
    bool needs(const plan::Expr& expr, int slot) const;
    bool needs_any(const std::vector<plan::Expr>& exprs, int slot) const;
    /// Returns how far a key lies above `least`, modulo 2^64; a row whose key is NULL leaves.
    std::string key_above(const plan::Expr& key, int64_t least, std::string_view leave);
    /// Returns the word that keys make; a row whose keys cannot be in the table leaves.
    std::string key_word(const std::vector<plan::Expr>& keys, const BuildTable& table,
                         std::string_view leave);
    const BuildTable& table(int join) const { return *data_.builds[static_cast<size_t>(join)]; }
    bool has_stages() const noexcept { return !stages_.empty(); }
    /// Blocks of threads that a multiprocessor shall hold.
    int blocks() const noexcept { return blocks_; }

    KernelFile& file_;
    const Pipeline& pipeline_;
    const PipelineData& data_;
    const KernelChoices& choices_;
    RowSlots slots_;
    ExpressionWriter expressions_;
    std::string body_;

  private:
    // A test of a tile: a range, a bitmap of a join's keys, or one of a dictionary's texts.
    struct Stage {
        enum class Kind : uint8_t { kRange, kJoin, kTexts };
        Kind kind = Kind::kRange;
        int slot = -1;
        int64_t low = INT64_MIN;  // kRange: values from low to high, in the column's domain
        int64_t high = INT64_MAX;
        int join = -1;                          // kJoin
        const plan::Expr* predicate = nullptr;  // kTexts
        double selectivity = 1;
        std::string bitmap;  // kJoin, kTexts: its address, its words
        std::string words;
        uint64_t places = 0;  // kJoin: 0 if all keys are within
        int64_t origin = 0;   // what place 0 stands for
        bool shared = false;
        uint32_t shared_at = 0;
        uint32_t words_at = 0;  // of a column that goes along with survivors
    };

    const ScanColumn* scan_column(const plan::Expr& expr) const;
    /// The column that is a join's key, if its offsets are places of the build side.
    const ScanColumn* near_key(int join) const;
    const column::Scalar& constant(const plan::Expr& expr) const;
    std::optional<int64_t> integer(const plan::Expr& expr) const;
    std::optional<Stage> range(const plan::Expr& expr) const;
    std::optional<Stage> numeric_range(const plan::Expr& expr, bool column_first) const;
    std::optional<Stage> texts(const plan::Expr& expr) const;
    std::optional<Stage> membership(const PipelineStep& step) const;
    StageCost cost(const Stage& stage) const;
    bool can_fault(const plan::Expr& expr) const;
    void refuse_null_keys() const;
    void plan_steps();
    bool needed_in_tail(int slot) const;

    uint32_t lane_words(const Stage& stage) const;
    std::string encoding(const Stage& stage) const;
    void prepare_bitmaps();
    void prepare_stage(size_t at);
    void prepare_range(const Stage& stage, size_t at, const ScanColumn& column);
    void write_stage(size_t at);
    void test_bitmap(const Stage& stage, size_t at, const ScanColumn& column);
    void test_range(const Stage& stage, size_t at, const ScanColumn& column);
    void open_spans();
    void write_tiles();
    void write_survivors();
    void write_queue();
    size_t stage_of(int slot) const;

    void take_row(std::string_view leave);
    /// What of a join is to be done still.
    enum class Part : uint8_t { kAll, kKey, kConditions };
    void take_join(int join, std::string_view leave, Part part);
    bool take_list(int join, std::string_view leave, Part part);
    void find(int join, std::string_view leave);
    bool reads_early() const;
    std::vector<int> tail_joins() const;
    void read_row_early(std::string_view leave);
    /// Whether rows without a match leave at once, or by check_bit() and check_code().
    enum class Check : uint8_t { kNow, kLater };
    std::string place_of(int join, std::string_view leave, Check check, std::string* wanted);
    void look_up_bit(int join, std::string_view leave, Check check);
    void read_bit(int join, std::string_view at, std::string_view wanted);
    void check_bit(int join, std::string_view leave);
    void look_up_code(int join, std::string_view leave, Check check);
    void read_code(int join, std::string_view at, std::string_view wanted);
    void check_code(int join, std::string_view leave);

    std::vector<Stage> stages_;
    std::vector<const PipelineStep*> tail_;
    std::vector<Stage> late_;  // tests that stayed behind, of rows
    std::set<int> tested_;     // joins whose key is tested by one of `stages_` or `late_`
    std::vector<int> carried_;
    double left_ = 1;
    bool ahead_ = false;
    bool queue_ = true;
    int names_ = 0;
    int blocks_ = 1;
    uint32_t threads_ = 0;
    uint32_t queue_words_ = 0;
    uint32_t queue_at_ = 0;
};

/// Whether places of a column's keys are right modulo 2^32: none wraps around into the table.
bool is_near(const ScanColumn& column, const BuildTable& table);
/// Whether all keys of a column are places of the table.
bool is_inside(const ScanColumn& column, const BuildTable& table);

}  // namespace loom::gpu
