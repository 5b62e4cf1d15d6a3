#pragma once
// The engine's face to its host: a plan, the data it reads, and rows out.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "exec/fault.h"
#include "exec/vector.h"
#include "format/prune.h"
#include "format/table_reader.h"
#include "plan/layout.h"
#include "plan/operator.h"

namespace loom::exec {

/// One file of a table, open, with its columns bound to the scan's.
struct ScanFile {
    struct Column {
        int field = -1;           ///< of the file's schema; -1: `value` for every row
        column::Scalar value;     ///< in the engine's domain (plan::ParameterValue says how)
        int32_t characters = -1;  ///< of a varchar at most, of a char; -1: any number
        /// Of an array or composite, which the field's lists and structs become; else null.
        std::shared_ptr<const plan::Layout> layout;
    };
    std::shared_ptr<format::TableReader> reader;
    std::vector<Column> columns;
    /// Row groups and pages that these exclude are skipped. Never more than the filters above say.
    std::vector<format::PruneCondition> conditions;
};

/// A table of files.
struct TableSource {
    std::vector<ScanFile> files;
};

/// Rows that only the host can make, e.g. of an ordinary PostgreSQL table. Used by the thread that
/// calls Query::next alone.
class RowSource {
  public:
    virtual ~RowSource() = default;
    /// Points `columns` at up to kBatchRows further rows, plain, and returns how many; 0 at the
    /// end. They stay valid until the next call.
    virtual int64_t fetch(std::span<Vector> columns) = 0;
};

/// What the engine asks its host while it works.
class Host {
  public:
    virtual ~Host() = default;
    /// Called every few milliseconds by the thread that called Query::next. May throw, which ends
    /// the query.
    virtual void check_interrupts() = 0;
    /// Computes expression `expression` of the host (plan::ExprKind::kHost) for `rows` rows of
    /// plain or constant arguments. Called by the same thread. The result is plain and valid until
    /// the next call. Raises Unrepresentable where the host's own plan has to answer.
    virtual Vector evaluate(int expression, std::span<const Vector> args, int64_t rows) = 0;
};

struct Inputs {
    std::vector<TableSource> tables;
    std::vector<RowSource*> rows;
    std::vector<plan::ParameterValue> parameters;
};

struct Options {
    int threads = 1;  ///< threads that work, the caller's included
    /// Bytes for hash tables and sorts, to which a few megabytes a thread come; 0: no limit.
    uint64_t memory = 0;
    /// Where joins, groups and sorts go that do not fit; none: they do not leave memory.
    std::vector<std::string> temp_directories;
    std::string temp_prefix;           ///< of names that are seen for a moment
    uint64_t temp_limit = UINT64_MAX;  ///< bytes in temporary files at once
    bool use_statistics = true;        ///< row groups and pages may be skipped for joins and top-ns
    /// Measures what threads compute between two looks at whether the query shall end.
    bool watch_polls = false;
};

/// Rows of the result: plain vectors, valid until the next call of Query::next.
struct Batch {
    int64_t rows = 0;
    std::vector<Vector> columns;
};

/// What a pipeline did, for EXPLAIN ANALYZE.
struct PipelineProfile {
    std::string name;
    int64_t rows_in = 0;
    int64_t rows_out = 0;
    double milliseconds = 0;
};

struct ScanProfile {
    std::string name;
    int64_t row_groups = 0;
    int64_t row_groups_skipped = 0;
    int64_t rows = 0;
    int64_t bytes_read = 0;
    std::vector<int64_t> column_bytes;
};

struct Profile {
    std::vector<PipelineProfile> pipelines;
    std::vector<ScanProfile> scans;
    uint64_t peak_memory = 0;
    uint64_t temp_files = 0;
    uint64_t temp_bytes = 0;  ///< written to temporary files
    /// Options::watch_polls: the longest that a thread computed without a poll, in milliseconds of
    /// its own processor time, and in what.
    double longest_stretch = 0;
    std::string longest_in;
};

/// What plans call loom.approx_count_distinct, whose OID differs from database to database.
inline constexpr uint32_t kApproximateCount = 1;
/// any_value, which PostgreSQL has from release 16 on; plans may call it on all.
inline constexpr uint32_t kAnyValue = 6291;

/// Returns the type of what an aggregate (its pg_proc OID) gives for arguments of these types, or
/// nothing if the engine does not have it.
std::optional<plan::Type> aggregate_type(uint32_t function, std::span<const plan::Type> args);

/// Likewise for a window function, or an aggregate over a window. `layout` is plan::WindowCall's.
std::optional<plan::Type> window_type(uint32_t function, std::span<const plan::Type> args,
                                      const plan::Layout* layout = nullptr);

/// Tells whether the engine can run a plan; if not, `reason` says why, for a DBA.
bool supports(const plan::Operator& root, std::string* reason);

/// One execution of a plan. Threads are started by the first call of next() and are gone when the
/// last batch has been returned, when next() throws, and when the query dies.
class Query {
  public:
    /// `root` must outlive the query.
    Query(const plan::Operator& root, Inputs inputs, const Options& options);
    ~Query();
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    /// Returns the next rows, or nullptr after the last. Raises SqlFault, Unrepresentable,
    /// base::Error, or what `host` threw.
    const Batch* next(Host& host);
    Profile profile() const;
    /// Ends the query's threads. For a host that must leave next() without unwinding it; nothing
    /// else may be done with the query then.
    void abandon() noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace loom::exec
