#include "gpu/driver/fibers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace loom::gpu {
namespace {

// Fibers that each note their number some times, in turn.
struct Ring {
    Fibers fibers;
    int count = 0;
    int rounds = 0;
    std::vector<int> seen;

    static int turn(void* argument, int fiber) noexcept {
        auto& ring = *static_cast<Ring*>(argument);
        for (int i = 0; i < ring.rounds; ++i) {
            ring.seen.push_back(fiber);
            if (i + 1 < ring.rounds) ring.fibers.go(fiber, (fiber + 1) % ring.count);
        }
        return fiber + 1 < ring.count ? fiber + 1 : Fibers::kCaller;
    }
    void run(int fibers_wanted, int rounds_wanted) {
        count = fibers_wanted;
        rounds = rounds_wanted;
        seen.clear();
        seen.reserve(static_cast<size_t>(count) * static_cast<size_t>(rounds));
        fibers.prepare(count, &turn, this);
        fibers.run(0);
    }
};

TEST(Fibers, TakeTurns) {
    Ring ring;
    for (const int count : {2, 3, 200, 1024, 5}) {
        ring.run(count, 4);
        ASSERT_EQ(ring.seen.size(), static_cast<size_t>(count) * 4);
        for (size_t i = 0; i < ring.seen.size(); ++i)
            ASSERT_EQ(ring.seen[i], static_cast<int>(i) % count);
    }
}

TEST(Fibers, HaveStacksOfTheirOwn) {
    struct Deep {
        Fibers fibers;
        int failures = 0;
        static int turn(void* argument, int fiber) noexcept {
            auto& deep = *static_cast<Deep*>(argument);
            volatile uint8_t room[40'000];
            for (size_t i = 0; i < sizeof room; ++i) room[i] = static_cast<uint8_t>(fiber);
            deep.fibers.go(fiber, fiber == 99 ? 0 : fiber + 1);
            deep.failures +=
                static_cast<int>(std::count_if(room, room + sizeof room, [&](uint8_t byte) {
                    return byte != static_cast<uint8_t>(fiber);
                }));
            return fiber == 99 ? Fibers::kCaller : fiber + 1;
        }
    } deep;
    deep.fibers.prepare(100, &Deep::turn, &deep);
    deep.fibers.run(0);
    EXPECT_EQ(deep.failures, 0);
}

TEST(Fibers, MayBeForgotten) {
    struct Left {
        Fibers fibers;
        int begun = 0;
        static int turn(void* argument, int fiber) noexcept {
            auto& left = *static_cast<Left*>(argument);
            uint8_t room[1000];
            std::fill(std::begin(room), std::end(room), uint8_t{1});
            ++left.begun;
            left.fibers.go(fiber, fiber == 9 ? Fibers::kCaller : fiber + 1);
            return room[fiber];
        }
    } left;
    for (int i = 1; i <= 50; ++i) {
        left.fibers.prepare(10, &Left::turn, &left);
        left.fibers.run(0);
        EXPECT_EQ(left.begun, 10 * i);
    }
}

}  // namespace
}  // namespace loom::gpu
