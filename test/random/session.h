#pragma once
// A session of a PostgreSQL server.

#include <memory>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace loom::test {

/// What statements answered.
struct Answer {
    std::vector<std::string> types;  ///< of each column: OID and modifier
    std::vector<unsigned> type_oids;
    std::vector<std::vector<std::string>>
        rows;                            ///< values as text, prefixed by 'v', or "" for NULL
    std::string error;                   ///< SQLSTATE and message, or empty
    std::vector<std::string> fallbacks;  ///< why the engine gave up, each time it did
};

/// Not thread safe. A lost connection raises std::runtime_error.
class Session {
  public:
    /// `conninfo` as libpq takes it.
    explicit Session(const std::string& conninfo);

    /// Sends statements, each by itself, without waiting for answers.
    void send(const std::vector<std::string>& statements);
    /// Waits for the answers of what was sent: the rows of all, up to the first error. An open
    /// transaction is rolled back after an error.
    Answer receive();
    /// Does both.
    Answer run(const std::vector<std::string>& statements);
    /// Runs a statement that must not fail.
    void require(const std::string& statement);
    /// Returns the only value of a query that must not fail.
    std::string value_of(const std::string& query);
    /// Asks the server to end what runs. Any thread may call it.
    void cancel();

  private:
    static void notice(void* arg, const PGresult* result);
    void take(const PGresult* result, Answer* answer);

    struct Finish {
        void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
    };
    struct FreeCancel {
        void operator()(PGcancel* cancel) const noexcept { PQfreeCancel(cancel); }
    };
    std::unique_ptr<PGconn, Finish> connection_;
    std::unique_ptr<PGcancel, FreeCancel> cancel_;
    std::vector<std::string> pending_;  ///< not sent yet
    std::vector<std::string> fallbacks_;
};

}  // namespace loom::test
