#include "format/parquet/write/rle.h"

#include <algorithm>

#include "base/bytes.h"

namespace loom::parquet::write {

namespace {

constexpr int64_t kShortestRun = 64;
constexpr int64_t kGroup = 8;  // bit-packed runs come in groups of 8 values

template <typename T>
int64_t run_length(std::span<const T> values, int64_t begin) {
    int64_t end = begin + 1;
    const auto size = static_cast<int64_t>(values.size());
    while (end < size && values[end] == values[begin]) ++end;
    return end - begin;
}

// Bit-packed run of values [begin, end); a last group that is not full gets zeros.
template <typename T>
void append_groups(std::span<const T> values, int64_t begin, int64_t end, int bit_width,
                   std::string& out) {
    if (begin == end) return;
    const int64_t groups = (end - begin + kGroup - 1) / kGroup;
    append_varint(static_cast<uint64_t>(groups) << 1 | 1, out);
    const size_t target = out.size() + groups * bit_width;
    append_packed(values.data() + begin, end - begin, bit_width, out);
    out.resize(target, '\0');
}

}  // namespace

void append_varint(uint64_t value, std::string& out) {
    for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
    out.push_back(static_cast<char>(value));
}

void append_rle_run(int64_t count, uint32_t value, int bit_width, std::string& out) {
    append_varint(static_cast<uint64_t>(count) << 1, out);
    for (int bits = 0; bits < bit_width; bits += 8) out.push_back(static_cast<char>(value >> bits));
}

template <typename T>
void append_packed(const T* values, int64_t count, int bit_width, std::string& out) {
    const size_t old = out.size();
    out.resize(old + (count * bit_width + 7) / 8 + sizeof(uint64_t));
    char* to = out.data() + old;
    // `filled` is below 32 before a value is added, and a value has at most 32 bits.
    uint64_t bits = 0;
    int filled = 0;
    for (int64_t i = 0; i < count; ++i) {
        bits |= static_cast<uint64_t>(values[i]) << filled;
        filled += bit_width;
        if (filled >= 32) {
            base::store(to, static_cast<uint32_t>(bits));
            to += 4;
            bits >>= 32;
            filled -= 32;
        }
    }
    base::store(to, bits);
    out.resize(old + (count * bit_width + 7) / 8);
}

template <typename T>
void append_rle(std::span<const T> values, int bit_width, std::string& out) {
    const auto size = static_cast<int64_t>(values.size());
    int64_t packed = 0;  // values [packed, at) wait for a bit-packed run
    int64_t at = 0;
    while (at < size) {
        int64_t run = run_length(values, at);
        // A bit-packed run in the middle has to end with a full group.
        const int64_t fill = std::min(run, (kGroup - (at - packed) % kGroup) % kGroup);
        if (run - fill < kShortestRun) {
            at += run;
            continue;
        }
        append_groups(values, packed, at + fill, bit_width, out);
        run -= fill;
        append_rle_run(run, values[at + fill], bit_width, out);
        at += fill + run;
        packed = at;
    }
    append_groups(values, packed, size, bit_width, out);
}

template void append_rle<uint8_t>(std::span<const uint8_t>, int, std::string&);
template void append_rle<uint32_t>(std::span<const uint32_t>, int, std::string&);
template void append_packed<uint8_t>(const uint8_t*, int64_t, int, std::string&);
template void append_packed<uint32_t>(const uint32_t*, int64_t, int, std::string&);

}  // namespace loom::parquet::write
