#pragma once
// What loom-gpud does: runs aggregates for those who are connected.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu/driver/compiler.h"
#include "gpu/driver/device.h"
#include "gpu/driver/device_pool.h"
#include "gpu/driver/module_cache.h"
#include "gpu/memory/column_store.h"
#include "gpu/run/execution.h"
#include "gpu/run/tuning.h"
#include "gpu/service/channel.h"
#include "gpu/service/message.h"

namespace loom::gpu {

struct ServiceOptions {
    std::string cache;   ///< folder of compiled kernels; empty: none
    int threads = 1;     ///< that bring columns to the device
    int concurrent = 4;  ///< runs at once on each device; others wait
    bool tune = true;    ///< other ways to write kernels that run often are tried
    /// What columns may take of the device's memory that is free at first; the rest is for runs.
    double column_share = 0.8;
    /// Among several devices larger probe sides are shared out.
    uint64_t spread_bytes = DeviceContext::kSpreadBytes;
    /// A device that works at one run for so long never ends.
    std::chrono::milliseconds longest_run{30'000};
};

/// Devices of one kind, at most kMostDevices, and the connections that use them. Devices and
/// compiler must outlive it.
class Service {
  public:
    Service(const std::vector<Device*>& devices, Compiler& compiler, const ServiceOptions& options);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// Answers what comes from a connected socket, which becomes the service's, until the other
    /// side leaves.
    void serve(int descriptor);
    /// Whether a device is lost: nothing goes any more in this process.
    bool lost() const noexcept { return lost_; }

  private:
    struct Answer {
        FrameKind kind = FrameKind::kDeclined;
        std::string body;
        bool for_good = false;  ///< declined, and the same request will be
    };
    struct Working;
    // A device and what belongs to it.
    struct Unit {
        Unit(Device& of, Compiler& compiler, const ServiceOptions& options);
        DevicePool device;
        ModuleCache modules;
        ColumnStore columns;
        Turns turns;
    };
    // Where a request is to be prepared: on the unit that it runs on, or on a further one.
    struct Coming {
        std::string request;
        size_t unit = 0;
        auto operator<=>(const Coming&) const = default;
    };

    Answer answer(const Frame& frame, RunWatch& watch, std::optional<size_t> unit = std::nullopt);
    static Answer declined(const std::exception& error, bool for_good);
    Answer run(const RunRequest& request, RunWatch& watch, std::optional<size_t> unit);
    Answer run_once(const RunRequest& request, RunWatch& watch, std::optional<size_t> unit);
    Answer ask(const RunRequest& request, RunWatch& watch);
    size_t unit_of(const exec::Inputs& inputs) const;
    size_t unit_for(const RunRequest& request, const exec::Inputs& inputs);
    std::vector<DeviceContext> contexts(size_t first, RunWatch& watch,
                                        std::vector<uint32_t>& duplicates);
    uint64_t drop_columns();
    uint64_t evict(const std::vector<std::string>& paths);
    exec::Inputs inputs_of(const RunRequest& request);
    std::vector<uint32_t> duplicates_of(const std::string& plan);
    exec::TableSource open(const std::vector<RequestFile>& files);
    std::shared_ptr<format::TableReader> open(const RequestFile& file);
    std::string facts();
    std::string columns() const;
    void prepare_later(const RunRequest& request, size_t unit);
    void prepare(const Coming& coming);
    void try_another(const std::stop_token& stop);
    void prepare_in_turn(const std::stop_token& stop);
    void beat(const std::stop_token& stop);

    std::vector<std::unique_ptr<Unit>> units_;
    Tuning tuning_;
    TextTables texts_;
    const bool tune_;
    const uint64_t spread_bytes_;
    const std::chrono::milliseconds longest_run_;
    std::atomic<bool> lost_ = false;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::list<Working*> working_;
    std::map<std::string, std::shared_ptr<format::TableReader>> readers_;  ///< by path
    std::deque<Coming> waiting_;  ///< requests, encoded, for their columns and kernels alone
    std::set<Coming> coming_;     ///< those that wait or run so
    std::map<std::string, std::string> hopeless_;  ///< those that are no use, and why
    /// Of plans: DeviceContext::duplicates.
    std::map<std::string, std::vector<uint32_t>> duplicates_;

    /// Aggregates whose last kernel might be faster, as requests.
    struct Tried {
        std::string request;
        size_t unit = 0;
        Trial trial;
    };
    std::deque<Tried> trials_;

    std::jthread preparing_;
    std::jthread beating_;
};

}  // namespace loom::gpu
