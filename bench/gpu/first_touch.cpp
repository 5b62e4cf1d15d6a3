#include "first_touch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/core.h>

#include "gpu/driver/device_pool.h"
#include "gpu/memory/column_store.h"

namespace loom::gpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kPiece = uint64_t{256} << 20;
constexpr int kStreams = 4;
constexpr int kPieces = 16;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Bytes a second from pinned memory to the device.
double measure_link(Device& device) {
    const uint64_t piece = std::min(kPiece, device.memory().free / (4 * kStreams));
    struct Lane {
        explicit Lane(Device& on) : lease(on, nullptr) {}
        DeviceLease lease;
        DeviceAddress to = 0;
        uint8_t* from = nullptr;
    };
    std::vector<std::unique_ptr<Lane>> lanes;
    for (int i = 0; i < kStreams; ++i) {
        auto& lane = lanes.emplace_back(std::make_unique<Lane>(device));
        lane->to = lane->lease.memory(piece).address;
        lane->from = lane->lease.pinned(piece);
        std::memset(lane->from, i, piece);
    }
    const auto run = [&](int pieces) {
        for (int i = 0; i < pieces; ++i) {
            Lane& lane = *lanes[static_cast<size_t>(i % kStreams)];
            lane.lease.stream().upload(lane.to, lane.from, piece);
        }
        for (const auto& lane : lanes) lane->lease.stream().wait();
    };
    run(kStreams);
    const Clock::time_point begin = Clock::now();
    run(kPieces);
    return static_cast<double>(piece) * kPieces / seconds_since(begin);
}

}  // namespace

FirstTouch measure_first_touch(Device& device, ModuleCache& modules, const exec::TableSource& table,
                               int threads, int rounds) {
    FirstTouch measured;
    measured.link = measure_link(device);
    std::vector<ColumnStore::Wanted> wanted;
    for (size_t c = 0; c < table.files.at(0).columns.size(); ++c)
        wanted.push_back({&table, static_cast<int>(c), plan::make_type(plan::TypeId::kInt4)});
    measured.columns = wanted.size();
    for (const exec::ScanFile& file : table.files)
        measured.plain +=
            static_cast<uint64_t>(file.reader->row_count()) * sizeof(int32_t) * wanted.size();
    const auto bytes_read = [&] {
        uint64_t sum = 0;
        for (const exec::ScanFile& file : table.files) sum += file.reader->file().bytes_read();
        return sum;
    };
    ColumnStore store(device, threads, UINT64_MAX, &modules);
    std::vector<double> again;
    // The first round also brings the file to the page cache, if it is not there.
    for (int round = 0; round <= rounds; ++round) {
        const uint64_t before = bytes_read();
        const Clock::time_point begin = Clock::now();
        auto columns = store.get_all(wanted);
        (round == 0 ? measured.first : again.emplace_back()) = seconds_since(begin);
        measured.bytes = bytes_read() - before;
        for (const auto& column : columns)
            for (const auto& file : column->files)
                measured.by_kernels =
                    measured.by_kernels && (file->memory.bytes() > 0 || file->rows == 0);
        // Columns that are in use stay.
        columns.clear();
        store.drop(UINT64_MAX);
    }
    std::sort(again.begin(), again.end());
    measured.again = again.at(again.size() / 2);
    return measured;
}

std::string to_line(const FirstTouch& measured) {
    return fmt::format(
        "first touch: {} columns, {:.2f} GB in {:.3f} s (the first time {:.3f} s): {:.1f} GB/s, "
        "{:.1f} GB/s of values; link {:.1f} GB/s, ratio {:.2f}{}",
        measured.columns, static_cast<double>(measured.bytes) / 1e9, measured.again, measured.first,
        measured.rate() / 1e9, measured.plain_rate() / 1e9, measured.link / 1e9,
        measured.rate() / measured.link, measured.by_kernels ? "" : "; encoded by the host");
}

}  // namespace loom::gpu
