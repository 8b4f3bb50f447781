// From a kernel's configuration to the text NVRTC compiles: a Config of constexpr members and one entry.
//
//   #include "gpu/kernels/gemm_1_one_tile.hpp"
//   struct Config { static constexpr u32 tile_n = 64; ... };
//   FP8TWIN_KERNEL(128) gemm_1_one_tile_n64_bf16(const GemmArguments arguments) {
//     gemm_1_one_tile<Config>(arguments);
//   }
#pragma once

#include <string>
#include <vector>

#include "gpu/jit/nvrtc.hpp"

namespace fp8twin::jit {

/// One entry of a translation unit.
struct Entry {
  std::string name;       // of the entry, as Module::kernel takes it
  std::string function;   // the kernel's template
  std::string arguments;  // the type of its one argument
  std::string config;     // members of its Config: "static constexpr u32 n = 8;"
  unsigned threads = 128;
};

/// `header` declares the functions; all entries share it.
Source source_of(const std::string& name, const std::string& header, const std::vector<int>& wgmma_shapes,
                 const std::vector<Entry>& entries);

struct GemmConfig {
  int tile_n = 64;
  bool output_f32 = false;
  std::string name() const;
};

Source gemm_1_one_tile_source(const GemmConfig& config);
/// Every tile_n that gemm_1_one_tile offers: 8 to 192 in steps of 8. Wider ones would spill registers.
std::vector<int> gemm_1_one_tile_widths();

struct ChainConfig {
  int n = 8;
  int k_steps = 1;
  int scale_a = 1, scale_b = 1;  // -1 negates the operand
  bool a_in_registers = false;
  std::string name() const;
  std::string members() const;
};

Source wgmma_chain_source(const ChainConfig& config);

}  // namespace fp8twin::jit
