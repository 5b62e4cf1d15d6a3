#include "exec/expr/raise.h"

namespace loom::exec {

void raise(sql::Fault fault) {
    const sql::FaultText text = sql::fault_text(fault.bits());
    if (text.sqlstate != nullptr) throw SqlFault(text.sqlstate, text.message);
    if (fault.bits() & sql::kNumericDigits)
        throw Unrepresentable("a numeric of more than 38 digits");
    if (fault.bits() & sql::kNotAscii)
        throw Unrepresentable("a function of text that is exact for ASCII only");
    throw Unrepresentable("a value that the engine cannot represent");
}

}  // namespace loom::exec
