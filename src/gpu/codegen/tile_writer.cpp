#include "gpu/codegen/tile_writer.h"

#include <algorithm>

#include "exec/functions.h"
#include "gpu/runtime/tile.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;

namespace {

// Rows that wait in a warp's queue at most: fewer than 32 of them, and one of each lane.
constexpr uint32_t kQueue = 64;
// From so many survivors of a tile on it pays to take along what was read of them.
constexpr double kCarried = 3;
// Registers of a first column that are spared to read it a tile ahead.
constexpr uint32_t kWordsAhead = 8;
constexpr uint32_t kWordsAheadAlone = 10;  // in a kernel of one stage
constexpr size_t kMostStages = 3;
// Registers for the values of the stages' columns.
constexpr uint32_t kStageWords = 24;
// A bitmap up to here may lie in shared memory, up to there in the first cache.
constexpr uint64_t kSharedBitmap = 200'000;
constexpr uint64_t kCachedBitmap = 128'000;
// Keys of neighbours are often equal: a probe beyond shared memory is worth a look at the one
// before.
constexpr uint64_t kFarBitmap = 64'000;

uint32_t bitmap_words(uint64_t places) {
    return static_cast<uint32_t>((places + 31) / 32 + 3) / 4 * 4;
}

// Whether four bytes, or two halves, are tested at once: their top bits have to be free.
bool tests_bytes(const ScanColumn& column) {
    return column.layout.encoding == Encoding::kOffset8 && column.reach() <= 128;
}
bool tests_halves(const ScanColumn& column) {
    return column.layout.encoding == Encoding::kOffset16 && column.reach() <= 32768 - 32;
}

}  // namespace

bool is_near(const ScanColumn& column, const BuildTable& table) {
    constexpr __int128 kFar = int64_t{1} << 31;
    const auto distance = [&](int64_t key) { return __int128{key} - table.origin; };
    return !column.has_values() || (distance(column.origin) > -kFar && distance(column.max) < kFar);
}

bool is_inside(const ScanColumn& column, const BuildTable& table) {
    // Rows of a column without values show its origin, which may lie anywhere.
    return column.has_values() && column.min >= table.origin &&
           static_cast<uint64_t>(column.max) - static_cast<uint64_t>(table.origin) < table.span;
}

TileWriter::TileWriter(KernelFile& file, const Pipeline& pipeline, const PipelineData& data,
                       const KernelChoices& choices)
    : file_(file),
      pipeline_(pipeline),
      data_(data),
      choices_(choices),
      slots_(pipeline, data, file.kernel.words),
      expressions_(slots_, data.parameters, file.kernel.words, file.kernel.look_ups) {}

void TileWriter::filter(const Expr& predicate, std::string_view leave) {
    const TextValue value = expressions_.write(predicate, body_);
    body_ += fmt::format("if (!({} && {})) {}\n", value.known(), value.value, leave);
}

std::string TileWriter::place(const std::string& offset, const ScanColumn& column,
                              const BuildTable& table) {
    const auto shift = static_cast<uint64_t>(column.origin) - static_cast<uint64_t>(table.origin);
    return fmt::format("({} + {})", offset, word32(static_cast<uint32_t>(shift)));
}

bool TileWriter::needs(const Expr& expr, int slot) const {
    const std::vector<int> columns = plan::columns_of(expr);
    return std::any_of(columns.begin(), columns.end(), [&](int column) {
        const Slot& read = pipeline_.slots[static_cast<size_t>(column)];
        return column == slot ||
               (read.kind == Slot::Kind::kPayload &&
                needs_any(pipeline_.joins[static_cast<size_t>(read.join)].keys, slot));
    });
}

bool TileWriter::needs_any(const std::vector<Expr>& exprs, int slot) const {
    return std::any_of(exprs.begin(), exprs.end(),
                       [&](const Expr& expr) { return needs(expr, slot); });
}

std::string TileWriter::number(const Expr& value, int64_t least, uint64_t values, bool nullable) {
    std::string above;
    std::string valid;
    if (value.kind == ExprKind::kColumn && slots_.is_payload(value.index))
        return fmt::format("uint64_t{{{}}}", slots_.number(value.index, body_));
    if (value.kind == ExprKind::kColumn &&
        slots_.column(value.index).layout.encoding != Encoding::kWide) {
        above = fmt::format("(uint64_t{{{}}} - {})", slots_.offset(value.index, body_),
                            word(static_cast<uint64_t>(least) -
                                 static_cast<uint64_t>(slots_.column(value.index).origin)));
        valid = slots_.valid(value.index, body_);
    } else {
        const TextValue computed = expressions_.write(value, body_);
        above = fmt::format("(static_cast<uint64_t>(static_cast<int64_t>({})) - {})",
                            computed.value, word(static_cast<uint64_t>(least)));
        valid = computed.valid;
    }
    if (!valid.empty() && !nullable) throw NotInKernels{"a key that may be NULL after all"};
    return valid.empty() ? above : fmt::format("({} ? {} : {})", valid, above, word(values));
}

