#include "pg/node/execution.h"

#include <algorithm>

#include <sched.h>

#include "pg/bridge/bridge.h"
#include "pg/bridge/evaluate_ahead.h"
#include "pg/guc/settings.h"
#include "pg/node/temp_space.h"
#include "pg/node/value.h"
#include "pg/plan/time_zone.h"

extern "C" {
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "storage/ipc.h"
}

namespace loom::pg {

namespace {

// Leaves the engine when PostgreSQL wants to end the statement or the session.
class Interrupted : public std::exception {};

class BackendHost : public exec::Host {
  public:
    explicit BackendHost(HostExpressions* expressions) : expressions_(expressions) {}

    exec::Vector evaluate(int expression, std::span<const exec::Vector> args,
                          int64_t rows) override {
        bool interrupted = false;
        exec::Vector result;
        try {
            result =
                expressions_->evaluate(static_cast<size_t>(expression), args, rows, &interrupted);
        } catch (const PgError&) {
            // PostgreSQL says once only that it wants to end the statement. Another thread may have
            // ended the query before this error gets anywhere.
            cancelled_ = std::current_exception();
            throw;
        }
        if (interrupted) throw Interrupted();
        return result;
    }

    /// Raises the cancellation that evaluate() raised.
    void rethrow_cancelled() const {
        if (cancelled_ != nullptr) std::rethrow_exception(cancelled_);
    }

    void check_interrupts() override {
        if (!InterruptPending) return;
        // These may end the process from within CHECK_FOR_INTERRUPTS: the threads must be gone
        // first.
        if (ProcDiePending || QueryCancelPending || ClientConnectionLost) throw Interrupted();
        pg_call([] { CHECK_FOR_INTERRUPTS(); });
    }

