#include "gpu/run/execution.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include <fmt/core.h>

#include "exec/expr/raise.h"
#include "exec/expression.h"
#include "exec/fault.h"
#include "gpu/codegen/kernel_text.h"
#include "gpu/runtime/kernel.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Places of a build side's bitmap at most: 128 MB of bits, and as many codes.
constexpr uint64_t kMostPlaces = uint64_t{1} << 30;
// Groups that sums are kept for without a hash table.
constexpr uint64_t kMostGroups = uint64_t{1} << 22;
// A column of the scan is a part of the group's number if it has no more values than this.
constexpr uint64_t kMostDirect = 65536;
constexpr uint32_t kSetSlots = 1U << 17;
// Spans of a multiprocessor: enough that its last one does not keep the device waiting for long.
constexpr uint64_t kSpansPerProcessor = 8;
// Blocks of few threads on a multiprocessor at once.
constexpr int kBuildBlocks = 8;
constexpr uint32_t kMostSpanTiles = 2048;
constexpr uint32_t kBuildSpanTiles = 8;

constexpr uint32_t kCountAny = 2147;
constexpr uint32_t kCountStar = 2803;
constexpr uint32_t kSumInt2 = 2109;
constexpr uint32_t kSumInt4 = 2108;

// Memory for one run: what is to be 0 at first, and what is to be all ones, in one piece each.
class Arena {
  public:
    // Returns where `bytes` will lie, once allocate() has run.
    DeviceAddress* reserve(uint64_t bytes, uint8_t fill) {
        Part& part = fill == 0 ? zeros_ : ones_;
        const uint64_t at = part.bytes;
        part.bytes += (std::max<uint64_t>(bytes, 16) + 255) / 256 * 256;
        return part.places.emplace_back(std::make_unique<DeviceAddress>(at)).get();
    }
    void allocate(Device& device) {
        memory_ = DeviceMemory(device, std::max<uint64_t>(256, zeros_.bytes + ones_.bytes));
        for (const auto& place : zeros_.places) *place += memory_.address();
        for (const auto& place : ones_.places) *place += memory_.address() + zeros_.bytes;
    }
    void clear(Stream& stream) const {
        if (zeros_.bytes > 0) stream.fill(memory_.address(), 0, zeros_.bytes);
        if (ones_.bytes > 0) stream.fill(memory_.address() + zeros_.bytes, 0xff, ones_.bytes);
    }

  private:
    struct Part {
        uint64_t bytes = 0;
        std::vector<std::unique_ptr<DeviceAddress>> places;
    };
    Part zeros_;
    Part ones_;
    DeviceMemory memory_;
};

// A build side, and the addresses that it is waiting for.
struct Build {
    BuildTable table;
    DeviceAddress* bitmap = nullptr;
    DeviceAddress* codes = nullptr;
    DeviceAddress* set_words = nullptr;
    DeviceAddress* set_numbers = nullptr;
    DeviceAddress* set_in_order = nullptr;
    DeviceAddress* set_count = nullptr;
};

// A pipeline with its columns on the device.
struct Bound {
    const Pipeline* pipeline = nullptr;
    PipelineData data;
    std::vector<std::shared_ptr<const DeviceColumn>> columns;  // by slot
    std::vector<BlockView> views;
    std::vector<Span> spans;
    DeviceMemory tables;  // views, then spans
};

class Run {
  public:
    Run(DeviceContext& context, const Program& program, const plan::Operator& aggregate,
        const exec::Inputs& inputs)
        : context_(context),
          program_(program),
          aggregate_(aggregate),
          inputs_(inputs),
          stream_(context.device.make_stream()) {}

    std::unique_ptr<DeviceRows> run(RunTimes* times) {
        const Clock::time_point begin = Clock::now();
        bind();
        const double bound = milliseconds_since(begin);
        plan_builds();
        plan_groups();
        arena_.allocate(context_.device);
        settle_addresses();
        write_kernels();
        const double compiled = milliseconds_since(begin);
        const int from = stream_->mark();
        arena_.clear(*stream_);
        cleared_ = stream_->mark();
        for (const Loaded& loaded : modules_) launch(loaded);
        const int to = stream_->mark();
        std::unique_ptr<DeviceRows> rows = collect();
        if (times != nullptr) {
            times->load = bound;
            times->compile = compiled - bound;
            times->device = stream_->elapsed(from, to);
            times->total = milliseconds_since(begin);
            int mark = cleared_;
            for (Launch& launch : launches_) {
                launch.milliseconds = stream_->elapsed(mark, launch.mark);
                mark = launch.mark;
            }
            times->kernels = std::move(launches_);
            for (const Loaded& loaded : modules_) times->texts.push_back(loaded.kernels.text);
        }
        return rows;
    }

