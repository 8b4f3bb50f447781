#include "emulator/engine/engine.hpp"

#include <fmt/core.h>

#include <array>

#include "emulator/engine/engines.hpp"

namespace fp8twin {
namespace {

constexpr std::array<std::string_view, 4> schedule_names = {"earliest", "latest", "mixed", "random"};

void need_kernel(const Engine& engine, const Problem& problem, DType output) {
  if (problem.kind == Kind::wgmma && output != DType::f32) {
    throw Error(fmt::format("is a wgmma problem; engine {} stores its accumulators as F32", engine.name()));
  }
}

}  // namespace

void Engine::prepare(std::span<const GemmConfig>, int) {}

RunResult Engine::run(const Problem& problem, DType output, const RunOptions& options) {
  if (runs_kernels()) need_kernel(*this, problem, output);
  return compute(problem, output, options);
}

void need_engine_name(std::string_view option, std::string_view name) {
  if (name == "model" || name == "machine" || name == "gpu") return;
  throw Error(fmt::format("{}: found '{}'; model, machine or gpu is needed", option, name));
}

std::unique_ptr<Engine> make_engine(std::string_view name) {
  if (name == "model") return make_model_engine();
  if (name == "machine") return make_machine_engine();
  need_engine_name("engine", name);
  return make_gpu_engine();
}

std::string_view schedule_name(machine::Schedule schedule) {
  return schedule_names[static_cast<std::size_t>(schedule)];
}

machine::Schedule schedule_from_name(std::string_view name) {
  for (std::size_t i = 0; i < schedule_names.size(); ++i) {
    if (name == schedule_names[i]) return static_cast<machine::Schedule>(i);
  }
  throw Error(fmt::format("'{}' is no schedule; earliest, latest, mixed or random is needed", name));
}

}  // namespace fp8twin
