// The loops of quantisation for AVX-512.
#include "emulator/number/quantize_loops.hpp"

namespace fp8twin {

constexpr QuantizePath quantize_avx512 = this_path;

}  // namespace fp8twin
