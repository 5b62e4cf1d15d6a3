// Runs the pipelines of a query one after the other, each on as many workers as it has work for.

#include "exec/query.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>

#include "base/page_heap.h"
#include "exec/compile.h"
#include "exec/crew.h"
#include "exec/expression.h"
#include "exec/join/build_sink.h"
#include "exec/join/pair_runner.h"
#include "exec/pipeline/cut.h"
#include "exec/pipeline/runner.h"
#include "exec/pipeline/runtime_filter.h"
#include "exec/poll_watch.h"

namespace loom::exec {

namespace {

// Stored rows below this are not worth waking threads for.
constexpr int64_t kMinParallelRows = 32'768;
// Batches of stored rows that a worker turns into rows of the result before these are handed out.
constexpr int64_t kBatchesPerWave = 16;
// What a worker's operators take however little a query may have: batches, chunks being filled.
constexpr uint64_t kFixedMemory = uint64_t{4} << 20;

// Unused memory that a process keeps for its next query: as much as the query might take, but small
// queries shall not map theirs anew either.
constexpr uint64_t kMinKeptMemory = uint64_t{64} << 20;
constexpr uint64_t kMaxKeptMemory = uint64_t{1} << 30;  // where there is no limit

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A LIMIT or OFFSET that no condition stands before is for the first rows of its source, as
// PostgreSQL reads them. Up to this many are found by one worker, in that order.
constexpr int64_t kMaxFirstRows = 1 << 17;

bool takes_first_rows(const Pipeline& pipeline) {
    const auto first = std::ranges::find_if(
        pipeline.steps, [](const Step& step) { return step.kind != Step::Kind::kCompute; });
    if (first == pipeline.steps.end() || first->kind != Step::Kind::kLimit) return false;
    const bool takes_some = first->count >= 0 || first->offset > 0;
    return takes_some && first->offset <= kMaxFirstRows && first->count <= kMaxFirstRows;
}

}  // namespace

struct Query::State final : public Tasks {
    State(const plan::Operator& plan, Inputs given, const Options& options)
        : root(plan),
          inputs(std::move(given)),
          memory(options.memory),
          use_statistics(options.use_statistics),
          budget(memory == 0 ? 0 : memory + static_cast<uint64_t>(options.threads) * kFixedMemory),
          crew(options.threads) {
        space.directories = options.temp_directories;
        space.name_prefix = options.temp_prefix;
        space.limit = options.temp_limit;
        for (int worker = 0; worker < crew.size(); ++worker)
            polls.push_back([this, worker] {
                if (watch) watch->poll(worker, stage);
                base::check_stop(&crew.stop());
                if (worker != 0) return;
                host->check_interrupts();
                crew.answer();
            });
        for (int worker = 0; worker < crew.size(); ++worker)
            calls.push_back([this, worker](int expression, std::span<const Vector> args,
                                           int64_t rows, const TakeAnswer& take) {
                crew.ask(worker, [&] { take(host->evaluate(expression, args, rows)); });
            });
        if (options.watch_polls) watch.emplace(crew.size());
    }

    ~State() override {
        // Blocks go back first.
        last.reset();
        pipelines.clear();
        result = RowSet();
        base::PageHeap::instance().trim(memory == 0 ? kMaxKeptMemory
                                                    : std::max(memory, kMinKeptMemory));
    }

    // A pipeline that is running, or that pauses between two waves.
    struct Run {
        Run(CompiledPipeline& pipeline, State& state);
        CompiledPipeline& compiled;
        SharedRun shared;
        std::optional<MorselQueue> morsels;
        std::vector<std::unique_ptr<Runner>> runners;
        std::optional<PairQueue> pairs;  ///< the source is scattered
        std::vector<std::unique_ptr<PairRunner>> pair_runners;

        int workers() const noexcept {
            return static_cast<int>(pairs ? pair_runners.size() : runners.size());
        }
        /// Runs all that worker `worker` finds to do, or about as much as a wave of the result
        /// has. Returns whether there may be more.
        bool work(int worker, bool wave);

