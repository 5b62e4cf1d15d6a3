#pragma once
// Threads that hand the processor to one another: each has a stack of its own, and only one of them
// runs. Unlike threads of the operating system they cost nothing to switch between (about 20 ns).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loom::gpu {

/// A set of fibers, run by one thread at a time. Which thread that is may change between two calls
/// of prepare().
class Fibers {
  public:
    /// Stands for whoever called run().
    static constexpr int kCaller = -1;
    /// What a fiber does. Returns which fiber goes on once this one has ended, or kCaller. Must not
    /// throw: exceptions cannot leave a stack.
    using Body = int (*)(void* argument, int fiber) noexcept;

    Fibers() = default;
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;
    ~Fibers();

    /// Makes ready fibers 0 to count - 1, on stacks that are kept for the next time. Earlier fibers
    /// that have not ended are forgotten; nothing on their stacks is destroyed, so they may own
    /// nothing. Raises std::bad_alloc if there is no memory for stacks.
    void prepare(int count, Body body, void* argument);
    /// Runs a fiber, and those that it goes to, until one goes to kCaller.
    void run(int fiber);
    /// Called by fiber `from`: runs another, or the caller of run(). Returns when one goes to
    /// `from`.
    void go(int from, int to);

  private:
    struct Fiber {
        void* context = nullptr;  // where it goes on
        uint8_t* stack = nullptr;
        size_t stack_bytes = 0;
        Fibers* owner = nullptr;
        int index = kCaller;
        void* fake_stack = nullptr;  // of AddressSanitizer
        void* sanitizer = nullptr;   // of ThreadSanitizer
        bool ended = false;
    };
    struct Entry;

    Fiber& at(int index) {
        return index == kCaller ? caller_ : fibers_[static_cast<size_t>(index)];
    }
    void add_stacks(size_t count);
    static void forget(Fiber& fiber);
    void jump(Fiber& from, Fiber& to, bool ends);

    Body body_ = nullptr;
    void* argument_ = nullptr;
    Fiber caller_;
    Fiber* going_to_ = nullptr;
    std::vector<Fiber> fibers_;

    struct Region {
        void* begin;
        size_t bytes;
    };
    std::vector<Region> regions_;
};

}  // namespace loom::gpu