std::string TileWriter::key_above(const Expr& key, int64_t least, std::string_view leave) {
    const auto unless = [&](const std::string& valid) {
        if (!valid.empty()) body_ += fmt::format("if (!{}) {}\n", valid, leave);
    };
    if (key.kind == ExprKind::kColumn &&
        slots_.column(key.index).layout.encoding != Encoding::kWide) {
        unless(slots_.valid(key.index, body_));
        const auto shift =
            static_cast<uint64_t>(slots_.column(key.index).origin) - static_cast<uint64_t>(least);
        return fmt::format("(uint64_t{{{}}} + {})", slots_.offset(key.index, body_), word(shift));
    }
    if (!expressions_.facts().bounds(key).fits_64())
        throw NotInKernels{"a key of a join of many digits"};
    const TextValue value = expressions_.write(key, body_);
    unless(value.valid);
    return fmt::format("(static_cast<uint64_t>(static_cast<int64_t>({})) - {})", value.value,
                       word(static_cast<uint64_t>(least)));
}

std::string TileWriter::key_word(const std::vector<Expr>& keys, const BuildTable& table,
                                 std::string_view leave) {
    std::string all;
    for (size_t i = 0; i < keys.size(); ++i) {
        const KeyPart& part = table.hashed[i];
        const std::string name = fmt::format("k{}", names_++);
        const std::string above = key_above(keys[i], part.least, leave);
        body_ += fmt::format("const uint64_t {0} = {1};\nif ({0} >= {2}) {3}\n", name, above,
                             word(part.values), leave);
        all += fmt::format("{}{} << {}", all.empty() ? "" : " | ", name,
                           word32(static_cast<uint64_t>(part.shift)));
    }
    return all;
}

const ScanColumn* TileWriter::near_key(int join) const {
    const Expr& key = pipeline_.joins[static_cast<size_t>(join)].keys[0];
    if (!table(join).hashed.empty() || key.kind != ExprKind::kColumn) return nullptr;
    const ScanColumn& column = slots_.column(key.index);
    return column.layout.encoding == Encoding::kWide || !is_near(column, table(join)) ? nullptr
                                                                                      : &column;
}

// --- which steps are stages
// -----------------------------------------------------------------------

const ScanColumn* TileWriter::scan_column(const Expr& expr) const {
    if (expr.kind != ExprKind::kColumn ||
        pipeline_.slots[static_cast<size_t>(expr.index)].kind != Slot::Kind::kScan)
        return nullptr;
    return &data_.columns[static_cast<size_t>(expr.index)];
}

const column::Scalar& TileWriter::constant(const Expr& expr) const {
    static const column::Scalar kNone;
    return expr.kind == ExprKind::kConstant ? expr.value
           : expr.kind == ExprKind::kParameter
               ? data_.parameters[static_cast<size_t>(expr.index)].value
               : kNone;
}

std::optional<int64_t> TileWriter::integer(const Expr& expr) const {
    const column::Scalar& value = constant(expr);
    if (value.kind != column::Scalar::Kind::kInt || value.integer < INT64_MIN ||
        value.integer > INT64_MAX)
        return std::nullopt;
    return static_cast<int64_t>(value.integer);
}

