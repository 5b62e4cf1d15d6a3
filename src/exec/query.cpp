#include "exec/query.h"

#include "exec/expression.h"

namespace loom::exec {}
