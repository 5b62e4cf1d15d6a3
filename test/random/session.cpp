#include "session.h"

#include <stdexcept>

#include <fmt/core.h>

namespace loom::test {

namespace {

struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

std::string field(const PGresult* result, int code) {
    const char* text = PQresultErrorField(result, code);
    return text != nullptr ? text : "";
}

}  // namespace

Session::Session(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK)
        throw std::runtime_error(PQerrorMessage(connection_.get()));
    PQsetNoticeReceiver(connection_.get(), notice, this);
    cancel_.reset(PQgetCancel(connection_.get()));
}

void Session::notice(void* arg, const PGresult* result) {
    static constexpr std::string_view kFallback = "pg_loom falls back: ";
    const std::string message = field(result, PG_DIAG_MESSAGE_PRIMARY);
    if (message.starts_with(kFallback))
        static_cast<Session*>(arg)->fallbacks_.push_back(message.substr(kFallback.size()));
}

void Session::send(const std::vector<std::string>& statements) {
    pending_ = statements;
    fallbacks_.clear();
    if (PQsendQuery(connection_.get(), pending_.front().c_str()) == 0)
        throw std::runtime_error(PQerrorMessage(connection_.get()));
}

void Session::take(const PGresult* result, Answer* answer) {
    const int columns = PQnfields(result);
    if (answer->types.empty())
        for (int c = 0; c < columns; ++c) {
            answer->types.push_back(fmt::format("{}/{}", PQftype(result, c), PQfmod(result, c)));
            answer->type_oids.push_back(PQftype(result, c));
        }
    for (int r = 0; r < PQntuples(result); ++r) {
        std::vector<std::string>& row = answer->rows.emplace_back();
        for (int c = 0; c < columns; ++c)
            row.push_back(PQgetisnull(result, r, c) != 0
                              ? ""
                              : "v" + std::string(PQgetvalue(result, r, c),
                                                  static_cast<size_t>(PQgetlength(result, r, c))));
    }
}

Answer Session::receive() {
    Answer answer;
    for (size_t i = 0;; ++i) {
        while (Result result{PQgetResult(connection_.get())}) {
            const ExecStatusType status = PQresultStatus(result.get());
            if (status == PGRES_TUPLES_OK) {
                take(result.get(), &answer);
            } else if (status != PGRES_COMMAND_OK) {
                if (PQstatus(connection_.get()) != CONNECTION_OK)
                    throw std::runtime_error(
                        fmt::format("the server is gone: {}", PQerrorMessage(connection_.get())));
                answer.error = field(result.get(), PG_DIAG_SQLSTATE) + " " +
                               field(result.get(), PG_DIAG_MESSAGE_PRIMARY);
            }
        }
        if (!answer.error.empty() || i + 1 == pending_.size()) break;
        if (PQsendQuery(connection_.get(), pending_[i + 1].c_str()) == 0)
            throw std::runtime_error(PQerrorMessage(connection_.get()));
    }
    if (PQtransactionStatus(connection_.get()) != PQTRANS_IDLE)
        Result(PQexec(connection_.get(), "ROLLBACK"));
    answer.fallbacks = std::move(fallbacks_);
    return answer;
}

Answer Session::run(const std::vector<std::string>& statements) {
    send(statements);
    return receive();
}

void Session::require(const std::string& statement) {
    const Answer answer = run({statement});
    if (!answer.error.empty())
        throw std::runtime_error(fmt::format("{}: {}", statement, answer.error));
}

std::string Session::value_of(const std::string& query) {
    const Answer answer = run({query});
    if (answer.rows.size() != 1 || answer.rows[0].size() != 1 || answer.rows[0][0].empty())
        throw std::runtime_error(
            fmt::format("{}: {}", query, answer.error.empty() ? "no value" : answer.error));
    return answer.rows[0][0].substr(1);
}

void Session::cancel() {
    char message[256];
    if (PQcancel(cancel_.get(), message, sizeof message) == 0) throw std::runtime_error(message);
}

}  // namespace loom::test
