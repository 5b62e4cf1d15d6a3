#pragma once
// Two ways in which a computation ends without a result. Neither is a fault of the engine: the host
// answers both by running PostgreSQL's own plan while no row has left yet.

#include <exception>
#include <string>

namespace loom::exec {

/// An error that SQL defines for a value: overflow, division by zero. Carries PostgreSQL's SQLSTATE
/// and message.
class SqlFault : public std::exception {
  public:
    SqlFault(const char* sqlstate, const char* message) : sqlstate_(sqlstate), message_(message) {}
    const char* sqlstate() const noexcept { return sqlstate_; }
    const char* what() const noexcept override { return message_; }

  private:
    const char* sqlstate_;
    const char* message_;
};

/// A value or a plan that the engine cannot represent exactly (a numeric of 39 digits, say).
class Unrepresentable : public std::exception {
  public:
    explicit Unrepresentable(std::string reason) : reason_(std::move(reason)) {}
    const char* what() const noexcept override { return reason_.c_str(); }

  private:
    std::string reason_;
};

}  // namespace loom::exec
