// What is left to do for one row: steps that no test of the tile has taken, and the sink.

#include <algorithm>

#include "gpu/codegen/tile_writer.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;
using plan::JoinType;

// What is left to do for one row, which `leave` takes out.
void TileWriter::take_row(std::string_view leave) {
    const bool early = reads_early();
    if (early) read_row_early(leave);
    for (const Stage& test : late_) {
        if (test.kind == Stage::Kind::kTexts) {
            filter(*test.predicate, leave);
        } else if (test.kind == Stage::Kind::kRange) {
            const TextValue value = slots_.slot(test.slot, body_);
            if (!value.valid.empty()) body_ += fmt::format("if (!{}) {}\n", value.valid, leave);
            body_ +=
                fmt::format("if (int64_t{{{0}}} < {1} || int64_t{{{0}}} > {2}) {3}\n", value.value,
                            cast("int64_t", word(static_cast<uint64_t>(test.low))),
                            cast("int64_t", word(static_cast<uint64_t>(test.high))), leave);
        } else if (early) {
            check_bit(test.join, leave);
        } else {
            take_join(test.join, leave, Part::kKey);
        }
    }
    int loops = 0;
    for (const PipelineStep* step : tail_) {
        if (step->kind == PipelineStep::Kind::kFilter) {
            filter(step->predicate, leave);
        } else if (step->kind == PipelineStep::Kind::kCompute) {
            expressions_.write(step->predicate, body_);
        } else if (early) {
            sink_reads_code(step->join) ? check_code(step->join, leave)
                                        : check_bit(step->join, leave);
        } else {
            const Part part = tested_.count(step->join) == 0 || sink_reads_code(step->join)
                                  ? Part::kAll
                                  : Part::kConditions;
            if (!table(step->join).has_lists()) {
                take_join(step->join, leave, part);
            } else if (take_list(step->join, leave, part)) {
                // What follows is done for each match.
                ++loops;
                leave = "continue;";
            }
        }
    }
    write_sink(leave);
    for (int i = 0; i < loops; ++i) body_ += "}\n";
}

// Goes through the rows of a build side that match. Returns whether a loop over them is open: of
// semi and anti joins it is enough to know whether there are any.
bool TileWriter::take_list(int join, std::string_view leave, Part part) {
    const PipelineJoin& definition = pipeline_.joins[static_cast<size_t>(join)];
    const bool inner = definition.type == JoinType::kInner;
    const bool left = definition.type == JoinType::kLeft;
    const auto first = [&](std::string_view otherwise) {
        if (part != Part::kConditions) find(join, otherwise);
        return fmt::format("bytes_at<uint32_t>({})[{}]", word(table(join).first_rows),
                           slots_.place(join, body_));
    };
    const std::string next =
        fmt::format("bytes_at<uint32_t>({})[at{}]", word(table(join).next_rows), join);
    const std::string at = fmt::format("at{}", join);
    if (inner) {
        const std::string begin = first(leave);
        body_ += fmt::format("for (uint32_t {0} = {1}; {0} != RowLists::kNone; {0} = {2}) {{\n", at,
                             begin, next);
        slots_.set_place(join, at);
        return true;
    }
    body_ +=
        fmt::format("bool found{0} = false;\nuint32_t {1} = RowLists::kNone;\ndo {{\n", join, at);
    slots_.open_block();
    const std::string begin = first("break;");
    body_ += fmt::format("{} = {};\n", at, begin);
    slots_.close_block();
    body_ += "} while (false);\n";
    if (!left) {
        body_ += fmt::format("for (; {0} != RowLists::kNone; {0} = {1}) {{\n", at, next);
        slots_.open_block();
        slots_.set_place(join, at);
        for (const Expr& condition : definition.conditions) {
            if (can_fault(condition))
                throw NotInKernels{"a condition that may fault on each match"};
            filter(condition, "continue;");
        }
        slots_.close_block();
        body_ += fmt::format("found{0} = true;\nbreak;\n}}\nif ({1}found{0}) {2}\n", join,
                             definition.type == JoinType::kSemi ? "!" : "", leave);
        return false;
    }
    // Behind the last match comes, if there was none, the row alone.
    body_ += fmt::format(
        "for (bool more{0} = true; more{0};) {{\n"
        "const uint32_t row{0} = {1};\nconst bool here{0} = row{0} != RowLists::kNone;\n"
        "if (here{0}) {{\n{1} = {2};\n",
        join, at, next);
    slots_.open_block();
    slots_.set_place(join, fmt::format("row{}", join));
    for (const Expr& condition : definition.conditions) filter(condition, "continue;");
    slots_.close_block();
    body_ += fmt::format(
        "found{0} = true;\n}} else {{\nmore{0} = false;\nif (found{0}) continue;\n}}\n", join);
    slots_.set_place(join, fmt::format("row{}", join));
    slots_.set_found(join, fmt::format("here{}", join));
    return true;
}

