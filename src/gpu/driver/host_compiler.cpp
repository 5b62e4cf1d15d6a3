#include "gpu/driver/host_compiler.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "gpu/driver/device.h"
#include "gpu/driver/message.h"
#include "gpu/driver/sanitizers.h"

namespace loom::gpu {

namespace {

namespace fs = std::filesystem;

// -O1, since kernels run on little data here: that takes 0.34 s of a processor for the kernels of a
// test, -O2 0.41 and -O0 0.30 (gcc 12). Arithmetic is as in the engine (cmake/loom.cmake).
const char* const kOptions[] = {
    "-std=c++20",
    "-O1",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-w",
    "-fno-rtti",
    "-fno-exceptions",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-Wl,-Bsymbolic",
#if LOOM_ADDRESS_SANITIZER
    "-g1",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
#elif LOOM_THREAD_SANITIZER
    "-g1",
    "-fsanitize=thread",
#endif
};

// The runtimes of two compilers' sanitizers do not mix.
#if LOOM_ADDRESS_SANITIZER && defined(__clang__)
constexpr const char* kCompiler = "clang++";
#else
constexpr const char* kCompiler = "c++";
#endif

[[noreturn]] void refuse(std::string message) {
    throw DeviceError(DeviceError::Kind::kRefused, std::move(message));
}

class TemporaryFolder {
  public:
    TemporaryFolder() {
        const char* base = std::getenv("TMPDIR");
        path_ =
            fmt::format("{}/loom_kernels_XXXXXX", base != nullptr && *base != 0 ? base : "/tmp");
        if (mkdtemp(path_.data()) == nullptr)
            refuse(
                fmt::format("could not create the folder \"{}\": {}", path_, std::strerror(errno)));
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

void write_file(const std::string& path, const std::string& text) {
    std::error_code ignored;
    fs::create_directories(fs::path(path).parent_path(), ignored);
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) refuse(fmt::format("could not write \"{}\"", path));
}

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Runs a program without a shell, its words going to a file; returns the status of waitpid(). The
// signals that this process blocks or ignores are not the program's.
int run_program(std::vector<std::string> words, const std::string& output, int* error) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);

    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    pid_t pid = 0;
    *error = posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    int status = 0;
    if (*error == 0) {
        while (waitpid(pid, &status, 0) < 0) {
            if (errno == EINTR) continue;
            *error = errno;
            break;
        }
    }
    return status;
}

class HostCompiler : public Compiler {
  public:
    HostCompiler(std::string compiler, std::string version)
        : compiler_(std::move(compiler)), version_(std::move(version)) {
        for (const char* option : kOptions) version_.append(" ").append(option);
    }

    std::string compile(const std::string& text, const std::string& architecture) override {
        if (architecture != "host")
            refuse(fmt::format("{} does not compile for {}", compiler_, architecture));
        const TemporaryFolder folder;
        for (const Header& header : device_headers())
            write_file(folder.file(header.name), header.text);
        const std::string source = folder.file("kernels.cpp");
        const std::string image = folder.file("kernels.so");
        const std::string output = folder.file("messages");
        write_file(source, text);

        std::vector<std::string> words{compiler_};
        words.insert(words.end(), std::begin(kOptions), std::end(kOptions));
        words.insert(words.end(), {"-I", folder.path(), "-o", image, source});
        int error = 0;
        const int status = run_program(std::move(words), output, &error);
        if (error != 0)
            refuse(fmt::format("could not run {}: {}", compiler_, std::strerror(error)));
        std::string bytes = status == 0 ? read_file(image) : std::string();
        if (bytes.empty())
            refuse(fmt::format("{} does not compile the kernels:\n{}", compiler_,
                               first_lines(read_file(output))));
        return bytes;
    }
    std::string version() const override { return version_; }

  private:
    std::string compiler_;
    std::string version_;
};

}  // namespace

std::unique_ptr<Compiler> make_host_compiler(std::string* reason) {
    const char* chosen = std::getenv("LOOM_HOST_COMPILER");
    const std::string compiler = chosen != nullptr && *chosen != 0 ? chosen : kCompiler;
    try {
        const TemporaryFolder folder;
        const std::string output = folder.file("version");
        int error = 0;
        const int status = run_program({compiler, "--version"}, output, &error);
        const std::string version = read_file(output);
        if (error == 0 && status == 0)
            return std::make_unique<HostCompiler>(compiler, version.substr(0, version.find('\n')));
        *reason = fmt::format("could not run {}: {}", compiler,
                              error != 0 ? std::strerror(error) : "it fails");
    } catch (const DeviceError& refused) {
        *reason = refused.what();
    }
    return nullptr;
}

}  // namespace loom::gpu
