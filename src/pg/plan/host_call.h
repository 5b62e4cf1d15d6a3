#pragma once
// Expressions that PostgreSQL evaluates inside the engine's plan, for the rows that reach them.

#include "pg/compat/backend.h"

#include <string>

#include "plan/type.h"

namespace loom::pg {

/// An expression over the arguments that the engine hands to it: argument i (from 1) is the Var
/// OUTER_VAR.i.
struct HostCall {
    Node* expr = nullptr;
    plan::Type type;
    std::string text;    ///< for EXPLAIN; argument i is `$i`
    std::string reason;  ///< why the engine does not evaluate it
};

/// What of a plan's rows an expression reads: Vars, aggregates, subqueries, parameters of nodes.
struct HostLeaves {
    List* nodes = NIL;       ///< each once
    bool is_closed = false;  ///< nothing else is needed to evaluate the expression
};

HostLeaves host_leaves(Node* node);

/// Returns whether PostgreSQL may evaluate `node` for any rows and any number of times: it is not
/// volatile and returns no set. With `leakproof`, whether it also tells nobody about rows that
/// other conditions hide.
bool may_be_host_call(Node* node, bool leakproof);

/// Makes the call; leaf i of `leaves` becomes argument i + 1.
HostCall make_host_call(Node* node, const HostLeaves& leaves);

}  // namespace loom::pg