  private:
    // --- columns
    // ----------------------------------------------------------------------------------

    void bind() {
        bound_.resize(program_.pipelines.size());
        for (size_t i = 0; i < bound_.size(); ++i) bind(program_.pipelines[i], bound_[i], i);
    }

    static std::vector<bool> used_slots(const Pipeline& pipeline,
                                        const std::vector<bool>& payloads) {
        std::vector<bool> used(pipeline.slots.size());
        const auto use = [&](const Expr& expr) {
            for (const int column : plan::columns_of(expr))
                used[static_cast<size_t>(column)] = true;
        };
        for (const PipelineStep& step : pipeline.steps)
            if (step.kind == PipelineStep::Kind::kFilter) use(step.predicate);
        for (const PipelineJoin& join : pipeline.joins) use(join.key);
        if (pipeline.sink == Pipeline::Sink::kBuild) use(pipeline.key);
        for (size_t i = 0; i < pipeline.payload.size(); ++i)
            if (payloads[i]) use(pipeline.payload[i]);
        for (const Expr& key : pipeline.keys) use(key);
        for (const plan::Aggregate& call : pipeline.aggregates) {
            for (const Expr& arg : call.args) use(arg);
            for (const Expr& condition : call.filter) use(condition);
        }
        return used;
    }

    // Which columns of a build side its probe side uses.
    std::vector<bool> used_payloads(size_t build) const {
        const Pipeline& made = program_.pipelines[build];
        std::vector<bool> used(made.payload.size());
        for (const Pipeline& pipeline : program_.pipelines) {
            if (&pipeline == &made) continue;
            const std::vector<bool> slots =
                used_slots(pipeline, std::vector<bool>(pipeline.payload.size(), true));
            for (size_t s = 0; s < pipeline.slots.size(); ++s) {
                const Slot& slot = pipeline.slots[s];
                if (slot.kind == Slot::Kind::kPayload && slots[s] &&
                    pipeline.joins[static_cast<size_t>(slot.join)].build == static_cast<int>(build))
                    used[static_cast<size_t>(slot.index)] = true;
            }
        }
        return used;
    }

    void bind(const Pipeline& pipeline, Bound& bound, size_t index) {
        bound.pipeline = &pipeline;
        const exec::TableSource& table = inputs_.tables[static_cast<size_t>(pipeline.table)];
        const std::vector<BlockRows> blocks = blocks_of(table);
        const std::vector<bool> used = used_slots(pipeline, used_payloads(index));
        bound.columns.resize(pipeline.slots.size());
        bound.data.columns.resize(pipeline.slots.size());
        bound.data.views = static_cast<int>(pipeline.columns.size());
        bound.views.resize(blocks.size() * pipeline.columns.size());
        for (size_t s = 0; s < pipeline.slots.size(); ++s) {
            const Slot& slot = pipeline.slots[s];
            if (slot.kind != Slot::Kind::kScan || !used[s]) continue;
            if (!can_hold(slot.type))
                throw NotInKernels{"a column of type " + plan::to_string(slot.type)};
            bound.columns[s] = column_of(table, blocks, slot);
            bound.data.columns[s] = bound.columns[s]->facts;
            for (size_t b = 0; b < blocks.size(); ++b)
                bound.views[b * pipeline.columns.size() + static_cast<size_t>(slot.index)] =
                    bound.columns[s]->views[b];
        }
        make_spans(blocks, pipeline, bound);
        bound.data.parameters = inputs_.parameters;
        const uint64_t views_bytes = bound.views.size() * sizeof(BlockView);
        bound.tables =
            DeviceMemory(context_.device,
                         std::max<uint64_t>(256, views_bytes + bound.spans.size() * sizeof(Span)));
        bound.data.blocks = bound.tables.address();
        bound.data.spans = bound.tables.address() + views_bytes;
        bound.data.span_count = static_cast<uint32_t>(bound.spans.size());
        if (!bound.views.empty())
            stream_->upload(bound.data.blocks, bound.views.data(), views_bytes);
        if (!bound.spans.empty())
            stream_->upload(bound.data.spans, bound.spans.data(),
                            bound.spans.size() * sizeof(Span));
    }

