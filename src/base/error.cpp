#include "base/error.h"

namespace loom::base {

namespace {
std::string join(const std::string& message, const std::string& where) {
    return where.empty() ? message : where + ": " + message;
}
}  // namespace

Error::Error(ErrorKind kind, std::string message, std::string where)
    : kind_(kind),
      message_(std::move(message)),
      where_(std::move(where)),
      text_(join(message_, where_)) {}

void Error::add_where(std::string_view outer) {
    where_ = where_.empty() ? std::string(outer) : std::string(outer) + ", " + where_;
    text_ = join(message_, where_);
}

}  // namespace loom::base
