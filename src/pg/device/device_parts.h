#pragma once
// Parts of a query that the device's process answers.

#include "pg/compat/backend.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/query.h"
#include "gpu/service/message.h"
#include "plan/operator.h"

namespace loom::pg {

/// Where the device's process listens, relative to the data directory, in which every process of
/// the server works. Backups leave that folder's contents out.
inline constexpr const char* kDeviceSocket = "pg_stat_tmp/pg_loom_gpud.sock";

/// What the device's process did for one execution of a plan.
class DeviceParts {
  public:
    /// Asks for all aggregates of a plan that kernels may compute, as pg_loom.device says, and
    /// returns the plan that is left: rows, added to `inputs`, stand for those that were answered.
    /// Nothing if there are none. Raises nothing but what ends the statement.
    std::unique_ptr<plan::Operator> answer(const plan::Operator& root, exec::Inputs* inputs);

    /// Returns whether a device may be asked. If not, report() may say why.
    bool begin();
    /// Finds out what answer() would do, and does nothing. Behind begin().
    void ask(const plan::Operator& root, const exec::Inputs& inputs);

    /// For EXPLAIN: what was answered, and why the rest was not; empty if nothing was asked for.
    const std::vector<std::string>& report() const noexcept { return report_; }

  private:
    std::vector<std::unique_ptr<exec::RowSource>> rows_;
    std::vector<std::string> report_;
};

/// Asks the process for facts, as gpu::Client::facts() does; waits as long as it works.
std::optional<std::string> device_facts(gpu::FrameKind kind, std::string_view body,
                                        std::string* reason);

}  // namespace loom::pg