      private:
        void add_pairs(State& state);
    };

    void start(Host& host);
    void run(CompiledPipeline& compiled, Host& host);
    void run_until_whole(CompiledPipeline& compiled, Host& host);
    Resources resources() { return {&budget, &space, memory}; }
    /// Bytes that operators may still take.
    uint64_t room() const noexcept;
    void feed(Run& run, Host& host);
    void run_host_rows(Run& run, Host& host);
    void deliver(CompiledPipeline& compiled);
    void next_wave(Host& host);

    // Tasks
    int workers() const override { return crew.size(); }
    void run(int64_t count, const Work& work) override;
    const Poll& poll(int worker) const override { return polls[static_cast<size_t>(worker)]; }

    /// Runs `work` on `count` workers.
    void run_crew(int count, Host& asked, const Crew::Work& work) {
        crew.run(count, asked, [&](int worker) {
            const ThreadPoll own(poll(worker));
            const ThreadHost way(calls[static_cast<size_t>(worker)]);
            work(worker);
        });
    }

    void note(const Run& run, double milliseconds);

    const plan::Operator& root;
    Inputs inputs;
    // Budgets outlive all that gives back to them. Readers and rows in flight have bounds of their
    // own and are only counted.
    uint64_t memory;
    bool use_statistics;
    base::MemoryBudget budget;
    base::MemoryBudget in_flight;
    io::TempSpace space;
    Crew crew;
    std::vector<Poll> polls;  ///< by worker
    std::vector<HostCall> calls;
    std::optional<PollWatch> watch;
    std::atomic<const char*> stage{"start"};  ///< what the query is at, for `watch`
    Host* host = nullptr;
    std::vector<std::unique_ptr<CompiledPipeline>> pipelines;
    std::unique_ptr<Run> last;  ///< the result's pipeline, which runs in waves
    RowSet result;              ///< rows of the last wave
    bool started = false;
    bool finished = false;
    Batch batch;
    Profile profile;
};

Query::State::Run::Run(CompiledPipeline& pipeline, State& state)
    : compiled(pipeline), shared(pipeline.pipeline.steps.size()) {
    const Pipeline& p = pipeline.pipeline;
    if (p.scattered != nullptr) {
        add_pairs(state);
        return;
    }
    const TableSource* table =
        p.table >= 0 ? &state.inputs.tables[static_cast<size_t>(p.table)] : nullptr;
    const bool alone = pipeline.ordered || p.host_rows >= 0 || takes_first_rows(p) ||
                       (p.stored != nullptr && p.stored->sequential());
    int workers = alone ? 1 : state.crew.size();
    if (table != nullptr) {
        morsels.emplace(*table, workers);
        if (state.use_statistics && p.bound != nullptr && p.bound->scan_column >= 0 &&
            p.may_skip_rows())
            morsels->follow(*p.bound, p.source_types);
        if (state.use_statistics) morsels->restrict(runtime_filters(p, *table));
        workers = static_cast<int>(std::clamp<int64_t>(morsels->size(), 1, workers));
    } else if (p.stored != nullptr) {
        workers = static_cast<int>(
            std::clamp<int64_t>(p.stored->length() / kMinParallelRows, 1, workers));
    }
    for (int worker = 0; worker < workers; ++worker)
        runners.push_back(std::make_unique<Runner>(p, shared, table, worker, state.poll(worker),
                                                   &state.in_flight));
}

void Query::State::Run::add_pairs(State& state) {
    const Pipeline& p = compiled.pipeline;
    pairs.emplace(p.joins[p.steps[0].join].scattered, p.scattered);
    const auto workers = static_cast<int>(std::clamp<int64_t>(pairs->size(), 1, state.crew.size()));
    // Half of it for tables; the other half for what their rows go into.
    const uint64_t held = std::max(state.room(), state.memory / 4);
    const uint64_t allowance = held / (2 * static_cast<uint64_t>(workers));
    for (int worker = 0; worker < workers; ++worker)
        pair_runners.push_back(std::make_unique<PairRunner>(p, shared, *pairs, worker,
                                                            state.poll(worker), state.resources(),
                                                            allowance, &state.in_flight));
}

bool Query::State::Run::work(int worker, bool wave) {
    const auto index = static_cast<size_t>(worker);
    const int64_t batches = wave ? kBatchesPerWave : INT64_MAX;
    if (pairs) return pair_runners[index]->run(batches);
    if (morsels) return runners[index]->run_scan(*morsels, wave);
    return runners[index]->run_stored(batches);
}

uint64_t Query::State::room() const noexcept {
    if (memory == 0) return UINT64_MAX;
    return memory - std::min(memory, budget.used());
}

void Query::State::note(const Run& run, double milliseconds) {
    PipelineProfile entry;
    entry.name = run.compiled.pipeline.name;
    entry.milliseconds = milliseconds;
    ScanProfile scan;
    scan.name = entry.name;
    for (const auto& runner : run.pair_runners) {
        entry.rows_in += runner->rows_in();
        entry.rows_out += runner->rows_out();
    }
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
    while (run.shared.wants_source()) {
        asked.check_interrupts();
        const int64_t count = source.fetch(columns);
        if (count == 0) break;
        run.runners[0]->run_rows(columns.data(), count);
    }
}

void Query::State::run(int64_t count, const Work& work) {
    std::atomic<int64_t> next{0};
    const int wanted = static_cast<int>(std::clamp<int64_t>(count, 1, crew.size()));
    run_crew(wanted, *host, [&](int worker) {
        for (;;) {
            poll(worker)();
            const int64_t task = next.fetch_add(1, std::memory_order_relaxed);
            if (task >= count) return;
            work(task, worker);
        }
    });
}

// Sends all rows of the source through the pipeline.
void Query::State::feed(Run& run, Host& asked) {
    if (run.compiled.pipeline.host_rows >= 0) return run_host_rows(run, asked);
    run_crew(run.workers(), asked, [&](int worker) { run.work(worker, false); });
}

// Hands the rows of a finished pipeline to whoever reads them.
void Query::State::deliver(CompiledPipeline& compiled) {
    RowSet set = compiled.pipeline.sink->take();
    switch (compiled.then) {
        case CompiledPipeline::Then::kResult:
            result = std::move(set);
            break;
        case CompiledPipeline::Then::kFeed: {
            std::shared_ptr<RowSet>& stored = compiled.target->pipeline.stored;
            if (stored == nullptr) stored = std::make_shared<RowSet>();
            stored->add(std::move(set));
            for (CompiledPipeline* other : compiled.further_targets)
                other->pipeline.stored = stored;
            break;
        }
        case CompiledPipeline::Then::kScatter:
            compiled.target->pipeline.scattered =
                static_cast<ProbeSink&>(*compiled.pipeline.sink).take_scattered();
            break;
        case CompiledPipeline::Then::kBuild: {
            Join& join = compiled.target->pipeline.joins[compiled.target_join];
            join.scattered = static_cast<BuildSink&>(*compiled.store).take_scattered();
            if (join.scattered != nullptr) {
                join.build_is_empty = join.scattered->rows() == 0;
                join.build_has_null = join.scattered->null_key;
                break;
            }
            RowStore rows = std::move(set).join(compiled.store->types(), &budget);
            for (const int column : compiled.encode)
                rows.column(static_cast<size_t>(column)).encode();
            join.table = std::make_shared<JoinTable>(std::move(rows), compiled.build_keys, poll(0),
                                                     room(), &budget);
            join.build_is_empty = join.table->length() == 0;
            join.build_has_null = join.table->null_key();
            if (join.single && !join.table->unique())
                throw Unrepresentable("more than one row from a subquery");
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
    stage = "a pipeline";
    if (compiled.pipeline.scattered == nullptr) compiled.pipeline.prepare();
    Run run(compiled, *this);
    compiled.pipeline.sink->begin(run.workers());
    if (!compiled.pipeline.is_dead) feed(run, asked);
    stage = "the end of a sink";
    compiled.pipeline.sink->finish(*this);
    stage = "the making of a join's table";
    deliver(compiled);
    stage = "the end of a pipeline";
    note(run, milliseconds_since(begin));
    compiled.pipeline.stored.reset();
    compiled.pipeline.scattered.reset();
    compiled.pipeline.joins.clear();
}

// Runs what comes before the joins of a pipeline whose build sides do not fit memory, part by part;
// leaves what comes after the last.
void Query::State::run_until_whole(CompiledPipeline& compiled, Host& asked) {
    while (const auto head = cut_at_scattered_join(compiled, resources())) run(*head, asked);
}

namespace {

// Whether a row may turn out to need PostgreSQL's plan, for which no row may be out before.
bool may_give_up(const Pipeline& pipeline) {
    const auto gives_up = [](const auto& part) {
        return part.expression != nullptr && part.expression->may_give_up();
    };
    return (pipeline.stored != nullptr && pipeline.stored->may_give_up()) ||
           std::ranges::any_of(pipeline.slots, gives_up) ||
           std::ranges::any_of(pipeline.steps, gives_up) ||
           std::ranges::any_of(pipeline.joins, [](const Join& join) {
               return join.residual != nullptr && join.residual->may_give_up();
           });
}

// Whether no row is wanted: then nothing may be computed either, since it could fail.
bool wants_no_rows(const plan::Operator& root, std::span<const plan::ParameterValue> parameters) {
    if (root.kind == plan::OperatorKind::kProject) return wants_no_rows(root.inputs[0], parameters);
    if (root.kind != plan::OperatorKind::kLimit || root.count.empty()) return false;
    const plan::Expr& count = root.count[0];
    const column::Scalar* value = nullptr;
    if (count.kind == plan::ExprKind::kConstant) value = &count.value;
    if (count.kind == plan::ExprKind::kParameter)
        value = &parameters[static_cast<size_t>(count.index)].value;
    return value != nullptr && value->known() && value->integer == 0;
}

}  // namespace

void Query::State::start(Host& asked) {
    started = true;
    if (wants_no_rows(root, inputs.parameters)) {
        finished = true;
        return;
    }
    pipelines = compile(root, inputs.parameters, resources());
    for (size_t i = 0; i + 1 < pipelines.size(); ++i) {
        run_until_whole(*pipelines[i], asked);
        run(*pipelines[i], asked);
    }
    CompiledPipeline& final = *pipelines.back();
    run_until_whole(final, asked);
    if (final.pipeline.host_rows >= 0 || may_give_up(final.pipeline)) {
        run(final, asked);
        finished = true;
        return;
    }
    // Rows that flow straight into the result come in waves, so that memory stays bounded and a
    // consumer that stops early does not wait.
    if (final.pipeline.scattered == nullptr) final.pipeline.prepare();
    last = std::make_unique<Run>(final, *this);
}

void Query::State::next_wave(Host& asked) {
    const int workers = last->workers();
    last->compiled.pipeline.sink->begin(workers);
    std::atomic<bool> any{false};
    if (!last->compiled.pipeline.is_dead)
        run_crew(workers, asked, [&](int worker) {
            if (last->work(worker, true)) any.store(true);
        });
    last->compiled.pipeline.sink->finish(*this);
    deliver(last->compiled);
    if (any.load()) return;
    note(*last, 0);
    last.reset();
    finished = true;
}

Query::Query(const plan::Operator& root, Inputs inputs, const Options& options)
    : state_(std::make_unique<State>(root, std::move(inputs), options)) {}

Query::~Query() = default;

const Batch* Query::next(Host& host) {
    State& state = *state_;
    state.host = &host;
    const ThreadPoll own(state.poll(0));
    const ThreadHost way(state.calls[0]);
    if (state.watch) state.watch->begin(0, state.stage);
    if (!state.started) state.start(host);
    for (;;) {
        state.batch.rows = state.result.next(state.batch.columns);
        if (state.watch) state.watch->poll(0, state.stage);
        if (state.batch.rows > 0) return &state.batch;
        if (state.finished) return nullptr;
        state.stage = "a wave of the result";
        state.next_wave(host);
    }
}

void Query::abandon() noexcept {
    state_->crew.end();
}

Profile Query::profile() const {
    Profile profile = state_->profile;
    profile.peak_memory = state_->budget.peak() + state_->in_flight.peak();
    profile.temp_files = state_->space.files.load();
    profile.temp_bytes = state_->space.total.load();
    if (state_->watch) {
        profile.longest_stretch = state_->watch->longest();
        profile.longest_in = state_->watch->longest_in();
    }
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

// Only PostgreSQL knows which opaque values are equal, and how they are ordered.
bool compares_opaque(const plan::Operator& op) {
    const auto any = [](const std::vector<plan::Expr>& exprs) {
        return std::ranges::any_of(exprs,
                                   [](const plan::Expr& e) { return plan::is_opaque(e.type); });
    };
    if (any(op.group_keys) || any(op.probe_keys) || any(op.build_keys) || any(op.frame.key))
        return true;
    for (const plan::SortKey& key : op.sort_keys)
        if (plan::is_opaque(op.inputs[0].output[static_cast<size_t>(key.column)])) return true;
    return std::ranges::any_of(op.aggregates, [&](const plan::Aggregate& aggregate) {
        return (aggregate.distinct || aggregate.function == kApproximateCount) &&
               any(aggregate.args);
    });
}

}  // namespace

bool supports(const plan::Operator& root, std::string* reason) {
    for (const plan::Operator& input : root.inputs)
        if (!supports(input, reason)) return false;
    for (const auto* exprs : {&root.predicates, &root.expressions, &root.probe_keys,
                              &root.build_keys, &root.group_keys, &root.count, &root.offset})
        if (!supports_all(*exprs, reason)) return false;
    if (compares_opaque(root))
        return refuse(reason, "values are compared that the engine only hands on");
    const bool marks = root.join == plan::JoinType::kMark;
    if (root.null_aware && (!marks || root.build_keys.size() != 1 || !root.predicates.empty()))
        return refuse(reason, "NOT IN as a join");
    if (root.kind == plan::OperatorKind::kAppend && root.inputs.empty())
        return refuse(reason, "an append of nothing");
    for (const plan::WindowCall& call : root.windows) {
        if (!supports_all(call.args, reason) || !supports_all(call.filter, reason)) return false;
        std::vector<plan::Type> args;
        for (const plan::Expr& arg : call.args) args.push_back(arg.type);
        const auto type =
            window_type(call.function, args, call.layout.empty() ? nullptr : call.layout.data());
        if (!type || *type != call.type)
            return refuse(reason, "a window function that the engine does not have");
    }
    for (const auto* exprs : {&root.frame.start_offset, &root.frame.end_offset, &root.frame.key,
                              &root.frame.start_value, &root.frame.end_value})
        if (!supports_all(*exprs, reason)) return false;
    if (root.group_keys.size() > 64) return refuse(reason, "more than 64 group keys");
    for (const plan::Aggregate& aggregate : root.aggregates) {
        if (!supports_all(aggregate.args, reason) || !supports_all(aggregate.filter, reason))
            return false;
        std::vector<plan::Type> args;
        for (const plan::Expr& arg : aggregate.args) args.push_back(arg.type);
        const auto type = aggregate_type(aggregate.function, args);
        if (!type || *type != aggregate.type)
            return refuse(reason, "an aggregate that the engine does not have");
        if (aggregate.distinct && aggregate.args.size() != 1)
            return refuse(reason, "DISTINCT of other than one argument");
    }
    return true;
}

}  // namespace loom::exec
