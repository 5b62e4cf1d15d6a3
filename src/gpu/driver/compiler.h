#pragma once
// Turns the text of kernels into what a device loads.

#include <memory>
#include <span>
#include <string>

namespace loom::gpu {

/// A file that kernels include.
struct Header {
    const char* name;  ///< as it stands in #include
    const char* text;
};

/// What kernels may include: src/sql and src/gpu/runtime, as they were when pg_loom was built.
std::span<const Header> device_headers();

/// May be used by several threads.
class Compiler {
  public:
    virtual ~Compiler() = default;
    /// Returns the image (for Device::load) of a text of kernels, which may include
    /// device_headers(). Raises DeviceError (kRefused) with the compiler's words.
    virtual std::string compile(const std::string& text, const std::string& architecture) = 0;
    /// Has it do at once what would make its first text take longer than others.
    virtual void warm_up() {}
    /// Returns which compiler that is and how it is told to compile: images of another one are
    /// others.
    virtual std::string version() const = 0;
};

}  // namespace loom::gpu
