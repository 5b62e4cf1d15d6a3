#pragma once
// What an interpreter keeps for a node, for interpreter*.cpp only.

#include "exec/expr/interpreter.h"

namespace loom::exec {

/// A node's values for all entries of one dictionary.
struct Interpreter::Derived {
    const void* source = nullptr;  // the dictionary's values; with `version` the key
    uint64_t version = 0;
    int64_t entries = 0;
    bool ready = false;
    bool faulted = false;
    int64_t rows_seen = 0;

    VectorDictionary dictionary;  // of results; the values lie in `room`, bytes in `heap`
    RowBuffer room;
    TextHeap heap;
    base::Buffer yes;  // kBool: bitmaps over the codes
    base::Buffer no;
    // The result where the row is NULL.
    bool null_faulted = false;
    bool null_known = false;
    bool null_yes = false;
    bool null_no = false;

    explicit Derived(base::MemoryBudget* budget)
        : room(budget), heap(budget), yes(budget), no(budget) {}
};

struct Interpreter::Scratch {
    RowBuffer result;
    RowBuffer flat;
    base::Buffer joint;  // validity of all arguments
    TextHeap heap;
    ConstantValue null;
    std::vector<Vector> chosen;  // inputs of a frame of chosen rows
    std::vector<RowBuffer> chosen_rows;
    base::Buffer selection;
    std::vector<std::unique_ptr<Derived>> derived;
    size_t next_derived = 0;
    int faulted_derivations = 0;

    explicit Scratch(base::MemoryBudget* budget)
        : result(budget), flat(budget), joint(budget), heap(budget), selection(budget) {}
};

}  // namespace loom::exec
