#pragma once
// Expressions of PostgreSQL's finished plans to expressions of the IR.

#include "pg/compat/backend.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pg/plan/host_call.h"
#include "plan/expr.h"

namespace loom::pg {

/// A column that expressions of a plan node can refer to, in that node's own terms: a Var of its
/// scan, OUTER_VAR, INNER_VAR, an Aggref, or a SubPlan. Null: a column that the engine does not
/// have.
struct Leaf {
    Node* node = nullptr;
    plan::Type type;
    std::shared_ptr<const plan::Expr> value;  ///< what `node` means, if it is not its own column
};
using Scope = std::vector<Leaf>;

/// Returns the position of a Var, Aggref or SubPlan in `scope`, or -1.
int find_leaf(const Scope& scope, const Node* node);
int find_leaf_maylongjmp(const Scope& scope, const Node* node) noexcept;

/// An expression without columns that the backend evaluates when execution begins.
struct HostParameter {
    Node* expr = nullptr;
    plan::Type type;       ///< of a value, or of an array's elements
    bool is_list = false;  ///< an array for = ANY
};

/// Columns from here on are no columns of the operator, but parameters that an enclosing node sets
/// anew for each of its rows: column kOuterColumn + n is parameter n (outer_reference.h).
inline constexpr int kOuterColumn = 1 << 20;

/// What the translator knows of the parameters that enclosing nodes set.
struct OuterParameters {
    struct Known {
        int number = 0;
        plan::Type type;
    };
    std::vector<Known> known;      ///< may be translated
    Bitmapset* varying = nullptr;  ///< all whose values change while the engine runs
};

/// How far PostgreSQL may evaluate expressions inside the engine's plan.
enum class HostCalls : uint8_t { kNone, kLeakproof, kAll };

/// Translates expressions and collects what PostgreSQL has to evaluate for them: parameters before
/// the engine runs, and calls for the rows that reach them.
class Translator {
  public:
    explicit Translator(HostCalls calls) : calls_allowed_(calls) {}

    /// Returns the translation, or nothing if the engine cannot evaluate `node` exactly as
    /// PostgreSQL does; reason() then says why.
    std::optional<plan::Expr> translate(Node* node, const Scope& scope);

    /// As translate(); the result may have outer columns.
    std::optional<plan::Expr> translate_with_outer(Node* node, const Scope& scope);
    OuterParameters& outer() noexcept { return outer_; }

    const std::string& reason() const noexcept { return reason_; }
    void set_reason(std::string reason) { reason_ = std::move(reason); }

    /// As translate(), without expressions that PostgreSQL evaluates row by row.
    std::optional<plan::Expr> translate_natively(Node* node, const Scope& scope);

    const std::vector<HostParameter>& parameters() const noexcept { return parameters_; }
    const std::vector<HostCall>& calls() const noexcept { return calls_; }
    /// The session's time zone, if some translation holds for it alone; or empty.
    const std::string& session_zone() const noexcept { return session_zone_; }
    /// How much has been collected; go_back() forgets what came after: that of a failed attempt.
    struct Mark {
        size_t parameters;
        size_t calls;
    };
    Mark mark() const noexcept { return {parameters_.size(), calls_.size()}; }
    void go_back(const Mark& mark) {
        parameters_.resize(mark.parameters);
        calls_.resize(mark.calls);
    }

  private:
    using Result = std::optional<plan::Expr>;

    Result refuse(std::string reason);
    bool is_host_expression(Node* node) const;
    Result walk_parameter(const Param* param);
    Result walk(Node* node);
    Result native(Node* node);
    Result host_call(Node* node);
    Result walk_constant(const Const* constant);
    Result walk_call(Oid function, List* args, Oid collation, const char* what);
    Result zoned_call(Oid function, std::vector<plan::Expr>& args);
    Result zoned_sum(Oid function, const std::vector<plan::Expr>& args);
    Result session_zone_argument();
    Result walk_array_operator(const ScalarArrayOpExpr* expr);
    Result walk_boolean(const BoolExpr* expr);
    Result walk_null_test(const NullTest* test);
    Result walk_boolean_test(const BooleanTest* test);
    Result walk_case(const CaseExpr* expr);
    Result walk_choice(plan::ExprKind kind, List* args, Oid function);
    Result walk_relabel(const RelabelType* relabel);
    Result unary(plan::ExprKind kind, Node* arg);
    Result host_parameter(Node* node, std::optional<plan::Type> type, bool is_list);
    bool all_args(List* args, std::vector<plan::Expr>* out);
    bool unify(std::vector<plan::Expr*> values, plan::Type* type);
    bool allows_collation(Oid function, Oid collation, const std::vector<plan::Expr>& args);

    const Scope* scope_ = nullptr;
    std::vector<plan::Expr> case_tests_;
    std::vector<HostParameter> parameters_;
    std::vector<HostCall> calls_;
    HostCalls calls_allowed_;
    OuterParameters outer_;
    std::string session_zone_;
    std::string reason_;
};

/// Returns whether evaluation can raise no error whatever the row: comparisons and boolean logic of
/// columns and constants.
bool cannot_fault(const plan::Expr& expr);

}  // namespace loom::pg
