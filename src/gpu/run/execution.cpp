#include "gpu/run/execution.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <mutex>
#include <numeric>
#include <optional>

#include <fmt/core.h>

#include "exec/expr/raise.h"
#include "exec/expression.h"
#include "exec/fault.h"
#include "gpu/codegen/fixed_scale.h"
#include "gpu/codegen/kernel_text.h"
#include "gpu/run/arena.h"
#include "gpu/run/bound_pipeline.h"
#include "gpu/run/build_sides.h"
#include "gpu/run/groups.h"
#include "gpu/run/results.h"
#include "gpu/run/row_columns.h"
#include "gpu/run/text_tables.h"
#include "gpu/runtime/kernel.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Shares of a multiprocessor: several, as neighbours often have the same to do; as many for each of
// one, two or three blocks of threads there.
constexpr uint64_t kSharesPerProcessor = 6;
// Tiles that are worth a share of their own.
constexpr uint64_t kLeastShare = 128;
// Blocks of few threads on a multiprocessor at once.
constexpr int kBuildBlocks = 8;
constexpr uint64_t kBuildShare = 8;
// Tables of texts that come behind views and spans, in the same copy if they have room there.
constexpr uint64_t kLookUpRoom = 64 * 1024;

// All is there for a run that was only asked for.
struct Asked {};

class Run {
  public:
    /// `runs` counts the aggregates of all. Of several devices the first is this run's own.
    Run(std::span<DeviceContext> devices, Program program, const plan::Operator& aggregate,
        const exec::Inputs& inputs, size_t* runs)
        : devices_(devices),
          context_(devices[0]),
          program_(std::move(program)),
          aggregate_(aggregate),
          inputs_(inputs),
          runs_(runs),
          number_((*runs)++),
          texts_(context_.texts != nullptr ? *context_.texts : own_texts_) {}

    std::unique_ptr<DeviceRows> run(RunTimes* times) {
        const std::vector<exec::TableSource> parts = parts_of_table();
        if (parts.size() > 1) return run_in_parts(parts, times);
        const Turns::Hold turn(turns_of(context_));
        return run_whole(times, nullptr);
    }

    /// With `part` the groups go there, and the result is empty.
    std::unique_ptr<DeviceRows> run_whole(RunTimes* times, PartialGroups* part) {
        const Clock::time_point begin = Clock::now();
        lease_.emplace(context_.device, context_.pool);
        results_.emplace(*lease_);
        with_marks_ = times != nullptr && times->wants_kernels;
        inner_times_.wants_kernels = false;
        inner_times_.wants_texts = times != nullptr && times->wants_texts;
        bind();
        const double bound = milliseconds_since(begin);
        builds_ = std::make_unique<BuildSides>(bound_);
        if (duplicates() != nullptr) builds_->keep_lists(*duplicates());
        groups_ =
            std::make_unique<Groups>(aggregate_, bound_, *builds_, inputs_.parameters, texts_);
        std::unique_ptr<DeviceRows> rows;
        double compiled = 0;
        int from = 0;
        int to = 0;
        // Again, and in another way, where there are more groups or keys than was thought.
        check_texts();
        groups_->plan();
        while (rows == nullptr) {
            prepare();
            if (context_.only_asked) throw Asked{};
            compiled = milliseconds_since(begin);
            check_watch();
            launched_.emplace(context_);
            upload_inputs();
            from = stream().mark();
            arena_->clear(stream());
            if (with_marks_) cleared_ = stream().mark();
            for (const Loaded& loaded : modules_) launch(loaded);
            to = stream().mark();
            results_->fetch(arena_->first_results());
            if (check_status() && (rows = groups_->collect(*results_, part)) == nullptr)
                groups_->plan();
            launched_.reset();
        }
        if (times != nullptr) {
            times->load = bound;
            times->parts = 1;
            times->compile = compiled - bound;
            times->device = inner_times_.device + stream().elapsed(from, to);
            times->total = milliseconds_since(begin);
            times->shape = shape_;
            add_kernels(*times);
        }
        return rows;
    }

