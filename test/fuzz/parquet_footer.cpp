// Fuzzes the Parquet footer: the input is wrapped in magic words and a length.

#include <cstdint>
#include <cstring>
#include <string>

#include "format/parquet/schema/footer.h"
#include "format/parquet/thrift/struct_layout.h"

namespace {

using loom::parquet::Footer;

void look_at(const Footer& footer) {
    for (size_t group = 0; group < footer.row_groups().size() && group < 8; ++group) {
        try {
            footer.row_order(static_cast<int64_t>(group));
            for (size_t leaf = 0; leaf < footer.schema().leaves.size() && leaf < 64; ++leaf)
                footer.chunk(static_cast<int64_t>(group), static_cast<int>(leaf));
        } catch (const loom::base::Error&) {
        }
    }
}

// Both ways to skip a struct must agree.
void compare_skips(const uint8_t* data, size_t size) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    bytes.append(64, '\0');
    const auto* from = reinterpret_cast<const uint8_t*>(bytes.data());
    std::vector<uint8_t> mask;
    const uint8_t* marked = loom::parquet::thrift::mark_struct(from, from + size, 1, mask);
    if (marked == nullptr) return;
    if (marked != loom::parquet::thrift::skip_struct(from, from + size, 1) ||
        mask.size() != static_cast<size_t>(marked - from))
        __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    compare_skips(data, size);
    std::string file = "PAR1";
    file.append(reinterpret_cast<const char*>(data), size);
    const auto length = static_cast<uint32_t>(size);
    file.append(reinterpret_cast<const char*>(&length), 4);
    file.append("PAR1");
    try {
        const auto opened = loom::io::memory_file("fuzz", file);
        loom::base::MemoryBudget budget(uint64_t{256} << 20);
        look_at(Footer(*opened, &budget));
    } catch (const loom::base::Error& error) {
        if (error.kind() == loom::base::ErrorKind::kBug) __builtin_trap();
    }
    return 0;
}
