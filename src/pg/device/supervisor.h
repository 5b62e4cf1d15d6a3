#pragma once
// The background worker that starts the device's process, and starts it again when it dies.

namespace loom::pg {

/// Has the server start the worker. Only while it loads shared_preload_libraries.
void register_supervisor_maylongjmp();

}  // namespace loom::pg
