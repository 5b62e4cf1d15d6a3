#include "gpu/service/service.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/core.h>

#include "exec/fault.h"
#include "gpu/codegen/expression_text.h"
#include "plan/serialise.h"

namespace loom::gpu {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{5000};
constexpr milliseconds kForever{std::chrono::hours(24 * 365)};
// Those who wait hear so often that the process lives.
constexpr milliseconds kBeat{300};
constexpr size_t kMostReaders = 1000;
constexpr size_t kMostWaiting = 64;
constexpr size_t kMostTrials = 64;
constexpr size_t kMostHopeless = 1000;
constexpr size_t kMostDuplicates = 1000;
// A run without memory is tried again so often, and columns make room for it.
constexpr int kMemoryTries = 3;

uint64_t free_share(Device& device, double share) {
    return static_cast<uint64_t>(static_cast<double>(device.memory().free) * share);
}

// A request as it is prepared for later ones.
std::string encode_unprepared(RunRequest request) {
    request.prepared = false;
    return encode(request);
}

// Makes sure that all scanned columns are there.
void check_scans(const plan::Operator& op, const std::vector<exec::TableSource>& tables) {
    if (op.kind == plan::OperatorKind::kScan) {
        if (op.source < 0 || static_cast<size_t>(op.source) >= tables.size())
            base::corrupt("a request has a plan without its tables");
        for (const exec::ScanFile& file : tables[static_cast<size_t>(op.source)].files)
            if (file.columns.size() != op.output.size())
                base::corrupt("a request has {} columns of {}", file.columns.size(),
                              op.output.size());
    }
    for (const plan::Operator& input : op.inputs) check_scans(input, tables);
}

}  // namespace

// A request that runs, of a connection or (null) for later ones.
struct Service::Working {
    Working(Service& in, Channel* of) : service(in), channel(of) {
        const std::scoped_lock lock(service.mutex_);
        place = service.working_.insert(service.working_.end(), this);
    }
    ~Working() {
        const std::scoped_lock lock(service.mutex_);
        service.working_.erase(place);
    }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;

    Service& service;
    Channel* channel;
    RunWatch watch;
    std::list<Working*>::iterator place;
};

Service::Unit::Unit(Device& of, Compiler& compiler, const ServiceOptions& options)
    // Of what columns leave half may stay with runs that have ended.
    : device(of, {.idle_bytes = free_share(of, (1 - options.column_share) / 2)}),
      modules(device, compiler, {.folder = options.cache}),
      columns(device, options.threads, free_share(device, options.column_share), &modules),
      turns(options.concurrent) {}

