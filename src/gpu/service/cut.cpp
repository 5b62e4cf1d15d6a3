#include "gpu/service/cut.h"

#include "gpu/codegen/pipeline.h"

namespace loom::gpu {

namespace {

class Replacing {
  public:
    Replacing(const Offer& offer, std::vector<std::string>* reasons)
        : offer_(offer), reasons_(reasons) {}

    // Returns whether something below `op`, or `op` itself, was replaced.
    bool replace(plan::Operator& op) {
        if (op.kind == plan::OperatorKind::kShared) return false;
        if (op.kind == plan::OperatorKind::kAggregate && replace_aggregate(op)) return true;
        bool any = false;
        for (plan::Operator& input : op.inputs) any |= replace(input);
        return any;
    }

  private:
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
};

}  // namespace

std::unique_ptr<plan::Operator> replace_aggregates(const plan::Operator& root, const Offer& offer,
                                                   std::vector<std::string>* reasons) {
    auto left = std::make_unique<plan::Operator>(root);
    if (!Replacing(offer, reasons).replace(*left)) return nullptr;
    return left;
}

}  // namespace loom::gpu
