#pragma once
// Which types and collations of PostgreSQL the engine computes with.

#include "pg/compat/backend.h"

#include <optional>

#include "plan/type.h"

namespace loom::pg {

/// Returns the engine's type, or nothing. A numeric without a modifier is a Decimal; a domain is
/// what it is over. Types that the engine does not compute with, text in databases that are not in
/// UTF-8 among them, are opaque.
std::optional<plan::Type> engine_type(Oid type, int32 typmod);

/// Returns the engine's type of what a plan's target list has. System columns and whole rows have
/// none: what changes and locks rows finds them by these, and reads them again.
std::optional<plan::Type> output_type(Node* expr);

/// Returns whether equal means equal bytes.
bool has_plain_equality(Oid collation);
/// Returns whether the collation orders text by bytes (C, POSIX, C.UTF-8).
bool orders_by_bytes(Oid collation);
/// Returns whether upper and lower case, too, are those of C.
bool is_c_collation(Oid collation);

/// Returns whether server `server` is one of arrow_fdw's.
bool is_arrow_server(Oid server);
/// Returns whether foreign table `relation` is one of arrow_fdw's.
bool is_arrow_table(Oid relation);

/// Returns whether equal values of char(n) may have other numbers of trailing blanks. Which of them
/// stands for all depends on PostgreSQL's order of the rows.
bool has_many_lengths(Node* expr, plan::Type type);

}  // namespace loom::pg
