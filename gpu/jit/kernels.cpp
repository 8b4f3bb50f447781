#include "gpu/jit/kernels.hpp"

#include <fmt/format.h>

namespace fp8twin::jit {

Source source_of(const std::string& name, const std::string& header, const std::vector<int>& wgmma_shapes,
                 const std::vector<Entry>& entries) {
  std::string text = fmt::format("#include \"{}\"\nusing namespace fp8twin;\n", header);
  for (const Entry& entry : entries) {
    text += fmt::format(
        "\nstruct Config_{0} {{ {3} }};\n"
        "FP8TWIN_KERNEL({4}) {0}(const {2} arguments) {{ {1}<Config_{0}>(arguments); }}\n",
        entry.name, entry.function, entry.arguments, entry.config, entry.threads);
  }
  return {name, text, wgmma_shapes};
}

std::string GemmConfig::name() const {
  return fmt::format("gemm_1_one_tile_n{}_{}", tile_n, output_f32 ? "f32" : "bf16");
}

Source gemm_1_one_tile_source(const GemmConfig& config) {
  const std::string members =
      fmt::format("static constexpr u32 tile_n = {}; static constexpr bool output_f32 = {};", config.tile_n,
                  config.output_f32);
  return source_of(config.name(), "gpu/kernels/gemm_1_one_tile.hpp", {config.tile_n},
                   {{config.name(), "gemm_1_one_tile", "GemmArguments", members}});
}

std::vector<int> gemm_1_one_tile_widths() {
  std::vector<int> widths;
  for (int n = 8; n <= 192; n += 8) widths.push_back(n);
  return widths;
}

std::string ChainConfig::name() const {
  return fmt::format("wgmma_chain_n{}_k{}{}{}{}", n, 32 * k_steps, scale_a < 0 ? "_negate_a" : "",
                     scale_b < 0 ? "_negate_b" : "", a_in_registers ? "_register_a" : "");
}

std::string ChainConfig::members() const {
  return fmt::format(
      "static constexpr u32 n = {}, k_steps = {}; static constexpr i32 scale_a = {}, scale_b = {}; "
      "static constexpr bool a_in_registers = {};",
      n, k_steps, scale_a, scale_b, a_in_registers);
}

Source wgmma_chain_source(const ChainConfig& config) {
  return source_of(config.name(), "gpu/kernels/wgmma_chain.hpp", {config.n},
                   {{config.name(), "wgmma_chain", "WgmmaArguments", config.members()}});
}

}  // namespace fp8twin::jit
