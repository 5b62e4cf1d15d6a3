#include "io/mapped_region.h"

#include <csignal>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

namespace loom::io {

namespace {

// The handler may run at any moment in any thread, so the table holds plain atomics: a slot is live
// when `begin` is not 0, and `end` is written before `begin`.
struct Slot {
    std::atomic<uintptr_t> begin{0};
    std::atomic<uintptr_t> end{0};
    std::atomic<bool> damaged{false};
};

Slot g_slots[MappedRegion::kMaxRegions];
std::atomic<int> g_slots_used{0};  // no slot at or above this index was ever live
std::mutex g_mutex;                // guards claiming of slots and installation, not the handler
struct sigaction g_previous;
bool g_installed = false;
uintptr_t g_page_size = 4096;

bool patch(uintptr_t address) noexcept {
    const int used = g_slots_used.load(std::memory_order_acquire);
    for (int i = 0; i < used; ++i) {
        Slot& slot = g_slots[i];
        const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
        if (begin == 0 || address < begin || address >= slot.end.load(std::memory_order_relaxed))
            continue;
        void* page = reinterpret_cast<void*>(address & ~(g_page_size - 1));
        if (mmap(page, g_page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
            MAP_FAILED)
            return false;
        slot.damaged.store(true, std::memory_order_release);
        return true;
    }
    return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
    if (info != nullptr && patch(reinterpret_cast<uintptr_t>(info->si_addr))) return;
    if ((g_previous.sa_flags & SA_SIGINFO) != 0 && g_previous.sa_sigaction != nullptr) {
        g_previous.sa_sigaction(signal, info, context);
    } else if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
        g_previous.sa_handler(signal);
    } else {
        // Not ours and nobody else's: die as the process would have without us.
        std::signal(signal, SIG_DFL);
        raise(signal);
    }
}

void install() noexcept {
    if (g_installed) return;
    g_page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    g_installed = sigaction(SIGBUS, &action, &g_previous) == 0;
}

}  // namespace

bool MappedRegion::map(int descriptor, size_t size) noexcept {
    unmap();
    if (size == 0) return false;
    std::lock_guard<std::mutex> lock(g_mutex);
    install();
    if (!g_installed) return false;
    int free_slot = -1;
    const int used = g_slots_used.load(std::memory_order_relaxed);
    for (int i = 0; i < used && free_slot < 0; ++i)
        if (g_slots[i].begin.load(std::memory_order_relaxed) == 0) free_slot = i;
    if (free_slot < 0 && used < kMaxRegions) free_slot = used;
    if (free_slot < 0) return false;
    void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return false;
    Slot& slot = g_slots[free_slot];
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    slot.damaged.store(false, std::memory_order_relaxed);
    slot.end.store((begin + size + g_page_size - 1) & ~(g_page_size - 1),
                   std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_release);
    if (free_slot == used) g_slots_used.store(used + 1, std::memory_order_release);
    data_ = static_cast<const uint8_t*>(memory);
    size_ = size;
    slot_ = free_slot;
    return true;
}

void MappedRegion::unmap() noexcept {
    if (slot_ < 0) return;
    munmap(const_cast<uint8_t*>(data_), size_);
    g_slots[slot_].begin.store(0, std::memory_order_release);
    data_ = nullptr;
    size_ = 0;
    slot_ = -1;
}

bool MappedRegion::damaged() const noexcept {
    return slot_ >= 0 && g_slots[slot_].damaged.load(std::memory_order_acquire);
}

}  // namespace loom::io