// Reads `column compared with a constant` as a range; integers and what is stored as such only.
std::optional<TileWriter::Stage> TileWriter::range(const Expr& expr) const {
    if (expr.kind != ExprKind::kCall || expr.args.size() != 2) return std::nullopt;
    const exec::FunctionInfo* function = exec::find_function(expr.function);
    if (function != nullptr && expr.args[0].type.id == plan::TypeId::kNumeric)
        return numeric_range(expr, scan_column(expr.args[0]) != nullptr);
    if (function == nullptr || function->definition.find("IntegerOrder") == std::string::npos)
        return std::nullopt;
    std::string_view name = function->definition;
    name = name.substr(0, name.find('<'));
    name.remove_prefix(name.rfind(':') + 1);
    // As left operator right, where the definition's order is the arguments' or not.
    bool column_first = true;
    const ScanColumn* column = scan_column(expr.args[0]);
    std::optional<int64_t> constant = integer(expr.args[1]);
    if (column == nullptr) {
        column_first = false;
        column = scan_column(expr.args[1]);
        constant = integer(expr.args[0]);
    }
    if (column == nullptr || !constant || column->layout.encoding == Encoding::kWide)
        return std::nullopt;
    Stage stage;
    stage.slot = expr.args[column_first ? 0 : 1].index;
    const bool column_left = column_first != function->swapped;
    if (name == "equal") {
        stage.low = stage.high = *constant;
    } else if (name == "less_equal") {
        (column_left ? stage.high : stage.low) = *constant;
    } else if (name == "less") {
        if (column_left ? *constant == INT64_MIN : *constant == INT64_MAX) return std::nullopt;
        if (column_left)
            stage.high = *constant - 1;
        else
            stage.low = *constant + 1;
    } else {
        return std::nullopt;
    }
    return stage;
}

// The same of numerics, whose scales may differ: the bounds are rounded to the column's.
std::optional<TileWriter::Stage> TileWriter::numeric_range(const Expr& expr,
                                                           bool column_first) const {
    const Expr& of = expr.args[column_first ? 0 : 1];
    const ScanColumn* column = scan_column(of);
    const column::Scalar& value = constant(expr.args[column_first ? 1 : 0]);
    if (column == nullptr || value.kind != column::Scalar::Kind::kInt ||
        column->layout.encoding == Encoding::kWide)
        return std::nullopt;
    const exec::BoundDefinition definition = exec::definition_of(expr.function, expr.args);
    std::string_view name = definition.name;
    name = name.substr(0, name.find('<'));
    name.remove_prefix(name.rfind(':') + 1);
    if (!name.starts_with("numeric_") || definition.constants.size() != 2) return std::nullopt;
    name.remove_prefix(8);
    const __int128 factor = definition.constants[column_first ? 0 : 1];
    __int128 aligned = 0;
    if (__builtin_mul_overflow(value.integer, definition.constants[column_first ? 1 : 0], &aligned))
        return std::nullopt;
    __int128 floor = aligned / factor;
    if (aligned % factor < 0) --floor;
    const bool exact = aligned % factor == 0;
    const bool below = name.starts_with("less") == column_first;
    const bool inclusive = name.ends_with("_equal");
    __int128 low = INT64_MIN;
    __int128 high = INT64_MAX;
    if (name == "equal") {
        low = exact ? floor : 1;
        high = exact ? floor : 0;
    } else if (name != "less" && name != "less_equal" && name != "greater" &&
               name != "greater_equal") {
        return std::nullopt;
    } else if (below) {
        high = exact && !inclusive ? floor - 1 : floor;
    } else {
        low = exact && inclusive ? floor : floor + 1;
    }
    if (low > INT64_MAX || high < INT64_MIN) {
        low = 1;
        high = 0;
    }
    Stage stage;
    stage.slot = of.index;
    stage.low = static_cast<int64_t>(std::max<__int128>(low, INT64_MIN));
    stage.high = static_cast<int64_t>(std::min<__int128>(high, INT64_MAX));
    return stage;
}

// A condition on texts is a bitmap over their codes. What it says of NULL nobody has asked yet.
std::optional<TileWriter::Stage> TileWriter::texts(const Expr& expr) const {
    const std::vector<int> columns = plan::columns_of(expr);
    if (columns.size() != 1 || slots_.is_payload(columns[0]) ||
        !slots_.has_dictionary(columns[0]) || expr.type.id != plan::TypeId::kBool)
        return std::nullopt;
    const ScanColumn& column = slots_.column(columns[0]);
    if (column.layout.nullable || column.layout.encoding == Encoding::kWide) return std::nullopt;
    Stage stage;
    stage.kind = Stage::Kind::kTexts;
    stage.slot = columns[0];
    stage.predicate = &expr;
    stage.origin = column.origin;
    return stage;
}

// A test of a tile needs the key's bits at hand: bitmaps that fit the caches next to the lanes.
std::optional<TileWriter::Stage> TileWriter::membership(const PipelineStep& step) const {
    const PipelineJoin& join = pipeline_.joins[static_cast<size_t>(step.join)];
    if (join.type == plan::JoinType::kLeft ||
        (join.type == plan::JoinType::kAnti && !join.conditions.empty()))
        return std::nullopt;
    const ScanColumn* column = near_key(step.join);
    if (column == nullptr || scan_column(join.keys[0]) == nullptr) return std::nullopt;
    Stage stage;
    stage.kind = Stage::Kind::kJoin;
    stage.slot = join.keys[0].index;
    stage.join = step.join;
    stage.selectivity = join.selectivity;
    stage.origin = table(step.join).origin;
    if (!is_inside(*column, table(step.join))) stage.places = table(step.join).span;
    return stage;
}

