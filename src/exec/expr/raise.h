#pragma once
// From fault bits to exceptions.

#include "exec/fault.h"
#include "sql/fault.h"

namespace loom::exec {

/// Raises SqlFault for the lowest bit of an error of SQL, else Unrepresentable.
[[noreturn]] void raise(sql::Fault fault);

}  // namespace loom::exec
