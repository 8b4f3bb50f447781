// `diff` of two traces: the tensors are compared like any others, and the first difference is the first in time.
#pragma once

#include "emulator/cli/command.hpp"
#include "emulator/files/tensor.hpp"

namespace fp8twin::cli {

/// Puts where two traces part before the text of their tensors, and into the JSON: `first`, and `step`, `thread` and
/// `register` beside it (null where the traces are equal). Throws Error for traces that cannot be compared.
void add_trace_difference(Context& context, const TensorFile& a, const TensorFile& b);

}  // namespace fp8twin::cli