StageCost TileWriter::cost(const Stage& stage) const {
    const ScanColumn& column = slots_.column(stage.slot);
    StageCost result;
    result.selectivity = std::clamp(stage.selectivity, 1e-6, 1.0);
    result.bytes = tile_bytes(column.layout) / static_cast<double>(kTileRows);
    const bool packed = column.layout.encoding == Encoding::kPacked;
    if (stage.kind == Stage::Kind::kRange) {
        result.instructions = column.layout.encoding == Encoding::kOffset8    ? 2
                              : column.layout.encoding == Encoding::kOffset16 ? 4
                                                                              : 6;
        return result;
    }
    result.instructions = packed ? 9 : 6;
    if (stage.kind == Stage::Kind::kTexts) return result;
    const uint64_t bytes = table(stage.join).span / 8;
    if (bytes > kSharedBitmap) {
        result.instructions += 4;
        result.probe = bytes > kCachedBitmap ? 2500 : 600;
    }
    return result;
}

bool TileWriter::can_fault(const Expr& expr) const {
    return !expressions_.is_looked_up(expr) && expressions_.facts().can_fault(expr);
}

void TileWriter::refuse_null_keys() const {
    for (size_t i = 0; i < pipeline_.joins.size(); ++i) {
        const PipelineJoin& join = pipeline_.joins[i];
        if (join.null_aware &&
            (table(static_cast<int>(i)).nullable_keys ||
             std::any_of(join.keys.begin(), join.keys.end(),
                         [&](const Expr& key) { return expressions_.facts().may_be_null(key); })))
            throw NotInKernels{"NOT IN of values that may be NULL"};
    }
}

// Tests of a tile cannot fault, so that their order is free as far as nothing before them can.
void TileWriter::plan_steps() {
    refuse_null_keys();
    // More rows than these are not worth a test of their own before the row is taken.
    constexpr double kSelective = 0.9;
    bool faults = false;
    std::map<int, Stage> ranges;
    std::vector<Stage> tests;
    for (const PipelineStep& step : pipeline_.steps) {
        std::optional<Stage> stage;
        if (step.kind == PipelineStep::Kind::kFilter) {
            if (!faults) stage = range(step.predicate);
            if (stage) {
                const auto [at, fresh] = ranges.emplace(stage->slot, *stage);
                at->second.low = std::max(at->second.low, stage->low);
                at->second.high = std::min(at->second.high, stage->high);
                continue;
            }
            if (!faults) stage = texts(step.predicate);
            if (stage) {
                stage->selectivity = step.selectivity;
                tests.push_back(*stage);
                continue;
            }
            faults = faults || can_fault(step.predicate);
            tail_.push_back(&step);
            continue;
        }
        if (step.kind == PipelineStep::Kind::kCompute) {
            // Texts have been computed for the whole dictionary.
            if (plan::physical(step.predicate.type) == plan::Physical::kBytes ||
                !can_fault(step.predicate))
                continue;
            faults = true;
            tail_.push_back(&step);
            continue;
        }
        if (!faults) stage = membership(step);
        const PipelineJoin& join = pipeline_.joins[static_cast<size_t>(step.join)];
        if (stage && stage->selectivity < kSelective) {
            tests.push_back(*stage);
            tested_.insert(step.join);
            if (!sink_reads_code(step.join) && join.conditions.empty() &&
                !table(step.join).has_lists())
                continue;
        }
        for (const Expr& condition : join.conditions) faults = faults || can_fault(condition);
        tail_.push_back(&step);
    }
    for (auto& [slot, stage] : ranges) {
        const ScanColumn& column = slots_.column(slot);
        const auto low = static_cast<double>(std::max(stage.low, column.min));
        const auto high = static_cast<double>(std::min(stage.high, column.max));
        stage.selectivity = column.has_values() ? std::max(0.0, high - low + 1) /
                                                      static_cast<double>(column.reach())
                                                : 0;
        tests.push_back(stage);
    }
    std::vector<StageCost> costs;
    for (const Stage& test : tests) costs.push_back(cost(test));
    // Keys, codes, and what the sink reads.
    double look_ups = 0;
    for (size_t i = 0; i < pipeline_.slots.size(); ++i)
        look_ups += needed_in_tail(static_cast<int>(i)) ? 1 : 0;
    for (size_t i = 0; i < pipeline_.joins.size(); ++i)
        look_ups += sink_reads_code(static_cast<int>(i)) ? 1 : 0;
    const auto most = static_cast<size_t>(choices_.stages.value_or(static_cast<int>(kMostStages)));
    const StageOrder order = order_stages(costs, most, look_ups);
    std::vector<bool> taken(tests.size());
    uint32_t words = 0;
    for (const size_t i : order.stages) {
        words += lane_words(tests[i]);
        if (!stages_.empty() && words > kStageWords) break;
        stages_.push_back(tests[i]);
        taken[i] = true;
    }
    // Codes that are looked up anyway say as much as a bitmap.
    for (size_t i = 0; i < tests.size(); ++i)
        if (!taken[i] && !(tests[i].kind == Stage::Kind::kJoin && sink_reads_code(tests[i].join)))
            late_.push_back(tests[i]);
    left_ = 1;
    for (const Stage& stage : stages_) left_ *= stage.selectivity;
}

