// Writes the assembly of wgmma for the shapes a kernel asks for: one template for all 32.
//
// Inline assembly wants its operands as literal text, and wgmma.m64nNk32 has N/2 accumulator registers: "%0
// .. %127" for n256. No C++ template can vary that, so this function does. The text becomes the in-memory
// header "generated/wgmma_shapes.hpp" that gpu/ptx/wgmma.hpp includes.
#pragma once

#include <span>
#include <string>

namespace fp8twin::jit {

/// The definitions of WgmmaShape<N> for every N in `shapes`. Throws Error for an N that the instruction does
/// not have.
std::string wgmma_shapes(std::span<const int> shapes);

}  // namespace fp8twin::jit
