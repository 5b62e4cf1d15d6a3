#include "pg/device/device_parts.h"

#include <fstream>

#include <fmt/core.h>

#include "gpu/service/client.h"
#include "gpu/service/cut.h"
#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "plan/serialise.h"

extern "C" {
#include "portability/instr_time.h"
}

namespace loom::pg {

namespace {

// Scans of fewer rows are done by the processor before a device has begun.
constexpr int64_t kLeastRows = 1'000'000;

gpu::Client& client() {
    static gpu::Client client{kDeviceSocket};
    return client;
}

// Lets PostgreSQL end the statement. Nothing of the engine runs meanwhile.
void check_interrupts() {
    if (InterruptPending) pg_call([] { CHECK_FOR_INTERRUPTS(); });
}

void collect_tables(const plan::Operator& op, std::vector<bool>* used) {
    if (op.kind == plan::OperatorKind::kScan) (*used)[static_cast<size_t>(op.source)] = true;
    for (const plan::Operator& input : op.inputs) collect_tables(input, used);
}

int64_t rows_of(const plan::Operator& part, const exec::Inputs& inputs) {
    std::vector<bool> used(inputs.tables.size());
    collect_tables(part, &used);
    int64_t rows = 0;
    for (size_t t = 0; t < used.size(); ++t)
        if (used[t])
            for (const exec::ScanFile& file : inputs.tables[t].files)
                rows += file.reader->row_count();
    return rows;
}

gpu::RunRequest request_for(const plan::Operator& part, const exec::Inputs& inputs) {
    gpu::RunRequest request;
    request.plan = plan::serialise(part);
    request.prepared = g_device == kDeviceAuto;
    request.parameters = inputs.parameters;
    std::vector<bool> used(inputs.tables.size());
    collect_tables(part, &used);
    request.tables.resize(used.size());
    for (size_t t = 0; t < used.size(); ++t) {
        if (!used[t]) continue;
        for (const exec::ScanFile& file : inputs.tables[t].files) {
            gpu::RequestFile& sent = request.tables[t].emplace_back();
            sent.path = file.reader->file().path();
            sent.identity = file.reader->file().identity();
            sent.columns = file.columns;
        }
    }
    return request;
}

// The table whose rows go through: the probe side of all joins.
std::string name_of(const plan::Operator& part) {
    const plan::Operator* op = &part;
    while (!op->inputs.empty()) op = &op->inputs[0];
    return op->name;
}

double milliseconds_since(const instr_time& begin) {
    instr_time now;
    INSTR_TIME_SET_CURRENT(now);
    INSTR_TIME_SUBTRACT(now, begin);
    return INSTR_TIME_GET_MILLISEC(now);
}

}  // namespace

std::unique_ptr<plan::Operator> DeviceParts::answer(const plan::Operator& root,
                                                    exec::Inputs* inputs) {
    rows_.clear();
    report_.clear();
    if (g_device == kDeviceCpu) return nullptr;
    std::string reason;
    if (!client().reachable(&reason)) {
        if (g_device == kDeviceGpu) report_.push_back("cpu: " + reason);
        return nullptr;
    }
    std::vector<std::string> reasons;
    auto left = gpu::replace_aggregates(
        root,
        [&](const plan::Operator& part) -> std::optional<int> {
            if (g_device == kDeviceAuto && rows_of(part, *inputs) < kLeastRows) {
                reasons.emplace_back("tables of few rows");
                return std::nullopt;
            }
            instr_time begin;
            INSTR_TIME_SET_CURRENT(begin);
            std::string refusal;
            auto rows =
                client().run(request_for(part, *inputs), part.output, check_interrupts, &refusal);
            if (rows == nullptr) {
                reasons.push_back(std::move(refusal));
                return std::nullopt;
            }
            report_.push_back(fmt::format("gpu: aggregate over {}, {:.3f} ms", name_of(part),
                                          milliseconds_since(begin)));
            inputs->rows.push_back(rows.get());
            rows_.push_back(std::move(rows));
            return static_cast<int>(inputs->rows.size()) - 1;
        },
        &reasons);
    for (const std::string& why : reasons) report_.push_back("cpu: " + why);
    return left;
}

std::string device_facts(std::string* reason) {
    std::string facts = client().facts(check_interrupts, reason);
    std::ifstream problem(gpu::problem_path(kDeviceSocket));
    if (facts.empty() && problem) std::getline(problem, *reason);
    return facts;
}

}  // namespace loom::pg
