#pragma once
// Operators of the IR: a query's pushed-down tree as plain data. Columns are positions in the
// output of the operator below.

#include <cstdint>
#include <string>
#include <vector>

#include "plan/expr.h"
#include "plan/layout.h"

namespace loom::plan {

enum class OperatorKind : uint8_t {
    kScan,       ///< table `source`; column i is the source's i-th bound column
    kRows,       ///< rows that the host feeds: row source `source`
    kFilter,     ///< `predicates`, in PostgreSQL's order
    kProject,    ///< `expressions`
    kJoin,       ///< hash join or, without keys, nested loop
    kAggregate,  ///< outputs group keys, then aggregates
    kSort,       ///< by `sort_keys`; with `count` a top-n
    kLimit,
    kAppend,  ///< rows of all inputs, one after the other in no order
    /// Rows of the input, computed once for all operators of the same `source`. Their inputs are
    /// alike.
    kShared,
    /// Rows of the input, which comes in the order of partitions and within them of `sort_keys`;
    /// then a column for each of `windows`. `group_keys` are the partitions' columns.
    kWindow
};

/// inputs[0] is the probe side (PostgreSQL's outer), inputs[1] the build side (inner).
enum class JoinType : uint8_t {
    kInner,
    kLeft,       ///< keeps probe rows without match
    kRight,      ///< keeps build rows without match
    kFull,       ///< keeps both
    kSemi,       ///< probe rows with a match; outputs the probe side only
    kAnti,       ///< probe rows without a match; outputs the probe side only
    kRightSemi,  ///< build rows with a match; outputs the build side only
    kRightAnti,  ///< build rows without a match; outputs the build side only
    /// All probe rows, each once; outputs the probe side, then a bool: whether there is a match.
    kMark
};

/// One aggregate call. `function` is the aggregate's pg_proc OID.
struct Aggregate {
    uint32_t function = 0;
    Type type;                 ///< of the result
    std::vector<Expr> args;    ///< empty for count(*)
    std::vector<Expr> filter;  ///< FILTER (WHERE ...): nothing or one condition
    bool distinct = false;
};

/// Which rows of a partition a window function sees.
enum class FrameMode : uint8_t { kRange, kRows, kGroups };
enum class FrameBound : uint8_t {
    kUnbounded,  ///< the partition's first or last row
    kPreceding,  ///< an offset before the current row (kRows), value or group of peers (kGroups)
    kCurrent,    ///< the current row (kRows), or the first or last of its peers
    kFollowing
};
struct Frame {
    FrameMode mode = FrameMode::kRange;
    FrameBound start = FrameBound::kUnbounded;
    FrameBound end = FrameBound::kCurrent;
    /// Nothing or one expression without columns: an int8, or with kRange what values differ by.
    std::vector<Expr> start_offset;
    std::vector<Expr> end_offset;
    /// kRange with an offset: what orders the rows, which `sort_keys` has, as the type that is
    /// compared; and for a bound with an offset the least or greatest value of that type in the
    /// frame of a row. Nothing or one expression over the input's columns.
    std::vector<Expr> key;
    std::vector<Expr> start_value;
    std::vector<Expr> end_value;
};

/// One call over a window. `function` is the pg_proc OID of a window function or an aggregate.
struct WindowCall {
    uint32_t function = 0;
    Type type;
    std::vector<Expr> args;
    std::vector<Expr> filter;  ///< as Aggregate's
    /// Nothing or, of array_agg, the result's.
    std::vector<Layout> layout;
};

struct SortKey {
    int column = 0;
    bool descending = false;
    bool nulls_first = false;

    bool operator==(const SortKey&) const = default;
};

struct Operator {
    OperatorKind kind = OperatorKind::kScan;
    std::vector<Operator> inputs;
    std::vector<Type> output;
    double rows = 0;  ///< the planner's estimate of the output

    int source = -1;                    ///< kScan, kRows, kShared
    std::string name;                   ///< kScan: the table's name, for people
    std::vector<std::string> columns;   ///< kScan: names of the bound columns, for people
    std::vector<int32_t> host_columns;  ///< kScan, kRows: the host's numbers of the bound columns
    bool may_raise = false;             ///< kRows: the host may meet an error of SQL on the way

    std::vector<Expr>
        predicates;  ///< kFilter; kJoin: residual over probe columns, then build columns
    std::vector<Expr> expressions;  ///< kProject

    JoinType join = JoinType::kInner;
    std::vector<Expr> probe_keys;  ///< kJoin, over the probe side's columns
    std::vector<Expr> build_keys;  ///< kJoin, over the build side's columns; same types
    /// kAnti for NOT IN, kMark for IN: a NULL on either side makes the answer unknown.
    bool null_aware = false;
    /// kLeft: a probe row may have one match at most; more are an error that PostgreSQL raises.
    bool single = false;

    std::vector<Expr> group_keys;  ///< kAggregate; empty: one group, also for empty input
    /// kAggregate: no group for empty input even without keys (DISTINCT over constants).
    bool grouped = false;
    std::vector<Aggregate> aggregates;

    std::vector<WindowCall> windows;  ///< kWindow
    Frame frame;                      ///< kWindow

    std::vector<SortKey> sort_keys;
    std::vector<Expr>
        count;  ///< kLimit, kSort: nothing (all) or one int8 expression without columns
    std::vector<Expr> offset;  ///< kLimit: nothing (0) or one
};

/// What the text form calls things that the IR has numbers for.
class Names {
  public:
    virtual ~Names() = default;
    /// Returns a function's name; an infix operator's if it should stand between its two arguments.
    struct Function {
        std::string name;
        bool infix = false;
    };
    virtual Function function(uint32_t id) const;
    /// Returns the text of a constant of a type that integers or bytes do not show well.
    virtual std::string constant(Type type, const column::Scalar& value) const;
};

/// Prints a tree, one operator a line, inputs below and indented. Stable; EXPLAIN shows it.
std::string to_text(const Operator& root, const Names& names = {});
std::string to_text(const Expr& expr, const Names& names = {});

/// Returns the types of probe columns, then build columns (kMark: the mark), as a join outputs them
/// before kSemi and kAnti drop a side.
std::vector<Type> joined_types(const Operator& join);

}  // namespace loom::plan