bool TileWriter::needed_in_tail(int slot) const {
    for (const PipelineStep* step : tail_) {
        if (step->kind != PipelineStep::Kind::kJoin) {
            if (needs(step->predicate, slot)) return true;
            continue;
        }
        const PipelineJoin& join = pipeline_.joins[static_cast<size_t>(step->join)];
        if (needs_any(join.keys, slot) || needs_any(join.conditions, slot)) return true;
    }
    return sink_reads(slot);
}

void TileWriter::plan(SharedMemory& memory, uint32_t threads) {
    plan_steps();
    threads_ = threads;
    if (!has_stages()) return;
    const uint32_t warps = threads / kWarp;
    blocks_ = choices_.blocks.value_or(1);
    ahead_ = choices_.ahead.value_or(lane_words(stages_[0]) <=
                                     (stages_.size() > 1 ? kWordsAhead : kWordsAheadAlone));
    queue_ = choices_.queue.value_or(true);
    // Bitmaps first: what they are asked is worth more than what goes along.
    const uint32_t queue_bytes = queue_ ? kQueue * warps * 4 : 0;
    for (Stage& stage : stages_) {
        if (stage.kind != Stage::Kind::kJoin) continue;
        const uint32_t bytes = bitmap_words(table(stage.join).span) * 4;
        stage.shared =
            table(stage.join).span / 8 <= kSharedBitmap && memory.fits(bytes + queue_bytes);
        if (stage.shared) stage.shared_at = memory.take(bytes);
    }
    if (!queue_) return;
    queue_words_ = kQueue;
    if (choices_.carry.value_or(left_ * kTileRows >= kCarried))
        for (Stage& stage : stages_) {
            const uint32_t bytes = lane_words(stage) * kWarp * warps * 4;
            // Two tests of one column carry it once.
            if (!needed_in_tail(stage.slot) ||
                std::find(carried_.begin(), carried_.end(), stage.slot) != carried_.end() ||
                !memory.fits(bytes + queue_bytes * static_cast<uint32_t>(2 + carried_.size())))
                continue;
            stage.words_at = memory.take(bytes);
            carried_.push_back(stage.slot);
            queue_words_ += kQueue;
        }
    queue_at_ = memory.take(queue_words_ * warps * 4);
}

// --- tiles
// ------------------------------------------------------------------------------------------

// The registers that a lane's values of a stage's column take.
uint32_t TileWriter::lane_words(const Stage& stage) const {
    return tile_bytes(slots_.column(stage.slot).layout) / kWarp / 4;
}

std::string TileWriter::encoding(const Stage& stage) const {
    return encoding_name(slots_.column(stage.slot).layout);
}

void TileWriter::prepare_bitmaps() {
    bool copied = false;
    for (size_t i = 0; i < stages_.size(); ++i) {
        Stage& stage = stages_[i];
        if (stage.kind == Stage::Kind::kRange) continue;
        if (stage.kind == Stage::Kind::kTexts) {
            LookUp look_up;
            look_up.slot = stage.slot;
            look_up.predicate = *stage.predicate;
            look_up.bitmap = true;
            look_up.word = file_.kernel.words.reserve();
            stage.bitmap = KernelWords::read(look_up.word);
            file_.kernel.words.reserve();
            file_.kernel.look_ups.push_back(std::move(look_up));
        } else {
            stage.bitmap = word(table(stage.join).bitmap);
        }
        if (!stage.shared) {
            body_ += fmt::format("const uint32_t* const bits{} = bytes_at<uint32_t>({});\n", i,
                                 stage.bitmap);
            continue;
        }
        copied = true;
        body_ += fmt::format(
            "uint32_t* const bits{0} = reinterpret_cast<uint32_t*>(shared_memory() + {1});\n"
            "copy_to_shared(bits{0}, bytes_at<uint32_t>({2}), {3});\n",
            i, word32(stage.shared_at), stage.bitmap, word32(bitmap_words(table(stage.join).span)));
    }
    if (copied) body_ += "block_sync();\n";
}

