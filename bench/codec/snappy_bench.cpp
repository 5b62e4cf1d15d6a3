// Decoding speed of the snappy kernels and libsnappy on columns as SSB's lineorder has them.

#include <fmt/core.h>
#include <snappy.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "format/codec/codec.h"
#include "format/codec/snappy_decode.h"

namespace {

using namespace loom;

constexpr size_t kValues = 256 * 1024;

struct Sample {
    const char* name;
    std::vector<int32_t> values;
};

std::vector<Sample> make_samples() {
    std::mt19937 random(1);
    std::vector<int32_t> runs, few, noise, ascending;
    while (runs.size() < kValues) {
        const int32_t key = 1 + static_cast<int32_t>(random() % 300000);
        for (size_t i = 1 + random() % 7; i != 0 && runs.size() < kValues; --i) runs.push_back(key);
    }
    for (size_t i = 0; i < kValues; ++i) {
        few.push_back(static_cast<int32_t>(random() % 50));
        noise.push_back(static_cast<int32_t>(random()));
        ascending.push_back(static_cast<int32_t>(i / 4));
    }
    return {{"keys in runs of 1 to 7", std::move(runs)},
            {"order numbers, 4 each", std::move(ascending)},
            {"50 values at random", std::move(few)},
            {"incompressible", std::move(noise)}};
}

// Returns GB of output a second, the best of several rounds.
double measure(size_t bytes, const std::function<void()>& decode) {
    double best = 0;
    for (int round = 0; round < 15; ++round) {
        const auto start = std::chrono::steady_clock::now();
        decode();
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        best = std::max(best, static_cast<double>(bytes) / elapsed.count() / 1e9);
    }
    return best;
}

}  // namespace

int main() {
    fmt::print("{:<26}{:>8}", "GB/s of output", "ratio");
    for (const auto& kernel : codec::snappy_kernels()) fmt::print("{:>12}", kernel.name);
    fmt::print("{:>12}\n", "libsnappy");
    for (const Sample& sample : make_samples()) {
        const size_t bytes = sample.values.size() * sizeof(int32_t);
        const base::ByteSpan plain{reinterpret_cast<const uint8_t*>(sample.values.data()), bytes};
        base::Buffer packed, out;
        codec::compress(codec::Codec::kSnappy, plain, 0, packed);
        out.resize(bytes);
        fmt::print("{:<26}{:>8.2f}", sample.name, static_cast<double>(bytes) / packed.size());
        for (const auto& kernel : codec::snappy_kernels())
            fmt::print("{:>12.2f}", measure(bytes, [&] {
                           kernel.decode(packed.span(), {out.data(), bytes});
                       }));
        fmt::print("{:>12.2f}\n", measure(bytes, [&] {
                       snappy::RawUncompress(reinterpret_cast<const char*>(packed.data()),
                                             packed.size(), reinterpret_cast<char*>(out.data()));
                   }));
    }
    return 0;
}
