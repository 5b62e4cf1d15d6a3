#pragma once
// The settings that users see. Read them in the backend's own thread only.

namespace loom::pg {

extern bool g_enabled;               ///< pg_loom.enabled
extern bool g_skip_with_statistics;  ///< pg_loom.skip_with_statistics
extern bool g_verify_checksums;      ///< pg_loom.verify_checksums
extern int g_scan_memory_mb;         ///< pg_loom.scan_memory

/// Registers the settings; called once when the library is loaded.
void define_settings_maylongjmp();

}  // namespace loom::pg
