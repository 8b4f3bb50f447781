// The JSON of `diff`, as docs/cli.md promises it to scripts.
#pragma once

#include <optional>
#include <vector>

#include "emulator/cli/command.hpp"
#include "emulator/report/diff_text.hpp"

namespace fp8twin::cli {

struct Answer {
  DiffSubject subject;
  Comparison comparison;
  std::optional<DiffCause> cause;
};

/// Totals at the top level, then a list `tensors` with everything about each.
Json diff_json(const std::vector<Answer>& answers);

}  // namespace fp8twin::cli
