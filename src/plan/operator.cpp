#include "plan/operator.h"

namespace loom::plan {

std::vector<Type> joined_types(const Operator& join) {
    std::vector<Type> types = join.inputs[0].output;
    if (join.join == JoinType::kMark) {
        types.push_back(make_type(TypeId::kBool));
        return types;
    }
    types.insert(types.end(), join.inputs[1].output.begin(), join.inputs[1].output.end());
    return types;
}

}  // namespace loom::plan