Service::Service(const std::vector<Device*>& devices, Compiler& compiler,
                 const ServiceOptions& options)
    : tune_(options.tune), spread_bytes_(options.spread_bytes), longest_run_(options.longest_run) {
    for (Device* device : devices)
        units_.push_back(std::make_unique<Unit>(*device, compiler, options));
    preparing_ = std::jthread([this, &compiler](const std::stop_token& stop) {
        compiler.warm_up();
        prepare_in_turn(stop);
    });
    beating_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

Service::~Service() = default;

void Service::serve(int descriptor) {
    Channel channel(descriptor);
    Frame frame;
    while (channel.read(frame, kForever, [] {}) == Channel::Got::kFrame) {
        const Answer made = [&] {
            Working working(*this, &channel);
            return answer(frame, working.watch);
        }();
        if (!channel.write(made.kind, made.body, kPatience)) return;
    }
}

Service::Answer Service::answer(const Frame& frame, RunWatch& watch, std::optional<size_t> unit) {
    try {
        switch (frame.kind) {
            case FrameKind::kRun:
                return run(decode_request(base::as_bytes(frame.body)), watch, unit);
            case FrameKind::kAsk:
                return ask(decode_request(base::as_bytes(frame.body)), watch);
            case FrameKind::kInfo:
                return {FrameKind::kFacts, facts()};
            case FrameKind::kColumns:
                return {FrameKind::kFacts, columns()};
            case FrameKind::kEvict:
                return {FrameKind::kFacts,
                        join_fields(std::array{std::to_string(evict(split_fields(frame.body)))})};
            default:
                return {FrameKind::kDeclined, "a request that is none"};
        }
    } catch (const Abandoned&) {
        return {FrameKind::kDeclined, "nobody waits"};
    } catch (const exec::SqlFault& fault) {
        return declined(fault, true);
    } catch (const exec::Unrepresentable& fault) {
        return declined(fault, true);
    } catch (const std::exception& error) {
        // Of the device, of a file, of the system: another time it may go well.
        return declined(error, false);
    }
}

Service::Answer Service::declined(const std::exception& error, bool for_good) {
    // A compiler says much; those who ask are shown where it begins.
    const std::string_view problem = error.what();
    if (problem.find('\n') != problem.npos) fmt::print(stderr, "loom-gpud: {}\n", problem);
    return {FrameKind::kDeclined, std::string(problem.substr(0, problem.find('\n'))), for_good};
}

Service::Answer Service::run(const RunRequest& request, RunWatch& watch,
                             std::optional<size_t> unit) {
    if (request.prepared) {
        const std::scoped_lock lock(mutex_);
        const auto known = hopeless_.find(encode_unprepared(request));
        if (known != hopeless_.end()) return {FrameKind::kDeclined, known->second, true};
    }
    for (int tries = 1;; ++tries) {
        try {
            return run_once(request, watch, unit);
        } catch (const DeviceError& error) {
            if (error.kind() == DeviceError::Kind::kLost) lost_ = true;
            if (error.kind() != DeviceError::Kind::kMemory || tries == kMemoryTries ||
                drop_columns() == 0)
                throw;
        }
    }
}

// Some of what nobody uses on any device; returns how many bytes.
uint64_t Service::drop_columns() {
    uint64_t sum = 0;
    for (const auto& unit : units_)
        sum += unit->columns.drop(unit->columns.bytes() / kMemoryTries + 1);
    return sum;
}

uint64_t Service::evict(const std::vector<std::string>& paths) {
    uint64_t sum = 0;
    for (const auto& unit : units_) sum += unit->columns.drop_files(paths);
    return sum;
}

// The device that has most of the files' columns; of those that have as many, the one with the
// least to do.
size_t Service::unit_of(const exec::Inputs& inputs) const {
    size_t best = 0;
    uint64_t most = 0;
    for (size_t u = 0; u < units_.size(); ++u) {
        uint64_t held = 0;
        for (const exec::TableSource& table : inputs.tables)
            held += units_[u]->columns.bytes_of(table);
        if (u > 0 && (held < most ||
                      (held == most && units_[u]->turns.busy() >= units_[best]->turns.busy())))
            continue;
        best = u;
        most = held;
    }
    return best;
}

// The same for a run. What has to wait while another device is idle is also made ready there.
size_t Service::unit_for(const RunRequest& request, const exec::Inputs& inputs) {
    const size_t best = unit_of(inputs);
    if (!units_[best]->turns.is_full()) return best;
    for (size_t u = 0; u < units_.size(); ++u)
        if (units_[u]->turns.busy() == 0) {
            prepare_later(request, u);
            break;
        }
    return best;
}

// What all devices are asked with, the one of that number first.
std::vector<DeviceContext> Service::contexts(size_t first, RunWatch& watch,
                                             std::vector<uint32_t>& duplicates) {
    std::vector<DeviceContext> all;
    for (size_t i = 0; i < units_.size(); ++i) {
        const size_t number = (first + i) % units_.size();
        Unit& unit = *units_[number];
        DeviceContext& context =
            all.emplace_back(DeviceContext{unit.device, unit.modules, unit.columns});
        context.watch = &watch;
        context.pool = &unit.device;
        context.texts = &texts_;
        context.spread_bytes = spread_bytes_;
        context.number = number;
        context.turns = &unit.turns;
        context.duplicates = &duplicates;
    }
    return all;
}

// Says what would come of a request, and does nothing for it.
Service::Answer Service::ask(const RunRequest& request, RunWatch& watch) {
    const plan::Operator aggregate = plan::deserialise(base::as_bytes(request.plan));
    const exec::Inputs inputs = inputs_of(request);
    check_scans(aggregate, inputs.tables);
    std::vector<uint32_t> duplicates = duplicates_of(request.plan);
    std::vector<DeviceContext> devices = contexts(unit_of(inputs), watch, duplicates);
    for (DeviceContext& device : devices) {
        device.only_prepared = device.only_asked = true;
        device.tuning = &tuning_;
    }
    try {
        run_aggregate(devices, aggregate, inputs);
        return {FrameKind::kFacts, join_fields({})};
    } catch (const NotInKernels& refusal) {
        return {FrameKind::kDeclined, refusal.reason, true};
    } catch (const NotPrepared& missing) {
        return {FrameKind::kFacts, join_fields({&missing.reason, 1})};
    }
}

Service::Answer Service::run_once(const RunRequest& request, RunWatch& watch,
                                  std::optional<size_t> wanted_unit) {
    const plan::Operator aggregate = plan::deserialise(base::as_bytes(request.plan));
    const exec::Inputs inputs = inputs_of(request);
    check_scans(aggregate, inputs.tables);
    std::vector<uint32_t> duplicates = duplicates_of(request.plan);
    const size_t unit = wanted_unit ? *wanted_unit : unit_for(request, inputs);
    std::vector<DeviceContext> devices = contexts(unit, watch, duplicates);
    for (DeviceContext& device : devices) {
        device.only_prepared = request.prepared;
        device.tuning = &tuning_;
    }
    try {
        RunTimes times;
        times.wants_kernels = tune_;
        times.wants_texts = false;
        const std::unique_ptr<DeviceRows> rows = run_aggregate(devices, aggregate, inputs, &times);
        if (std::any_of(duplicates.begin(), duplicates.end(),
                        [](uint32_t builds) { return builds != 0; })) {
            const std::scoped_lock lock(mutex_);
            if (duplicates_.size() >= kMostDuplicates) duplicates_.clear();
            duplicates_[request.plan] = std::move(duplicates);
        }
        if (tune_ && !times.kernels.empty() && times.parts == 1 &&
            tuning_.note(times.shape, times.kernels.back().milliseconds)) {
            const std::scoped_lock lock(mutex_);
            if (trials_.size() < kMostTrials)
                trials_.push_back({encode_unprepared(request), unit, Trial()});
            changed_.notify_all();
        }
        std::string body = encode_rows(*rows, aggregate.output);
        body.append(reinterpret_cast<const char*>(&times.device), sizeof times.device);
        return {FrameKind::kRows, std::move(body)};
    } catch (const NotInKernels& refusal) {
        return {FrameKind::kDeclined, refusal.reason, true};
    } catch (const NotPrepared& missing) {
        prepare_later(request, unit);
        return {FrameKind::kDeclined, missing.reason};
    }
}

exec::Inputs Service::inputs_of(const RunRequest& request) {
    exec::Inputs inputs;
    inputs.parameters = request.parameters;
    for (const std::vector<RequestFile>& files : request.tables)
        inputs.tables.push_back(open(files));
    return inputs;
}

std::vector<uint32_t> Service::duplicates_of(const std::string& plan) {
    const std::scoped_lock lock(mutex_);
    const auto known = duplicates_.find(plan);
    return known != duplicates_.end() ? known->second : std::vector<uint32_t>();
}

exec::TableSource Service::open(const std::vector<RequestFile>& files) {
    exec::TableSource source;
    for (const RequestFile& file : files) {
        exec::ScanFile& opened = source.files.emplace_back();
        opened.reader = open(file);
        opened.columns = file.columns;
        const auto fields = static_cast<int64_t>(opened.reader->schema().fields.size());
        for (const exec::ScanFile::Column& column : opened.columns)
            if (column.field >= fields)
                base::corrupt("a request names field {} of {}", column.field, fields);
    }
    return source;
}

std::shared_ptr<format::TableReader> Service::open(const RequestFile& file) {
    {
        const std::scoped_lock lock(mutex_);
        const auto found = readers_.find(file.path);
        if (found != readers_.end() && found->second->file().identity().same_content(file.identity))
            return found->second;
    }
    std::shared_ptr<io::File> opened = io::open_local_file(file.path);
    if (!opened->identity().same_content(file.identity))
        base::raise(base::ErrorKind::kChanged, "file \"{}\" is another one by now", file.path);
    std::shared_ptr<format::TableReader> reader = format::open_table(std::move(opened), {});
    const std::scoped_lock lock(mutex_);
    if (readers_.size() >= kMostReaders) readers_.clear();
    readers_[file.path] = reader;
    return reader;
}

void Service::prepare_later(const RunRequest& request, size_t unit) {
    Coming coming{encode_unprepared(request), unit};
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= kMostWaiting || !coming_.insert(coming).second) return;
    waiting_.push_back(std::move(coming));
    changed_.notify_all();
}

