#include "exec/expr/interpreter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/expr/scratch.h"
#include "exec/fault.h"
#include "exec/tasks.h"

namespace loom::exec {

Interpreter::Interpreter(int slots, base::MemoryBudget* budget)
    : budget_(budget), scratch_(static_cast<size_t>(slots)) {}
Interpreter::~Interpreter() = default;

Interpreter::Scratch& Interpreter::scratch(const Node& node) {
    std::unique_ptr<Scratch>& at = scratch_[static_cast<size_t>(node.slot)];
    if (at == nullptr) at = std::make_unique<Scratch>(budget_);
    return *at;
}

namespace {

// Whether a node's inputs are the same for all rows of a frame.
bool same_for_all(const Node& node, const Frame& frame) {
    if (node.kind == NodeKind::kColumn || node.kind == NodeKind::kConstant) return false;
    return std::all_of(node.columns.begin(), node.columns.end(), [&](int column) {
        return frame.inputs[static_cast<size_t>(column)].form == Form::kConstant;
    });
}

Vector as_constant(Vector vector, int64_t length) {
    vector.form = Form::kConstant;
    vector.length = length;
    if (!vector.is_null(0)) vector.validity = nullptr;
    return vector;
}

}  // namespace

Vector Interpreter::evaluate(const Node& node, const Frame& frame) {
    if (frame.length > 1 && same_for_all(node, frame))
        return as_constant(plain(node, {frame.inputs, 1}), frame.length);
    if (const int column = node.only_column();
        column >= 0 && node.kind != NodeKind::kColumn &&
        frame.inputs[static_cast<size_t>(column)].form == Form::kCodes) {
        Vector input = frame.inputs[static_cast<size_t>(column)];
        input.length = frame.length;
        if (const Derived* entry = derived(node, input)) return from_codes(node, input, *entry);
    }
    return compute(node, frame);
}

Vector Interpreter::plain(const Node& node, const Frame& frame) {
    const Vector vector = evaluate(node, frame);
    return vector.form == Form::kCodes ? flatten(vector, scratch(node).flat) : vector;
}

Vector Interpreter::compute(const Node& node, const Frame& frame) {
    switch (node.kind) {
        case NodeKind::kColumn: {
            Vector vector = frame.inputs[static_cast<size_t>(node.column)];
            vector.length = frame.length;
            return vector;
        }
        case NodeKind::kConstant: {
            Vector vector = constant_vector(node.type, node.value);
            vector.length = frame.length;
            return vector;
        }
        case NodeKind::kCall:
            return call(node, frame);
        case NodeKind::kHost:
            return ask(node, frame);
        case NodeKind::kCase:
            return choose_case(node, frame);
        case NodeKind::kCoalesce:
            return choose_known(node, frame);
        case NodeKind::kGreatest:
        case NodeKind::kLeast:
            return choose_extreme(node, frame);
        case NodeKind::kNullIf:
            return null_if(node, frame);
        default:
            return booleans(node, frame);
    }
}

Vector Interpreter::call(const Node& node, const Frame& frame) {
    Vector args[kMaxArguments];
    size_t count = 0;
    for (const auto& arg : node.args) args[count++] = plain(*arg, frame);
    return run(node.function, {args, count}, frame.length, scratch(node));
}

// Has the host compute the rows; its vectors are gone when the next worker asks.
Vector Interpreter::ask(const Node& node, const Frame& frame) {
    std::vector<Vector> args;
    args.reserve(node.args.size());
    for (const auto& arg : node.args) args.push_back(plain(*arg, frame));
    Scratch& memory = scratch(node);
    Vector out;
    ask_host(node.host, args, frame.length, [&](const Vector& answer) {
        out = answer;
        const auto width = static_cast<uint64_t>(plan::width(node.physical));
        const uint64_t bytes = static_cast<uint64_t>(frame.length) * width;
        memory.result.values.resize_discarding(bytes);
        std::memcpy(memory.result.values.data(), answer.values, bytes);
        out.values = memory.result.values.data();
        if (answer.validity != nullptr) {
            memory.result.validity.resize_discarding(
                static_cast<uint64_t>(simd::mask_words(frame.length)) * 8);
            std::memcpy(memory.result.validity.data(), answer.validity,
                        static_cast<size_t>(base::bitmap_bytes(frame.length)));
            out.validity = memory.result.validity.data();
        }
        if (node.physical != plan::Physical::kBytes) return;
        auto* views = memory.result.values.as<column::BytesView>();
        int64_t size = 0;
        for (int64_t i = 0; i < frame.length; ++i) {
            if (out.is_null(i)) views[i] = {};
            size += views[i].size;
        }
        memory.heap.clear();
        if (size == 0) return;
        uint8_t* to = memory.heap.allocate(size);
        for (int64_t i = 0; i < frame.length; ++i) {
            if (views[i].size == 0) continue;
            std::memcpy(to, views[i].data, static_cast<size_t>(views[i].size));
            views[i].data = to;
            to += views[i].size;
        }
    });
    return out;
}

// Runs a strict function over plain or constant arguments.
Vector Interpreter::run(const BoundFunction& function, std::span<const Vector> args, int64_t rows,
                        Scratch& memory) {
    Vector out;
    out.type = function.type;
    out.length = rows;
    bool all_constant = true;
    int with_nulls = 0;
    for (const Vector& arg : args) {
        if (arg.form == Form::kConstant && arg.is_null(0)) {
            out.form = Form::kConstant;
            out.values = memory.null.value;
            out.validity = memory.null.validity;
            return out;
        }
        all_constant &= arg.form == Form::kConstant;
        if (arg.form == Form::kPlain && arg.validity != nullptr) {
            ++with_nulls;
            out.validity = arg.validity;
        }
    }
    KernelCall call;
    call.args = args.data();
    call.rows = all_constant ? std::min<int64_t>(rows, 1) : rows;
    if (with_nulls > 1) {
        memory.joint.resize_discarding(static_cast<uint64_t>(simd::mask_words(rows)) * 8);
        auto* joint = memory.joint.as<uint64_t>();
        std::memset(joint, 0xff, memory.joint.size());
        for (const Vector& arg : args)
            if (arg.form == Form::kPlain && arg.validity != nullptr)
                for (int64_t w = 0; w < simd::mask_words(rows); ++w) {
                    uint64_t word = 0;
                    std::memcpy(&word, arg.validity + w * 8, 8);
                    joint[w] &= word;
                }
        out.validity = memory.joint.data();
    }
    call.validity = out.validity;
    memory.result.values.resize_discarding(
        static_cast<uint64_t>(call.rows * plan::width(plan::physical(function.type))));
    memory.heap.clear();
    call.out = memory.result.values.data();
    call.heap = &memory.heap;
    call.state = function.state.get();
    function.kernel(call);
    out.values = call.out;
    if (all_constant) out.form = Form::kConstant;
    return out;
}

Vector Interpreter::booleans(const Node& node, const Frame& frame) {
    Truth truth_of_rows;
    compute_truth(node, frame, true, &truth_of_rows);
    RowBuffer& room = scratch(node).result;
    Vector out;
    out.type = node.type;
    out.length = frame.length;
    room.values.resize_discarding(static_cast<uint64_t>(frame.length));
    simd::mask_to_bools(truth_of_rows.yes, frame.length, room.values.data());
    out.values = room.values.data();
    uint64_t unknown = 0;
    for (int64_t w = 0; w < simd::mask_words(frame.length); ++w)
        unknown |= ~(truth_of_rows.yes[w] | truth_of_rows.no[w]) & row_word(frame.length, w);
    if (unknown != 0) {
        room.validity.resize_discarding(static_cast<uint64_t>(simd::mask_words(frame.length)) * 8);
        for (int64_t w = 0; w < simd::mask_words(frame.length); ++w)
            room.validity.as<uint64_t>()[w] = truth_of_rows.yes[w] | truth_of_rows.no[w];
        out.validity = room.validity.data();
    }
    return out;
}

}  // namespace loom::exec
