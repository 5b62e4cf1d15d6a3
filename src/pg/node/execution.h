#pragma once
// One LoomScan's work in the engine: files, parameters, the query, batches of datums.

#include "pg/compat/backend.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/query.h"
#include "pg/device/device_parts.h"
#include "pg/node/host_expressions.h"
#include "pg/node/loom_scan.h"
#include "pg/node/plan_rows.h"
#include "pg/node/table_files.h"
#include "pg/plan/stored_plan.h"

namespace loom::pg {

/// C++ object in a memory context of its own. Its destructor ends the query's threads and calls
/// nothing of PostgreSQL.
class Execution {
  public:
    Execution(LoomScanState* state, StoredPlan stored);
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    /// Loads the next batch of datums into the state. Returns false at the end. Raises what the
    /// engine raises; failed() then tells whether PostgreSQL may try instead.
    bool next_batch();
    /// Forgets the query, so that the next batch is the first one again, with parameters evaluated
    /// anew. Files stay open.
    void restart();
    /// Ends the query's threads and gives its memory back.
    void stop();
    /// Ends the query's threads when the process is about to end.
    void abandon() noexcept;

    bool has_returned_rows() const noexcept { return returned_rows_; }
    const StoredPlan& stored() const noexcept { return stored_; }
    /// What all runs of the node did so far.
    exec::Profile profile() const;
    int threads() const noexcept { return options_.threads; }
    /// What devices would do, without a run. Nothing where that depends on what only a run finds
    /// out.
    std::vector<std::string> ask_devices();
    /// What devices did in the last run.
    const std::vector<std::string>& device_report() const noexcept {
        return device_parts_.report();
    }

  private:
    const exec::Batch* next_or_interrupt();
    void start();
    void prepare_calls();
    void make_datums(const exec::Batch& batch);
    std::vector<plan::ParameterValue> evaluate_parameters();
    exec::TableSource open_table(size_t index);

    // First of all members: readers give memory back to it when they die.
    std::unique_ptr<base::MemoryBudget> budget_;
    LoomScanState* state_;
    StoredPlan stored_;
    std::vector<const plan::Operator*> scans_;
    std::vector<const plan::Operator*> row_operators_;
    std::vector<std::unique_ptr<PlanRows>> rows_;
    std::vector<std::unique_ptr<TableFiles>> tables_;
    std::unique_ptr<HostExpressions> expressions_;
    exec::Options options_;
    DeviceParts device_parts_;
    std::unique_ptr<plan::Operator> left_;  // of the plan, where a device answered parts of it
    std::unique_ptr<exec::Query> query_;
    exec::Profile total_;
    bool returned_rows_ = false;
    int64_t capacity_ = 0;
    std::vector<Datum*> values_;
    std::vector<bool*> nulls_;
};

}  // namespace loom::pg
