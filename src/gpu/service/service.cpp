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

// One of the runs that may go on at once.
class Service::Turn {
  public:
    explicit Turn(Service& service) : service_(service) {
        std::unique_lock lock(service.mutex_);
        service.changed_.wait(lock, [&] { return service.free_runs_ > 0; });
        --service.free_runs_;
    }
    ~Turn() {
        const std::scoped_lock lock(service_.mutex_);
        ++service_.free_runs_;
        service_.changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    Service& service_;
};

Service::Service(Device& device, Compiler& compiler, const ServiceOptions& options)
    // Of what columns leave half may stay with runs that have ended.
    : device_(device, {.idle_bytes = free_share(device, (1 - options.column_share) / 2)}),
      modules_(device_, compiler, {.folder = options.cache}),
      columns_(device_, options.threads, free_share(device_, options.column_share), &modules_),
      tune_(options.tune),
      longest_run_(options.longest_run),
      free_runs_(options.concurrent) {
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

Service::Answer Service::answer(const Frame& frame, RunWatch& watch) {
    try {
        switch (frame.kind) {
            case FrameKind::kRun:
                return run(decode_request(base::as_bytes(frame.body)), watch);
            case FrameKind::kInfo:
                return {FrameKind::kFacts, facts()};
            case FrameKind::kColumns:
                return {FrameKind::kFacts, columns()};
            case FrameKind::kEvict:
                return {FrameKind::kFacts, join_fields(std::array{std::to_string(
                                               columns_.drop_files(split_fields(frame.body)))})};
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

Service::Answer Service::run(const RunRequest& request, RunWatch& watch) {
    if (request.prepared) {
        const std::scoped_lock lock(mutex_);
        const auto known = hopeless_.find(encode_unprepared(request));
        if (known != hopeless_.end()) return {FrameKind::kDeclined, known->second, true};
    }
    for (int tries = 1;; ++tries) {
        try {
            return run_once(request, watch);
        } catch (const DeviceError& error) {
            if (error.kind() == DeviceError::Kind::kLost) lost_ = true;
            if (error.kind() != DeviceError::Kind::kMemory || tries == kMemoryTries ||
                columns_.drop(columns_.bytes() / kMemoryTries + 1) == 0)
                throw;
        }
    }
}

Service::Answer Service::run_once(const RunRequest& request, RunWatch& watch) {
    const plan::Operator aggregate = plan::deserialise(base::as_bytes(request.plan));
    const exec::Inputs inputs = inputs_of(request);
    check_scans(aggregate, inputs.tables);
    const Turn turn(*this);
    DeviceContext context{device_, modules_, columns_};
    context.only_prepared = request.prepared;
    context.watch = &watch;
    context.pool = &device_;
    context.texts = &texts_;
    context.tuning = &tuning_;
    std::vector<uint32_t> duplicates = duplicates_of(request.plan);
    context.duplicates = &duplicates;
    try {
        RunTimes times;
        times.wants_kernels = tune_;
        times.wants_texts = false;
        const std::unique_ptr<DeviceRows> rows = run_aggregate(context, aggregate, inputs, &times);
        if (std::any_of(duplicates.begin(), duplicates.end(),
                        [](uint32_t builds) { return builds != 0; })) {
            const std::scoped_lock lock(mutex_);
            if (duplicates_.size() >= kMostDuplicates) duplicates_.clear();
            duplicates_[request.plan] = std::move(duplicates);
        }
        if (tune_ && !times.kernels.empty() &&
            tuning_.note(times.shape, times.kernels.back().milliseconds)) {
            const std::scoped_lock lock(mutex_);
            if (trials_.size() < kMostTrials)
                trials_.emplace_back(encode_unprepared(request), Trial());
            changed_.notify_all();
        }
        std::string body = encode_rows(*rows, aggregate.output);
        body.append(reinterpret_cast<const char*>(&times.device), sizeof times.device);
        return {FrameKind::kRows, std::move(body)};
    } catch (const NotInKernels& refusal) {
        return {FrameKind::kDeclined, refusal.reason, true};
    } catch (const NotPrepared& missing) {
        prepare_later(request);
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

void Service::prepare_later(const RunRequest& request) {
    std::string bytes = encode_unprepared(request);
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= kMostWaiting || !coming_.insert(bytes).second) return;
    waiting_.push_back(std::move(bytes));
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
        std::string request = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        prepare(std::move(request));
    }
}

// Runs what was asked for before its columns and kernels were there.
void Service::prepare(std::string request) {
    const Frame frame{FrameKind::kRun, std::move(request)};
    Answer made = [&] {
        Working working(*this, nullptr);
        return answer(frame, working.watch);
    }();
    const std::scoped_lock lock(mutex_);
    coming_.erase(frame.body);
    if (made.kind != FrameKind::kDeclined || !made.for_good) return;
    if (hopeless_.size() >= kMostHopeless) hopeless_.clear();
    hopeless_.insert_or_assign(frame.body, std::move(made.body));
}

// Tries one more way to write a kernel. What goes wrong ends the trial: nobody waits for it.
void Service::try_another(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    auto [bytes, trial] = std::move(trials_.front());
    trials_.pop_front();
    lock.unlock();
    bool more = false;
    try {
        const RunRequest request = decode_request(base::as_bytes(bytes));
        const plan::Operator aggregate = plan::deserialise(base::as_bytes(request.plan));
        const exec::Inputs inputs = inputs_of(request);
        Working working(*this, nullptr);
        DeviceContext context{device_, modules_, columns_};
        context.watch = &working.watch;
        context.pool = &device_;
        context.texts = &texts_;
        std::vector<uint32_t> duplicates = duplicates_of(request.plan);
        context.duplicates = &duplicates;
        const Turn turn(*this);
        more = trial.step(context, aggregate, inputs, tuning_);
    } catch (const DeviceError& error) {
        if (error.kind() == DeviceError::Kind::kLost) lost_ = true;
    } catch (...) {
        more = false;
    }
    if (!more || stop.stop_requested()) return;
    lock.lock();
    trials_.emplace_front(std::move(bytes), std::move(trial));
}

void Service::beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, stop, kBeat, [&] { return stop.stop_requested(); }))
        for (Working* working : working_) {
            const Clock::time_point launched{Clock::duration(working->watch.launched.load())};
            if (launched != Clock::time_point() && Clock::now() - launched > longest_run_)
                lost_ = true;
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
    for (const ColumnStore::Held& held : columns_.list())
        all += join_fields(std::array<std::string, kColumnFacts>{
            held.path, held.field, held.type, held.encoding, std::to_string(held.rows),
            std::to_string(held.bytes), std::to_string(held.uses), fmt::format("{:.3f}", held.idle),
            held.in_use ? "true" : "false"});
    return all;
}

std::string Service::facts() {
    const DeviceFacts& facts = device_.facts();
    const MemoryState memory = device_.memory();
    return join_fields(std::array<std::string, kDeviceFacts>{
        facts.name, facts.architecture, std::to_string(memory.total), std::to_string(memory.free),
        std::to_string(columns_.bytes())});
}

}  // namespace loom::gpu
