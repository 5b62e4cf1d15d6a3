#pragma once
// Expressions as text of kernels.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/functions.h"
#include "gpu/codegen/expression_facts.h"
#include "plan/expr.h"

namespace loom::gpu {

/// What kernels cannot compute; `reason` is for a DBA.
struct NotInKernels {
    std::string reason;
};

/// Returns the C++ type that holds any value of a type in a kernel. Raises NotInKernels.
std::string value_type(plan::Type type);

/// A value that the text so far has computed: C++ expressions without side effects.
struct TextValue {
    std::string value;
    std::string valid;  ///< whether it is not NULL; empty: it never is
    bool wide = false;  ///< an Int128; numerics of many digits are int64_t where they fit

    std::string known() const { return valid.empty() ? "true" : valid; }
};

/// The 64-bit words that a kernel takes. Numbers, sizes and addresses are arguments and no text, so
/// that plans of one shape share one kernel.
class KernelWords {
  public:
    /// Adds a word and returns how a kernel reads it.
    std::string add(uint64_t word);
    std::string add(const void* address) { return add(reinterpret_cast<uint64_t>(address)); }
    /// Adds a word that follows from a dictionary: see LookUp.
    int reserve();
    void set(int at, uint64_t word) { words_[static_cast<size_t>(at)] = word; }
    static std::string read(int at);
    const std::vector<uint64_t>& words() const noexcept { return words_; }

  private:
    std::vector<uint64_t> words_;
};

/// What an expression makes of each text of a dictionary, and behind them of NULL: numbers of
/// texts of its own, and for NULL one behind those.
struct ComputedTexts {
    std::vector<uint32_t> codes;
    std::vector<std::string> texts;
    bool has_null = false;
};

/// A byte for each text of a dictionary, and one more for NULL: what `predicate`, a condition on
/// one slot of texts, says of it. 0 is false, 1 true, 2 NULL. Or a bit for each that it is true of,
/// the first on top of a word. Or the number of the text that it is made.
struct LookUp {
    int pipeline = 0;  ///< of those that share a module
    int slot = -1;
    plan::Expr predicate;
    bool bitmap = false;
    std::shared_ptr<const ComputedTexts> texts;
    int word = -1;  ///< which of the kernel's words is its address; the next is the count of texts
};

/// Where an expression's columns come from.
class ValueSource {
  public:
    virtual ~ValueSource() = default;
    /// Returns a slot's value, for texts their code; may append statements.
    virtual TextValue slot(int slot, std::string& out) = 0;
    /// Statements between these are a block of their own: what they declare ends with it.
    virtual void open_block() = 0;
    virtual void close_block() = 0;
    /// What is known of the slot's values.
    virtual const ScanColumn& column(int slot) const = 0;
    /// Whether the slot holds codes of a dictionary whose texts the host knows.
    bool has_dictionary(int slot) const { return column(slot).dictionary; }
};

/// Appends statements to a kernel's text. What may fault is computed for those rows only for which
/// PostgreSQL computes it, and reports to `fault`.
class ExpressionWriter {
  public:
    ExpressionWriter(ValueSource& source, std::span<const plan::ParameterValue> parameters,
                     KernelWords& words, std::vector<LookUp>& look_ups)
        : source_(source),
          parameters_(parameters),
          words_(words),
          look_ups_(look_ups),
          facts_([&source](int slot) -> const ScanColumn& { return source.column(slot); },
                 parameters) {}

    /// Appends what computes `expr` and returns its value. Raises NotInKernels.
    TextValue write(const plan::Expr& expr, std::string& out);
    /// Appends what finds the number of the text that an expression makes of the text of a slot.
    std::string text_number(int slot, std::shared_ptr<const ComputedTexts> texts, std::string& out);
    /// Whether an expression is a condition on one column of texts only: it is computed beforehand
    /// for all of its dictionary, and faults nowhere.
    bool is_looked_up(const plan::Expr& expr) const;
    const ExpressionFacts& facts() const noexcept { return facts_; }

  private:
    // The text of a call of a definition.
    struct Call {
        std::string text;
        bool wide = false;
        bool may_fault = false;
    };
    // A variable that an expression's value goes into.
    struct Variable {
        std::string type;
        bool wide = false;
    };

    TextValue constant(const plan::Expr& expr);
    Call apply(const exec::BoundDefinition& definition, const std::vector<TextValue>& args,
               const std::vector<ValueBounds>& bounds, plan::Type type, ValueBounds result);
    exec::BoundDefinition definition(uint32_t function, const std::vector<plan::Expr>& args) const;
    Variable variable(const plan::Expr& expr) const;
    TextValue call(const plan::Expr& expr, std::string& out);
    TextValue connective(const plan::Expr& expr, std::string& out);
    TextValue test(const plan::Expr& expr, std::string& out);
    TextValue choice(const plan::Expr& expr, std::string& out);
    TextValue coalesce(const plan::Expr& expr, std::string& out);
    TextValue any_of(const plan::Expr& expr, std::string& out);
    TextValue extreme(const plan::Expr& expr, std::string& out);
    TextValue pair(const plan::Expr& expr, std::string& out);
    TextValue look_up(int slot, const plan::Expr& expr, std::string& out);
    std::string look_up(LookUp entry, std::string_view type, std::string& out);
    TextValue scalar(plan::Type type, const column::Scalar& value);
    std::string integer(__int128 value);
    std::string name() { return "x" + std::to_string(names_++); }

    ValueSource& source_;
    std::span<const plan::ParameterValue> parameters_;
    KernelWords& words_;
    std::vector<LookUp>& look_ups_;
    ExpressionFacts facts_;
    int names_ = 0;
};

}  // namespace loom::gpu
