#pragma once
// A module's text as it comes into being: functions of pipelines, and the kernels that call them.

#include <string>
#include <utility>

#include <fmt/core.h>

#include "gpu/codegen/kernel_text.h"
#include "gpu/codegen/row_slots.h"

namespace loom::gpu {

/// The functions of a module share its words. Each takes `p`, the number of its block of threads
/// and how many blocks there are.
class KernelFile {
  public:
    std::string word(uint64_t value) { return kernel.words.add(value); }
    std::string word32(uint64_t value) { return cast("uint32_t", word(value)); }

    void add_function(std::string_view name, std::string_view body) {
        functions_ += fmt::format(
            "LOOM_DEVICE void {}(const Parameters& p, const uint32_t block, const uint32_t blocks, "
            "Fault& fault) {{\n{}}}\n",
            name, body);
    }
    /// Adds a kernel of `body`, which has `p` and `fault`.
    void add_kernel(const std::string& name, std::string_view body, uint64_t status) {
        kernels_ += fmt::format(
            "LOOM_KERNEL({}, Parameters, {}, {}) {{\nFault fault;\n{}report(fault, {});\n}}\n",
            name, kernel.threads, kernel.blocks, body, word(status));
        kernel.kernels.push_back(name);
    }

    /// Returns the text; nothing may be added then.
    KernelText finish() {
        kernel.text = fmt::format(
            "#include \"gpu/runtime/kernel.h\"\nnamespace loom::gpu {{\nusing namespace "
            "loom::sql;\n"
            "struct Parameters {{ uint64_t words[{}]; }};\n{}{}}}  // namespace loom::gpu\n",
            kernel.words.words().size(), functions_, kernels_);
        return std::move(kernel);
    }

    KernelText kernel;

  private:
    std::string functions_;
    std::string kernels_;
};

}  // namespace loom::gpu