  private:
    // Says for as long as it lives that the device works.
    struct Launched {
        explicit Launched(const DeviceContext& context)
            : since(context.watch != nullptr ? &context.watch->launched.at(context.number)
                                             : nullptr) {
            if (since != nullptr) *since = Clock::now().time_since_epoch().count();
        }
        ~Launched() {
            if (since != nullptr) *since = 0;
        }
        Launched(const Launched&) = delete;
        Launched& operator=(const Launched&) = delete;
        std::atomic<Clock::rep>* since;
    };

    Stream& stream() { return lease_->stream(); }

    // An inner aggregate has its turn already, and who only asks needs none.
    Turns* turns_of(const DeviceContext& device) const {
        return number_ == 0 && !device.only_asked ? device.turns : nullptr;
    }

    void add_kernels(RunTimes& times) {
        int mark = cleared_;
        for (Launch& launch : launches_) {
            launch.milliseconds = stream().elapsed(mark, launch.mark);
            mark = launch.mark;
        }
        times.kernels = std::move(launches_);
        times.texts = std::move(inner_times_.texts);
        if (!times.wants_texts) return;
        for (const Loaded& loaded : modules_) times.texts.push_back(loaded.kernels.text);
    }

    uint32_t* duplicates() const {
        if (context_.duplicates == nullptr) return nullptr;
        if (context_.duplicates->size() <= number_) context_.duplicates->resize(number_ + 1);
        return &(*context_.duplicates)[number_];
    }

    void check_watch() const {
        if (context_.watch != nullptr) context_.watch->check();
    }

    // --- tables in parts
    // -----------------------------------------------------------------------------

    // Why the rows of the probe side cannot be gone through in parts, or nothing.
    std::optional<std::string_view> why_whole() const {
        // What is computed for build sides would be computed for each part.
        if (!program_.inner.empty()) return "beside another aggregate";
        const std::vector<Pipeline>& all = program_.pipelines;
        for (size_t i = 0; i + 1 < all.size(); ++i)
            if (all[i].table == all.back().table) return "joined with itself";
        return std::nullopt;
    }

    // Cuts the probe side's table, between its files: among several devices into one part for each
    // if it is large, else into parts whose columns take half of what a device can hold, since
    // build sides and other runs have columns too.
    std::vector<exec::TableSource> parts_of_table() const {
        const Pipeline& pipeline = program_.pipelines.back();
        if (pipeline.inner >= 0) return {};
        const exec::TableSource& table = inputs_.tables[static_cast<size_t>(pipeline.table)];
        const std::vector<bool> used = used_slots().back();
        std::vector<const Slot*> columns;
        uint64_t width = 0;
        for (size_t s = 0; s < used.size(); ++s) {
            const Slot& slot = pipeline.slots[s];
            if (slot.kind != Slot::Kind::kScan || !used[s] || !can_hold(slot.type)) continue;
            columns.push_back(&slot);
            width += ColumnStore::most_value_bytes(slot.type);
        }
        uint64_t rows = 0;
        for (const exec::ScanFile& file : table.files)
            rows += static_cast<uint64_t>(file.reader->row_count());
        uint64_t most = UINT64_MAX;
        for (const DeviceContext& device : devices_)
            most = std::min({most, device.most_bytes, device.columns.most_bytes()});
        const std::optional<std::string_view> whole = why_whole();
        const size_t devices = whole || table.files.size() < 2 ? 1 : devices_.size();
        const uint64_t alone = devices > 1 ? std::min(most, context_.spread_bytes) : most;
        // Most tables are small, and have many files.
        if (rows <= alone / std::max<uint64_t>(1, width)) return {};
        const auto [bytes, least] = sizes_of(table, columns);
        const uint64_t sum = std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
        if (sum <= alone) return {};
        if (devices > 1 && sum / devices <= most) return one_for_each(table, rows, devices);
        // What may fit after all is known when it has been there once.
        if (context_.only_prepared && least / devices <= most)
            throw NotPrepared{"columns are not on the device yet"};
        if (context_.only_prepared) throw NotInKernels{"a table larger than the device"};
        if (whole) throw NotInKernels{fmt::format("a table larger than the device, {}", *whole)};
        std::vector<exec::TableSource> parts;
        uint64_t held = 0;
        for (size_t i = 0; i < bytes.size(); ++i) {
            if (parts.empty() || held + bytes[i] > most / 2) {
                parts.emplace_back();
                held = 0;
            }
            held += bytes[i];
            parts.back().files.push_back(table.files[i]);
        }
        return parts;
    }

