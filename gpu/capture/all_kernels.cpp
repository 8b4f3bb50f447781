#include "gpu/capture/all_kernels.hpp"

#include <utility>

#include "gpu/capture/layout_sources.hpp"
#include "gpu/capture/sources.hpp"
#include "gpu/jit/quantize_sources.hpp"

namespace fp8twin::capture {

std::vector<jit::Source> all_kernels() {
  std::vector<jit::Source> all = {convert_source(), check_gemm_source(), reduce_source()};
  for (jit::Source& source : jit::gemm_sources(offered_configs())) all.push_back(std::move(source));
  std::vector<GemmConfig>
      traced;  // the probes, in one tile of each step, and in each shape of loop of the last two
  for (int step = first_step; step <= last_step; ++step) {
    traced.push_back(default_config(step, 4096, 112, 4096, false, 132));
  }
  traced.push_back({.step = 8, .tile_m = 256, .tile_n = 8, .stages = 3});
  traced.push_back({.step = 8, .tile_m = 64, .tile_n = 16, .stages = 3, .in_flight = 4});
  traced.push_back({.step = 9, .tile_m = 64, .tile_n = 8, .stages = 3, .in_flight = 4});
  for (GemmConfig& config : traced) {
    config.trace = true;
    all.push_back(jit::gemm_source(config));
  }
  for (int n = 8; n <= 256; n += 8) {
    for (const Variant& variant : variants) {
      if (!variant.scale_d) continue;  // the same code as with scale-d true: it is an operand
      all.push_back(jit::wgmma_chain_source(chain_config(variant, n)));
      all.push_back(compare_source(variant, n));
    }
  }
  for (jit::Source& source : jit::quantize_sources()) all.push_back(std::move(source));
  all.push_back(jit::scale_layout_source());
  for (const jit::Source& source : layout_sources()) all.push_back(source);
  return all;
}

}  // namespace fp8twin::capture
