// The engines one by one, for make_engine(); everyone else knows Engine only.
#pragma once

#include <memory>

#include "emulator/engine/engine.hpp"

namespace fp8twin {

std::unique_ptr<Engine> make_model_engine();
std::unique_ptr<Engine> make_machine_engine();
/// Throws Error where there is no card, no driver, or no card's side in this build.
std::unique_ptr<Engine> make_gpu_engine();

}  // namespace fp8twin
