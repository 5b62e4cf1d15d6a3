// Scans shared by several processes: one counter of row groups, the leader's versions of the files.

#include <new>

#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"

extern "C" {
#include "access/parallel.h"
#include "port/atomics.h"
#include "storage/shm_toc.h"
}

namespace loom::pg {

/// In shared memory: this header, SharedVersion per file, counters per column, file and qual, then
/// the serialised file list.
struct ParallelScan {
    MorselCounter counter;
    uint64_t files;
    uint64_t columns;
    uint64_t quals;
    uint64_t list_bytes;
    std::atomic<int64_t> totals[sizeof(ScanCounters) / sizeof(int64_t)];

    FileScan::SharedVersion* versions() {
        return reinterpret_cast<FileScan::SharedVersion*>(this + 1);
    }
    std::atomic<int64_t>* column_bytes() {
        return reinterpret_cast<std::atomic<int64_t>*>(versions() + files);
    }
    std::atomic<int64_t>* file_bytes() { return column_bytes() + columns; }
    std::atomic<int64_t>* excluded_by() { return file_bytes() + files; }
    char* list() { return reinterpret_cast<char*>(excluded_by() + quals); }
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(ScanCounters) == 10 * sizeof(int64_t), "totals are copied member by member");

namespace {

ScanState* state_of(ForeignScanState* node) {
    return static_cast<ScanState*>(node->fdw_state);
}

Size size_of(ScanState* state, size_t list_bytes) {
    const size_t files = state->scan->files().size();
    return sizeof(ParallelScan) + files * sizeof(FileScan::SharedVersion) +
           sizeof(int64_t) *
               (state->scan->referenced().size() + files + state->scan->quals().size()) +
           list_bytes;
}

}  // namespace

Size estimate_dsm(ForeignScanState* node, ParallelContext*) {
    return pg_entry([node] {
        ScanState* state = state_of(node);
        return size_of(state, serialise(state->scan->files()).size());
    });
}

void initialize_dsm(ForeignScanState* node, ParallelContext*, void* coordinate) {
    pg_entry([=] {
        ScanState* state = state_of(node);
        FileScan& scan = *state->scan;
        scan.restart(evaluate_values(node, false));
        state->started = true;
        scan.open_all();
        const std::string list = serialise(scan.files());
        const std::vector<FileScan::SharedVersion> versions = scan.shared_versions();
        memset(coordinate, 0, size_of(state, list.size()));
        auto* shared = new (coordinate) ParallelScan;
        shared->counter.store(0);
        shared->files = versions.size();
        shared->columns = scan.referenced().size();
        shared->quals = scan.quals().size();
        shared->list_bytes = list.size();
        std::copy(versions.begin(), versions.end(), shared->versions());
        memcpy(shared->list(), list.data(), list.size());
        scan.use_counter(&shared->counter);
        state->parallel = shared;
    });
}

void reinitialize_dsm(ForeignScanState* node, ParallelContext*, void* coordinate) {
    auto* shared = static_cast<ParallelScan*>(coordinate);
    shared->counter.store(0);
    state_of(node)->scan->use_counter(&shared->counter);
    state_of(node)->parallel = shared;
}

void initialize_worker(ForeignScanState* node, shm_toc*, void* coordinate) {
    pg_entry([=] {
        ScanState* state = state_of(node);
        auto* shared = static_cast<ParallelScan*>(coordinate);
        state->scan->set_files(deserialise_files(shared->list(), shared->list_bytes));
        state->scan->set_shared_versions({shared->versions(), shared->versions() + shared->files});
        state->scan->use_counter(&shared->counter);
        state->parallel = shared;
    });
}

namespace {

void add_all(std::atomic<int64_t>* to, const std::vector<int64_t>& from) {
    for (size_t i = 0; i < from.size(); ++i) to[i].fetch_add(from[i]);
}

}  // namespace

void shutdown_scan(ForeignScanState* node) {
    ScanState* state = state_of(node);
    if (state == nullptr || state->parallel == nullptr) return;
    ParallelScan* shared = state->parallel;
    if (!IsParallelWorker()) {
        // The shared memory goes away now: keep what workers counted.
        pg_entry([=] {
            auto* copy = pg_call([&] {
                const Size size =
                    reinterpret_cast<char*>(shared->list()) - reinterpret_cast<char*>(shared);
                auto* memory = MemoryContextAlloc(node->ss.ps.state->es_query_cxt, size);
                memcpy(memory, static_cast<void*>(shared), size);
                return static_cast<ParallelScan*>(memory);
            });
            state->scan->use_counter(&copy->counter);
            state->parallel = copy;
        });
        return;
    }
    const auto* counters = reinterpret_cast<const int64_t*>(&state->scan->counters());
    for (size_t i = 0; i < std::size(shared->totals); ++i) shared->totals[i].fetch_add(counters[i]);
    add_all(shared->column_bytes(), state->scan->column_bytes());
    add_all(shared->file_bytes(), state->scan->file_bytes());
    add_all(shared->excluded_by(), state->scan->excluded_by());
    state->parallel = nullptr;
}

void collect_worker_counters(ScanState* state, ScanCounters* counters,
                             std::vector<int64_t>* column_bytes, std::vector<int64_t>* file_bytes,
                             std::vector<int64_t>* excluded_by) {
    if (state->parallel == nullptr) return;
    ParallelScan* shared = state->parallel;
    const int64_t files = counters->files;
    auto* totals = reinterpret_cast<int64_t*>(counters);
    for (size_t i = 0; i < std::size(shared->totals); ++i) totals[i] += shared->totals[i].load();
    counters->files = files;
    for (size_t i = 0; i < column_bytes->size(); ++i)
        (*column_bytes)[i] += shared->column_bytes()[i].load();
    for (size_t i = 0; i < file_bytes->size(); ++i)
        (*file_bytes)[i] += shared->file_bytes()[i].load();
    for (size_t i = 0; i < excluded_by->size(); ++i)
        (*excluded_by)[i] += shared->excluded_by()[i].load();
    // A file that several processes read is one file.
    counters->files_read = 0;
    for (int64_t bytes : *file_bytes) counters->files_read += bytes > 0 ? 1 : 0;
}

}  // namespace loom::pg
