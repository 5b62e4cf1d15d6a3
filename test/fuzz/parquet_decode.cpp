// Fuzzes the decoders of values and levels. The first byte chooses the encoding, the second the type,
// the third how values are asked for.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "format/parquet/decode/level_decoder.h"
#include "format/parquet/decode/value_decoder.h"
#include "simd/bit_unpack.h"

namespace {

using loom::base::Buffer;
using loom::base::ByteSpan;
using namespace loom::parquet;

Buffer copy_of(const uint8_t* data, size_t size) {
    Buffer buffer;
    buffer.resize(size);
    if (size != 0) std::memcpy(buffer.data(), data, size);
    return buffer;
}

// All instruction sets must unpack the same values.
template <typename T>
void compare_unpack(ByteSpan bytes, int width,
                    void (*loom::simd::UnpackKernels::*kernel)(const uint8_t*, int, int64_t,
                                                               T*) noexcept) {
    using loom::simd::InstructionSet;
    if (width > static_cast<int>(8 * sizeof(T))) return;
    const auto count = width == 0 ? int64_t{17} : static_cast<int64_t>(bytes.size() * 8) / width;
    const auto slots = static_cast<size_t>(count) + loom::simd::kUnpackSlack / sizeof(T);
    std::vector<T> expected(slots), actual(slots);
    (loom::simd::unpack_kernels(InstructionSet::kScalar).*kernel)(bytes.data(), width, count,
                                                                  expected.data());
    for (const auto set : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
        if (set > loom::simd::best_instruction_set()) continue;
        (loom::simd::unpack_kernels(set).*kernel)(bytes.data(), width, count, actual.data());
        if (!std::equal(expected.begin(), expected.begin() + count, actual.begin())) __builtin_trap();
    }
}

void fuzz_unpack(ByteSpan bytes, int width) {
    compare_unpack<uint8_t>(bytes, width, &loom::simd::UnpackKernels::u8);
    compare_unpack<uint16_t>(bytes, width, &loom::simd::UnpackKernels::u16);
    compare_unpack<uint32_t>(bytes, width, &loom::simd::UnpackKernels::u32);
    compare_unpack<uint64_t>(bytes, width, &loom::simd::UnpackKernels::u64);
}

void fuzz_levels(ByteSpan bytes, int max_level, bool packed) {
    LevelDecoder levels = packed ? LevelDecoder::bit_packed(bytes, max_level)
                                 : LevelDecoder::rle(bytes, max_level);
    uint8_t out[1000 + kDecodeSlack];
    for (int i = 0; i < 20; ++i) {
        if (max_level == 1 && i % 2 == 1)
            levels.decode_bits(999, out, 1);
        else
            levels.decode(1000, out);
    }
}

// Reads the same values in two ways and compares what comes out.
void fuzz_values(const LeafType& leaf, PageEncoding encoding, ByteSpan bytes, int step) {
    DecoderInput input;
    input.leaf = &leaf;
    input.encoding = encoding;
    input.bytes = bytes;
    auto whole = make_value_decoder(input);
    auto parts = make_value_decoder(input);
    const auto width = static_cast<size_t>(whole->width());
    constexpr int64_t kCount = 300;
    Buffer a, b;
    a.resize(kCount * width);
    b.resize(kCount * width);
    whole->decode(kCount, a.data());
    for (int64_t done = 0; done < kCount;) {
        const int64_t part = std::min<int64_t>(step, kCount - done);
        if (done % 3 == 2) {
            std::vector<uint16_t> all(static_cast<size_t>(part));
            for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
            parts->gather(part, all, b.data() + static_cast<size_t>(done) * width);
        } else {
            parts->decode(part, b.data() + static_cast<size_t>(done) * width);
        }
        done += part;
    }
    if (leaf.physical == PhysicalType::kByteArray) {
        const auto* x = a.as<loom::column::BytesView>();
        const auto* y = b.as<loom::column::BytesView>();
        for (int64_t i = 0; i < kCount; ++i)
            if (x[i].text() != y[i].text()) __builtin_trap();
    } else if (std::memcmp(a.data(), b.data(), kCount * width) != 0) {
        __builtin_trap();
    }
    whole->skip(5);
    whole->forget();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 3) return 0;
    const int choice = data[0] % 12;
    SchemaElement element;
    element.physical = data[1] % 8;
    element.type_length = data[1] / 8;
    const int step = 1 + data[2];
    const Buffer buffer = copy_of(data + 3, size - 3);
    try {
        if (choice == 10) {
            fuzz_unpack(buffer.span(), data[1] % 65);
        } else if (choice == 11) {
            fuzz_levels(buffer.span(), 1 + data[1] % 255, data[2] % 2 == 1);
        } else {
            std::vector<uint8_t> values(40 * 300);
            const LeafType leaf = make_leaf_type(element);
            loom::column::ColumnView dictionary;
            dictionary.values = values.data();
            dictionary.length = data[2];
            DecoderInput input;
            const auto encoding = static_cast<PageEncoding>(choice);
            if (is_dictionary(encoding)) {
                input.leaf = &leaf;
                input.encoding = encoding;
                input.bytes = buffer.span();
                input.dictionary = &dictionary;
                Buffer out;
                out.resize(300 * static_cast<size_t>(leaf.logical_width()));
                make_value_decoder(input)->decode(300, out.data());
            } else {
                fuzz_values(leaf, encoding, buffer.span(), step);
            }
        }
    } catch (const loom::base::Error& error) {
        if (error.kind() == loom::base::ErrorKind::kBug) __builtin_trap();
    }
    return 0;
}