    std::shared_ptr<const DeviceColumn> column_of(const exec::TableSource& table,
                                                  const std::vector<BlockRows>& blocks,
                                                  const Slot& slot) {
        if (!context_.only_prepared)
            return context_.columns.get(*stream_, table, blocks, slot.index, slot.type);
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

    // --- build sides and groups
    // ---------------------------------------------------------------------

    Bound& last() { return bound_.back(); }

    void plan_builds() {
        builds_.resize(bound_.size() - 1);
        for (size_t i = 0; i < builds_.size(); ++i) {
            const Pipeline& pipeline = *bound_[i].pipeline;
            if (pipeline.key.kind != ExprKind::kColumn)
                throw NotInKernels{"a key of a join that is no column"};
            BuildTable& table = builds_[i].table;
            table.key = bound_[i].data.columns[static_cast<size_t>(pipeline.key.index)];
            if (table.key.dictionary) throw NotInKernels{"a join of texts"};
            if (table.key.layout.encoding == Encoding::kWide)
                throw NotInKernels{"a join on a key of widely spread values"};
            if (table.key.has_values()) {
                table.origin = table.key.min & ~int64_t{31};
                table.span =
                    static_cast<uint64_t>(table.key.max) - static_cast<uint64_t>(table.origin) + 1;
            } else {
                table.span = 1;
            }
            if (table.span > kMostPlaces)
                throw NotInKernels{"a join on a key of widely spread values"};
        }
        for (Bound& bound : bound_)
            for (const PipelineJoin& join : bound.pipeline->joins)
                bound.data.builds.push_back(&builds_[static_cast<size_t>(join.build)].table);
    }

    void plan_groups() {
        const Pipeline& pipeline = *last().pipeline;
        std::map<int, size_t> part_of_join;
        for (size_t k = 0; k < pipeline.keys.size(); ++k) {
            const Expr& key = pipeline.keys[k];
            if (key.kind != ExprKind::kColumn) throw NotInKernels{"a group key that is no column"};
            const Slot& slot = pipeline.slots[static_cast<size_t>(key.index)];
            if (slot.kind == Slot::Kind::kScan) {
                add_direct_part(key.index, static_cast<int>(k));
                continue;
            }
            const auto [at, fresh] = part_of_join.emplace(slot.join, groups_.parts.size());
            if (fresh) {
                groups_.parts.emplace_back();
                groups_.parts.back().join = slot.join;
            }
            groups_.parts[at->second].keys.push_back(static_cast<int>(k));
            add_field(slot);
        }
        for (GroupPart& part : groups_.parts) {
            if (part.join >= 0) finish_build_part(part);
            groups_.most = groups_.most > kMostGroups ? groups_.most : groups_.most * part.most;
        }
        if (groups_.most > kMostGroups) throw NotInKernels{"so many groups"};
        for (const plan::Aggregate& call : pipeline.aggregates) add_aggregate(call);
        seen_ = arena_.reserve(groups_.most, 0);
        sums_ = arena_.reserve(groups_.accumulators.size() * groups_.most * 8, 0);
        status_ = arena_.reserve(sizeof(Status), 0);
        for (size_t i = 0; i < builds_.size(); ++i) {
            Build& build = builds_[i];
            build.bitmap = arena_.reserve((build.table.span / 32 + 8) * 4, 0);
            if (build.table.fields.empty()) continue;
            build.table.set_slots = kSetSlots;
            build.codes = arena_.reserve(
                build.table.span * static_cast<uint64_t>(build.table.code_bytes), 0xff);
            build.set_words = arena_.reserve(uint64_t{kSetSlots} * 8, 0xff);
            build.set_numbers = arena_.reserve(uint64_t{kSetSlots} * 4, 0);
            build.set_in_order = arena_.reserve(uint64_t{kSetSlots} / 2 * 8, 0);
            build.set_count = arena_.reserve(4, 0);
        }
    }

    void add_direct_part(int slot, int key) {
        const ScanColumn& column = last().data.columns[static_cast<size_t>(slot)];
        GroupPart part;
        part.slot = slot;
        part.keys = {key};
        part.most = (column.has_values() ? column.reach() : 0) + (column.layout.nullable ? 1 : 0);
        if (column.layout.encoding == Encoding::kWide || part.most > kMostDirect)
            throw NotInKernels{"a group key of many values"};
        part.most = std::max<uint64_t>(1, part.most);
        groups_.parts.push_back(std::move(part));
    }

    void add_field(const Slot& slot) {
        const size_t build =
            static_cast<size_t>(last().pipeline->joins[static_cast<size_t>(slot.join)].build);
        const Pipeline& made = *bound_[build].pipeline;
        const Expr& payload = made.payload[static_cast<size_t>(slot.index)];
        if (payload.kind != ExprKind::kColumn) throw NotInKernels{"a group key that is no column"};
        GroupField field;
        field.payload = slot.index;
        field.column = bound_[build].data.columns[static_cast<size_t>(payload.index)];
        if (field.column.layout.encoding == Encoding::kWide)
            throw NotInKernels{"a group key of widely spread values"};
        std::vector<GroupField>& fields = builds_[build].table.fields;
        field.shift = fields.empty() ? 0
                                     : fields.back().shift + fields.back().bits +
                                           (fields.back().null_bit ? 1 : 0);
        field.bits = field.column.has_values() ? std::bit_width(field.column.reach() - 1) : 0;
        field.null_bit = field.column.layout.nullable;
        if (field.shift + field.bits + 1 > 63) throw NotInKernels{"group keys of many bits"};
        fields.push_back(field);
    }

    void finish_build_part(GroupPart& part) {
        BuildTable& table =
            builds_[static_cast<size_t>(
                        last().pipeline->joins[static_cast<size_t>(part.join)].build)]
                .table;
        uint64_t most = 1;
        for (const GroupField& field : table.fields) {
            const uint64_t values = (field.column.has_values() ? field.column.reach() : 0) + 1;
            most = std::min<uint64_t>(most * values, 65535);
        }
        part.most = most;
        table.code_bytes = most <= 255 ? 1 : 2;
    }

    void add_aggregate(const plan::Aggregate& call) {
        Accumulator made;
        made.filter = call.filter;
        switch (call.function) {
            case kCountStar:
                break;
            case kCountAny:
                made.argument = call.args[0];
                made.counts_argument = true;
                break;
            case kSumInt2:
            case kSumInt4: {
                made.kind = Accumulator::Kind::kSum;
                made.argument = call.args[0];
                const size_t at = groups_.accumulators.size();
                groups_.accumulators.push_back(made);
                Result result{static_cast<int>(at), -1};
                if (!call.filter.empty() || may_be_null(call.args[0])) {
                    made.kind = Accumulator::Kind::kRows;
                    made.counts_argument = true;
                    result.count = static_cast<int>(groups_.accumulators.size());
                    groups_.accumulators.push_back(made);
                }
                results_.push_back(result);
                return;
            }
            default:
                throw NotInKernels{fmt::format("aggregate {}", call.function)};
        }
        results_.push_back({static_cast<int>(groups_.accumulators.size()), -1});
        groups_.accumulators.push_back(std::move(made));
    }

    bool may_be_null(const Expr& expr) {
        switch (expr.kind) {
            case ExprKind::kColumn:
                return last().data.columns[static_cast<size_t>(expr.index)].layout.nullable;
            case ExprKind::kConstant:
                return !expr.value.known();
            case ExprKind::kCall:
                return std::any_of(expr.args.begin(), expr.args.end(),
                                   [&](const Expr& arg) { return may_be_null(arg); });
            default:
                return true;
        }
    }

    void settle_addresses() {
        groups_.sums = *sums_;
        groups_.seen = *seen_;
        for (Build& build : builds_) {
            build.table.bitmap = *build.bitmap;
            if (build.table.fields.empty()) continue;
            build.table.codes = *build.codes;
            build.table.set_words = *build.set_words;
            build.table.set_numbers = *build.set_numbers;
            build.table.set_in_order = *build.set_in_order;
            build.table.set_count = *build.set_count;
        }
        for (Bound& bound : bound_) bound.data.status = *status_;
    }

    // --- kernels
    // ------------------------------------------------------------------------------------

    void write_kernels() {
        const DeviceFacts& facts = context_.device.facts();
        BlockLimits limits;
        limits.threads = static_cast<uint32_t>(std::min(1024, facts.threads_per_multiprocessor));
        limits.shared_bytes = static_cast<uint32_t>(facts.shared_bytes);
        limits.blocks = static_cast<uint32_t>(facts.multiprocessors * kBuildBlocks);
        if (!builds_.empty()) {
            std::vector<BuildPipeline> builds;
            for (size_t i = 0; i < builds_.size(); ++i)
                builds.push_back({bound_[i].pipeline, &bound_[i].data, &builds_[i].table});
            BlockLimits small = limits;
            small.shared_bytes = limits.shared_bytes / kBuildBlocks;
            add_module(write_builds(builds, small));
        }
        add_module(
            write_aggregate(*last().pipeline, last().data, groups_, limits, context_.choices));
    }

    void add_module(KernelText kernels) {
        const size_t first = modules_.empty() && !builds_.empty() ? 0 : builds_.size();
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
        const DeviceColumn& column = *bound.columns[static_cast<size_t>(look_up.slot)];
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
            const exec::Vector result = evaluator.evaluate(columns, rows);
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
        DeviceMemory memory(context_.device, answers.size());
        stream_->upload(memory.address(), answers.data(), answers.size());
        stream_->wait();
        words.set(look_up.word, memory.address());
        words.set(look_up.word + 1, count);
        look_ups_.push_back(std::move(memory));
    }

    struct Loaded {
        KernelText kernels;
        std::shared_ptr<Module> module;
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
            stream_->launch(kernel, grid,
                            {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 8});
            launches_.push_back({kernels.kernels[i], kernel, grid, stream_->mark()});
        }
    }

