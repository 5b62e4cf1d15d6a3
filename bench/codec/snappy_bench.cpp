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
    std::string bytes;
};

std::string bytes_of(const std::vector<int32_t>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int32_t)};
}

// 12-bit dictionary codes as a Parquet page packs them, in runs as orders have lines.
std::string packed_codes(const std::vector<int32_t>& values) {
    std::string bytes(values.size() * 12 / 8 + 8, 0);
    for (size_t i = 0; i < values.size(); ++i) {
        char* at = bytes.data() + i * 12 / 8;
        const uint32_t code = static_cast<uint32_t>(values[i]) % 2406;
        base::store(at, base::load<uint32_t>(at) | code << (i * 12 % 8));
    }
    return bytes;
}

std::string web_addresses(std::mt19937& random) {
    constexpr const char* kSections[] = {"news", "sport", "shop", "search", "images"};
    std::string bytes;
    while (bytes.size() < kValues * sizeof(int32_t)) {
        const std::string text =
            fmt::format("/{}/article-{}.html{}", kSections[random() % 5], random() % 20'000,
                        random() % 3 == 0 ? "?ref=mail" : "");
        const auto length = static_cast<uint32_t>(text.size());
        bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
        bytes += text;
    }
    return bytes;
}

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
    return {{"keys in runs of 1 to 7", bytes_of(runs)},
            {"order numbers, 4 each", bytes_of(ascending)},
            {"packed codes, 12 bits", packed_codes(runs)},
            {"50 values at random", bytes_of(few)},
            {"texts of web addresses", web_addresses(random)},
            {"incompressible", bytes_of(noise)}};
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
        const size_t bytes = sample.bytes.size();
        const base::ByteSpan plain = base::as_bytes(sample.bytes);
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
