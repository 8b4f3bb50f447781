// The loops of quantisation for any processor: the flags of the whole build.
#include "emulator/number/quantize_loops.hpp"

namespace fp8twin {

constexpr QuantizePath quantize_portable = this_path;

}  // namespace fp8twin
