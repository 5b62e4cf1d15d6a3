#pragma once
// The settings that users see. Read them in the backend's own thread only.

namespace loom::pg {

extern bool g_enabled;               ///< pg_loom.enabled
extern bool g_skip_with_statistics;  ///< pg_loom.skip_with_statistics
extern bool g_verify_checksums;      ///< pg_loom.verify_checksums
extern int g_scan_memory_mb;         ///< pg_loom.scan_memory

extern int g_threads;       ///< pg_loom.threads, 0: as many as there are cores
extern int g_memory_kb;     ///< pg_loom.memory, 0: as work_mem says
extern bool g_force;        ///< pg_loom.force
extern bool g_shim;         ///< pg_loom.shim
extern int g_keep_files;    ///< pg_loom.keep_files
extern bool g_watch_polls;  ///< pg_loom.watch_polls

/// pg_loom.device: who computes what a device could.
enum DeviceChoice : int {
    kDeviceAuto,  ///< the device, where columns and kernels are there and rows are many
    kDeviceCpu,
    kDeviceGpu  ///< the device whatever it takes, for tests and measurements
};
extern int g_device;
/// pg_loom.gpud: what the server starts loom-gpud for.
enum GpudChoice : int {
    kGpudAuto,  ///< an NVIDIA GPU, if there is one
    kGpudOff,
    kGpudHost  ///< the processor in a GPU's place, for tests
};
extern int g_gpu_copies;  ///< that each GPU is taken for
extern int g_gpud;

/// Registers the settings; called once when the library is loaded.
void define_settings_maylongjmp();

}  // namespace loom::pg
