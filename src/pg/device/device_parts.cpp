#include "pg/device/device_parts.h"

#include <chrono>
#include <fstream>

#include <fmt/core.h>

#include "gpu/service/client.h"
#include "gpu/service/cut.h"
#include "gpu/service/process.h"
#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "plan/serialise.h"

namespace loom::pg {

namespace {

using Clock = std::chrono::steady_clock;

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

int64_t rows_of(const plan::Operator& op, const exec::Inputs& inputs) {
    int64_t rows = 0;
    if (op.kind == plan::OperatorKind::kScan)
        for (const exec::ScanFile& file : inputs.tables[static_cast<size_t>(op.source)].files)
            rows += file.reader->row_count();
    for (const plan::Operator& input : op.inputs) rows += rows_of(input, inputs);
    return rows;
}

constexpr const char* kSmall = "tables of few rows";

bool is_small(const plan::Operator& part, const exec::Inputs& inputs) {
    return g_device == kDeviceAuto && rows_of(part, inputs) < kLeastRows;
}

// Adds the files of the tables that are scanned.
void add_files(const plan::Operator& op, const exec::Inputs& inputs, gpu::RunRequest& request) {
    if (op.kind == plan::OperatorKind::kScan) {
        const auto table = static_cast<size_t>(op.source);
        for (const exec::ScanFile& file : inputs.tables[table].files)
            request.tables[table].push_back(
                {file.reader->file().path(), file.reader->file().identity(), file.columns});
    }
    for (const plan::Operator& input : op.inputs) add_files(input, inputs, request);
}

gpu::RunRequest request_for(const plan::Operator& part, const exec::Inputs& inputs) {
    gpu::RunRequest request;
    request.plan = plan::serialise(part);
    request.prepared = g_device == kDeviceAuto;
    request.parameters = inputs.parameters;
    request.tables.resize(inputs.tables.size());
    add_files(part, inputs, request);
    return request;
}

// The table whose rows go through: the probe side of all joins.
std::string name_of(const plan::Operator& part) {
    const plan::Operator* op = &part;
    while (!op->inputs.empty()) op = &op->inputs[0];
    return op->name;
}

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

bool DeviceParts::begin() {
    rows_.clear();
    report_.clear();
    if (g_device == kDeviceCpu) return false;
    std::string reason;
    if (client().connect(&reason)) return true;
    if (g_device == kDeviceGpu) report_.push_back("cpu: " + reason);
    return false;
}

void DeviceParts::ask(const plan::Operator& root, const exec::Inputs& inputs) {
    std::vector<std::string> reasons;
    gpu::replace_aggregates(
        root,
        [&](const plan::Operator& part) -> std::optional<int> {
            if (is_small(part, inputs)) {
                reasons.emplace_back(kSmall);
                return std::nullopt;
            }
            std::string refusal;
            const auto wait =
                client().would_wait(request_for(part, inputs), check_interrupts, &refusal);
            if (!wait || (!wait->empty() && g_device == kDeviceAuto)) {
                reasons.push_back(wait ? *wait : refusal);
                return std::nullopt;
            }
            report_.push_back(fmt::format("gpu: aggregate over {}{}", name_of(part),
                                          wait->empty() ? "" : ", but " + *wait));
            return 0;
        },
        &reasons);
    for (const std::string& why : reasons) report_.push_back("cpu: " + why);
}

std::unique_ptr<plan::Operator> DeviceParts::answer(const plan::Operator& root,
                                                    exec::Inputs* inputs) {
    if (!begin()) return nullptr;
    std::vector<std::string> reasons;
    auto left = gpu::replace_aggregates(
        root,
        [&](const plan::Operator& part) -> std::optional<int> {
            if (is_small(part, *inputs)) {
                reasons.emplace_back(kSmall);
                return std::nullopt;
            }
            const Clock::time_point begin = Clock::now();
            std::string refusal;
            auto result =
                client().run(request_for(part, *inputs), part.output, check_interrupts, &refusal);
            if (!result) {
                reasons.push_back(std::move(refusal));
                return std::nullopt;
            }
            report_.push_back(fmt::format("gpu: aggregate over {}, {:.3f} ms, kernels {:.3f} ms",
                                          name_of(part), milliseconds_since(begin),
                                          result->kernels));
            inputs->rows.push_back(result->rows.get());
            rows_.push_back(std::move(result->rows));
            return static_cast<int>(inputs->rows.size()) - 1;
        },
        &reasons);
    for (const std::string& why : reasons) report_.push_back("cpu: " + why);
    return left;
}

std::optional<std::string> device_facts(gpu::FrameKind kind, std::string_view body,
                                        std::string* reason) {
    auto facts = client().facts(kind, body, check_interrupts, reason);
    if (facts) return facts;
    std::ifstream problem(gpu::problem_path(kDeviceSocket));
    if (problem) std::getline(problem, *reason);
    return std::nullopt;
}

}  // namespace loom::pg
