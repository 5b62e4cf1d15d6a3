#pragma once
// Runs the nodes of an expression over batches. Booleans travel as two masks inside: rows that are
// true, rows that are false; the rest is NULL.

#include <memory>
#include <span>
#include <vector>

#include "exec/expr/program.h"
#include "exec/expr/rows.h"
#include "exec/expr/text_heap.h"
#include "simd/mask.h"

namespace loom::exec {

inline constexpr int64_t kMaskWords = simd::mask_words(kBatchRows);

/// Rows to compute with.
struct Frame {
    std::span<const Vector> inputs;
    int64_t length = 0;
};

/// One boolean a row.
struct Truth {
    alignas(64) uint64_t yes[kMaskWords];
    alignas(64) uint64_t no[kMaskWords];
};

class Interpreter {
  public:
    Interpreter(int slots, base::MemoryBudget* budget);
    ~Interpreter();

    /// Computes a node for all rows of a frame. The result lives until the node is computed again.
    Vector evaluate(const Node& node, const Frame& frame);
    /// Computes a boolean node. With `need_no` false, `out->no` is unspecified.
    void truth(const Node& node, const Frame& frame, bool need_no, Truth* out);

  private:
    struct Scratch;
    struct Derived;

    Scratch& scratch(const Node& node);
    Vector plain(const Node& node, const Frame& frame);
    Vector compute(const Node& node, const Frame& frame);
    Vector call(const Node& node, const Frame& frame);
    Vector run(const BoundFunction& function, std::span<const Vector> args, int64_t rows,
               Scratch& memory);
    Vector ask(const Node& node, const Frame& frame);
    Vector booleans(const Node& node, const Frame& frame);
    Vector choose_case(const Node& node, const Frame& frame);
    Vector choose_known(const Node& node, const Frame& frame);
    Vector choose_extreme(const Node& node, const Frame& frame);
    Vector null_if(const Node& node, const Frame& frame);
    /// Computes an arm for the rows whose bits are set and puts them into the result of `node`.
    /// Without `keep_nulls`, rows that come out NULL are left for a later arm; the bits of all
    /// others are cleared.
    void place(const Node& node, const Node& arm, const Frame& frame, uint64_t* rows,
               bool keep_nulls);

    void compute_truth(const Node& node, const Frame& frame, bool need_no, Truth* out);
    void truth_of_vector(const Vector& vector, int64_t rows, Truth* out);
    void connective(const Node& node, const Frame& frame, bool need_no, Truth* out);
    void test(const Node& node, const Frame& frame, Truth* out);
    void range(const Node& node, const Frame& frame, Truth* out);
    void members(const Node& node, const Frame& frame, Truth* out);
    void array(const Node& node, const Frame& frame, Truth* out);
    void distinct(const Node& node, const Frame& frame, Truth* out);

    /// Computes the rows of `open` alone if computing all of them would fault or be wasteful.
    void guarded_truth(const Node& node, const Frame& frame, const uint64_t* open, bool need_no,
                       Truth* out);
    /// Returns a frame of the chosen rows of the columns that `node` reads.
    Frame chosen(const Node& node, const Frame& frame, const uint64_t* rows);

    const Derived* derived(const Node& node, const Vector& input);
    void derive(const Node& node, const Vector& input, Derived* out);
    void derive_rows(const Node& node, const Frame& frame, int64_t at, Derived* out);
    Vector from_codes(const Node& node, const Vector& input, const Derived& entry);
    void truth_of_codes(const Vector& input, const Derived& entry, int64_t rows, Truth* out);

    base::MemoryBudget* budget_;
    std::vector<std::unique_ptr<Scratch>> scratch_;  // by slot, made when first used
};

}  // namespace loom::exec
