#include "format/parquet/write/bloom_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "format/parquet/write/thrift_writer.h"

// The analyzer finds fault with the library's own text.
#ifndef __clang_analyzer__
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace loom::parquet::write {

namespace {

constexpr int64_t kBlockBytes = 32;
constexpr int64_t kMaxBytes = 128 << 20;

// BloomFilter.md: the eight odd constants that spread a hash over the words of a block.
constexpr uint32_t kSalt[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                               0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

// The size formula of BloomFilter.md, rounded up to a power of two.
int64_t filter_bytes(size_t distinct, double probability) {
    const double bits =
        -8.0 * static_cast<double>(distinct) / std::log(1 - std::pow(probability, 1.0 / 8));
    const double bytes = std::min(bits / 8, static_cast<double>(kMaxBytes));
    return std::max<int64_t>(
        kBlockBytes, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::ceil(bytes)))));
}

void insert(char* bits, uint64_t blocks, uint64_t hash) {
    char* block = bits + ((hash >> 32) * blocks >> 32) * kBlockBytes;
    for (int word = 0; word < 8; ++word) {
        const uint32_t bit = static_cast<uint32_t>(hash) * kSalt[word] >> 27;
        char* at = block + 4 * word;
        base::store(at, base::load<uint32_t>(at) | 1U << bit);
    }
}

void append_header(int64_t bytes, std::string& out) {
    ThriftWriter thrift(&out);
    thrift.begin_root();
    thrift.field_i32(1, static_cast<int32_t>(bytes));
    // algorithm BLOCK, hash XXHASH, compression UNCOMPRESSED: unions of one empty structure each.
    for (int field = 2; field <= 4; ++field) {
        thrift.begin_struct(field);
        thrift.begin_struct(1);
        thrift.end_struct();
        thrift.end_struct();
    }
    thrift.end_struct();
}

}  // namespace

void append_bloom_filter(const ValueStore& values, double probability, std::string& out) {
    std::vector<uint64_t> hashes;
    hashes.reserve(values.size());
    for (int64_t i = 0; i < values.size(); ++i) {
        const base::ByteSpan value = values.bytes(i);
        hashes.push_back(XXH64(value.data(), value.size(), 0));
    }
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    const int64_t bytes = filter_bytes(hashes.size(), probability);
    append_header(bytes, out);
    const size_t old = out.size();
    out.resize(old + bytes, '\0');
    for (uint64_t hash : hashes) insert(out.data() + old, bytes / kBlockBytes, hash);
}

}  // namespace loom::parquet::write
