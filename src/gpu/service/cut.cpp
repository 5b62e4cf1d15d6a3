#include "gpu/service/cut.h"

#include <map>

#include "gpu/codegen/pipeline.h"

namespace loom::gpu {

namespace {

class Replacing {
  public:
    Replacing(const Offer& offer, std::vector<std::string>* reasons)
        : offer_(offer), reasons_(reasons) {}

    // Returns whether something below `op`, or `op` itself, was replaced.
    bool replace(plan::Operator& op) {
        if (op.kind == plan::OperatorKind::kShared) return replace_shared(op);
        if (op.kind == plan::OperatorKind::kAggregate && replace_aggregate(op)) return true;
        bool any = false;
        for (plan::Operator& input : op.inputs) any |= replace(input);
        return any;
    }

  private:
    // Its inputs stay alike wherever it stands.
    bool replace_shared(plan::Operator& op) {
        const auto known = shared_.find(op.source);
        if (known != shared_.end()) {
            op.inputs[0] = known->second;
            return false;
        }
        const bool any = replace(op.inputs[0]);
        shared_.emplace(op.source, op.inputs[0]);
        return any;
    }

    bool replace_aggregate(plan::Operator& op) {
        std::string reason;
        if (lower(op, &reason)) {
            const std::optional<int> source = offer_(op);
            if (!source) return false;
            plan::Operator rows;
            rows.kind = plan::OperatorKind::kRows;
            rows.output = op.output;
            rows.rows = op.rows;
            rows.source = *source;
            op = std::move(rows);
            return true;
        }
        reasons_->push_back(std::move(reason));
        return false;
    }

    const Offer& offer_;
    std::vector<std::string>* reasons_;
    std::map<int, plan::Operator> shared_;  // by number: what is left of the input
};

}  // namespace

std::unique_ptr<plan::Operator> replace_aggregates(const plan::Operator& root, const Offer& offer,
                                                   std::vector<std::string>* reasons) {
    auto left = std::make_unique<plan::Operator>(root);
    if (!Replacing(offer, reasons).replace(*left)) return nullptr;
    return left;
}

}  // namespace loom::gpu
