// A problem whose a and b are not quantised yet, quantised by a recipe in memory: what `diff --problem`
// needs to ask which recipe made the codes behind a result.
//
// a gets a scale for each 1 x 128 block, b for each 128 x 128; groups along K start their blocks anew;
// every other tensor of the file stays as it is.
#pragma once

#include "emulator/files/tensor.hpp"
#include "emulator/number/recipe.hpp"

namespace fp8twin {

/// Are a and b BF16, F16 or F32?
bool holds_unquantised_operands(const TensorFile& file);

/// The file as a problem file; it keeps the bytes of `file` alive.
TensorFile quantised_file(const TensorFile& file, const Recipe& recipe, ScaleFormat format, int threads);

}  // namespace fp8twin
