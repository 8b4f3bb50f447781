// `gemm --layout`: a problem file whose a and b are in another order than [M,K] and [N,K].
//
//   --layout nn, b [K,N] with b_scale [K/128,N/128]  ->  b [N,K] with b_scale [N/128,K/128], or a sentence
//
// safetensors are row-major, so the bytes of a [K,N] are those of an [N,K] only where K or N is one at most; elsewhere K
// is not the contiguous dimension, and FP8 wgmma cannot read the operand (emulator/model/operand_order.hpp).
#pragma once

#include "emulator/files/tensor.hpp"
#include "emulator/model/operand_order.hpp"

namespace fp8twin::cli {

/// The file with `a` and `b` as a problem has them, and their scales likewise; no byte moves. Throws Error that names what
/// to transpose.
TensorFile k_major_file(TensorFile file, OperandOrder order);

}  // namespace fp8twin::cli
