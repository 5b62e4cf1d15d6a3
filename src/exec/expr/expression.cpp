#include "exec/expression.h"

#include <algorithm>
#include <cstring>

#include "exec/expr/interpreter.h"
#include "exec/expr/program.h"

namespace loom::exec {

bool supports(const plan::Expr& expr, std::string* reason) {
    int slots = 0;
    return compile(expr, nullptr, &slots, reason) != nullptr;
}

Expression::Expression(const plan::Expr& expr, std::span<const plan::ParameterValue> parameters)
    : program_(std::make_unique<Program>()) {
    const std::vector<plan::ParameterValue> values(parameters.begin(), parameters.end());
    std::string reason;
    program_->root = compile(expr, &values, &program_->slots, &reason);
    if (program_->root == nullptr) throw Unrepresentable(std::move(reason));
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

plan::Type Expression::type() const noexcept {
    return program_->root->type;
}
const std::vector<int>& Expression::columns() const noexcept {
    return program_->root->columns;
}
namespace {

// What fails over these types alone fails in PostgreSQL, too.
bool is_plain_number(plan::Type type) {
    switch (type.id) {
        case plan::TypeId::kBool:
        case plan::TypeId::kInt2:
        case plan::TypeId::kInt4:
        case plan::TypeId::kInt8:
        case plan::TypeId::kFloat4:
        case plan::TypeId::kFloat8:
            return true;
        default:
            return false;
    }
}

bool node_may_give_up(const Node& node) {
    if (node.kind == NodeKind::kHost) return true;
    if (node.function.may_fault &&
        !(is_plain_number(node.type) && std::ranges::all_of(node.args, [](const auto& arg) {
              return is_plain_number(arg->type);
          })))
        return true;
    return std::ranges::any_of(node.args, [](const auto& arg) { return node_may_give_up(*arg); });
}

}  // namespace

bool Expression::may_give_up() const noexcept {
    return program_->root->may_fault && node_may_give_up(*program_->root);
}

bool Expression::may_fault() const noexcept {
    return program_->root->may_fault;
}
bool Expression::is_constant() const noexcept {
    return program_->root->constant;
}

struct Evaluator::State {
    const Node* root;
    Interpreter interpreter;
};

Evaluator::Evaluator(const Expression& expression, base::MemoryBudget* budget)
    : state_(new State{expression.program().root.get(),
                       Interpreter(expression.program().slots, budget)}) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

Vector Evaluator::evaluate(std::span<const Vector> inputs, int64_t length) {
    return state_->interpreter.evaluate(*state_->root, {inputs, length});
}

void Evaluator::select(std::span<const Vector> inputs, int64_t length, uint64_t* mask) {
    Truth rows;
    state_->interpreter.truth(*state_->root, {inputs, length}, false, &rows);
    std::memcpy(mask, rows.yes, static_cast<size_t>(simd::mask_words(length)) * 8);
}

}  // namespace loom::exec
