// Runs the pipelines of a query one after the other, each on as many workers as it has work for.

#include "exec/query.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>

#include "exec/compile.h"
#include "exec/crew.h"
#include "exec/expression.h"
#include "exec/pipeline/runner.h"

namespace loom::exec {

namespace {

// Stored rows below this are not worth waking threads for.
constexpr int64_t kMinParallelRows = 32'768;

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

struct Query::State {
    State(const plan::Operator& plan, Inputs given, const Options& options)
        : root(plan), inputs(std::move(given)), budget(options.memory), crew(options.threads) {}

    // A pipeline that is running, or that pauses between two waves.
    struct Run {
        Run(CompiledPipeline& pipeline, State& state);
        CompiledPipeline& compiled;
        SharedRun shared;
        std::optional<MorselQueue> morsels;
        std::vector<std::unique_ptr<Runner>> runners;
    };

    void start(Host& host);
    void run(CompiledPipeline& compiled, Host& host);
    void run_host_rows(Run& run, Host& host);
    void deliver(CompiledPipeline& compiled);
    void finish(CompiledPipeline& compiled);
    std::function<void()> poll();
    bool next_wave(Host& host);
    int workers_for(const CompiledPipeline& compiled) const;
    void note(const Run& run, double milliseconds);

    const plan::Operator& root;
    Inputs inputs;
    base::MemoryBudget budget;  // outlives all that gives back to it
    Crew crew;
    Host* host = nullptr;
    std::vector<std::unique_ptr<CompiledPipeline>> pipelines;
    std::unique_ptr<Run> last;  ///< the result's pipeline, which runs in waves
    std::optional<RowStore> result;
    int64_t position = 0;
    bool started = false;
    bool finished = false;
    Batch batch;
    Profile profile;
};

Query::State::Run::Run(CompiledPipeline& pipeline, State& state)
    : compiled(pipeline), shared(pipeline.pipeline.steps.size()) {
    const Pipeline& p = pipeline.pipeline;
    const TableSource* table =
        p.table >= 0 ? &state.inputs.tables[static_cast<size_t>(p.table)] : nullptr;
    int workers = pipeline.ordered || p.host_rows >= 0 ? 1 : state.crew.size();
    if (table != nullptr) {
        morsels.emplace(*table, workers);
        workers = static_cast<int>(std::clamp<int64_t>(morsels->size(), 1, workers));
    } else if (p.stored != nullptr) {
        workers = static_cast<int>(
            std::clamp<int64_t>(p.stored->length() / kMinParallelRows, 1, workers));
    }
    for (int worker = 0; worker < workers; ++worker) {
        std::function<void()> poll = [&state, worker] {
            base::check_stop(&state.crew.stop());
            if (worker == 0) state.host->check_interrupts();
        };
        runners.push_back(
            std::make_unique<Runner>(p, shared, table, worker, std::move(poll), &state.budget));
    }
}

void Query::State::note(const Run& run, double milliseconds) {
    PipelineProfile entry;
    entry.name = run.compiled.pipeline.name;
    entry.milliseconds = milliseconds;
    ScanProfile scan;
    scan.name = entry.name;
    for (const auto& runner : run.runners) {
        entry.rows_in += runner->rows_in();
        entry.rows_out += runner->rows_out();
        if (const ScanCursor* cursor = runner->cursor(); cursor != nullptr) {
            scan.rows += runner->rows_in();
            scan.bytes_read += cursor->bytes_read;
            scan.column_bytes.resize(cursor->column_bytes.size());
            for (size_t i = 0; i < cursor->column_bytes.size(); ++i)
                scan.column_bytes[i] += cursor->column_bytes[i];
        }
    }
    profile.pipelines.push_back(std::move(entry));
    if (!run.morsels) return;
    scan.row_groups = run.morsels->row_groups();
    scan.row_groups_skipped = run.morsels->skipped();
    profile.scans.push_back(std::move(scan));
}

void Query::State::run_host_rows(Run& run, Host& asked) {
    const Pipeline& pipeline = run.compiled.pipeline;
    RowSource& source = *inputs.rows[static_cast<size_t>(pipeline.host_rows)];
    std::vector<Vector> columns(pipeline.source_types.size());
    while (!run.shared.done.load(std::memory_order_relaxed)) {
        asked.check_interrupts();
        const int64_t count = source.fetch(columns);
        if (count == 0) break;
        run.runners[0]->run_rows(columns.data(), count);
    }
}

std::function<void()> Query::State::poll() {
    return [this] { host->check_interrupts(); };
}

void Query::State::finish(CompiledPipeline& compiled) {
    compiled.pipeline.sink->finish(poll());
}

// Hands the rows of a finished pipeline to whoever reads them.
void Query::State::deliver(CompiledPipeline& compiled) {
    RowStore rows = compiled.take();
    switch (compiled.then) {
        case CompiledPipeline::Then::kResult:
            result.emplace(std::move(rows));
            position = 0;
            break;
        case CompiledPipeline::Then::kFeed: {
            std::shared_ptr<RowStore>& stored = compiled.target->pipeline.stored;
            if (stored == nullptr)
                stored = std::make_shared<RowStore>(std::move(rows));
            else
                stored->append_store(std::move(rows));
            break;
        }
        case CompiledPipeline::Then::kBuild: {
            for (const int column : compiled.encode)
                rows.column(static_cast<size_t>(column)).encode();
            Join& join = compiled.target->pipeline.joins[compiled.target_join];
            join.table =
                std::make_shared<JoinTable>(std::move(rows), compiled.build_keys, poll(), &budget);
            if (join.matched != nullptr) {
                const auto length = static_cast<uint64_t>(join.table->length());
                join.matched->resize(length);
                if (length > 0) std::memset(join.matched->data(), 0, length);
            }
            break;
        }
    }
}

void Query::State::run(CompiledPipeline& compiled, Host& asked) {
    const Clock::time_point begin = Clock::now();
    compiled.pipeline.prepare();
    Run run(compiled, *this);
    const int workers = static_cast<int>(run.runners.size());
    compiled.pipeline.sink->begin(workers);
    if (compiled.pipeline.host_rows >= 0)
        run_host_rows(run, asked);
    else
        crew.run(workers, asked, [&](int worker) {
            Runner& runner = *run.runners[static_cast<size_t>(worker)];
            if (run.morsels)
                runner.run_scan(*run.morsels, false);
            else
                runner.run_stored();
        });
    finish(compiled);
    deliver(compiled);
    compiled.pipeline.stored.reset();
    compiled.pipeline.joins.clear();
    note(run, milliseconds_since(begin));
}

void Query::State::start(Host& asked) {
    started = true;
    pipelines = compile(root, inputs.parameters, &budget);
    for (size_t i = 0; i + 1 < pipelines.size(); ++i) run(*pipelines[i], asked);
    CompiledPipeline& final = *pipelines.back();
    if (final.pipeline.table < 0) {
        run(final, asked);
        finished = true;
        return;
    }
    // Rows that flow from a table straight into the result come in waves of one morsel a worker, so
    // that memory stays bounded and a consumer that stops early does not wait.
    final.pipeline.prepare();
    last = std::make_unique<Run>(final, *this);
}

bool Query::State::next_wave(Host& asked) {
    const int workers = static_cast<int>(last->runners.size());
    last->compiled.pipeline.sink->begin(workers);
    std::atomic<bool> any{false};
    crew.run(workers, asked, [&](int worker) {
        if (last->runners[static_cast<size_t>(worker)]->run_scan(*last->morsels, true))
            any.store(true);
    });
    finish(last->compiled);
    deliver(last->compiled);
    if (any.load()) return true;
    note(*last, 0);
    last.reset();
    finished = true;
    return false;
}

Query::Query(const plan::Operator& root, Inputs inputs, const Options& options)
    : state_(std::make_unique<State>(root, std::move(inputs), options)) {}

Query::~Query() = default;

const Batch* Query::next(Host& host) {
    State& state = *state_;
    state.host = &host;
    if (!state.started) state.start(host);
    while (!state.result || state.position >= state.result->length()) {
        if (state.finished || !state.next_wave(host)) return nullptr;
    }
    const RowStore& rows = *state.result;
    const int64_t count = std::min(kBatchRows, rows.length() - state.position);
    state.batch.rows = count;
    state.batch.columns.clear();
    for (size_t i = 0; i < rows.width(); ++i)
        state.batch.columns.push_back(rows.column(i).view(state.position, count));
    state.position += count;
    return &state.batch;
}

Profile Query::profile() const {
    Profile profile = state_->profile;
    profile.peak_memory = state_->budget.peak();
    return profile;
}

namespace {

bool supports_all(const std::vector<plan::Expr>& exprs, std::string* reason) {
    for (const plan::Expr& expr : exprs)
        if (!supports(expr, reason)) return false;
    return true;
}

bool refuse(std::string* reason, const char* why) {
    if (reason != nullptr) *reason = why;
    return false;
}

}  // namespace

bool supports(const plan::Operator& root, std::string* reason) {
    for (const plan::Operator& input : root.inputs)
        if (!supports(input, reason)) return false;
    for (const auto* exprs : {&root.predicates, &root.expressions, &root.probe_keys,
                              &root.build_keys, &root.group_keys, &root.count, &root.offset})
        if (!supports_all(*exprs, reason)) return false;
    if (root.null_aware) return refuse(reason, "NOT IN as a join");
    if (root.kind == plan::OperatorKind::kAppend && root.inputs.empty())
        return refuse(reason, "an append of nothing");
    if (root.group_keys.size() > 64) return refuse(reason, "more than 64 group keys");
    for (const plan::Aggregate& aggregate : root.aggregates) {
        if (!supports_all(aggregate.args, reason) || !supports_all(aggregate.filter, reason))
            return false;
        std::vector<plan::Type> args;
        for (const plan::Expr& arg : aggregate.args) args.push_back(arg.type);
        const auto type = aggregate_type(aggregate.function, args);
        if (!type || *type != aggregate.type)
            return refuse(reason, "an aggregate that the engine does not have");
        if (aggregate.distinct && aggregate.args.empty())
            return refuse(reason, "DISTINCT without an argument");
    }
    return true;
}

}  // namespace loom::exec
