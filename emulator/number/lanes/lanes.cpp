#include "emulator/number/lanes/lanes.hpp"

#include "emulator/support/simd.hpp"

namespace fp8twin {

const StepFunctions* step_functions([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return &avx512_step_functions;
  if (simd == Simd::avx2) return &avx2_step_functions;
#endif
  return nullptr;
}

}  // namespace fp8twin
