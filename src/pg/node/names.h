#pragma once
// Names of functions and texts of constants, from PostgreSQL's catalogs.

#include "pg/compat/backend.h"

#include "plan/operator.h"

namespace loom::pg {

class BackendNames : public plan::Names {
  public:
    Function function(uint32_t id) const override;
    std::string constant(plan::Type type, const column::Scalar& value) const override;
};

}  // namespace loom::pg
