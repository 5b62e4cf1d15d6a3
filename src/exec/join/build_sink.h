#pragma once
// Where the pipelines end that read the two sides of a join.

#include <memory>
#include <vector>

#include "exec/partition/scattered_rows.h"
#include "exec/pipeline/sinks.h"

namespace loom::exec {

/// Keeps the build side of a join; scatters it by the hash of its keys if memory has no room for
/// the rows and a table over them.
class BuildSink final : public StoreSink {
  public:
    /// `keys` are columns of the stored rows.
    BuildSink(std::vector<int> slots, std::vector<plan::Type> types, std::vector<int> keys,
              const Resources& resources);

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(Tasks& tasks) override;

    /// Keeps the rows in memory, come what may.
    void forbid_scatter() noexcept { may_scatter_ = false; }
    /// The rows, once finish() has run, if they were scattered; else null, and take() has them.
    std::shared_ptr<ScatteredRows> take_scattered() { return std::move(scattered_); }

  private:
    void add(int worker, const std::vector<Vector>& columns, int64_t count);
    void scatter_part(int worker);
    bool fits_memory() const;

    std::vector<int> keys_;
    std::vector<plan::Type> key_types_;
    Resources given_;
    bool may_scatter_ = true;
    std::vector<std::unique_ptr<KeyScatter>> scatters_;  ///< by worker; null: its rows are stored
    std::shared_ptr<ScatteredRows> scattered_;
};

/// Scatters the probe side of a join as its build side was.
class ProbeSink final : public Sink {
  public:
    /// `keys` are positions in `slots`.
    ProbeSink(std::vector<int> slots, std::vector<plan::Type> types, std::vector<int> keys,
              HashRange range, const Resources& resources);

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(Tasks& tasks) override;
    RowSet take() override { return {}; }
    std::shared_ptr<ScatteredRows> take_scattered() { return std::move(scattered_); }

  private:
    std::vector<int> slots_;
    std::vector<plan::Type> types_;
    std::vector<int> keys_;
    HashRange range_;
    Resources resources_;
    std::vector<std::unique_ptr<KeyScatter>> scatters_;  ///< by worker
    std::shared_ptr<ScatteredRows> scattered_;
};

}  // namespace loom::exec
