// The path avx2: the words, then the body.
// clang-format off
#include "emulator/number/lanes/avx2.hpp"
#include "emulator/number/lanes/dot.hpp"
// clang-format on

namespace fp8twin {

const StepFunctions avx2_step_functions{load_columns, load_rows, step, promote, holds_nan};

}  // namespace fp8twin