// What a stage needs is taken from memory once for all tiles of a span.
void TileWriter::prepare_stage(size_t at) {
    const Stage& stage = stages_[at];
    body_ += fmt::format("const BlockView view{} = {};\n", at, slots_.view(stage.slot));
    if (stage.kind == Stage::Kind::kRange) prepare_range(stage, at, slots_.column(stage.slot));
}

// One stage: reads its column for the rows that are alive, and takes the others away.
void TileWriter::write_stage(size_t at) {
    const Stage& stage = stages_[at];
    const ScanColumn& column = slots_.column(stage.slot);
    const std::string name = encoding(stage);
    body_ += "{\n";
    if (at == 0 && ahead_)
        body_ += fmt::format(
            "raw0 = ahead;\nif (tile + kWarps < span.tiles) {0}::load<false>("
            "ahead, view0, at + kWarps, lane, 0, 0);\n",
            name);
    else
        body_ +=
            fmt::format("{0}::load<{1}>(raw{2}, view{2}, at, lane, alive, 0);\n", name, at > 0, at);
    body_ += fmt::format("base{0} = {1}::base(view{0}, at);\n", at, name);
    body_ += "uint32_t mask = 0;\n";
    if (stage.kind == Stage::Kind::kRange)
        test_range(stage, at, column);
    else
        test_bitmap(stage, at, column);
    const bool anti =
        stage.kind == Stage::Kind::kJoin &&
        pipeline_.joins[static_cast<size_t>(stage.join)].type == plan::JoinType::kAnti;
    // What a NULL shows is no match.
    if (anti && column.layout.nullable)
        body_ += fmt::format("mask &= valid_mask(view{}, at, lane);\n", at);
    body_ += anti ? "alive &= ~mask;\n" : "alive &= mask;\n";
    if (!anti && column.layout.nullable)
        body_ += fmt::format("alive &= valid_mask(view{}, at, lane);\n", at);
    body_ += "}\n";
}

void TileWriter::test_bitmap(const Stage& stage, size_t at, const ScanColumn& column) {
    const auto shift = static_cast<uint32_t>(static_cast<uint64_t>(column.origin) -
                                             static_cast<uint64_t>(stage.origin));
    body_ += fmt::format("const uint32_t add = base{} + {};\n", at, word32(shift));
    // Where the base is a multiple of 32 it moves the first word, once for the tile.
    const bool aligned =
        stage.places == 0 && column.layout.encoding != Encoding::kOffset8 && shift % 32 == 0;
    if (aligned)
        body_ += fmt::format("const uint32_t* const bits = bits{} + (add >> 5);\n", at);
    else
        body_ += fmt::format("const uint32_t* const bits = bits{};\n", at);
    if (stage.places != 0)
        body_ += fmt::format("const uint32_t places = {};\n", word32(stage.places));
    const bool repeats = !stage.shared && stage.kind == Stage::Kind::kJoin &&
                         table(stage.join).span / 8 > kFarBitmap;
    if (repeats) body_ += "uint32_t last = ~0U, word = 0;\n";
    body_ += fmt::format(
        "LOOM_UNROLL for (int i = kLaneRows - 1; i >= 0; --i) {{\n"
        "const uint32_t x = {}::at(raw{}, i){};\n",
        encoding(stage), at, aligned ? "" : " + add");
    const std::string within = stage.places != 0 ? " && x < places" : "";
    if (stage.shared)
        body_ += stage.places != 0 ? "mask = push_bit(x < places ? bits[x >> 5] : 0, x, mask);\n"
                                   : "mask = push_bit(bits[x >> 5], x, mask);\n";
    else if (repeats)
        // A word that was read for the row behind serves neighbours, whose keys are often equal.
        body_ += fmt::format(
            "const bool fresh = (alive & 1U << i) != 0 && (x >> 5) != last{};\n"
            "word = look_up32_if(bits + (x >> 5), fresh, word);\n"
            "last = fresh ? x >> 5 : last;\n"
            "mask = push_bit({}, x, mask);\n",
            within, stage.places != 0 ? "x < places ? word : 0" : "word");
    else
        body_ += fmt::format(
            "mask = push_bit(look_up32_if(bits + (x >> 5), (alive & 1U << i) != 0{}, 0), x, "
            "mask);\n",
            within);
    body_ += "}\n";
}

