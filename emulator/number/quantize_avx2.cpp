// The loops of quantisation for AVX2 and FMA.
#include "emulator/number/quantize_loops.hpp"

namespace fp8twin {

constexpr QuantizePath quantize_avx2 = this_path;

}  // namespace fp8twin