// Whether most rows that come so far reach the sink, and need nothing for it but columns and
// look-ups: then all is read at once, rather than one after the other.
bool TileWriter::reads_early() const {
    constexpr double kMostly = 0.3;
    double kept = 1;
    for (const int join : tail_joins()) {
        const PipelineJoin& definition = pipeline_.joins[static_cast<size_t>(join)];
        const bool tested = std::any_of(stages_.begin(), stages_.end(), [&](const Stage& stage) {
            return stage.kind == Stage::Kind::kJoin && stage.join == join;
        });
        if (!tested) kept *= definition.selectivity;
        const ScanColumn* key = scan_column(definition.keys[0]);
        if (key == nullptr || key->layout.nullable) return false;
        if (near_key(join) == nullptr || !definition.conditions.empty() ||
            table(join).has_lists() ||
            (definition.type != JoinType::kInner && definition.type != JoinType::kSemi))
            return false;
    }
    const bool only_joins =
        std::all_of(late_.begin(), late_.end(),
                    [](const Stage& test) { return test.kind == Stage::Kind::kJoin; }) &&
        std::all_of(tail_.begin(), tail_.end(), [](const PipelineStep* step) {
            return step->kind == PipelineStep::Kind::kJoin;
        });
    return only_joins && kept >= kMostly;
}

// The joins that single rows are looked up in.
std::vector<int> TileWriter::tail_joins() const {
    std::vector<int> joins;
    for (const Stage& test : late_)
        if (test.kind == Stage::Kind::kJoin) joins.push_back(test.join);
    for (const PipelineStep* step : tail_)
        if (step->kind == PipelineStep::Kind::kJoin) joins.push_back(step->join);
    return joins;
}

void TileWriter::read_row_early(std::string_view leave) {
    const std::vector<int> joins = tail_joins();
    for (const int join : joins)
        slots_.offset(pipeline_.joins[static_cast<size_t>(join)].keys[0].index, body_);
    read_early();
    for (const int join : joins)
        sink_reads_code(join) ? look_up_code(join, leave, Check::kLater)
                              : look_up_bit(join, leave, Check::kLater);
}

// Finds the row of a build side that matches, or that there is none. Of an inner and a semi join
// rows without one leave; of the others it takes a block of its own to find out.
void TileWriter::take_join(int join, std::string_view leave, Part part) {
    const PipelineJoin& definition = pipeline_.joins[static_cast<size_t>(join)];
    const auto match = [&](std::string_view otherwise) {
        if (part != Part::kConditions) find(join, otherwise);
        if (part == Part::kKey) return;
        for (const Expr& condition : definition.conditions) filter(condition, otherwise);
    };
    if (definition.type == JoinType::kInner || definition.type == JoinType::kSemi)
        return match(leave);
    const bool left = definition.type == JoinType::kLeft;
    body_ += fmt::format("bool found{} = false;\n", join);
    if (left) body_ += fmt::format("uint32_t found_at{} = 0;\n", join);
    body_ += "do {\n";
    slots_.open_block();
    match("break;");
    if (left) body_ += fmt::format("found_at{} = {};\n", join, slots_.place(join, body_));
    body_ += fmt::format("found{} = true;\n", join);
    slots_.close_block();
    body_ += "} while (false);\n";
    if (left) {
        slots_.set_place(join, fmt::format("found_at{}", join));
        slots_.set_found(join, fmt::format("found{}", join));
    } else {
        body_ += fmt::format("if (found{}) {}\n", join, leave);
    }
}