  private:
    HostExpressions* expressions_;
    std::exception_ptr cancelled_;
};

// Executions whose queries may have threads. A backend that is told to end may do so from within
// what it evaluates, and then leaves for good: no thread may work on while the process is taken
// apart.
std::vector<Execution*> running;

void end_threads_at_exit(int, Datum) {
    for (Execution* execution : running) execution->abandon();
}

void remember_running(Execution* execution) {
    static bool registered = false;
    if (!registered) pg_call([] { before_shmem_exit(end_threads_at_exit, 0); });
    registered = true;
    running.push_back(execution);
}

// What a query may take at least where pg_loom.memory does not say: what fits into memory is joined
// and grouped several times as fast as what goes to temporary files.
constexpr uint64_t kLeastMemory = uint64_t{256} << 20;

int allowed_cores() {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
    return std::max(CPU_COUNT(&cores), 1);
}

exec::Options current_options() {
    exec::Options options;
    options.threads = g_threads > 0 ? g_threads : allowed_cores();
    const uint64_t memory =
        g_memory_kb > 0 ? uint64_t{1024} * static_cast<uint64_t>(g_memory_kb)
                        : std::max(get_hash_memory_limit() * static_cast<uint64_t>(options.threads),
                                   kLeastMemory);
    options.memory = memory;
    options.use_statistics = g_skip_with_statistics;
    options.watch_polls = g_watch_polls;
    set_temp_space(&options);
    return options;
}

// Operators of one kind by their source, which one operator only reads.
void collect_sources(const plan::Operator& op, plan::OperatorKind kind,
                     std::vector<const plan::Operator*>* found) {
    if (op.kind == kind) {
        const auto source = static_cast<size_t>(op.source);
        if (found->size() <= source) found->resize(source + 1, nullptr);
        (*found)[source] = &op;
    }
    for (const plan::Operator& input : op.inputs) collect_sources(input, kind, found);
}

void add(exec::Profile& total, const exec::Profile& part) {
    total.peak_memory = std::max(total.peak_memory, part.peak_memory);
    total.temp_files += part.temp_files;
    total.temp_bytes += part.temp_bytes;
    if (part.longest_stretch > total.longest_stretch) {
        total.longest_stretch = part.longest_stretch;
        total.longest_in = part.longest_in;
    }
    total.pipelines.resize(std::max(total.pipelines.size(), part.pipelines.size()));
    for (size_t i = 0; i < part.pipelines.size(); ++i) {
        exec::PipelineProfile& sum = total.pipelines[i];
        sum.name = part.pipelines[i].name;
        sum.rows_in += part.pipelines[i].rows_in;
        sum.rows_out += part.pipelines[i].rows_out;
        sum.milliseconds += part.pipelines[i].milliseconds;
    }
    total.scans.resize(std::max(total.scans.size(), part.scans.size()));
    for (size_t i = 0; i < part.scans.size(); ++i) {
        exec::ScanProfile& sum = total.scans[i];
        sum.name = part.scans[i].name;
        sum.row_groups += part.scans[i].row_groups;
        sum.row_groups_skipped += part.scans[i].row_groups_skipped;
        sum.rows += part.scans[i].rows;
        sum.bytes_read += part.scans[i].bytes_read;
        sum.column_bytes.resize(part.scans[i].column_bytes.size());
        for (size_t c = 0; c < sum.column_bytes.size(); ++c)
            sum.column_bytes[c] += part.scans[i].column_bytes[c];
    }
}

// What decides whether a file's path keys may satisfy a table's virtual quals.
struct Filtering {
    ExprState* qual;
    ExprContext* context;
    TupleTableSlot* slot;
};

bool filter_file(void* arg, const Datum* values, const bool* nulls) {
    const auto* filtering = static_cast<Filtering*>(arg);
    TupleTableSlot* slot = filtering->slot;
    ExecClearTuple(slot);
    const auto width = static_cast<size_t>(slot->tts_tupleDescriptor->natts);
    memcpy(slot->tts_values, values, width * sizeof(Datum));
    memcpy(slot->tts_isnull, nulls, width * sizeof(bool));
    ExecStoreVirtualTuple(slot);
    filtering->context->ecxt_scantuple = slot;
    const bool keep = ExecQual(filtering->qual, filtering->context);
    ResetExprContext(filtering->context);
    return keep;
}

TupleTableSlot* make_slot_maylongjmp(Oid relation) {
    Relation opened = table_open(relation, NoLock);
    TupleTableSlot* slot =
        MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(opened)), &TTSOpsVirtual);
    table_close(opened, NoLock);
    return slot;
}

}  // namespace

Execution::~Execution() {
    std::erase(running, this);
}

void Execution::abandon() noexcept {
    if (query_ != nullptr) query_->abandon();
}

Execution::Execution(LoomScanState* state, StoredPlan stored)
    : budget_(std::make_unique<base::MemoryBudget>(uint64_t{1024} * 1024 * g_scan_memory_mb)),
      state_(state),
      stored_(std::move(stored)),
      scans_(stored_.tables.size(), nullptr),
      tables_(stored_.tables.size()) {
    collect_sources(stored_.root, plan::OperatorKind::kScan, &scans_);
    collect_sources(stored_.root, plan::OperatorKind::kRows, &row_operators_);
}

std::vector<plan::ParameterValue> Execution::evaluate_parameters() {
    std::vector<plan::ParameterValue> values;
    ExprContext* context = state_->custom.ss.ps.ps_ExprContext;
    for (size_t i = 0; i < stored_.parameters.size(); ++i) {
        const StoredParameter& parameter = stored_.parameters[i];
        bool null = true;
        Datum datum = 0;
        auto* expr = static_cast<ExprState*>(list_nth(state_->expressions, static_cast<int>(i)));
        if (!evaluate_ahead(expr, context, context->ecxt_per_tuple_memory, &datum, &null))
            throw exec::Unrepresentable("a value raises an error before it is needed");
        plan::ParameterValue& value = values.emplace_back();
        value.list_null = parameter.is_list && null;
        if (null) continue;
        bool held = true;
        if (parameter.is_list) {
            auto list = to_scalars(datum, parameter.type);
            held = list.has_value();
            if (held) value.list = std::move(*list);
        } else {
            auto scalar = to_scalar(datum, parameter.type);
            held = scalar.has_value();
            if (held) value.value = std::move(*scalar);
        }
        if (!held)
            throw exec::Unrepresentable(fmt::format("the value of parameter {} is no {}", i,
                                                    plan::is_decimal(parameter.type)
                                                        ? "number of up to 38 digits"
                                                        : to_string(parameter.type)));
    }
    pg_call([&] { ResetExprContext(context); });
    return values;
}

