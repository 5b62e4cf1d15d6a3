#include "gpu/service/client.h"

#include <cstring>

namespace loom::gpu {

namespace {

// The process says every third of a second that it works; one that does not stands still.
constexpr std::chrono::milliseconds kPatience{3000};

}  // namespace

bool Client::connect(std::string* reason) {
    if (channel_ != nullptr && !channel_->is_closed()) return true;
    channel_.reset();
    const int descriptor = connect_to(path_);
    if (descriptor < 0) {
        *reason = "no process for devices is running";
        return false;
    }
    channel_ = std::make_unique<Channel>(descriptor);
    return true;
}

bool Client::ask(FrameKind kind, std::string_view body, const std::function<void()>& check,
                 Frame* answer, std::string* reason) {
    if (!connect(reason)) return false;
    // Gone unless the answer comes: what is left of it would be taken for the next one's.
    std::unique_ptr<Channel> channel = std::move(channel_);
    if (!channel->write(kind, body, kPatience)) {
        *reason = "the process for devices takes no work";
        return false;
    }
    for (;;) {
        switch (channel->read(*answer, kPatience, check)) {
            case Channel::Got::kEnd:
                *reason = "the process for devices has ended";
                return false;
            case Channel::Got::kSilence:
                *reason = "the process for devices does not answer";
                return false;
            case Channel::Got::kFrame:
                break;
        }
        if (answer->kind == FrameKind::kWorking) continue;
        channel_ = std::move(channel);
        return true;
    }
}

std::optional<Client::Result> Client::run(const RunRequest& request,
                                          const std::vector<plan::Type>& types,
                                          const std::function<void()>& check, std::string* reason) {
    Frame answer;
    if (!ask(FrameKind::kRun, encode(request), check, &answer, reason)) return std::nullopt;
    Result result;
    if (answer.kind == FrameKind::kRows && answer.body.size() >= sizeof result.kernels) {
        const size_t rows = answer.body.size() - sizeof result.kernels;
        std::memcpy(&result.kernels, answer.body.data() + rows, sizeof result.kernels);
        answer.body.resize(rows);
        result.rows = decode_rows(std::move(answer.body), types);
        return result;
    }
    *reason = std::move(answer.body);
    return std::nullopt;
}

std::optional<std::string> Client::would_wait(const RunRequest& request,
                                              const std::function<void()>& check,
                                              std::string* reason) {
    const auto found = facts(FrameKind::kAsk, encode(request), check, reason);
    if (!found) return std::nullopt;
    const std::vector<std::string> fields = split_fields(*found);
    return fields.empty() ? std::string() : fields[0];
}

std::optional<std::string> Client::facts(FrameKind kind, std::string_view body,
                                         const std::function<void()>& check, std::string* reason) {
    Frame answer;
    if (!ask(kind, body, check, &answer, reason)) return std::nullopt;
    if (answer.kind == FrameKind::kFacts) return std::move(answer.body);
    *reason = std::move(answer.body);
    return std::nullopt;
}

}  // namespace loom::gpu
