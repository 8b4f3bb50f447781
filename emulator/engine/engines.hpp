// The engines one by one, for make_engine(); everyone else knows Engine only.
#pragma once

#include <memory>

#include "emulator/engine/engine.hpp"
#include "gpu/launch/gemm_data.hpp"

namespace fp8twin {

std::unique_ptr<Engine> make_model_engine();
std::unique_ptr<Engine> make_machine_engine();
/// Throws Error where there is no card, no driver, or no card's side in this build.
std::unique_ptr<Engine> make_gpu_engine();

/// A 1d2d problem's tensors as a launch takes them.
inline GemmOperands operands_of(const Problem& problem) {
  return {problem.a, problem.a_scale, problem.b, problem.b_scale};
}

}  // namespace fp8twin
