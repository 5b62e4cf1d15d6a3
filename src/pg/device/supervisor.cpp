#include "pg/device/supervisor.h"

#include "pg/compat/backend.h"

#include <algorithm>
#include <csignal>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/service/process.h"
#include "pg/device/device_parts.h"
#include "pg/guc/settings.h"

extern "C" {
#include "libpq/pqsignal.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"
}

extern "C" {
PGDLLEXPORT void loom_gpud_supervisor(Datum arg);
}

namespace loom::pg {

namespace {

constexpr const char* kFolder = "pg_loom";
constexpr const char* kKernels = "pg_loom/kernels";
// Between starts, in milliseconds; twice as long each time that it did not live for a while.
constexpr int kFirstPause = 250;
constexpr int kLongestPause = 30000;
constexpr int kLivedMilliseconds = 10000;
// How often the child is looked at, and how long the worker sleeps if there is to be none.
constexpr int kLook = 200;
constexpr int kSleep = 60000;

pid_t child = 0;

[[noreturn]] void run_child(const char* program, const char* device) {
    // It goes with the worker, which goes with the server.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int descriptor = 3; descriptor < 1024; ++descriptor) ::close(descriptor);
    char socket[MAXPGPATH];
    char kernels[MAXPGPATH];
    char kind[64];
    char copies[64];
    snprintf(socket, sizeof socket, "--socket=%s", kDeviceSocket);
    snprintf(kernels, sizeof kernels, "--cache=%s", kKernels);
    snprintf(kind, sizeof kind, "--device=%s", device);
    snprintf(copies, sizeof copies, "--copies=%d", g_gpu_copies);
    const char* args[] = {"loom-gpud", socket, kind, kernels, copies, nullptr};
    ::execv(program, const_cast<char**>(args));
    ::_exit(127);
}

// Returns whether it is of use to try again if there is no child now.
bool start_child_maylongjmp(const char* device) {
    char program[MAXPGPATH];
    strlcpy(program, my_exec_path, sizeof program);
    get_parent_directory(program);
    strlcat(program, "/loom-gpud", sizeof program);
    if (::access(program, X_OK) != 0) {
        ereport(LOG, (errmsg("pg_loom: there is no program \"%s\": GPUs stay unused", program)));
        return false;
    }
    (void)::mkdir(kFolder, 0700);
    (void)::mkdir(kKernels, 0700);
    const pid_t made = ::fork();
    if (made == 0) run_child(program, device);
    if (made < 0) ereport(LOG, (errmsg("pg_loom: could not start loom-gpud: %m")));
    child = made > 0 ? made : 0;
    return true;
}

void end_child(int, Datum) {
    if (child == 0) return;
    ::kill(child, SIGTERM);
    for (int i = 0; i < 50; ++i) {
        if (::waitpid(child, nullptr, WNOHANG) == child) {
            child = 0;
            return;
        }
        pg_usleep(20000);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    child = 0;
}

const char* wanted_device() {
    switch (g_gpud) {
        case kGpudHost:
            return "host";
        case kGpudAuto:
            return "cuda";
        default:
            return nullptr;
    }
}

void supervise_maylongjmp() {
    int choice = g_gpud;
    int copies = g_gpu_copies;
    bool absent = false;  // until the configuration is read anew
    int pause = kFirstPause;
    TimestampTz started = 0;
    TimestampTz next = 0;
    while (!ShutdownRequestPending) {
        if (ConfigReloadPending) {
            ConfigReloadPending = false;
            ProcessConfigFile(PGC_SIGHUP);
            absent = false;
            if (g_gpud != choice || g_gpu_copies != copies) end_child(0, 0);
            choice = g_gpud;
            copies = g_gpu_copies;
        }
        const char* device = wanted_device();
        int status = 0;
        if (child != 0 && ::waitpid(child, &status, WNOHANG) == child) {
            child = 0;
            const TimestampTz now = GetCurrentTimestamp();
            absent = WIFEXITED(status) && WEXITSTATUS(status) == gpu::kDeviceAbsent;
            pause = TimestampDifferenceExceeds(started, now, kLivedMilliseconds)
                        ? kFirstPause
                        : std::min(2 * pause, kLongestPause);
            next = TimestampTzPlusMilliseconds(now, pause);
            if (!absent)
                ereport(LOG, (errmsg("pg_loom: loom-gpud ended with status %d, starts again in "
                                     "%d ms",
                                     status, pause)));
        }
        if (child == 0 && device != nullptr && !absent && GetCurrentTimestamp() >= next) {
            started = GetCurrentTimestamp();
            next = TimestampTzPlusMilliseconds(started, pause);
            absent = !start_child_maylongjmp(device);
        }
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
                        child != 0 || (device != nullptr && !absent) ? kLook : kSleep,
                        PG_WAIT_EXTENSION);
        ResetLatch(MyLatch);
        CHECK_FOR_INTERRUPTS();
    }
}

}  // namespace

void register_supervisor_maylongjmp() {
    BackgroundWorker worker = {};
    strlcpy(worker.bgw_name, "pg_loom device supervisor", sizeof worker.bgw_name);
    strlcpy(worker.bgw_type, "pg_loom device supervisor", sizeof worker.bgw_type);
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
    worker.bgw_start_time = BgWorkerStart_ConsistentState;
    worker.bgw_restart_time = 5;
    strlcpy(worker.bgw_library_name, "pg_loom", sizeof worker.bgw_library_name);
    strlcpy(worker.bgw_function_name, "loom_gpud_supervisor", sizeof worker.bgw_function_name);
    RegisterBackgroundWorker(&worker);
}

}  // namespace loom::pg

extern "C" {

void loom_gpud_supervisor(Datum) {
    pqsignal(SIGHUP, SignalHandlerForConfigReload);
    pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
    BackgroundWorkerUnblockSignals();
    before_shmem_exit(loom::pg::end_child, 0);
    loom::pg::supervise_maylongjmp();
    proc_exit(0);
}

}  // extern "C"
