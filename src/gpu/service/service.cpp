#include "gpu/service/service.h"

#include <cstdio>

#include <fmt/core.h>

#include "gpu/codegen/expression_text.h"
#include "plan/serialise.h"

namespace loom::gpu {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{5000};
constexpr milliseconds kForever{std::chrono::hours(24 * 365)};
// Those who wait hear so often that the process lives, and for so long at most: a device that has
// not answered by then never will.
constexpr milliseconds kBeat{300};
constexpr std::chrono::seconds kLongestRun{120};
constexpr size_t kMostReaders = 1000;
constexpr size_t kMostWaiting = 64;

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

// A connection whose request runs.
struct Service::Working {
    Channel* channel = nullptr;
    Clock::time_point since;
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
    : device_(device),
      modules_(device, compiler, {.folder = options.cache}),
      columns_(device, options.threads),
      free_runs_(options.concurrent) {
    preparing_ = std::jthread([this](const std::stop_token& stop) { prepare_in_turn(stop); });
    beating_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

Service::~Service() = default;

void Service::serve(int descriptor) {
    Channel channel(descriptor);
    Frame frame;
    while (channel.read(frame, kForever, [] {}) == Channel::Got::kFrame) {
        Working working{&channel, Clock::now()};
        std::unique_lock lock(mutex_);
        const auto place = working_.insert(working_.end(), &working);
        lock.unlock();
        const Answer made = answer(frame);
        lock.lock();
        working_.erase(place);
        lock.unlock();
        if (!channel.write(made.kind, made.body, kPatience)) return;
    }
}

Service::Answer Service::answer(const Frame& frame) {
    try {
        switch (frame.kind) {
            case FrameKind::kRun:
                return run(decode_request(base::as_bytes(frame.body)));
            case FrameKind::kInfo:
                return {FrameKind::kFacts, facts()};
            default:
                return {FrameKind::kDeclined, "a request that is none"};
        }
    } catch (const std::exception& error) {
        // A compiler says much; those who ask are shown where it begins.
        const std::string_view problem = error.what();
        if (problem.find('\n') != problem.npos) fmt::print(stderr, "loom-gpud: {}\n", problem);
        return {FrameKind::kDeclined, std::string(problem.substr(0, problem.find('\n')))};
    }
}

Service::Answer Service::run(const RunRequest& request) {
    const plan::Operator aggregate = plan::deserialise(base::as_bytes(request.plan));
    exec::Inputs inputs;
    inputs.parameters = request.parameters;
    for (const std::vector<RequestFile>& files : request.tables)
        inputs.tables.push_back(open(files));
    check_scans(aggregate, inputs.tables);
    const Turn turn(*this);
    DeviceContext context{device_, modules_, columns_};
    context.only_prepared = request.prepared;
    try {
        const std::unique_ptr<DeviceRows> rows = run_aggregate(context, aggregate, inputs);
        return {FrameKind::kRows, encode_rows(*rows, aggregate.output)};
    } catch (const NotInKernels& refusal) {
        return {FrameKind::kDeclined, refusal.reason};
    } catch (const NotPrepared& missing) {
        prepare_later(request);
        return {FrameKind::kDeclined, missing.reason};
    } catch (const DeviceError& error) {
        if (error.kind() == DeviceError::Kind::kLost) lost_ = true;
        throw;
    }
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

void Service::prepare_later(RunRequest request) {
    request.prepared = false;
    std::string bytes = encode(request);
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= kMostWaiting || !coming_.insert(bytes).second) return;
    waiting_.push_back(std::move(bytes));
    changed_.notify_all();
}

// Runs what was asked for before its columns and kernels were there.
void Service::prepare_in_turn(const std::stop_token& stop) {
    for (;;) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) return;
        const Frame frame{FrameKind::kRun, std::move(waiting_.front())};
        waiting_.pop_front();
        lock.unlock();
        answer(frame);
        lock.lock();
        coming_.erase(frame.body);
    }
}

void Service::beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, stop, kBeat, [&] { return stop.stop_requested(); }))
        for (Working* working : working_)
            if (Clock::now() - working->since < kLongestRun &&
                !working->channel->write(FrameKind::kWorking, {}, milliseconds(0)))
                working->channel->shut();
}

std::string Service::facts() {
    const DeviceFacts& facts = device_.facts();
    const MemoryState memory = device_.memory();
    return fmt::format("{}\t{}\t{}\t{}\t{}\n", facts.name, facts.architecture, memory.total,
                       memory.free, columns_.bytes());
}

}  // namespace loom::gpu
