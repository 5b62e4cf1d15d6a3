#include "gpu/driver/fibers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include <boost/context/detail/fcontext.hpp>

#include "gpu/driver/sanitizers.h"

#if LOOM_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if LOOM_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace loom::gpu {

namespace context = boost::context::detail;

namespace {

// Frames of instrumented code are several times as large.
#if LOOM_ADDRESS_SANITIZER || LOOM_THREAD_SANITIZER
constexpr size_t kStackBytes = 256 * 1024;
#else
constexpr size_t kStackBytes = 64 * 1024;
#endif
constexpr size_t kStacksAtOnce = 64;

// ThreadSanitizer counts calls; these do not return when a fiber ends.
#if LOOM_THREAD_SANITIZER
#define LOOM_NO_CALL __attribute__((no_sanitize("thread")))
#else
#define LOOM_NO_CALL
#endif

}  // namespace

// Called on a stack for the first time, and when a jump comes back to it.
struct Fibers::Entry {
    // Notes where the fiber that came here goes on, and on which stack it stands: the caller's is
    // not known otherwise.
    static void arrive(Fiber& self, context::transfer_t transfer) {
        auto& previous = *static_cast<Fiber*>(transfer.data);
        previous.context = transfer.fctx;
#if LOOM_ADDRESS_SANITIZER
        const void* stack = nullptr;
        __sanitizer_finish_switch_fiber(self.fake_stack, &stack, &previous.stack_bytes);
        previous.stack = static_cast<uint8_t*>(const_cast<void*>(stack));
#endif
    }

    LOOM_NO_CALL static void begin(context::transfer_t transfer) noexcept {
        Fibers& all = *static_cast<Fiber*>(transfer.data)->owner;
        Fiber& self = *all.going_to_;
        arrive(self, transfer);
        const int next = all.body_(all.argument_, self.index);
        all.jump(self, all.at(next), true);
        std::abort();  // nobody goes to a fiber that has ended
    }
};

Fibers::~Fibers() {
    for (Fiber& fiber : fibers_) {
        fiber.ended = false;  // none is used again
        forget(fiber);
    }
    for (const Region& region : regions_) munmap(region.begin, region.bytes);
}

// Stacks lie in one region, each above a page that nobody may touch.
void Fibers::add_stacks(size_t count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t each = page + kStackBytes;
    void* begin = mmap(nullptr, count * each, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    regions_.push_back({begin, count * each});
    for (size_t i = 0; i < count; ++i) {
        uint8_t* guard = static_cast<uint8_t*>(begin) + i * each;
        if (mprotect(guard, page, PROT_NONE) != 0) throw std::bad_alloc();
        Fiber fiber;
        fiber.stack = guard + page;
        fiber.stack_bytes = kStackBytes;
        fiber.owner = this;
        fiber.index = static_cast<int>(fibers_.size());
        fibers_.push_back(fiber);
    }
}

// What sanitizers know of frames that will not return.
void Fibers::forget([[maybe_unused]] Fiber& fiber) {
#if LOOM_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(fiber.stack, fiber.stack_bytes);
    fiber.fake_stack = nullptr;
#endif
#if LOOM_THREAD_SANITIZER
    // To make one takes some 100 us, so the one of a fiber that has ended is used again.
    if (fiber.sanitizer != nullptr && !fiber.ended) __tsan_destroy_fiber(fiber.sanitizer);
    if (!fiber.ended) fiber.sanitizer = nullptr;
#endif
}

void Fibers::prepare(int count, Body body, void* argument) {
    const auto wanted = static_cast<size_t>(count);
    while (fibers_.size() < wanted) add_stacks(kStacksAtOnce);
    body_ = body;
    argument_ = argument;
    caller_.owner = this;
    for (size_t i = 0; i < wanted; ++i) {
        Fiber& fiber = fibers_[i];
        forget(fiber);
#if LOOM_THREAD_SANITIZER
        if (fiber.sanitizer == nullptr) fiber.sanitizer = __tsan_create_fiber(0);
#endif
        fiber.ended = false;
        fiber.context = context::make_fcontext(fiber.stack + fiber.stack_bytes, fiber.stack_bytes,
                                               &Entry::begin);
    }
}

void Fibers::run(int fiber) {
#if LOOM_THREAD_SANITIZER
    caller_.sanitizer = __tsan_get_current_fiber();
#endif
    jump(caller_, at(fiber), false);
}

void Fibers::go(int from, int to) {
    jump(at(from), at(to), false);
}

LOOM_NO_CALL void Fibers::jump(Fiber& from, Fiber& to, bool ends) {
    going_to_ = &to;
    from.ended = ends;
#if LOOM_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(ends ? nullptr : &from.fake_stack, to.stack, to.stack_bytes);
#endif
#if LOOM_THREAD_SANITIZER
    __tsan_switch_to_fiber(to.sanitizer, 0);
#endif
    Entry::arrive(from, context::jump_fcontext(to.context, &from));
}

}  // namespace loom::gpu
