#pragma once
// Random regular expressions, and texts that they have a chance to match.

#include <random>
#include <string>

namespace loom::test {

/// Makes a pattern of everything that the engine compiles, and now and then of what it does not.
std::string random_regex(std::mt19937& random, int depth = 3);
/// Makes a text of the characters that the patterns are made of.
std::string random_subject(std::mt19937& random);

}  // namespace loom::test
