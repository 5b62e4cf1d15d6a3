#include "gpu/run/execution.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include <fmt/core.h>

#include "exec/expr/raise.h"
#include "exec/expression.h"
#include "exec/fault.h"
#include "gpu/codegen/kernel_text.h"
#include "gpu/run/arena.h"
#include "gpu/run/bound_pipeline.h"
#include "gpu/run/build_sides.h"
#include "gpu/run/groups.h"
#include "gpu/run/results.h"
#include "gpu/runtime/kernel.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Spans of a multiprocessor: enough that its last one does not keep the device waiting for long.
constexpr uint64_t kSpansPerProcessor = 8;
// Blocks of few threads on a multiprocessor at once.
constexpr int kBuildBlocks = 8;
constexpr uint32_t kMostSpanTiles = 2048;
constexpr uint32_t kBuildSpanTiles = 8;
// Tables of texts that come behind views and spans, in the same copy if they have room there.
constexpr uint64_t kLookUpRoom = 64 * 1024;

uint64_t aligned(uint64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

class Run {
  public:
    Run(DeviceContext& context, const Program& program, const plan::Operator& aggregate,
        const exec::Inputs& inputs)
        : context_(context),
          program_(program),
          aggregate_(aggregate),
          inputs_(inputs),
          lease_(context.device, context.pool),
          results_(lease_) {}

    std::unique_ptr<DeviceRows> run(RunTimes* times) {
        const Clock::time_point begin = Clock::now();
        bind();
        const double bound = milliseconds_since(begin);
        builds_ = std::make_unique<BuildSides>(bound_);
        groups_ = std::make_unique<Groups>(aggregate_, bound_, *builds_, inputs_.parameters);
        std::unique_ptr<DeviceRows> rows;
        double compiled = 0;
        int from = 0;
        int to = 0;
        details_ = times != nullptr && times->detailed;
        // Again, and in another way, where there are more groups or keys than was thought.
        groups_->plan();
        while (rows == nullptr) {
            prepare();
            compiled = milliseconds_since(begin);
            check_watch();
            launched_.emplace(context_.watch);
            upload_inputs();
            from = stream().mark();
            arena_->clear(stream());
            if (details_) cleared_ = stream().mark();
            for (const Loaded& loaded : modules_) launch(loaded);
            to = stream().mark();
            results_.fetch(arena_->first_results());
            if (!check_status())
                builds_->grow();
            else if ((rows = groups_->collect(results_)) == nullptr)
                groups_->plan();
            launched_.reset();
        }
        if (times != nullptr) {
            times->load = bound;
            times->compile = compiled - bound;
            times->device = stream().elapsed(from, to);
            times->total = milliseconds_since(begin);
            if (details_) add_details(*times);
        }
        return rows;
    }

  private:
    // Says for as long as it lives that the device works.
    struct Launched {
        explicit Launched(RunWatch* of) : watch(of) {
            if (watch != nullptr) watch->launched = Clock::now().time_since_epoch().count();
        }
        ~Launched() {
            if (watch != nullptr) watch->launched = 0;
        }
        Launched(const Launched&) = delete;
        Launched& operator=(const Launched&) = delete;
        RunWatch* watch;
    };

    Stream& stream() { return lease_.stream(); }

    void add_details(RunTimes& times) {
        int mark = cleared_;
        for (Launch& launch : launches_) {
            launch.milliseconds = stream().elapsed(mark, launch.mark);
            mark = launch.mark;
        }
        times.kernels = std::move(launches_);
        for (const Loaded& loaded : modules_) times.texts.push_back(loaded.kernels.text);
    }

    void check_watch() const {
        if (context_.watch != nullptr) context_.watch->check();
    }

    // --- columns
    // ----------------------------------------------------------------------------------

    void bind() {
        bound_.resize(program_.pipelines.size());
        const std::vector<std::vector<bool>> used = used_slots();
        if (!context_.only_prepared) load_all(used);
        for (size_t i = 0; i < bound_.size(); ++i) bind(program_.pipelines[i], bound_[i], used[i]);
        place_tables();
    }

    // Views and spans of all pipelines lie side by side, so that one copy brings them.
    void place_tables() {
        const auto place = [&](const auto& values) {
            const uint64_t at = tables_bytes_;
            tables_bytes_ += aligned(values.size() * sizeof(values[0]));
            return at;
        };
        for (Bound& bound : bound_) {
            bound.data.blocks = place(bound.views);
            bound.data.spans = place(bound.spans);
        }
        tables_ = lease_.memory(tables_bytes_ + kLookUpRoom);
        for (Bound& bound : bound_) {
            bound.data.blocks += tables_.address;
            bound.data.spans += tables_.address;
        }
    }

    // Which slots of the pipelines are used: of build sides only those columns that somebody reads.
    std::vector<std::vector<bool>> used_slots() const {
        const std::vector<Pipeline>& all = program_.pipelines;
        std::vector<std::vector<bool>> payloads(all.size());
        std::vector<std::vector<bool>> used(all.size());
        for (size_t i = 0; i < all.size(); ++i) payloads[i].resize(all[i].payload.size());
        // Who probes a build side comes behind it.
        for (size_t i = all.size(); i-- > 0;) {
            used[i] = used_slots(all[i], payloads[i]);
            for (size_t s = 0; s < used[i].size(); ++s) {
                const Slot& slot = all[i].slots[s];
                if (slot.kind != Slot::Kind::kPayload || !used[i][s]) continue;
                const PipelineJoin& join = all[i].joins[static_cast<size_t>(slot.join)];
                payloads[static_cast<size_t>(join.build)][static_cast<size_t>(slot.index)] = true;
            }
        }
        return used;
    }

    static std::vector<bool> used_slots(const Pipeline& pipeline,
                                        const std::vector<bool>& payloads) {
        std::vector<bool> used(pipeline.slots.size());
        const auto use = [&](const Expr& expr) {
            for (const int column : plan::columns_of(expr))
                used[static_cast<size_t>(column)] = true;
        };
        for (const PipelineStep& step : pipeline.steps)
            if (step.kind != PipelineStep::Kind::kJoin) use(step.predicate);
        for (const PipelineJoin& join : pipeline.joins) {
            for (const Expr& key : join.keys) use(key);
            for (const Expr& condition : join.conditions) use(condition);
        }
        for (const Expr& key : pipeline.build_keys) use(key);
        for (size_t i = 0; i < pipeline.payload.size(); ++i)
            if (payloads[i]) use(pipeline.payload[i]);
        for (const Expr& key : pipeline.keys) use(key);
        for (const plan::Aggregate& call : pipeline.aggregates) {
            for (const Expr& arg : call.args) use(arg);
            for (const Expr& condition : call.filter) use(condition);
        }
        return used;
    }

    void bind(const Pipeline& pipeline, Bound& bound, const std::vector<bool>& used) {
        bound.pipeline = &pipeline;
        const exec::TableSource& table = inputs_.tables[static_cast<size_t>(pipeline.table)];
        const std::vector<BlockRows> blocks = blocks_of(table);
        bound.columns.resize(pipeline.slots.size());
        bound.data.columns.resize(pipeline.slots.size());
        bound.data.views = static_cast<int>(pipeline.columns.size());
        bound.views.resize(blocks.size() * pipeline.columns.size());
        for (size_t s = 0; s < pipeline.slots.size(); ++s) {
            const Slot& slot = pipeline.slots[s];
            if (slot.kind != Slot::Kind::kScan || !used[s]) continue;
            if (!can_hold(slot.type))
                throw NotInKernels{"a column of type " + plan::to_string(slot.type)};
            bound.columns[s] = load(table, slot);
            bound.data.columns[s] = bound.columns[s]->facts;
            for (size_t b = 0; b < blocks.size(); ++b)
                bound.views[b * pipeline.columns.size() + static_cast<size_t>(slot.index)] =
                    bound.columns[s]->views[b];
        }
        for (const BlockRows& block : blocks) bound.rows += static_cast<uint64_t>(block.rows);
        make_spans(blocks, pipeline, bound);
        bound.data.parameters = inputs_.parameters;
        bound.data.span_count = static_cast<uint32_t>(bound.spans.size());
    }

    // Brings all columns to the device, together.
    void load_all(const std::vector<std::vector<bool>>& used) {
        std::vector<ColumnStore::Wanted> wanted;
        for (size_t i = 0; i < used.size(); ++i) {
            const Pipeline& pipeline = program_.pipelines[i];
            for (size_t s = 0; s < used[i].size(); ++s) {
                const Slot& slot = pipeline.slots[s];
                if (slot.kind == Slot::Kind::kScan && used[i][s] && can_hold(slot.type))
                    wanted.push_back({&inputs_.tables[static_cast<size_t>(pipeline.table)],
                                      slot.index, slot.type});
            }
        }
        loaded_ = context_.columns.get_all(wanted, [this] { check_watch(); });
    }

    std::shared_ptr<const DeviceColumn> load(const exec::TableSource& table, const Slot& slot) {
        if (!context_.only_prepared)
            return context_.columns.get(table, slot.index, slot.type, [this] { check_watch(); });
        auto column = context_.columns.find(table, slot.index, slot.type);
        if (column == nullptr) throw NotPrepared{"columns are not on the device yet"};
        return column;
    }

    void make_spans(const std::vector<BlockRows>& blocks, const Pipeline& pipeline, Bound& bound) {
        uint64_t tiles = 0;
        for (const BlockRows& block : blocks) tiles += tiles_of(block.rows);
        const auto processors = static_cast<uint64_t>(context_.device.facts().multiprocessors);
        const uint64_t even = tiles / (processors * kSpansPerProcessor);
        const auto most =
            static_cast<uint32_t>(pipeline.sink == Pipeline::Sink::kAggregate
                                      ? std::clamp<uint64_t>(even, 32, kMostSpanTiles)
                                      : std::clamp<uint64_t>(even, 1, kBuildSpanTiles));
        for (size_t b = 0; b < blocks.size(); ++b) {
            const uint64_t here = tiles_of(blocks[b].rows);
            for (uint64_t first = 0; first < here; first += most) {
                Span span;
                span.block = static_cast<uint32_t>(b);
                span.first = static_cast<uint32_t>(first);
                span.tiles = static_cast<uint32_t>(std::min<uint64_t>(most, here - first));
                span.rows = static_cast<uint32_t>(static_cast<uint64_t>(blocks[b].rows) -
                                                  first * kTileRows);
                bound.spans.push_back(span);
            }
        }
    }
    static uint64_t tiles_of(int64_t rows) {
        return (static_cast<uint64_t>(rows) + kTileRows - 1) / kTileRows;
    }

    // --- groups
    // ---------------------------------------------------------------------

    Bound& last() { return bound_.back(); }

    // Writes kernels for what has been decided.
    void prepare() {
        modules_.clear();
        launches_.clear();
        look_ups_.clear();
        look_up_bytes_.clear();
        if (arena_ != nullptr) lease_.drop(arena_->address());
        arena_ = std::make_unique<Arena>();
        builds_->reserve(*arena_);
        groups_->reserve(*arena_);
        status_ = arena_->reserve_result(sizeof(Status));
        arena_->allocate(lease_);
        builds_->settle();
        groups_->settle();
        for (Bound& bound : bound_) bound.data.status = *status_;
        write_kernels();
    }

    // --- kernels
    // ------------------------------------------------------------------------------------

    void write_kernels() {
        const DeviceFacts& facts = context_.device.facts();
        BlockLimits limits;
        limits.threads = static_cast<uint32_t>(std::min(1024, facts.threads_per_multiprocessor));
        limits.shared_bytes = static_cast<uint32_t>(facts.shared_bytes);
        limits.blocks = static_cast<uint32_t>(facts.multiprocessors * kBuildBlocks);
        if (builds_->size() > 0) {
            std::vector<BuildPipeline> builds;
            for (size_t i = 0; i < builds_->size(); ++i) {
                int level = 0;
                for (const PipelineJoin& join : bound_[i].pipeline->joins)
                    level = std::max(level, builds[static_cast<size_t>(join.build)].level + 1);
                builds.push_back({bound_[i].pipeline, &bound_[i].data, &builds_->table(i), level});
            }
            BlockLimits small = limits;
            small.shared_bytes = limits.shared_bytes / kBuildBlocks;
            add_module(write_builds(builds, small));
        }
        add_module(write_aggregate(*last().pipeline, last().data, groups_->table(), limits,
                                   context_.choices));
    }

    void add_module(KernelText kernels) {
        if (kernels.words.words().size() * 8 > kMaxParameterBytes)
            throw NotInKernels{"so many joins, columns and conditions at once"};
        const size_t first = modules_.empty() && builds_->size() > 0 ? 0 : builds_->size();
        for (const LookUp& look_up : kernels.look_ups)
            fill(look_up, bound_[first + static_cast<size_t>(look_up.pipeline)], kernels.words);
        std::shared_ptr<Module> module = context_.only_prepared
                                             ? context_.modules.find(kernels.text)
                                             : context_.modules.get(kernels.text);
        if (module == nullptr) throw NotPrepared{"kernels are not compiled yet"};
        modules_.push_back({std::move(kernels), std::move(module)});
    }

    // Evaluates a condition for each text of a dictionary, and for NULL.
    void fill(const LookUp& look_up, const Bound& bound, KernelWords& words) {
        const DeviceColumn& column = *column_of(bound, bound_, look_up.slot);
        const uint32_t count = column.texts->size();
        Expr predicate = look_up.predicate;
        const exec::Expression expression(predicate, inputs_.parameters);
        exec::Evaluator evaluator(expression, nullptr);
        std::vector<exec::Vector> columns(bound.pipeline->slots.size());
        std::vector<uint8_t> answers;
        std::vector<column::BytesView> views;
        for (uint32_t first = 0; first <= count; first += exec::kBatchRows) {
            const uint32_t rows = std::min<uint32_t>(exec::kBatchRows, count + 1 - first);
            views.assign(rows + base::kBufferSlack, {});
            std::vector<uint8_t> validity(rows / 8 + 1 + base::kBufferSlack, 0);
            for (uint32_t i = 0; i < rows && first + i < count; ++i) {
                const std::string_view text = column.texts->text(first + i);
                views[i] = {reinterpret_cast<const uint8_t*>(text.data()),
                            static_cast<int64_t>(text.size())};
                validity[i / 8] |= static_cast<uint8_t>(1U << i % 8);
            }
            exec::Vector input;
            input.type = column.facts.type;
            input.length = rows;
            input.values = views.data();
            input.validity = validity.data();
            columns[static_cast<size_t>(look_up.slot)] = input;
            const exec::Vector result = answer(evaluator, columns, rows);
            for (uint32_t i = 0; i < rows; ++i) {
                const int64_t at = result.form == exec::Form::kConstant ? 0 : i;
                answers.push_back(result.is_null(i) ? 2 : result.as<uint8_t>()[at] != 0 ? 1 : 0);
            }
        }
        if (look_up.bitmap) {
            std::vector<uint8_t> bits((answers.size() + 31) / 32 * 4 + 16);
            for (size_t i = 0; i < answers.size(); ++i)
                // The first of 32 on top of a little-endian word.
                if (answers[i] == 1)
                    bits[i / 32 * 4 + 3 - i % 32 / 8] |= static_cast<uint8_t>(0x80U >> i % 8);
            answers = std::move(bits);
        }
        words.set(look_up.word + 1, count);
        look_ups_.push_back({modules_.size(), look_up.word, look_up_bytes_.size()});
        look_up_bytes_.insert(look_up_bytes_.end(), answers.begin(), answers.end());
        look_up_bytes_.resize(aligned(look_up_bytes_.size()));
    }

    // Brings views, spans and tables of texts to the device, and tells kernels where the last are.
    void upload_inputs() {
        const uint64_t bytes = tables_bytes_ + look_up_bytes_.size();
        if (staging_bytes_ < bytes) {
            staging_ = lease_.pinned(bytes);
            staging_bytes_ = bytes;
        }
        const auto put = [&](DeviceAddress address, const auto& values) {
            if (!values.empty())
                std::memcpy(staging_ + (address - tables_.address), values.data(),
                            values.size() * sizeof(values[0]));
        };
        for (const Bound& bound : bound_) {
            put(bound.data.blocks, bound.views);
            put(bound.data.spans, bound.spans);
        }
        put(tables_.address + tables_bytes_, look_up_bytes_);
        const bool together = bytes <= tables_.bytes;
        const DeviceAddress look_ups = together ? tables_.address + tables_bytes_
                                                : lease_.memory(look_up_bytes_.size()).address;
        stream().upload(tables_.address, staging_, together ? bytes : tables_bytes_);
        if (!together) stream().upload(look_ups, staging_ + tables_bytes_, look_up_bytes_.size());
        for (const PlacedLookUp& look_up : look_ups_)
            modules_[look_up.module].kernels.words.set(look_up.word, look_ups + look_up.at);
    }

    // What faults for some text is left to the CPU engine: no row may have it.
    static exec::Vector answer(exec::Evaluator& evaluator, std::span<const exec::Vector> texts,
                               int64_t rows) {
        try {
            return evaluator.evaluate(texts, rows);
        } catch (const exec::SqlFault& fault) {
            throw NotInKernels{fault.what()};
        } catch (const exec::Unrepresentable& fault) {
            throw NotInKernels{fault.what()};
        }
    }

    struct Loaded {
        KernelText kernels;
        std::shared_ptr<Module> module;
    };
    // A table of texts: whose word its address is, and where it lies among the others.
    struct PlacedLookUp {
        size_t module = 0;
        int word = 0;
        uint64_t at = 0;
    };

    void launch(const Loaded& loaded) {
        const DeviceFacts& facts = context_.device.facts();
        const KernelText& kernels = loaded.kernels;
        for (size_t i = 0; i < kernels.kernels.size(); ++i) {
            const Kernel kernel = loaded.module->kernel(kernels.kernels[i]);
            Grid grid;
            grid.threads = kernels.threads;
            grid.shared_bytes = kernels.shared_bytes;
            const int resident = grid.threads >= 512
                                     ? kernels.blocks
                                     : std::max(1, facts.threads_per_multiprocessor /
                                                       static_cast<int>(grid.threads));
            grid.blocks = kernels.grids.empty()
                              ? std::min(last().data.span_count,
                                         static_cast<uint32_t>(facts.multiprocessors * resident))
                              : kernels.grids[i];
            if (grid.blocks == 0) continue;
            const std::vector<uint64_t>& words = kernels.words.words();
            stream().launch(kernel, grid,
                            {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 8});
            if (details_) launches_.push_back({kernels.kernels[i], kernel, grid, stream().mark()});
        }
    }

    // --- what kernels say
    // ------------------------------------------------------------------------------

    // Returns whether sets of keys had room for all. What comes of rows that are missing, or of one
    // instead of another, is no fault.
    bool check_status() {
        Status status;
        results_.download(&status, *status_, sizeof status);
        results_.wait();
        if (status.full_sets != 0) return false;
        if (status.duplicate_keys != 0) throw NotInKernels{"a join on a key that is not unique"};
        if (status.faults != 0) {
            sql::Fault fault;
            fault.raise(static_cast<sql::FaultBits>(status.faults));
            exec::raise(fault);
        }
        return true;
    }

    DeviceContext& context_;
    const Program& program_;
    const plan::Operator& aggregate_;
    const exec::Inputs& inputs_;
    // Outlives the lease, whose end may wait for the device.
    std::optional<Launched> launched_;
    DeviceLease lease_;
    Results results_;
    std::unique_ptr<Arena> arena_;
    DeviceLease::Memory tables_;  // views and spans of all pipelines, and room behind them
    uint64_t tables_bytes_ = 0;
    uint8_t* staging_ = nullptr;  // of pinned memory
    uint64_t staging_bytes_ = 0;
    std::vector<std::shared_ptr<const DeviceColumn>> loaded_;  // so that nobody drops them
    std::vector<Bound> bound_;
    std::unique_ptr<BuildSides> builds_;
    std::unique_ptr<Groups> groups_;
    std::vector<PlacedLookUp> look_ups_;
    std::vector<uint8_t> look_up_bytes_;
    std::vector<Loaded> modules_;  // of the build sides, if there are any, and of the last pipeline
    std::vector<Launch> launches_;
    bool details_ = false;
    int cleared_ = 0;  // a mark
    DeviceAddress* status_ = nullptr;
};

}  // namespace

bool supports_aggregate(const plan::Operator& aggregate, std::string* reason) {
    return lower(aggregate, reason).has_value();
}

std::unique_ptr<DeviceRows> run_aggregate(DeviceContext& context, const plan::Operator& aggregate,
                                          const exec::Inputs& inputs, RunTimes* times) {
    std::string reason;
    const std::optional<Program> program = lower(aggregate, &reason);
    if (!program) throw NotInKernels{reason};
    return Run(context, *program, aggregate, inputs).run(times);
}

}  // namespace loom::gpu