// Bounds as offsets from the origin; a range that no value is in keeps none.
void TileWriter::prepare_range(const Stage& stage, size_t at, const ScanColumn& column) {
    const int64_t low = std::max(stage.low, column.has_values() ? column.min : 0);
    const int64_t high = std::min(stage.high, column.has_values() ? column.max : -1);
    const bool none = low > high;
    const auto offset = [&](int64_t value) {
        return static_cast<uint32_t>(static_cast<uint64_t>(value) -
                                     static_cast<uint64_t>(column.origin));
    };
    body_ += fmt::format("const uint32_t lowest{0} = {1}, highest{0} = {2};\n", at,
                         word32(none ? 1 : offset(low)), word32(none ? 0 : offset(high)));
    const bool bytes = tests_bytes(column);
    if (!bytes && !tests_halves(column)) return;
    body_ += fmt::format(
        "const Bounds bounds{0} = bounds_within(lowest{0}, highest{0}, view{0}.base, {1});\n", at,
        bytes ? 8 : 16);
}

void TileWriter::test_range(const Stage& stage, size_t at, const ScanColumn& column) {
    const bool bytes = tests_bytes(column);
    if (bytes || tests_halves(column)) {
        body_ += fmt::format(
            "LOOM_UNROLL for (int g = {1} - 1; g >= 0; --g) mask = {2}(raw{0}.words[g], "
            "bounds{0}.low, bounds{0}.high, mask);\n",
            at, bytes ? "kLaneRows / 4" : "kLaneRows / 2",
            bytes ? "push_between4" : "push_between2");
        return;
    }
    body_ += fmt::format(
        "const uint32_t add = base{0} - lowest{0}, width = highest{0} - lowest{0};\n"
        "LOOM_UNROLL for (int i = kLaneRows - 1; i >= 0; --i) "
        "mask = push({1}::at(raw{0}, i) + add <= width, mask);\n"
        "if (lowest{0} > highest{0}) mask = 0;\n",
        at, encoding(stage));
}

void TileWriter::open_spans() {
    body_ += fmt::format(
        "const Span* const spans = bytes_at<Span>({});\n"
        "const uint32_t shares = {};\n"
        "for (uint32_t share = block, s = share; share < shares;) {{\n"
        "const Span span = spans[s];\n"
        "s = span.next != 0 ? span.next : (share += blocks);\n"
        "const BlockView* const views = bytes_at<BlockView>({}) + span.block * {};\n",
        word(data_.spans), word32(data_.shares), word(data_.blocks), data_.views);
}

void TileWriter::write_rows() {
    if (has_stages()) {
        prepare_bitmaps();
        return write_tiles();
    }
    // A thread takes a row at a time.
    open_spans();
    body_ +=
        "for (uint32_t i = thread_index(); i < span.rows && i < span.tiles * kTileRows; "
        "i += block_threads()) {\nconst uint32_t row = span.first * kTileRows + i;\n";
    slots_.restart();
    take_row("continue;");
    body_ += "}\n}\n";
}

void TileWriter::write_tiles() {
    body_ += fmt::format(
        "constexpr uint32_t kWarps = {};\n"
        "const uint32_t lane = lane_index(), warp = warp_index();\n",
        threads_ / kWarp);
    for (const int slot : carried_) {
        const size_t stage = stage_of(slot);
        body_ += fmt::format(
            "uint32_t* const words{} = reinterpret_cast<uint32_t*>(shared_memory() + {}) + warp * "
            "{};\n",
            stage, word32(stages_[stage].words_at), lane_words(stages_[stage]) * kWarp);
    }
    if (queue_)
        body_ += fmt::format(
            "uint32_t* const queue = reinterpret_cast<uint32_t*>(shared_memory() + {}) + warp * "
            "{};\nuint32_t queued = 0;\n",
            word32(queue_at_), queue_words_);
    open_spans();
    // A tile's number says whose it is: what spans leave over goes to other warps each time.
    body_ += "const uint32_t begin = (warp + kWarps - span.first % kWarps) % kWarps;\n";
    for (size_t i = 0; i < stages_.size(); ++i) prepare_stage(i);
    if (ahead_)
        body_ += fmt::format(
            "{0}::Raw ahead;\nif (begin < span.tiles) {0}::load<false>(ahead, view0, span.first + "
            "begin, lane, 0, 0);\n",
            encoding(stages_[0]));
    body_ +=
        "for (uint32_t tile = begin;; tile += kWarps) {\n"
        "const bool more = tile < span.tiles;\n"
        "const uint32_t at = span.first + tile;\n"
        "uint32_t alive = 0;\n";
    for (size_t i = 0; i < stages_.size(); ++i)
        body_ += fmt::format("{}::Raw raw{};\nuint32_t base{} = 0;\n", encoding(stages_[i]), i, i);
    body_ += "if (more) {\nalive = row_mask(span.rows - tile * kTileRows, lane);\n";
    for (size_t i = 0; i < stages_.size(); ++i) {
        if (i > 0) body_ += "if (any_lane(alive != 0))\n";
        write_stage(i);
    }
    body_ += "}\n";
    queue_ ? write_queue() : write_survivors();
    body_ += "if (!more) break;\n}\n}\n";
}