    // What columns take, file by file at most and in all at least, as far as any device knows.
    std::pair<std::vector<uint64_t>, uint64_t> sizes_of(
        const exec::TableSource& table, const std::vector<const Slot*>& columns) const {
        std::vector<uint64_t> bytes(table.files.size());
        uint64_t least = 0;
        for (const Slot* slot : columns) {
            std::vector<ColumnStore::Size> known(table.files.size(), {0, UINT64_MAX});
            for (const DeviceContext& device : devices_) {
                const auto of = device.columns.sizes_of(table, slot->index, slot->type);
                for (size_t i = 0; i < of.size(); ++i)
                    known[i] = {std::max(known[i].least, of[i].least),
                                std::min(known[i].most, of[i].most)};
            }
            for (size_t i = 0; i < known.size(); ++i) {
                bytes[i] += known[i].most;
                least += known[i].least;
            }
        }
        return {bytes, least};
    }

    // Parts of about as many rows each: these stay the same as more becomes known of bytes.
    static std::vector<exec::TableSource> one_for_each(const exec::TableSource& table,
                                                       uint64_t rows, size_t devices) {
        std::vector<exec::TableSource> parts(devices);
        uint64_t before = 0;
        for (const exec::ScanFile& file : table.files) {
            const auto here = static_cast<uint64_t>(file.reader->row_count());
            const uint64_t middle = before + here / 2;
            parts[std::min<uint64_t>(middle * devices / rows, devices - 1)].files.push_back(file);
            before += here;
        }
        std::erase_if(parts, [](const exec::TableSource& part) { return part.files.empty(); });
        return parts;
    }

    // Runs parts, those of each device one after the other.
    std::unique_ptr<DeviceRows> run_in_parts(const std::vector<exec::TableSource>& parts,
                                             RunTimes* times) {
        GroupMerger merger(aggregate_.output, aggregate_.group_keys.size());
        std::mutex mutex;  // of the groups, of `duplicates`, and of:
        bool failed = false;
        std::vector<RunTimes> took(devices_.size());
        const auto run_those_of = [&](size_t d) {
            DeviceContext device = devices_[d];
            std::vector<uint32_t> known;
            if (device.duplicates != nullptr) {
                const std::scoped_lock lock(mutex);
                known = *device.duplicates;
                device.duplicates = &known;
            }
            for (size_t i = device.number % devices_.size(); i < parts.size();
                 i += devices_.size()) {
                {
                    const std::scoped_lock lock(mutex);
                    if (failed) return;
                }
                PartialGroups groups(first_types(aggregate_));
                RunTimes part;
                part.wants_kernels = times != nullptr && times->wants_kernels;
                part.wants_texts = times != nullptr && times->wants_texts;
                try {
                    run_part(device, parts[i], part, groups);
                } catch (const Asked&) {
                    continue;
                }
                add_times(took[d], std::move(part));
                const std::scoped_lock lock(mutex);
                merger.add(groups);
                if (device.duplicates != nullptr) add_bits(*context_.duplicates, known);
            }
        };
        const auto run_or_fail = [&](size_t d) {
            try {
                run_those_of(d);
            } catch (...) {
                const std::scoped_lock lock(mutex);
                failed = true;
                throw;
            }
        };
        {
            std::vector<std::future<void>> others;
            for (size_t d = 1; d < devices_.size(); ++d)
                others.push_back(std::async(std::launch::async, run_or_fail, d));
            run_or_fail(0);
            for (std::future<void>& other : others) other.get();
        }
        if (context_.only_asked) return nullptr;
        if (times != nullptr) {
            *times = std::move(*std::max_element(
                took.begin(), took.end(),
                [](const RunTimes& a, const RunTimes& b) { return a.total < b.total; }));
            times->parts = parts.size();
        }
        return merger.rows();
    }

    void run_part(DeviceContext& device, const exec::TableSource& part, RunTimes& times,
                  PartialGroups& groups) const {
        exec::Inputs inputs = inputs_;
        inputs.tables[static_cast<size_t>(program_.pipelines.back().table)] = part;
        std::string reason;
        std::optional<Program> program = lower(aggregate_, &reason);
        if (!program) throw NotInKernels{reason};
        size_t number = number_;
        const Turns::Hold turn(turns_of(device));
        Run({&device, 1}, std::move(*program), aggregate_, inputs, &number)
            .run_whole(&times, &groups);
    }