    // --- results
    // ------------------------------------------------------------------------------------

    std::unique_ptr<DeviceRows> collect() {
        Status status;
        std::vector<uint32_t> counts(groups_.parts.size(), 1);
        stream_->download(&status, *status_, sizeof status);
        for (size_t i = 0; i < counts.size(); ++i) {
            const GroupPart& part = groups_.parts[i];
            if (part.join < 0)
                counts[i] = static_cast<uint32_t>(part.most);
            else
                stream_->download(&counts[i], build_of(part).set_count, 4);
        }
        stream_->wait();
        if (status.faults != 0) {
            sql::Fault fault;
            fault.raise(static_cast<sql::FaultBits>(status.faults));
            exec::raise(fault);
        }
        if (status.duplicate_keys != 0) throw NotInKernels{"a join on a key that is not unique"};
        uint64_t groups = 1;
        for (size_t i = 0; i < counts.size(); ++i) {
            const GroupPart& part = groups_.parts[i];
            // Numbers have to fit codes, whose highest value says that there is no row.
            if (part.join >= 0 &&
                counts[i] >
                    std::min<uint32_t>(kSetSlots / 2, build_of(part).code_bytes == 1 ? 255 : 65535))
                throw NotInKernels{"group keys of many values"};
            groups *= counts[i];
        }
        std::vector<uint8_t> seen(groups);
        std::vector<std::vector<uint64_t>> sums(groups_.accumulators.size(),
                                                std::vector<uint64_t>(groups));
        std::vector<std::vector<uint64_t>> words(counts.size());
        if (groups > 0) {
            stream_->download(seen.data(), groups_.seen, groups);
            for (size_t i = 0; i < sums.size(); ++i)
                stream_->download(sums[i].data(), groups_.sums + i * groups_.most * 8, groups * 8);
            for (size_t i = 0; i < counts.size(); ++i) {
                if (groups_.parts[i].join < 0) continue;
                words[i].resize(counts[i]);
                stream_->download(words[i].data(), build_of(groups_.parts[i]).set_in_order,
                                  counts[i] * uint64_t{8});
            }
            stream_->wait();
        }
        auto rows = std::make_unique<DeviceRows>(aggregate_.output);
        const bool always = groups_.parts.empty() && !aggregate_.grouped;
        for (uint64_t g = 0; g < groups; ++g) {
            if (seen[g] == 0 && !always) continue;
            put_keys(g, counts, words, *rows);
            for (size_t i = 0; i < results_.size(); ++i) {
                const Result& result = results_[i];
                const size_t column = aggregate_.group_keys.size() + i;
                const bool is_sum = groups_.accumulators[static_cast<size_t>(result.sum)].kind ==
                                    Accumulator::Kind::kSum;
                const bool none =
                    is_sum && (seen[g] == 0 || (result.count >= 0 &&
                                                sums[static_cast<size_t>(result.count)][g] == 0));
                if (none)
                    rows->add_null(column);
                else
                    rows->add_integer(
                        column, static_cast<int64_t>(sums[static_cast<size_t>(result.sum)][g]));
            }
            rows->end_row();
        }
        return rows;
    }

