// Boolean nodes, as masks.

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/expr/interpreter.h"
#include "exec/expr/scratch.h"
#include "exec/fault.h"

namespace loom::exec {

using plan::Physical;

namespace {

void fill(Truth* out, int64_t rows, bool yes, bool no) {
    for (int64_t w = 0; w < simd::mask_words(rows); ++w) {
        const uint64_t all = row_word(rows, w);
        out->yes[w] = yes ? all : 0;
        out->no[w] = no ? all : 0;
    }
}

// `yes` holds the rows that match; NULLs are neither true nor false.
void from_matches(const uint64_t* known, int64_t rows, bool negated, Truth* out) {
    for (int64_t w = 0; w < simd::mask_words(rows); ++w) {
        const uint64_t match = out->yes[w];
        out->yes[w] = (negated ? ~match : match) & known[w];
        out->no[w] = (negated ? match : ~match) & known[w];
    }
}

}  // namespace

void Interpreter::truth(const Node& node, const Frame& frame, bool need_no, Truth* out) {
    if (const int column = node.only_column();
        column >= 0 && frame.inputs[static_cast<size_t>(column)].form == Form::kCodes) {
        Vector input = frame.inputs[static_cast<size_t>(column)];
        input.length = frame.length;
        if (const Derived* entry = derived(node, input))
            return truth_of_codes(input, *entry, frame.length, out);
    }
    compute_truth(node, frame, need_no, out);
}

void Interpreter::compute_truth(const Node& node, const Frame& frame, bool need_no, Truth* out) {
    switch (node.kind) {
        case NodeKind::kAnd:
        case NodeKind::kOr:
            return connective(node, frame, need_no, out);
        case NodeKind::kNot:
            truth(*node.args[0], frame, true, out);
            for (int64_t w = 0; w < simd::mask_words(frame.length); ++w)
                std::swap(out->yes[w], out->no[w]);
            return;
        case NodeKind::kIsNull:
        case NodeKind::kIsNotNull:
        case NodeKind::kIsTrue:
        case NodeKind::kIsNotTrue:
        case NodeKind::kIsFalse:
        case NodeKind::kIsNotFalse:
            return test(node, frame, out);
        case NodeKind::kRange:
            return range(node, frame, out);
        case NodeKind::kMembers:
            return members(node, frame, out);
        case NodeKind::kAny:
        case NodeKind::kAll:
            return array(node, frame, out);
        case NodeKind::kDistinct:
            return distinct(node, frame, out);
        default:
            return truth_of_vector(plain(node, frame), frame.length, out);
    }
}

void Interpreter::truth_of_vector(const Vector& vector, int64_t rows, Truth* out) {
    if (vector.form == Form::kConstant) {
        const bool known = !vector.is_null(0);
        const bool yes = known && vector.as<uint8_t>()[0] != 0;
        return fill(out, rows, yes, known && !yes);
    }
    simd::bools_to_mask(vector.as<uint8_t>(), rows, out->yes);
    uint64_t known[kMaskWords];
    known_rows(vector, rows, known);
    from_matches(known, rows, false, out);
}

// AND and OR. Rows that an arm has settled (false for AND, true for OR) are not shown to a later
// arm that may fault.
void Interpreter::connective(const Node& node, const Frame& frame, bool need_no, Truth* out) {
    const bool all = node.kind == NodeKind::kAnd;
    const int64_t words = simd::mask_words(frame.length);
    int last_fault = 0;  // arms up to here must say which rows are false
    for (size_t i = 1; i < node.args.size(); ++i)
        if (node.args[i]->may_fault) last_fault = static_cast<int>(i);
    fill(out, frame.length, all, !all);
    Truth arm;
    for (size_t i = 0; i < node.args.size(); ++i) {
        const Node& child = *node.args[i];
        const bool settled_matters = static_cast<int>(i) < last_fault;
        const bool child_no = need_no || (all && settled_matters);
        uint64_t open[kMaskWords];
        uint64_t left = 0;
        for (int64_t w = 0; w < words; ++w) {
            open[w] = (all ? ~out->no[w] : ~out->yes[w]) & row_word(frame.length, w);
            left |= open[w];
        }
        if (left == 0) return;
        if (child.may_fault && i > 0)
            guarded_truth(child, frame, open, child_no, &arm);
        else
            truth(child, frame, child_no, &arm);
        uint64_t any_yes = 0;
        for (int64_t w = 0; w < words; ++w) {
            out->yes[w] = all ? out->yes[w] & arm.yes[w] : out->yes[w] | arm.yes[w];
            if (child_no) out->no[w] = all ? out->no[w] | arm.no[w] : out->no[w] & arm.no[w];
            any_yes |= out->yes[w];
        }
        if (all && any_yes == 0 && !child_no && static_cast<int>(i) >= last_fault) return;
    }
}

Frame Interpreter::chosen(const Node& node, const Frame& frame, const uint64_t* rows) {
    Scratch& memory = scratch(node);
    memory.selection.resize_discarding(static_cast<uint64_t>(frame.length) * 2);
    auto* selection = memory.selection.as<uint16_t>();
    const int64_t count = simd::mask_to_selection(rows, frame.length, selection);
    memory.chosen.assign(frame.inputs.size(), Vector{});
    while (memory.chosen_rows.size() < node.columns.size())
        memory.chosen_rows.emplace_back(budget_);
    size_t at = 0;
    for (int column : node.columns)
        memory.chosen[static_cast<size_t>(column)] = gather(
            frame.inputs[static_cast<size_t>(column)], selection, count, memory.chosen_rows[at++]);
    return {memory.chosen, count};
}

void Interpreter::guarded_truth(const Node& node, const Frame& frame, const uint64_t* open,
                                bool need_no, Truth* out) {
    const int64_t count = simd::count_mask(open, frame.length);
    if (count == frame.length) return truth(node, frame, need_no, out);
    // Where most rows count, computing all is cheaper, unless a row that does not count faults.
    if (count * 4 >= frame.length) try {
            return truth(node, frame, need_no, out);
        } catch (const SqlFault&) {
        } catch (const Unrepresentable&) {
        }
    Truth dense;
    truth(node, chosen(node, frame, open), need_no, &dense);
    int64_t at = 0;
    for (int64_t w = 0; w < simd::mask_words(frame.length); ++w) {
        out->yes[w] = 0;
        out->no[w] = 0;
        for (uint64_t left = open[w]; left != 0; left &= left - 1, ++at) {
            const uint64_t bit = left & (0 - left);
            if (dense.yes[at >> 6] >> (at & 63) & 1) out->yes[w] |= bit;
            if (need_no && (dense.no[at >> 6] >> (at & 63) & 1)) out->no[w] |= bit;
        }
    }
}

void Interpreter::test(const Node& node, const Frame& frame, Truth* out) {
    const int64_t words = simd::mask_words(frame.length);
    const Node& arg = *node.args[0];
    if (node.kind == NodeKind::kIsNull || node.kind == NodeKind::kIsNotNull) {
        const Vector vector = evaluate(arg, frame);
        if (vector.form == Form::kCodes && vector.dictionary->values.validity != nullptr)
            known_rows(flatten(vector, scratch(arg).flat), frame.length, out->yes);
        else
            known_rows(vector, frame.length, out->yes);
        for (int64_t w = 0; w < words; ++w) {
            out->no[w] = ~out->yes[w] & row_word(frame.length, w);
            if (node.kind == NodeKind::kIsNull) std::swap(out->yes[w], out->no[w]);
        }
        return;
    }
    truth(arg, frame, true, out);
    for (int64_t w = 0; w < words; ++w) {
        const uint64_t all = row_word(frame.length, w);
        uint64_t yes = 0;
        if (node.kind == NodeKind::kIsTrue)
            yes = out->yes[w];
        else if (node.kind == NodeKind::kIsNotTrue)
            yes = ~out->yes[w] & all;
        else if (node.kind == NodeKind::kIsFalse)
            yes = out->no[w];
        else
            yes = ~out->no[w] & all;
        out->yes[w] = yes;
        out->no[w] = ~yes & all;
    }
}

void Interpreter::range(const Node& node, const Frame& frame, Truth* out) {
    const Vector value = plain(*node.args[0], frame);
    const int64_t rows = frame.length;
    if (value.form == Form::kConstant) {
        const bool known = !value.is_null(0);
        const int64_t number = integer_value(node.args[0]->physical, value.values);
        const bool yes = (number >= node.low && number <= node.high) != node.negated;
        return fill(out, rows, known && yes, known && !yes);
    }
    if (node.low > node.high)
        std::memset(out->yes, 0, sizeof out->yes);
    else if (node.args[0]->physical == Physical::kInt16)
        simd::range_to_mask(value.as<int16_t>(), rows, static_cast<int16_t>(node.low),
                            static_cast<int16_t>(node.high), out->yes);
    else if (node.args[0]->physical == Physical::kInt32)
        simd::range_to_mask(value.as<int32_t>(), rows, static_cast<int32_t>(node.low),
                            static_cast<int32_t>(node.high), out->yes);
    else
        simd::range_to_mask(value.as<int64_t>(), rows, node.low, node.high, out->yes);
    uint64_t known[kMaskWords];
    known_rows(value, rows, known);
    from_matches(known, rows, node.negated, out);
}

void Interpreter::members(const Node& node, const Frame& frame, Truth* out) {
    const Vector value = plain(*node.args[0], frame);
    const bool constant = value.form == Form::kConstant;
    const int64_t rows = constant ? std::min<int64_t>(frame.length, 1) : frame.length;
    uint64_t known[kMaskWords];
    known_rows(value, rows, known);
    node.members.to_mask(node.args[0]->physical, value.values, rows, known, out->yes);
    for (int64_t w = 0; w < simd::mask_words(rows); ++w) out->yes[w] &= known[w];
    if (node.list_has_null)
        for (int64_t w = 0; w < simd::mask_words(rows); ++w) known[w] = out->yes[w];
    from_matches(known, rows, node.negated, out);
    if (constant && frame.length > 0)
        fill(out, frame.length, (out->yes[0] & 1) != 0, (out->no[0] & 1) != 0);
}

void Interpreter::distinct(const Node& node, const Frame& frame, Truth* out) {
    const Vector args[] = {plain(*node.args[0], frame), plain(*node.args[1], frame)};
    truth_of_vector(run(node.function, args, frame.length, scratch(node)), frame.length, out);
    uint64_t first[kMaskWords];
    uint64_t second[kMaskWords];
    known_rows(args[0], frame.length, first);
    known_rows(args[1], frame.length, second);
    for (int64_t w = 0; w < simd::mask_words(frame.length); ++w) {
        out->yes[w] = out->no[w] | (first[w] ^ second[w]);
        out->no[w] = ~out->yes[w] & row_word(frame.length, w);
    }
}

// The value against each element. PostgreSQL stops at the element that settles a row, so a later
// one that faults may not have been reached: then the host has to find out.
void Interpreter::array(const Node& node, const Frame& frame, Truth* out) {
    const bool any = node.kind == NodeKind::kAny;
    const Vector value = plain(*node.args[0], frame);
    fill(out, frame.length, !any, any);
    Truth element;
    for (size_t i = 1; i < node.args.size(); ++i) {
        const Vector args[] = {value, evaluate(*node.args[i], frame)};
        try {
            truth_of_vector(run(node.function, args, frame.length, scratch(node)), frame.length,
                            &element);
        } catch (const SqlFault&) {
            throw Unrepresentable("an array comparison with an element that raises an error");
        }
        for (int64_t w = 0; w < simd::mask_words(frame.length); ++w) {
            out->yes[w] = any ? out->yes[w] | element.yes[w] : out->yes[w] & element.yes[w];
            out->no[w] = any ? out->no[w] & element.no[w] : out->no[w] | element.no[w];
        }
    }
}

}  // namespace loom::exec