    static void add_bits(std::vector<uint32_t>& to, const std::vector<uint32_t>& bits) {
        if (to.size() < bits.size()) to.resize(bits.size());
        for (size_t i = 0; i < bits.size(); ++i) to[i] |= bits[i];
    }

    static std::vector<plan::Type> first_types(const plan::Operator& aggregate) {
        const auto keys = static_cast<std::ptrdiff_t>(aggregate.group_keys.size());
        return {aggregate.output.begin(), aggregate.output.begin() + keys};
    }

    // Kernels and their shape are the last part's.
    static void add_times(RunTimes& all, RunTimes took) {
        took.load += all.load;
        took.compile += all.compile;
        took.device += all.device;
        took.total += all.total;
        took.texts.insert(took.texts.begin(), all.texts.begin(), all.texts.end());
        all = std::move(took);
    }

    // --- columns
    // ----------------------------------------------------------------------------------

    void bind() {
        bound_.resize(program_.pipelines.size());
        const std::vector<std::vector<bool>> used = used_slots();
        if (!context_.only_prepared) load_all(used);
        for (size_t i = 0; i < bound_.size(); ++i) {
            bind(program_.pipelines[i], bound_[i], used[i]);
            fix_scales(program_.pipelines[i], bound_[i]);
        }
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
        tables_ = lease_->memory(tables_bytes_ + kLookUpRoom);
        for (Bound& bound : bound_) {
            bound.data.blocks += tables_.address;
            bound.data.spans += tables_.address;
        }
    }

