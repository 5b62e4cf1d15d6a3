#pragma once
// The one exception type of the engine, and the macro-free ways to raise it.

#include <exception>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace loom::base {

/// Says what went wrong, independent of PostgreSQL. Each kind maps to one SQLSTATE in src/pg.
enum class ErrorKind {
    kCorrupt,        ///< XX001: the bytes of a file contradict its format
    kUnsupported,    ///< 0A000: valid, but a feature that is not implemented
    kLimit,          ///< 54000: larger than a documented bound
    kMemory,         ///< 53200: the memory budget is used up
    kIo,             ///< 58030: the operating system refused a read or a write
    kMissing,        ///< 58P01: a file or directory does not exist
    kDenied,         ///< 42501: the server account has no right to the file
    kTypeMismatch,   ///< 42804: the file's type is not the one asked for
    kBadName,        ///< 42703: no such column, field or key
    kBadOption,      ///< HV00D: an option's value makes no sense
    kValueRange,     ///< 22003: a number that the target type cannot hold
    kDatetimeRange,  ///< 22008: a date or time that the target type cannot hold
    kBadText,        ///< 22021: text that is not valid UTF-8
    kChanged,        ///< 55000: a file changed while it was being read
    kTempSpace,      ///< 53400: temporary files would pass their limit
    kCancelled,      ///< 57014: the stop token was set
    kBug             ///< XX000: an invariant of pg_loom does not hold
};

/// An engine error. `message` follows PostgreSQL's style (lower-case start, no full stop);
/// `where` names file, row group, column and page as far as they are known and may be empty.
class Error : public std::exception {
  public:
    Error(ErrorKind kind, std::string message, std::string where = {});

    ErrorKind kind() const noexcept { return kind_; }
    const std::string& message() const noexcept { return message_; }
    const std::string& where() const noexcept { return where_; }
    const char* what() const noexcept override { return text_.c_str(); }

    /// Puts `outer` (e.g. `file "x.parquet"`) before what is known of the place already.
    void add_where(std::string_view outer);

  private:
    ErrorKind kind_;
    std::string message_;
    std::string where_;
    std::string text_;
};

/// Throws an Error of `kind` with a formatted message.
template <typename... Args>
[[noreturn]] void raise(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
    throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws ErrorKind::kCorrupt with a formatted message: the usual answer to bytes that lie.
template <typename... Args>
[[noreturn]] void corrupt(fmt::format_string<Args...> format, Args&&... args) {
    throw Error(ErrorKind::kCorrupt, fmt::format(format, std::forward<Args>(args)...));
}

/// Runs `body` and adds `where()` (called only on failure, returns a string) to an Error that
/// leaves it.
template <typename Where, typename Body>
decltype(auto) with_where(Where&& where, Body&& body) {
    try {
        return body();
    } catch (Error& error) {
        error.add_where(where());
        throw;
    }
}

}  // namespace loom::base