    const BuildTable& build_of(const GroupPart& part) const {
        return *bound_.back().data.builds[static_cast<size_t>(part.join)];
    }

    void put_keys(uint64_t group, const std::vector<uint32_t>& counts,
                  const std::vector<std::vector<uint64_t>>& words, DeviceRows& rows) {
        for (size_t i = counts.size(); i-- > 0;) {
            const auto number = static_cast<uint32_t>(group % counts[i]);
            group /= counts[i];
            const GroupPart& part = groups_.parts[i];
            if (part.join < 0) {
                const auto slot = static_cast<size_t>(part.slot);
                const ScanColumn& column = last().data.columns[slot];
                const bool is_null = column.layout.nullable && number == part.most - 1;
                put_key(part.keys[0], column, last().columns[slot], is_null, number, rows);
                continue;
            }
            const auto build =
                static_cast<size_t>(last().pipeline->joins[static_cast<size_t>(part.join)].build);
            const BuildTable& table = builds_[build].table;
            for (size_t f = 0; f < table.fields.size(); ++f) {
                const GroupField& field = table.fields[f];
                const uint64_t word = words[i][number] >> field.shift;
                const bool is_null = field.null_bit && (word >> field.bits & 1) != 0;
                const Expr& payload =
                    bound_[build].pipeline->payload[static_cast<size_t>(field.payload)];
                put_key(part.keys[f], field.column,
                        bound_[build].columns[static_cast<size_t>(payload.index)], is_null,
                        word & ((uint64_t{1} << field.bits) - 1), rows);
            }
        }
    }

