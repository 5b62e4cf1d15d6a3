// Every decompressor on any input: an error or the exact length, within the documented slack. What
// compress() makes of the input must come back.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "format/codec/codec.h"

using namespace loom;

namespace {

// Decompresses into memory that ends with the slack; returns whether it was accepted.
bool accepts(codec::Codec codec, base::ByteSpan bytes, std::vector<uint8_t>& out, size_t length) {
    std::vector<uint8_t> in(bytes.size() + codec::kDecompressSlack, 0xaa);
    if (!bytes.empty()) std::memcpy(in.data(), bytes.data(), bytes.size());
    out.assign(length + codec::kDecompressSlack, 0);
    try {
        codec::decompress(codec, {in.data(), bytes.size()}, {out.data(), length});
        return true;
    } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::kCorrupt) std::abort();
        return false;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 4) return 0;
    const auto codec = static_cast<codec::Codec>(data[0] % 8);
    const size_t length = base::load<uint16_t>(data + 1);
    const base::ByteSpan rest{data + 3, size - 3};
    std::vector<uint8_t> out;
    accepts(codec, rest, out, length);

    static base::Buffer packed;
    codec::compress(codec, rest, 0, packed);
    if (!accepts(codec, packed.span(), out, rest.size())) std::abort();
    if (std::memcmp(out.data(), rest.data(), rest.size()) != 0) std::abort();
    return 0;
}
