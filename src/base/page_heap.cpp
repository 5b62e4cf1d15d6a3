#include "base/page_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace loom::base {

namespace {

// Under AddressSanitizer each block is one of malloc's, so that it sees what lies outside.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kByMalloc = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kByMalloc = true;
#else
constexpr bool kByMalloc = false;
#endif
#else
constexpr bool kByMalloc = false;
#endif

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kRegion = uint64_t{32} << 20;
constexpr uint64_t kRegionPages = kRegion / kPage;
constexpr uint64_t kPerHuge = kHugePage / kPage;
constexpr uint64_t kHugePages = kRegion / kHugePage;
// Larger blocks have mappings of their own.
constexpr uint64_t kMaxShared = kRegion / 4;
// Blocks begin at different cache lines of a page. Otherwise lines at one offset of many blocks, as
// when rows are scattered, would compete for one set of the caches.
constexpr uint64_t kLine = 64;
constexpr uint64_t kColours = 61;

uint64_t round_up(uint64_t bytes, uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

uint64_t pages_of(uint64_t bytes) {
    return round_up(bytes + kColours * kLine, kPage) / kPage;
}

// Mappings come in eighths of a power of two, so that an unused one fits the next block that is
// about as large.
uint64_t large_bytes(uint64_t bytes) {
    return round_up(bytes, std::max(kHugePage, std::bit_floor(bytes) / 8));
}

// Returns zeroed memory that begins at a huge page, or null.
uint8_t* map_huge(uint64_t bytes) {
    void* mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    auto* begin = static_cast<uint8_t*>(mapped);
    const uint64_t address = reinterpret_cast<uintptr_t>(begin);
    const uint64_t before = round_up(address, kHugePage) - address;
    if (before > 0) munmap(begin, before);
    if (before < kHugePage) munmap(begin + before + bytes, kHugePage - before);
    // Without huge pages all works as well, if slower.
    madvise(begin + before, bytes, MADV_HUGEPAGE);
    return begin + before;
}

// The system may take the pages, or leave them as they are.
void offer(uint8_t* begin, uint64_t bytes) {
    if (madvise(begin, bytes, MADV_FREE) != 0) madvise(begin, bytes, MADV_DONTNEED);
}

}  // namespace

/// Pages that blocks share.
class PageHeap::Region {
  public:
    explicit Region(uint8_t* begin) : begin_(begin) {}
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region() { munmap(begin_, kRegion); }

    uint8_t* begin() const noexcept { return begin_; }
    bool unused() const noexcept { return free_ == kRegionPages; }

    /// Returns the first of `pages` pages, or null.
    uint8_t* take(uint64_t pages) noexcept {
        if (pages > longest_) return nullptr;
        uint64_t longest = 0;
        first_ = next(first_, false);
        for (uint64_t page = first_; page < kRegionPages;) {
            page = next(page, false);
            if (page == kRegionPages) break;
            const uint64_t end = std::min(next(page, true), page + pages);
            if (end - page == pages) {
                mark(page, end, true);
                return begin_ + page * kPage;
            }
            longest = std::max(longest, end - page);
            page = end;
        }
        longest_ = longest;
        return nullptr;
    }
    void give_back(const uint8_t* block, uint64_t pages) noexcept {
        const auto page = static_cast<uint64_t>(block - begin_) / kPage;
        mark(page, page + pages, false);
        first_ = std::min(first_, page);
        longest_ = kRegionPages;
    }
    /// Lets the system take the huge pages of which nothing is used.
    void offer_unused() noexcept {
        const auto is_unused = [&](uint64_t huge) {
            return !offered_[huge] && next(huge * kPerHuge, true) >= (huge + 1) * kPerHuge;
        };
        for (uint64_t huge = 0; huge < kHugePages; ++huge) {
            const uint64_t first = huge;
            for (; huge < kHugePages && is_unused(huge); ++huge) offered_[huge] = true;
            if (huge > first) offer(begin_ + first * kHugePage, (huge - first) * kHugePage);
        }
    }

