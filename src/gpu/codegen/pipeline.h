#pragma once
// A plan as pipelines that one kernel each can run: a scan, steps that every row takes, and what
// becomes of the rows. What a kernel computes, not yet how.

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/operator.h"

namespace loom::gpu {

/// A value of a row in flight.
struct Slot {
    enum class Kind : uint8_t {
        kScan,    ///< column `index` of the scanned table
        kPayload  ///< payload `index` of join `join`: a column of its build side
    };
    Kind kind = Kind::kScan;
    plan::Type type;
    int index = -1;
    int join = -1;
};

struct PipelineJoin {
    int build = -1;  ///< the pipeline (of Program::pipelines) that makes the build side
    plan::JoinType type = plan::JoinType::kInner;  ///< kInner, kLeft, kSemi or kAnti
    std::vector<plan::Expr> keys;                  ///< over the slots
    /// What a match has to satisfy besides, over the slots. Of kInner they are filters behind it.
    std::vector<plan::Expr> conditions;
    double selectivity = 1;  ///< the planner's: rows out for a row in
    /// NOT IN: not for keys that may be NULL, on either side.
    bool null_aware = false;

    /// Whether it matters how many rows of a key the build side has, or which of them is found.
    bool needs_unique() const noexcept {
        return type == plan::JoinType::kInner || type == plan::JoinType::kLeft ||
               !conditions.empty();
    }
};

struct PipelineStep {
    enum class Kind : uint8_t {
        kFilter,
        kJoin,
        kCompute  ///< the value may be read by nobody, but its faults are the row's
    };
    Kind kind = Kind::kFilter;
    plan::Expr predicate;    ///< kFilter, kCompute, over the slots
    double selectivity = 1;  ///< kFilter
    int join = -1;           ///< kJoin
};

/// Rows of a table through steps into a sink. Expressions are over the slots.
struct Pipeline {
    int table = -1;  ///< kScan's source
    int inner = -1;  ///< instead: the rows of an aggregate (of Program::inner)
    std::string name;
    std::vector<int> columns;  ///< of the scan, that the slots of kind kScan stand for, ascending
    std::vector<Slot> slots;
    std::vector<PipelineJoin> joins;
    std::vector<PipelineStep> steps;
    double rows = 0;  ///< the planner's estimate of the scan
    double kept = 0;  ///< and of what comes to the sink

    enum class Sink : uint8_t {
        kBuild,     ///< a join's build side: `build_keys`, and `payload`
        kAggregate  ///< `keys` and `aggregates`
    };
    Sink sink = Sink::kBuild;
    std::vector<plan::Expr> build_keys;
    std::vector<plan::Expr> payload;
    std::vector<plan::Expr> keys;
    std::vector<plan::Aggregate> aggregates;
    bool grouped = false;
};

/// Build sides come before the pipelines that probe them; the last one is the result's.
struct Program {
    /// An aggregate whose rows a pipeline scans: a part of the plan that the program was made of,
    /// or `made` for it.
    struct Inner {
        const plan::Operator* aggregate = nullptr;
        std::unique_ptr<Program> program;
    };

    std::vector<Pipeline> pipelines;
    std::vector<Inner> inner;
    std::list<plan::Operator> made;
};

/// Makes pipelines of an aggregate over scans, filters, projections, joins and such aggregates,
/// which must outlive them. Nothing, and a reason for a DBA, if there is something in it that
/// kernels do not compute.
std::optional<Program> lower(const plan::Operator& aggregate, std::string* reason);

}  // namespace loom::gpu
