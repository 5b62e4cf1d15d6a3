#pragma once
// The device's process as a backend sees it.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "exec/query.h"
#include "gpu/service/channel.h"
#include "gpu/service/message.h"

namespace loom::gpu {

/// Asks the process behind a socket. Used by one thread. No failure of the process is an error:
/// whoever asks answers himself then.
class Client {
  public:
    /// The socket is looked for when it is needed.
    explicit Client(std::string path) : path_(std::move(path)) {}

    /// Connects if need be. Returns false, and why, if nobody listens.
    bool connect(std::string* reason);

    /// The rows of an aggregate, and how many milliseconds kernels ran for them.
    struct Result {
        std::unique_ptr<exec::RowSource> rows;
        double kernels = 0;
    };
    /// Returns an aggregate's result, or nothing and why. `check` is called several times a second
    /// while the process works; what it throws ends the work and goes on.
    std::optional<Result> run(const RunRequest& request, const std::vector<plan::Type>& types,
                              const std::function<void()>& check, std::string* reason);
    /// Returns what an aggregate would have to wait for (empty: nothing), or nothing at all and why
    /// it would not be answered.
    std::optional<std::string> would_wait(const RunRequest& request,
                                          const std::function<void()>& check, std::string* reason);
    /// Asks for facts: kInfo, kColumns or kEvict, with what goes along. Returns them (FrameKind
    /// says which lines), or nothing and why.
    std::optional<std::string> facts(FrameKind kind, std::string_view body,
                                     const std::function<void()>& check, std::string* reason);

  private:
    bool ask(FrameKind kind, std::string_view body, const std::function<void()>& check,
             Frame* answer, std::string* reason);

    std::string path_;
    std::unique_ptr<Channel> channel_;
};

}  // namespace loom::gpu