    static void put_key(int key, const ScanColumn& column,
                        const std::shared_ptr<const DeviceColumn>& held, bool is_null,
                        uint64_t above, DeviceRows& rows) {
        const auto at = static_cast<size_t>(key);
        const int64_t value = column.min + static_cast<int64_t>(above);
        if (is_null)
            rows.add_null(at);
        else if (column.dictionary)
            rows.add_text(at, held->texts->text(static_cast<uint32_t>(value)));
        else
            rows.add_integer(at, value);
    }

    struct Result {
        int sum = -1;
        int count = -1;  // of what is summed, where that may be nothing
    };

    DeviceContext& context_;
    const Program& program_;
    const plan::Operator& aggregate_;
    const exec::Inputs& inputs_;
    std::unique_ptr<Stream> stream_;
    Arena arena_;
    std::vector<Bound> bound_;
    std::vector<Build> builds_;
    GroupTable groups_;
    std::vector<Result> results_;
    std::vector<DeviceMemory> look_ups_;
    std::vector<Loaded> modules_;  // of the build sides, if there are any, and of the last pipeline
    std::vector<Launch> launches_;
    int cleared_ = 0;  // a mark
    DeviceAddress* seen_ = nullptr;
    DeviceAddress* sums_ = nullptr;
    DeviceAddress* status_ = nullptr;
};

}  // namespace

void DeviceRows::add_null(size_t column) {
    columns_[column].valid.push_back(false);
    columns_[column].integers.push_back(static_cast<int64_t>(columns_[column].bytes.size()));
}

void DeviceRows::add_integer(size_t column, int64_t value) {
    columns_[column].valid.push_back(true);
    columns_[column].integers.push_back(value);
}

void DeviceRows::add_text(size_t column, std::string_view text) {
    columns_[column].bytes += text;
    columns_[column].valid.push_back(true);
    columns_[column].integers.push_back(static_cast<int64_t>(columns_[column].bytes.size()));
}

int64_t DeviceRows::fetch(std::span<exec::Vector> vectors) {
    const int64_t count = std::min<int64_t>(exec::kBatchRows, rows_ - next_);
    for (size_t c = 0; c < vectors.size(); ++c) {
        Column& column = columns_[c];
        const plan::Physical physical = plan::physical(types_[c]);
        const int width = plan::width(physical);
        column.values.resize_discarding(static_cast<uint64_t>(count) *
                                        static_cast<uint64_t>(width));
        column.validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
        for (int64_t i = 0; i < count; ++i) {
            const auto row = static_cast<size_t>(next_ + i);
            base::put_bit(column.validity.data(), i, column.valid[row]);
            uint8_t* place = column.values.data() + i * width;
            if (physical == plan::Physical::kBytes) {
                const int64_t begin = row == 0 ? 0 : column.integers[row - 1];
                const column::BytesView view{
                    reinterpret_cast<const uint8_t*>(column.bytes.data()) + begin,
                    column.integers[row] - begin};
                std::memcpy(place, &view, sizeof view);
            } else {
                std::memcpy(place, &column.integers[row], static_cast<size_t>(width));
            }
        }
        exec::Vector& vector = vectors[c];
        vector = exec::Vector();
        vector.type = types_[c];
        vector.length = count;
        vector.values = column.values.data();
        vector.validity = column.validity.data();
    }
    next_ += count;
    return count;
}

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
