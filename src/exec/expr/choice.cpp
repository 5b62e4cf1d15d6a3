// CASE, COALESCE, GREATEST, LEAST, NULLIF.

#include <bit>
#include <cstring>

#include "exec/expr/interpreter.h"
#include "exec/expr/scratch.h"
#include "exec/fault.h"

namespace loom::exec {

namespace {

// Arms that cannot fault are computed for all rows unless fewer than one in so many needs them.
constexpr int64_t kSparse = 8;

bool any(const uint64_t* mask, int64_t rows) {
    uint64_t all = 0;
    for (int64_t w = 0; w < simd::mask_words(rows); ++w) all |= mask[w];
    return all != 0;
}

bool is_leaf(const Node& node) {
    return node.kind == NodeKind::kColumn || node.kind == NodeKind::kConstant;
}

// Makes room for a plain result of which nothing is known yet.
void begin(RowBuffer& room, const Node& node, int64_t rows) {
    room.values.resize_discarding(static_cast<uint64_t>(rows * plan::width(node.physical)));
    room.validity.resize_discarding(static_cast<uint64_t>(simd::mask_words(rows)) * 8);
    std::memset(room.validity.data(), 0, room.validity.size());
}

Vector finished(RowBuffer& room, const Node& node, int64_t rows) {
    Vector out;
    out.type = node.type;
    out.length = rows;
    out.values = room.values.data();
    const auto* known = room.validity.as<uint64_t>();
    for (int64_t w = 0; w < simd::mask_words(rows); ++w)
        if (known[w] != row_word(rows, w)) out.validity = room.validity.data();
    return out;
}

}  // namespace

void Interpreter::place(const Node& node, const Node& arm, const Frame& frame, uint64_t* rows,
                        bool keep_nulls) {
    const int64_t length = frame.length;
    const int64_t count = simd::count_mask(rows, length);
    if (count == 0) return;
    RowBuffer& room = scratch(node).result;
    auto* known = room.validity.as<uint64_t>();
    const bool dense_first =
        count < length && !is_leaf(arm) && count * (arm.may_fault ? 4 : kSparse) < length;
    Vector value;
    bool whole = false;
    if (!dense_first) try {
            value = plain(arm, frame);
            whole = true;
        } catch (const SqlFault&) {
            if (count == length) throw;
        } catch (const Unrepresentable&) {
            if (count == length) throw;
        }
    uint64_t arm_known[kMaskWords];
    uint64_t placed[kMaskWords];
    if (whole) {
        known_rows(value, length, arm_known);
        for (int64_t w = 0; w < simd::mask_words(length); ++w)
            placed[w] = keep_nulls ? rows[w] : rows[w] & arm_known[w];
        blend(value, placed, length, room.values.data());
        for (int64_t w = 0; w < simd::mask_words(length); ++w) {
            known[w] |= placed[w] & arm_known[w];
            rows[w] &= ~placed[w];
        }
        return;
    }
    value = plain(arm, chosen(arm, frame, rows));
    known_rows(value, count, arm_known);
    // NULL rows are written too: a later arm writes them again.
    scatter(value, rows, length, room.values.data());
    int64_t at = 0;
    for (int64_t w = 0; w < simd::mask_words(length); ++w)
        for (uint64_t left = rows[w]; left != 0; left &= left - 1, ++at) {
            const uint64_t bit = left & (0 - left);
            const bool is_known = (arm_known[at >> 6] >> (at & 63) & 1) != 0;
            if (is_known) known[w] |= bit;
            if (is_known || keep_nulls) rows[w] &= ~bit;
        }
}

Vector Interpreter::choose_case(const Node& node, const Frame& frame) {
    const int64_t words = simd::mask_words(frame.length);
    begin(scratch(node).result, node, frame.length);
    uint64_t open[kMaskWords];
    for (int64_t w = 0; w < words; ++w) open[w] = row_word(frame.length, w);
    Truth condition;
    for (size_t i = 0; i + 1 < node.args.size() && any(open, frame.length); i += 2) {
        const Node& test = *node.args[i];
        if (test.may_fault)
            guarded_truth(test, frame, open, false, &condition);
        else
            truth(test, frame, false, &condition);
        uint64_t taken[kMaskWords];
        for (int64_t w = 0; w < words; ++w) {
            taken[w] = condition.yes[w] & open[w];
            open[w] &= ~taken[w];
        }
        place(node, *node.args[i + 1], frame, taken, true);
    }
    place(node, *node.args.back(), frame, open, true);
    return finished(scratch(node).result, node, frame.length);
}

Vector Interpreter::choose_known(const Node& node, const Frame& frame) {
    begin(scratch(node).result, node, frame.length);
    uint64_t open[kMaskWords];
    for (int64_t w = 0; w < simd::mask_words(frame.length); ++w)
        open[w] = row_word(frame.length, w);
    for (const auto& arm : node.args) place(node, *arm, frame, open, arm == node.args.back());
    return finished(scratch(node).result, node, frame.length);
}

// Later values replace the best so far where they beat it; NULLs never do.
Vector Interpreter::choose_extreme(const Node& node, const Frame& frame) {
    const int64_t rows = frame.length;
    const int64_t words = simd::mask_words(rows);
    RowBuffer& room = scratch(node).result;
    begin(room, node, rows);
    uint64_t all[kMaskWords];
    for (int64_t w = 0; w < words; ++w) all[w] = row_word(rows, w);
    place(node, *node.args[0], frame, all, true);
    // The comparison needs memory of its own; that of the first argument's flat rows is free now.
    RowBuffer order_room(budget_);
    for (size_t i = 1; i < node.args.size(); ++i) {
        Vector best;
        best.type = node.type;
        best.length = rows;
        best.values = room.values.data();
        best.validity = room.validity.data();
        const Vector other = plain(*node.args[i], frame);
        uint64_t take[kMaskWords];
        uint64_t other_known[kMaskWords];
        known_rows(other, rows, other_known);
        auto* known = room.validity.as<uint64_t>();
        const Vector args[] = {best, other};
        order_room.values.resize_discarding(static_cast<uint64_t>(rows) * 4);
        for (int64_t w = 0; w < words; ++w) take[w] = known[w] & other_known[w];
        KernelCall call;
        call.args = args;
        call.rows = rows;
        call.validity = reinterpret_cast<const uint8_t*>(take);
        call.out = order_room.values.data();
        call.heap = &scratch(node).heap;
        call.state = node.function.state.get();
        if (other.form == Form::kPlain || !other.is_null(0)) node.function.kernel(call);
        const auto* order = order_room.values.as<int32_t>();
        for (int64_t w = 0; w < words; ++w) {
            uint64_t better = 0;
            for (uint64_t left = take[w]; left != 0; left &= left - 1) {
                const int64_t row = w * 64 + std::countr_zero(left);
                const bool wins =
                    node.kind == NodeKind::kGreatest ? order[row] < 0 : order[row] > 0;
                if (wins) better |= left & (0 - left);
            }
            take[w] = better | (~known[w] & other_known[w]);
            known[w] |= take[w];
        }
        blend(other, take, rows, room.values.data());
    }
    return finished(room, node, rows);
}

Vector Interpreter::null_if(const Node& node, const Frame& frame) {
    const int64_t rows = frame.length;
    Scratch& memory = scratch(node);
    const Vector args[] = {plain(*node.args[0], frame), plain(*node.args[1], frame)};
    Truth equal;
    truth_of_vector(run(node.function, args, rows, memory), rows, &equal);
    Vector out = spread(args[0], memory.flat);
    uint64_t known[kMaskWords];
    known_rows(out, rows, known);
    memory.result.validity.resize_discarding(static_cast<uint64_t>(simd::mask_words(rows)) * 8);
    for (int64_t w = 0; w < simd::mask_words(rows); ++w)
        memory.result.validity.as<uint64_t>()[w] = known[w] & ~equal.yes[w];
    out.validity = memory.result.validity.data();
    return out;
}

}  // namespace loom::exec
