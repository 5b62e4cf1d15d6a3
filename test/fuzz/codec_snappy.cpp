// Own snappy kernels against libsnappy: same verdict and same bytes for any input.
//
// Buffers are exact to the byte (plus the documented slack), so that the address sanitizer sees any
// step beyond it.

#include <snappy.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "format/codec/codec.h"
#include "format/codec/snappy_decode.h"

using loom::codec::kDecompressSlack;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const char* chars = reinterpret_cast<const char*>(data);
    size_t length = 0;
    if (!snappy::GetUncompressedLength(chars, size, &length)) length = 16;
    if (length > 1 << 20) return 0;
    std::vector<uint8_t> in(size + kDecompressSlack, 0xaa);
    std::memcpy(in.data(), data, size);
    std::vector<char> expected(length + 1);
    const bool valid = snappy::IsValidCompressedBuffer(chars, size) &&
                       snappy::RawUncompress(chars, size, expected.data());
    for (const auto& kernel : loom::codec::snappy_kernels()) {
        std::vector<uint8_t> out(length + kDecompressSlack);
        const bool ours = kernel.decode({in.data(), size}, {out.data(), length});
        if (ours != valid) std::abort();
        if (valid && std::memcmp(out.data(), expected.data(), length) != 0) std::abort();
    }
    return 0;
}