exec::TableSource Execution::open_table(size_t index) {
    const StoredTable& stored = stored_.tables[index];
    size_t first = stored_.parameters.size();
    for (size_t i = 0; i < index; ++i)
        first +=
            static_cast<size_t>(stored_.tables[i].value_count + stored_.tables[i].virtual_count);
    const plan::Operator& scan = *scans_[index];
    std::unique_ptr<TableFiles>& files = tables_[index];
    if (files == nullptr) {
        std::vector<AttrNumber> attributes(scan.host_columns.begin(), scan.host_columns.end());
        std::vector<PruneQual> quals;
        const ListCell* cell;
        foreach (cell, stored.quals)
            quals.push_back(deserialise_prune_qual(static_cast<List*>(lfirst(cell))));
        files = std::make_unique<TableFiles>(stored.relation, std::move(attributes), scan.output,
                                             std::move(quals), budget_.get(), state_->context);
    }
    // Values stay where the expression context keeps them until all conditions are made.
    ExprContext* context = state_->custom.ss.ps.ps_ExprContext;
    std::vector<QualValue> values(static_cast<size_t>(stored.value_count));
    for (size_t i = 0; i < values.size(); ++i) {
        auto* expr =
            static_cast<ExprState*>(list_nth(state_->expressions, static_cast<int>(first + i)));
        values[i].known = evaluate_ahead(expr, context, context->ecxt_per_tuple_memory,
                                         &values[i].value, &values[i].null);
    }
    Filtering filtering{nullptr, context, nullptr};
    if (stored.virtual_count > 0)
        pg_call([&] {
            const auto place = static_cast<int>(first + values.size());
            filtering.qual = static_cast<ExprState*>(list_nth(state_->expressions, place));
            MemoryContext old = MemoryContextSwitchTo(state_->context);
            filtering.slot = make_slot_maylongjmp(stored.relation);
            // Conditions come after the files are filtered, and filtering resets the context.
            filtering.context = CreateExprContext(state_->custom.ss.ps.state);
            MemoryContextSwitchTo(old);
        });
    exec::TableSource source =
        files->bind(values, stored.virtual_count > 0 ? filter_file : nullptr, &filtering);
    pg_call([&] {
        if (filtering.slot != nullptr) ExecDropSingleTupleTableSlot(filtering.slot);
        if (filtering.slot != nullptr) FreeExprContext(filtering.context, true);
        ResetExprContext(context);
    });
    return source;
}

// Makes ready what PostgreSQL evaluates while the engine runs.
void Execution::prepare_calls() {
    // Their errors are taken back in subtransactions.
    if (IsInParallelMode()) throw exec::Unrepresentable("PostgreSQL's functions in parallel mode");
    if (expressions_ != nullptr) return;
    const auto count = static_cast<int>(stored_.calls.size());
    const int first = list_length(state_->expressions) - count;
    std::vector<ExprState*> states;
    for (int i = 0; i < count; ++i)
        states.push_back(static_cast<ExprState*>(list_nth(state_->expressions, first + i)));
    expressions_ = std::make_unique<HostExpressions>(states, stored_.calls, &state_->custom.ss.ps,
                                                     state_->context);
}