// Does what can be done for requests to come.
void Service::prepare_in_turn(const std::stop_token& stop) {
    for (;;) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [&] { return !waiting_.empty() || !trials_.empty(); }))
            return;
        if (waiting_.empty()) {
            lock.unlock();
            try_another(stop);
            continue;
        }
        const Coming coming = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        prepare(coming);
    }
}

// Runs what was asked for before its columns and kernels were there.
void Service::prepare(const Coming& coming) {
    const Frame frame{FrameKind::kRun, coming.request};
    Answer made = [&] {
        Working working(*this, nullptr);
        return answer(frame, working.watch, coming.unit);
    }();
    const std::scoped_lock lock(mutex_);
    coming_.erase(coming);
    if (made.kind != FrameKind::kDeclined || !made.for_good) return;
    if (hopeless_.size() >= kMostHopeless) hopeless_.clear();
    hopeless_.insert_or_assign(frame.body, std::move(made.body));
}

// Tries one more way to write a kernel. What goes wrong ends the trial: nobody waits for it.
void Service::try_another(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    Tried tried = std::move(trials_.front());
    trials_.pop_front();
    lock.unlock();
    bool more = false;
    try {
        const RunRequest request = decode_request(base::as_bytes(tried.request));
        const plan::Operator aggregate = plan::deserialise(base::as_bytes(request.plan));
        const exec::Inputs inputs = inputs_of(request);
        Working working(*this, nullptr);
        std::vector<uint32_t> duplicates = duplicates_of(request.plan);
        const DeviceContext context = contexts(tried.unit, working.watch, duplicates)[0];
        more = tried.trial.step(context, aggregate, inputs, tuning_);
    } catch (const DeviceError& error) {
        if (error.kind() == DeviceError::Kind::kLost) lost_ = true;
    } catch (...) {
        more = false;
    }
    if (!more || stop.stop_requested()) return;
    lock.lock();
    trials_.push_front(std::move(tried));
}