    // Build sides come first, whose columns slots may be.
    void fix_scales(Pipeline& pipeline, const Bound& bound) const {
        for (size_t s = 0; s < pipeline.slots.size(); ++s) {
            Slot& slot = pipeline.slots[s];
            if (!plan::is_decimal(slot.type)) continue;
            if (slot.kind == Slot::Kind::kScan) {
                if (bound.columns[s] != nullptr) slot.type = bound.columns[s]->facts.type;
                continue;
            }
            const PipelineJoin& join = pipeline.joins[static_cast<size_t>(slot.join)];
            const Pipeline& build = program_.pipelines[static_cast<size_t>(join.build)];
            const Expr& payload = build.payload[static_cast<size_t>(slot.index)];
            if (payload.kind == ExprKind::kColumn)
                slot.type = build.slots[static_cast<size_t>(payload.index)].type;
        }
        const std::function<plan::Type(int)> column = [&](int slot) {
            return pipeline.slots[static_cast<size_t>(slot)].type;
        };
        const auto fix = [&](Expr& expr) {
            expr = gpu::fix_scales(expr, column, inputs_.parameters);
        };
        const auto fix_all = [&](std::vector<Expr>& exprs) {
            for (Expr& expr : exprs) fix(expr);
        };
        for (PipelineStep& step : pipeline.steps)
            if (step.kind != PipelineStep::Kind::kJoin) fix(step.predicate);
        for (PipelineJoin& join : pipeline.joins) {
            fix_all(join.keys);
            fix_all(join.conditions);
        }
        fix_all(pipeline.build_keys);
        fix_all(pipeline.payload);
        fix_all(pipeline.keys);
        for (plan::Aggregate& call : pipeline.aggregates) {
            fix_all(call.args);
            fix_all(call.filter);
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
        const exec::TableSource* table =
            pipeline.inner < 0 ? &inputs_.tables[static_cast<size_t>(pipeline.table)] : nullptr;
        RowColumns rows;
        if (table == nullptr) rows = run_inner(pipeline, used);
        std::vector<BlockRows> blocks;
        if (table != nullptr)
            blocks = blocks_of(*table);
        else if (rows.rows > 0)
            blocks = {{.rows = rows.rows}};
        bound.columns.resize(pipeline.slots.size());
        bound.data.columns.resize(pipeline.slots.size());
        bound.data.views = static_cast<int>(pipeline.columns.size());
        bound.views.resize(blocks.size() * pipeline.columns.size());
        for (size_t s = 0; s < pipeline.slots.size(); ++s) {
            const Slot& slot = pipeline.slots[s];
            if (slot.kind != Slot::Kind::kScan || !used[s]) continue;
            if (table != nullptr && !can_hold(slot.type))
                throw NotInKernels{"a column of type " + plan::to_string(slot.type)};
            bound.columns[s] = table != nullptr ? load(*table, slot)
                                                : rows.columns[static_cast<size_t>(slot.index)];
            bound.data.columns[s] = bound.columns[s]->facts;
            for (size_t b = 0; b < blocks.size(); ++b)
                bound.views[b * pipeline.columns.size() + static_cast<size_t>(slot.index)] =
                    bound.columns[s]->views[b];
        }
        make_spans(blocks, pipeline, bound);
        bound.data.parameters = inputs_.parameters;
    }

    // Runs the aggregate that a pipeline scans the rows of.
    RowColumns run_inner(const Pipeline& pipeline, const std::vector<bool>& used) {
        Program::Inner& inner = program_.inner[static_cast<size_t>(pipeline.inner)];
        RunTimes times;
        times.wants_kernels = inner_times_.wants_kernels;
        times.wants_texts = inner_times_.wants_texts;
        const auto rows =
            Run(devices_.first(1), std::move(*inner.program), *inner.aggregate, inputs_, runs_)
                .run(&times);
        inner_times_.device += times.device;
        inner_times_.texts.insert(inner_times_.texts.end(), times.texts.begin(), times.texts.end());
        // Its first slots are the columns.
        return load_rows(context_.device, stream(), *rows, inner.aggregate->output, used);
    }

    // Brings all columns to the device, together.
    void load_all(const std::vector<std::vector<bool>>& used) {
        std::vector<ColumnStore::Wanted> wanted;
        for (size_t i = 0; i < used.size(); ++i) {
            const Pipeline& pipeline = program_.pipelines[i];
            if (pipeline.inner >= 0) continue;
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

    // Cuts a table's tiles into shares of one size, so that no multiprocessor waits for another.
    void make_spans(const std::vector<BlockRows>& blocks, const Pipeline& pipeline, Bound& bound) {
        uint64_t tiles = 0;
        for (const BlockRows& block : blocks) {
            tiles += tiles_of(block.rows);
            bound.data.rows += static_cast<uint64_t>(block.rows);
        }
        const uint64_t shares = share_count(tiles, pipeline.sink);
        bound.data.shares = static_cast<uint32_t>(shares);
        bound.spans.resize(shares);
        uint64_t done = 0;
        uint64_t share = 0;
        size_t last = 0;     // the span before
        bool begins = true;  // a share
        for (size_t b = 0; b < blocks.size(); ++b) {
            const uint64_t here = tiles_of(blocks[b].rows);
            for (uint64_t first = 0; first < here;) {
                const uint64_t end = tiles * (share + 1) / shares;
                Span span;
                span.block = static_cast<uint32_t>(b);
                span.first = static_cast<uint32_t>(first);
                span.tiles = static_cast<uint32_t>(std::min(end - done, here - first));
                span.rows = static_cast<uint32_t>(static_cast<uint64_t>(blocks[b].rows) -
                                                  first * kTileRows);
                first += span.tiles;
                done += span.tiles;
                if (begins) {
                    last = share;
                    bound.spans[last] = span;
                } else {
                    bound.spans[last].next = static_cast<uint32_t>(bound.spans.size());
                    last = bound.spans.size();
                    bound.spans.push_back(span);
                }
                begins = done == end;
                if (begins) ++share;
            }
        }
    }
    uint64_t share_count(uint64_t tiles, Pipeline::Sink sink) const {
        const auto processors = static_cast<uint64_t>(context_.device.facts().multiprocessors);
        if (sink == Pipeline::Sink::kAggregate) {
            const uint64_t each =
                std::clamp<uint64_t>(tiles / (processors * kLeastShare), 1, kSharesPerProcessor);
            return std::min(tiles, processors * each);
        }
        const uint64_t size =
            std::clamp<uint64_t>(tiles / (processors * kBuildBlocks), 1, kBuildShare);
        return (tiles + size - 1) / size;
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
        if (arena_ != nullptr) lease_->drop(arena_->address());
        arena_ = std::make_unique<Arena>();
        builds_->reserve(*arena_);
        groups_->reserve(*arena_);
        status_ = arena_->reserve_result(sizeof(Status));
        arena_->allocate(*lease_);
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
        std::vector<KernelText> texts;
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
            texts = write_builds(builds, small, context_.choices);
        }
        const auto write = [&](const KernelChoices& choices) {
            return write_aggregate(*last().pipeline, last().data, groups_->table(), limits,
                                   choices);
        };
        KernelText own = write(context_.choices);
        shape_ = std::hash<std::string>()(own.text);
        const std::optional<KernelChoices> better =
            context_.tuning != nullptr ? context_.tuning->find(shape_) : std::nullopt;
        texts.push_back(better ? write(*better) : std::move(own));
        for (const KernelText& kernels : texts)
            if (kernels.words.words().size() * 8 > kMaxParameterBytes)
                throw NotInKernels{"so many joins, columns and conditions at once"};
        std::vector<std::shared_ptr<Module>> modules = load_modules(texts);
        for (size_t i = 0; i < texts.size(); ++i) {
            const size_t first = i + 1 < texts.size() ? 0 : builds_->size();
            for (const LookUp& look_up : texts[i].look_ups)
                fill(look_up, bound_[first + static_cast<size_t>(look_up.pipeline)],
                     texts[i].words);
            modules_.push_back({std::move(texts[i]), std::move(modules[i])});
        }
    }

    // All texts are compiled at once: NVRTC uses one thread for each.
    std::vector<std::shared_ptr<Module>> load_modules(const std::vector<KernelText>& texts) {
        std::vector<std::shared_ptr<Module>> modules;
        for (const KernelText& kernels : texts)
            modules.push_back(context_.modules.find(kernels.text));
        const auto missing = [](const auto& module) { return module == nullptr; };
        if (context_.only_prepared && std::any_of(modules.begin(), modules.end(), missing))
            throw NotPrepared{"kernels are not compiled yet"};
        std::vector<std::future<void>> others;
        const auto get = [&](size_t i) { modules[i] = context_.modules.get(texts[i].text); };
        for (size_t i = 0; i + 1 < texts.size(); ++i)
            if (missing(modules[i])) others.push_back(std::async(std::launch::async, get, i));
        if (missing(modules.back())) get(texts.size() - 1);
        for (std::future<void>& other : others) other.get();
        return modules;
    }

    // Takes a table that stands for texts along to the device.
    void fill(const LookUp& look_up, const Bound& bound, KernelWords& words) {
        const DeviceColumn& column = *column_of(bound, bound_, look_up.slot);
        std::shared_ptr<const TextTables::Answers> answers;
        std::vector<uint8_t> bits;
        base::ByteSpan table;
        size_t entries = 0;  // one more than there were texts; there may be others by now
        if (look_up.texts != nullptr) {
            const std::vector<uint32_t>& codes = look_up.texts->codes;
            entries = codes.size();
            table = {reinterpret_cast<const uint8_t*>(codes.data()), codes.size() * 4};
        } else {
            answers = texts_.answers(look_up.predicate, look_up.slot, column, inputs_.parameters);
            entries = answers->size();
            if (look_up.bitmap) bits = bits_of(*answers);
            table = look_up.bitmap ? bits : *answers;
        }
        words.set(look_up.word + 1, entries - 1);
        look_ups_.push_back({modules_.size(), look_up.word, look_up_bytes_.size()});
        look_up_bytes_.insert(look_up_bytes_.end(), table.begin(), table.end());
        look_up_bytes_.resize(aligned(look_up_bytes_.size()));
    }

    // Brings views, spans and tables of texts to the device, and tells kernels where the last are.
    void upload_inputs() {
        const uint64_t bytes = tables_bytes_ + look_up_bytes_.size();
        if (staging_bytes_ < bytes) {
            staging_ = lease_->pinned(bytes);
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
                                                : lease_->memory(look_up_bytes_.size()).address;
        stream().upload(tables_.address, staging_, together ? bytes : tables_bytes_);
        if (!together) stream().upload(look_ups, staging_ + tables_bytes_, look_up_bytes_.size());
        for (const PlacedLookUp& look_up : look_ups_)
            modules_[look_up.module].kernels.words.set(look_up.word, look_ups + look_up.at);
    }

    static std::vector<uint8_t> bits_of(const std::vector<uint8_t>& answers) {
        std::vector<uint8_t> bits((answers.size() + 31) / 32 * 4 + 16);
        for (size_t i = 0; i < answers.size(); ++i)
            // The first of 32 on top of a little-endian word.
            if (answers[i] == 1)
                bits[i / 32 * 4 + 3 - i % 32 / 8] |= static_cast<uint8_t>(0x80U >> i % 8);
        return bits;
    }

    // What is computed for a whole dictionary faults here, if at all.
    void check_texts() const {
        for (const Bound& bound : bound_)
            for (const PipelineStep& step : bound.pipeline->steps) {
                if (step.kind != PipelineStep::Kind::kCompute ||
                    plan::physical(step.predicate.type) != plan::Physical::kBytes)
                    continue;
                const int slot = plan::columns_of(step.predicate)[0];
                const DeviceColumn* column = column_of(bound, bound_, slot);
                if (column == nullptr || column->texts == nullptr)
                    throw NotInKernels{"an output that may raise an error"};
                static_cast<void>(texts_.texts(step.predicate, slot, *column, inputs_.parameters));
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
                              ? std::min(last().data.shares,
                                         static_cast<uint32_t>(facts.multiprocessors * resident))
                              : kernels.grids[i];
            if (grid.blocks == 0) continue;
            const std::vector<uint64_t>& words = kernels.words.words();
            stream().launch(kernel, grid,
                            {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 8});
            if (with_marks_)
                launches_.push_back({kernels.kernels[i], kernel, grid, stream().mark()});
        }
    }

    // --- what kernels say
    // ------------------------------------------------------------------------------

    // Returns whether all rows were found; else they will be. What comes of rows that are missing,
    // or of one instead of another, is no fault.
    bool check_status() {
        Status status;
        results_->download(&status, *status_, sizeof status);
        results_->wait();
        if (status.duplicate_keys != 0) {
            if (duplicates() != nullptr) *duplicates() |= status.duplicate_keys;
            builds_->keep_lists(status.duplicate_keys);
            groups_->plan();
            return false;
        }
        if (status.full_sets != 0) {
            builds_->grow();
            return false;
        }
        if (status.faults != 0) {
            sql::Fault fault;
            fault.raise(static_cast<sql::FaultBits>(status.faults));
            exec::raise(fault);
        }
        return true;
    }

    const std::span<DeviceContext> devices_;
    DeviceContext& context_;  // the first of them
    Program program_;
    const plan::Operator& aggregate_;
    const exec::Inputs& inputs_;
    size_t* runs_;
    const size_t number_;
    TextTables own_texts_;
    TextTables& texts_;
    RunTimes inner_times_;
    // Outlives the lease, whose end may wait for the device.
    std::optional<Launched> launched_;
    std::optional<DeviceLease> lease_;
    std::optional<Results> results_;
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
    std::vector<Loaded> modules_;  // of the build sides, and of the last pipeline
    std::vector<Launch> launches_;
    bool with_marks_ = false;
    int cleared_ = 0;  // a mark
    size_t shape_ = 0;
    DeviceAddress* status_ = nullptr;
};

}  // namespace

bool supports_aggregate(const plan::Operator& aggregate, std::string* reason) {
    return lower(aggregate, reason).has_value();
}

std::unique_ptr<DeviceRows> run_aggregate(DeviceContext& context, const plan::Operator& aggregate,
                                          const exec::Inputs& inputs, RunTimes* times) {
    return run_aggregate({&context, 1}, aggregate, inputs, times);
}

std::unique_ptr<DeviceRows> run_aggregate(std::span<DeviceContext> devices,
                                          const plan::Operator& aggregate,
                                          const exec::Inputs& inputs, RunTimes* times) {
    std::string reason;
    std::optional<Program> program = lower(aggregate, &reason);
    if (!program) throw NotInKernels{reason};
    size_t runs = 0;
    try {
        return Run(devices, std::move(*program), aggregate, inputs, &runs).run(times);
    } catch (const Asked&) {
        return nullptr;
    }
}

}  // namespace loom::gpu