// Finds the row of a build side that has the row's keys; rows without one leave.
void TileWriter::find(int join, std::string_view leave) {
    const BuildTable& made = table(join);
    const bool reads_code = sink_reads_code(join);
    if (near_key(join) != nullptr) {
        reads_code ? look_up_code(join, leave, Check::kNow) : look_up_bit(join, leave, Check::kNow);
        return reads_code ? check_code(join, leave) : check_bit(join, leave);
    }
    const std::vector<Expr>& keys = pipeline_.joins[static_cast<size_t>(join)].keys;
    const std::string name = fmt::format("place{}", join);
    if (made.hashed.empty()) {
        const std::string above = key_above(keys[0], made.origin, leave);
        body_ += fmt::format(
            "const uint64_t far{0} = {1};\nif (far{0} >= {2}) {3}\n"
            "const uint32_t {4} = static_cast<uint32_t>(far{0});\n",
            join, above, word(made.span), leave, name);
    } else {
        const std::string key = key_word(keys, made, leave);
        body_ += fmt::format(
            "const KeySet set{0}{{room_at<uint64_t>({1}), {2}}};\n"
            "const uint32_t {3} = set{0}.find({4});\nif ({3} == KeySet::kNone) {5}\n",
            join, word(made.key_words), word32(made.span), name, key, leave);
    }
    slots_.set_place(join, name);
    if (reads_code) {
        read_code(join, name, "1");
        check_code(join, leave);
    } else if (made.hashed.empty()) {
        read_bit(join, name, "1");
        check_bit(join, leave);
    }
}

// Gives the place of a row's key in a build side, and under which condition there is one; with kNow
// rows without one leave.
std::string TileWriter::place_of(int join, std::string_view leave, Check check,
                                 std::string* wanted) {
    const ScanColumn* column = near_key(join);
    const int slot = pipeline_.joins[static_cast<size_t>(join)].keys[0].index;
    if (check == Check::kNow) {
        const std::string valid = slots_.valid(slot, body_);
        if (!valid.empty()) body_ += fmt::format("if (!{}) {}\n", valid, leave);
    }
    const std::string offset = slots_.offset(slot, body_);
    const std::string name = fmt::format("place{}", join);
    body_ += fmt::format("const uint32_t {} = {};\n", name, place(offset, *column, table(join)));
    slots_.set_place(join, name);
    *wanted = "1";
    if (is_inside(*column, table(join))) return name;
    if (check == Check::kNow)
        body_ += fmt::format("if ({} >= {}) {}\n", name, word32(table(join).span), leave);
    else
        *wanted = fmt::format("{} < {}", name, word32(table(join).span));
    return name;
}

void TileWriter::look_up_bit(int join, std::string_view leave, Check check) {
    std::string wanted;
    const std::string at = place_of(join, leave, check, &wanted);
    read_bit(join, at, wanted);
}

void TileWriter::read_bit(int join, std::string_view at, std::string_view wanted) {
    body_ += fmt::format(
        "const uint32_t bit{0} = look_up32_if(bytes_at<uint32_t>({1}) + ({2} >> 5), {3}, 0) << "
        "({2} & "
        "31);\n",
        join, word(table(join).bitmap), at, wanted);
}

void TileWriter::check_bit(int join, std::string_view leave) {
    body_ += fmt::format("if ((bit{} & 0x80000000U) == 0) {}\n", join, leave);
}

void TileWriter::look_up_code(int join, std::string_view leave, Check check) {
    std::string wanted;
    const std::string at = place_of(join, leave, check, &wanted);
    read_code(join, at, wanted);
}

void TileWriter::read_code(int join, std::string_view at, std::string_view wanted) {
    const bool bytes = table(join).code_bytes == 1;
    body_ += fmt::format("const uint32_t code{} = look_up{}_if(bytes_at<{}>({}) + {}, {}, {});\n",
                         join, bytes ? 8 : 16, bytes ? "uint8_t" : "uint16_t",
                         word(table(join).codes), at, wanted, bytes ? 255 : 65535);
}

void TileWriter::check_code(int join, std::string_view leave) {
    body_ += fmt::format("if (code{} == {}) {}\n", join, table(join).code_bytes == 1 ? 255 : 65535,
                         leave);
}

}  // namespace loom::gpu
