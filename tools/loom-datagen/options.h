#pragma once
// The command line of loom-datagen.

#include <optional>
#include <string>

#include "output.h"
#include "table.h"

namespace loom::datagen {

struct CommandLine {
    Request request;
    OutputOptions output;
    std::string table;  ///< only this one
};

/// Parses arguments. Prints help or version and returns nullopt if that was asked for. Raises
/// kBadOption for anything wrong.
std::optional<CommandLine> parse_command_line(int argc, char** argv);

}  // namespace loom::datagen