void Service::beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, stop, kBeat, [&] { return stop.stop_requested(); }))
        for (Working* working : working_) {
            for (const std::atomic<Clock::rep>& since : working->watch.launched) {
                const Clock::time_point launched{Clock::duration(since.load())};
                if (launched != Clock::time_point() && Clock::now() - launched > longest_run_)
                    lost_ = true;
            }
            if (working->channel == nullptr) continue;
            if (working->channel->write(FrameKind::kWorking, {}, milliseconds(0)) &&
                !working->channel->is_closed())
                continue;
            working->channel->shut();
            working->watch.abandoned = true;
        }
}

std::string Service::columns() const {
    std::string all;
    for (size_t u = 0; u < units_.size(); ++u)
        for (const ColumnStore::Held& held : units_[u]->columns.list())
            all += join_fields(std::array<std::string, kColumnFacts>{
                std::to_string(u), held.path, held.field, held.type, held.encoding,
                std::to_string(held.rows), std::to_string(held.bytes), std::to_string(held.uses),
                fmt::format("{:.3f}", held.idle), held.in_use ? "true" : "false"});
    return all;
}

std::string Service::facts() {
    std::string all;
    for (size_t u = 0; u < units_.size(); ++u) {
        Unit& unit = *units_[u];
        const DeviceFacts& facts = unit.device.facts();
        const MemoryState memory = unit.device.memory();
        all += join_fields(std::array<std::string, kDeviceFacts>{
            std::to_string(u), facts.name, facts.architecture, std::to_string(memory.total),
            std::to_string(memory.free), std::to_string(unit.columns.bytes())});
    }
    return all;
}

}  // namespace loom::gpu