  private:
    // Returns the first page from `page` on that is used, or unused, or kRegionPages.
    uint64_t next(uint64_t page, bool used) const noexcept {
        while (page < kRegionPages) {
            const uint64_t word = used ? used_[page / 64] : ~used_[page / 64];
            const uint64_t rest = word >> (page % 64);
            if (rest != 0) return page + static_cast<uint64_t>(std::countr_zero(rest));
            page = (page / 64 + 1) * 64;
        }
        return kRegionPages;
    }
    void mark(uint64_t begin, uint64_t end, bool used) noexcept {
        for (uint64_t page = begin; page < end; ++page) {
            offered_[page / kPerHuge] = false;
            const uint64_t bit = uint64_t{1} << (page % 64);
            used_[page / 64] = used ? used_[page / 64] | bit : used_[page / 64] & ~bit;
        }
        free_ += used ? begin - end : end - begin;
    }

    uint8_t* begin_;
    uint64_t used_[kRegionPages / 64] = {};
    uint64_t free_ = kRegionPages;
    uint64_t first_ = 0;               ///< all pages before it are used
    uint64_t longest_ = kRegionPages;  ///< no longer run of unused pages is there
    bool offered_[kHugePages] = {};
};

PageHeap& PageHeap::instance() {
    // Never destroyed: threads may outlive static objects.
    static PageHeap* heap = new PageHeap;
    return *heap;
}

PageHeap::PageHeap() = default;

PageHeap::~PageHeap() {
    for (const auto& [bytes, begin] : large_) munmap(begin, bytes);
}

uint8_t* PageHeap::allocate(uint64_t bytes) noexcept {
    if constexpr (kByMalloc)
        return static_cast<uint8_t*>(std::aligned_alloc(kLine, round_up(bytes, kLine)));
    const std::lock_guard lock(mutex_);
    try {
        uint8_t* block =
            bytes <= kMaxShared ? allocate_pages(pages_of(bytes)) : allocate_large(bytes);
        if (block != nullptr) used_ += bytes;
        return block;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void PageHeap::free(uint8_t* block, uint64_t bytes) noexcept {
    if constexpr (kByMalloc) return std::free(block);
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
    if (bytes <= kMaxShared) {
        const auto after = regions_.upper_bound(block);
        Region& region = *std::prev(after)->second;
        const auto offset = static_cast<uint64_t>(block - region.begin());
        region.give_back(region.begin() + offset / kPage * kPage, pages_of(bytes));
        return;
    }
    const uint64_t mapped = large_bytes(bytes);
    offer(block, mapped);
    try {
        large_.emplace(mapped, block);
    } catch (const std::bad_alloc&) {
        munmap(block, mapped);
        mapped_ -= mapped;
    }
}

uint8_t* PageHeap::allocate_pages(uint64_t pages) {
    const uint64_t offset = colour_++ % kColours * kLine;
    for (const auto& [begin, region] : regions_)
        if (uint8_t* block = region->take(pages); block != nullptr) return block + offset;
    uint8_t* begin = map_huge(kRegion);
    if (begin == nullptr) return nullptr;
    auto region = std::make_unique<Region>(begin);
    Region& fresh = *regions_.emplace(begin, std::move(region)).first->second;
    mapped_ += kRegion;
    return fresh.take(pages) + offset;
}

uint8_t* PageHeap::allocate_large(uint64_t bytes) {
    const uint64_t wanted = large_bytes(bytes);
    if (const auto found = large_.find(wanted); found != large_.end()) {
        uint8_t* block = found->second;
        large_.erase(found);
        return block;
    }
    uint8_t* block = map_huge(wanted);
    if (block != nullptr) mapped_ += wanted;
    return block;
}

void PageHeap::trim(uint64_t keep) noexcept {
    const std::lock_guard lock(mutex_);
    uint64_t kept = 0;
    for (auto it = regions_.begin(); it != regions_.end();) {
        Region& region = *it->second;
        if (region.unused() && kept + kRegion > keep) {
            mapped_ -= kRegion;
            it = regions_.erase(it);
            continue;
        }
        if (region.unused()) kept += kRegion;
        region.offer_unused();
        ++it;
    }
    for (auto it = large_.begin(); it != large_.end();) {
        if (kept + it->first <= keep) {
            kept += it->first;
            ++it;
            continue;
        }
        munmap(it->second, it->first);
        mapped_ -= it->first;
        it = large_.erase(it);
    }
}

uint64_t PageHeap::used_bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    return used_;
}

uint64_t PageHeap::mapped_bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    return mapped_;
}

}  // namespace loom::base
