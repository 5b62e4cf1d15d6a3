#pragma once
// A compiled pipeline: a source, steps that thin or multiply its rows, and a sink. Immutable while
// it runs; each worker has a Frame.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/expression.h"
#include "exec/join/join_table.h"
#include "exec/partition/scattered_rows.h"
#include "exec/query.h"
#include "exec/row_set.h"
#include "exec/tasks.h"
#include "plan/operator.h"

namespace loom::exec {

/// A column of the rows in flight. Most slots are computed only when a step asks for them, and then
/// only for the rows that are left: that is late materialisation.
struct Slot {
    enum class Kind : uint8_t {
        kScan,         ///< column `index` of the scanned table
        kStored,       ///< column `index` of the stored rows that feed the pipeline; -1: gone
        kBuildRow,     ///< int32 row of join `index`'s build side that matches, or -1
        kBuildColumn,  ///< column `index` of a build side, at the rows of slot `row_slot`
        kMark,         ///< whether join `join` (plan::JoinType::kMark) has a match
        kComputed      ///< `expression` over other slots (its columns are slot numbers)
    };
    Kind kind = Kind::kScan;
    plan::Type type;
    int index = -1;
    int join = -1;
    int row_slot = -1;
    std::shared_ptr<const Expression> expression;
    std::vector<int> inputs;  ///< slots that computing this one reads
    int last_use = -1;        ///< last step that may ask for it; the sink is step `steps.size()`
};

/// One join as its probe pipeline sees it.
struct Join {
    plan::JoinType type = plan::JoinType::kInner;
    std::shared_ptr<JoinTable> table;  ///< set when the build side is complete
    std::vector<int> keys;             ///< slots of the probe side
    std::vector<int> build_keys;       ///< columns of the build side, by key
    int row_slot = -1;
    int mark_slot = -1;                          ///< kMark
    bool null_aware = false;                     ///< kMark
    bool single = false;                         ///< build keys must be unique
    std::shared_ptr<const Expression> residual;  ///< over slots, or null
    /// kRight, kFull, kRightSemi, kRightAnti: one byte a build row, set when matched.
    std::shared_ptr<base::Buffer> matched;
    /// The build side, if memory has no room for its table: the pipeline is cut before the join,
    /// and `table` is that of a part of the rows while the rest runs over them.
    std::shared_ptr<ScatteredRows> scattered;
    bool by_blocks = false;       ///< the table is a part of a partition that it does not fit
    bool build_is_empty = false;  ///< the whole build side has no rows
    bool build_has_null = false;  ///< some key of the whole build side is NULL

    bool marks_build() const noexcept {
        return type == plan::JoinType::kRight || type == plan::JoinType::kFull ||
               type == plan::JoinType::kRightSemi || type == plan::JoinType::kRightAnti;
    }
    /// Whether a probe row without a match is dropped.
    bool drops_unmatched() const noexcept {
        return type != plan::JoinType::kLeft && type != plan::JoinType::kFull &&
               type != plan::JoinType::kAnti && type != plan::JoinType::kMark;
    }
};

struct Step {
    enum class Kind : uint8_t {
        kJoin,  ///< join `join`, before its build side is known; prepare() decides what it becomes
        kFilter,   ///< rows for which `expression` is true
        kTest,     ///< rows with (or, kAnti, without) a match of join `join`: a filter
        kMatch,    ///< the general join: every pair, outer rows too
        kCompute,  ///< computes slot `slot` now, since it may fault
        kLimit     ///< `count` rows after `offset`, counted over all workers
    };
    Kind kind = Kind::kFilter;
    std::shared_ptr<const Expression> expression;
    std::vector<int> inputs;  ///< slots that the step reads
    int join = -1;
    int slot = -1;
    bool negate = false;  ///< kTest: kAnti
    int64_t offset = 0;   ///< kLimit
    int64_t count = -1;   ///< kLimit; -1: all
};

/// How far the first rows in some order reach: shared by a top-n and the scan that feeds it.
struct TopBound {
    int scan_column = -1;  ///< that the first key is, if it is one
    bool descending = false;
    bool nulls_first = false;
    /// Rows whose first key comes behind this place (an order word, flipped if descending) are not
    /// among the first.
    std::atomic<uint64_t> last{UINT64_MAX};
};

class Sink;

struct Pipeline {
    std::string name;
    // Source: a table, stored rows, the host, or `scattered`.
    int table = -1;
    std::shared_ptr<RowSet> stored;
    int host_rows = -1;
    bool source_may_raise = false;  ///< the host may meet an error of SQL while it makes its rows
    std::vector<plan::Type> source_types;

    std::vector<Slot> slots;
    std::vector<Join> joins;
    std::vector<Step> steps;
    /// The first `head` steps cannot fault and give the same rows in any order.
    int head = 0;
    std::shared_ptr<Sink> sink;
    std::vector<int> sink_inputs;
    std::shared_ptr<const TopBound> bound;  ///< of the sink, if it is a top-n; or null
    /// Source: probe rows of the join of the first step, scattered as its build side is.
    std::shared_ptr<ScatteredRows> scattered;
    /// No row can reach the sink, since a join's build side has none: the source is not read, as
    /// PostgreSQL does not read it then.
    bool is_dead = false;

    /// Decides how joins run now that their build sides are there, which steps may change places,
    /// and how long each slot is needed. Call once, before the pipeline runs.
    void prepare();
    /// Whether rows that the sink would drop need not be read at all.
    bool may_skip_rows() const noexcept;
};

class Frame;

/// Takes the rows that reach the end of a pipeline.
class Sink {
  public:
    virtual ~Sink() = default;
    /// Called once before the pipeline runs.
    virtual void begin(int workers) = 0;
    /// Takes the rows of a frame; called by worker `worker` alone.
    virtual void consume(int worker, Frame& frame) = 0;
    /// Called once, by the caller's thread, after all workers are done. May hand work to them.
    virtual void finish(Tasks& tasks) = 0;
    /// Returns the rows that came out, once finish() has run, and leaves the sink empty.
    virtual RowSet take() = 0;
};

}  // namespace loom::exec
