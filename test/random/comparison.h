#pragma once
// Runs a query with the engine and without it, and compares.

#include <string>
#include <vector>

#include "query_maker.h"
#include "session.h"

namespace loom::test {

/// The statements that run a query as its form says: once, or once for each value of its
/// parameters, or by a cursor.
std::vector<std::string> statements_of(const RandomQuery& query);

struct Comparison {
    std::string difference;  ///< empty: none
    Answer engine;
    Answer postgres;
    bool timed_out = false;
    /// Errors differ in a way that PostgreSQL leaves open (see is_open in comparison.cpp).
    bool open_error = false;
};

/// Returns what differs between two answers, or nothing.
std::string difference_of(const RandomQuery& query, const Answer& engine, const Answer& postgres);

/// Gives a session the planner's settings that the engine's plans are made with.
void set_planner(Session& session);

/// Two sessions of one server, of which one has the engine switched off. Both have the planner's
/// settings that the engine's plans are made with, so that the plans are the same and PostgreSQL
/// meets the same error first.
class Pair {
  public:
    explicit Pair(const std::string& conninfo);

    /// Puts the settings of a query in force.
    void set_up(const RandomQuery& query);
    Comparison compare(const RandomQuery& query);
    /// Returns the plan with the engine, a line a row, or the error that EXPLAIN raises.
    std::string plan_of(const RandomQuery& query);

  private:
    Session engine_;
    Session postgres_;
    std::vector<std::pair<std::string, std::string>> settings_;  ///< in force
};

}  // namespace loom::test
