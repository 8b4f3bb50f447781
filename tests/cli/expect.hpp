// What every command's tests say about a run that must fail, and a run that must not.
#pragma once

#include <algorithm>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/run_program.hpp"

namespace fp8twin::test {

/// Status 2, an empty stdout and one line on stderr that has `part`.
inline void refuses(const std::string& arguments, const std::string& part, const std::string& setup = "") {
  const Result result = run(arguments, setup);
  INFO(arguments << ": " << result.err);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK_THAT(result.err, contains_text(part));
}

/// Status 0 and an empty stderr; returns stdout.
inline std::string succeeds(const std::string& arguments) {
  const Result result = run(arguments);
  INFO(arguments << ": " << result.err);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  return result.out;
}

inline nlohmann::json answer(const std::string& arguments) {
  return nlohmann::json::parse(succeeds(arguments + " --json"));
}

}  // namespace fp8twin::test