void Execution::start() {
    exec::Inputs inputs;
    inputs.parameters = evaluate_parameters();
    for (size_t i = 0; i < stored_.tables.size(); ++i) inputs.tables.push_back(open_table(i));
    for (size_t i = 0; i < row_operators_.size(); ++i) {
        const plan::Operator& op = *row_operators_[i];
        auto* plan =
            static_cast<PlanState*>(list_nth(state_->custom.custom_ps, static_cast<int>(i)));
        if (rows_.size() <= i)
            rows_.push_back(std::make_unique<PlanRows>(
                plan, std::vector<AttrNumber>(op.host_columns.begin(), op.host_columns.end()),
                op.output, state_->context));
        rows_[i]->restart();
        inputs.rows.push_back(rows_[i].get());
    }
    if (!stored_.session_zone.empty() && stored_.session_zone != session_zone_name())
        throw exec::Unrepresentable("TimeZone has changed since the query was planned");
    if (!stored_.calls.empty()) prepare_calls();
    left_ = device_parts_.answer(stored_.root, &inputs);
    remember_running(this);
    options_ = current_options();
    query_ = std::make_unique<exec::Query>(left_ != nullptr ? *left_ : stored_.root,
                                           std::move(inputs), options_);
}

std::vector<std::string> Execution::ask_devices() {
    if (!device_parts_.begin()) return device_parts_.report();
    exec::Inputs inputs;
    inputs.parameters = evaluate_parameters();
    for (size_t i = 0; i < stored_.tables.size(); ++i) inputs.tables.push_back(open_table(i));
    device_parts_.ask(stored_.root, inputs);
    return device_parts_.report();
}

void Execution::make_datums(const exec::Batch& batch) {
    const size_t width = batch.columns.size();
    pg_call([&] { MemoryContextReset(state_->batch); });
    if (capacity_ < batch.rows) {
        values_.assign(width, nullptr);
        nulls_.assign(width, nullptr);
        capacity_ = std::max(batch.rows, exec::kBatchRows);
        for (size_t c = 0; c < width; ++c)
            pg_call([&] {
                values_[c] = static_cast<Datum*>(MemoryContextAlloc(
                    state_->context, sizeof(Datum) * static_cast<size_t>(capacity_)));
                nulls_[c] = static_cast<bool*>(
                    MemoryContextAlloc(state_->context, static_cast<size_t>(capacity_)));
            });
    }
    pg_call([&] {
        MemoryContext old = MemoryContextSwitchTo(state_->batch);
        for (size_t c = 0; c < width; ++c)
            make_datums_maylongjmp(batch.columns[c], batch.rows, values_[c], nulls_[c]);
        MemoryContextSwitchTo(old);
    });
    state_->values = values_.data();
    state_->nulls = nulls_.data();
    state_->row = 0;
    state_->rows = batch.rows;
}

// Fetches; if PostgreSQL wants to interrupt, ends the threads before it may.
const exec::Batch* Execution::next_or_interrupt() {
    BackendHost host(expressions_.get());
    try {
        return query_->next(host);
    } catch (const Interrupted&) {
        stop();
    } catch (...) {
        host.rethrow_cancelled();
        throw;
    }
    pg_call([] { CHECK_FOR_INTERRUPTS(); });
    host.rethrow_cancelled();
    // PostgreSQL let it pass after all, but the query is gone.
    throw base::Error(base::ErrorKind::kCancelled, "canceling statement due to user request");
}

bool Execution::next_batch() {
    if (query_ == nullptr) start();
    for (;;) {
        const exec::Batch* batch = next_or_interrupt();
        if (batch == nullptr) return false;
        if (batch->rows == 0) continue;
        make_datums(*batch);
        returned_rows_ = true;
        return true;
    }
}

void Execution::restart() {
    stop();
    returned_rows_ = false;
}

void Execution::stop() {
    if (query_ == nullptr) return;
    const exec::Profile profile = query_->profile();
    add(total_, profile);
    query_.reset();
    std::erase(running, this);
    report_temp_files(profile);
}

exec::Profile Execution::profile() const {
    exec::Profile profile = total_;
    if (query_ != nullptr) add(profile, query_->profile());
    return profile;
}

}  // namespace loom::pg
