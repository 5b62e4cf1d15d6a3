#include "pg/fdw/property.h"

#include "pg/bridge/bridge.h"

namespace loom::pg {

std::string format_bytes(int64_t bytes) {
    if (bytes < 1024) return fmt::format("{}B", bytes);
    const auto value = static_cast<double>(bytes);
    if (bytes < 1024 * 1024) return fmt::format("{:.2f}kB", value / 1024);
    if (bytes < int64_t{1024} * 1024 * 1024) return fmt::format("{:.2f}MB", value / (1024 * 1024));
    return fmt::format("{:.2f}GB", value / (1024.0 * 1024 * 1024));
}

void property(ExplainState* es, const char* label, const std::string& text) {
    const char* value = text.c_str();
    pg_call([&] { ExplainPropertyText(label, value, es); });
}

void property(ExplainState* es, const char* label, int64_t value) {
    pg_call([&] { ExplainPropertyInteger(label, nullptr, value, es); });
}

}  // namespace loom::pg