// Each lane takes its own survivors, which is best where little is left to do for them.
void TileWriter::write_survivors() {
    body_ +=
        "for (; alive != 0; alive &= alive - 1) {\n"
        "const uint32_t row = row_of(at, lowest_bit(alive), lane);\n";
    slots_.restart();
    take_row("continue;");
    body_ += "}\n";
}

// Survivors wait in the warp's queue until there are 32 of them: then each lane takes one. What the
// stages have read of them goes along by way of shared memory, since a lane cannot choose among its
// registers. Few survivors are queued at once, each lane's behind those of the lanes below; of
// many, each lane queues one at a time.
void TileWriter::write_queue() {
    if (left_ * kTileRows >= kCarried)
        body_ +=
            "const uint32_t mine = population(alive);\n"
            "const uint32_t up_to = warp_prefix_sum(mine, lane);\n"
            "const uint32_t survivors = shuffle(up_to, kWarp - 1);\n"
            "const bool few = survivors <= kWarp;\n"
            "const bool some = survivors != 0;\n";
    else
        body_ +=
            "constexpr uint32_t mine = 0, up_to = 0, survivors = 0;\n"
            "constexpr bool few = false;\n"
            "const bool some = any_lane(alive != 0);\n";
    body_ += "if (some) {\n";
    for (const int slot : carried_) {
        const size_t stage = stage_of(slot);
        body_ += fmt::format("put_words(words{0} + lane, raw{0});\n", stage);
    }
    body_ +=
        "}\nuint32_t fresh = survivors;\nif (some || !more) for (;;) {\n"
        "const uint32_t lanes = few ? 0 : ballot(alive != 0);\n"
        "uint32_t* to = queue + queued + (few ? up_to - mine : population(lanes & "
        "lanes_below()));\n"
        "for (uint32_t left = alive == 0 ? 0 : few ? mine : 1; left != 0; --left, ++to) {\n"
        "const uint32_t i = lowest_bit(alive);\nalive &= alive - 1;\n"
        "to[0] = row_of(at, i, lane);\n";
    for (size_t c = 0; c < carried_.size(); ++c) {
        const size_t stage = stage_of(carried_[c]);
        body_ += fmt::format("to[{0}] = {1}::pick(words{2} + lane, i) + base{2};\n",
                             kQueue * (c + 1), encoding(stages_[stage]), stage);
    }
    body_ +=
        "}\nqueued += few ? fresh : population(lanes);\nfresh = 0;\n"
        "warp_sync();\n"
        "const bool rest = !few && any_lane(alive != 0);\n"
        "if (queued >= kWarp || (!more && !rest && queued > 0)) {\n"
        "const uint32_t count = queued < kWarp ? queued : kWarp;\nqueued -= count;\n"
        "const uint32_t place = queued + (lane < count ? lane : 0);\n"
        "const uint32_t row = queue[place];\n";
    slots_.restart();
    for (size_t c = 0; c < carried_.size(); ++c) {
        body_ +=
            fmt::format("const uint32_t q{} = queue[place + {}];\n", carried_[c], kQueue * (c + 1));
        slots_.carry(carried_[c], fmt::format("q{}", carried_[c]));
    }
    body_ += "warp_sync();\nif (lane < count) do {\n";
    take_row("break;");
    body_ +=
        "} while (false);\nwarp_sync();\n}\n"
        "if (!rest && (queued < kWarp) && (more || queued == 0)) break;\n}\n";
}

size_t TileWriter::stage_of(int slot) const {
    size_t i = 0;
    while (stages_[i].slot != slot) ++i;
    return i;
}

}  // namespace loom::gpu
