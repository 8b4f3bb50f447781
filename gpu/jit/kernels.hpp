// From a kernel's configuration to the text NVRTC compiles: a Config of constexpr members and one entry.
//
//   #include "gpu/kernels/gemm_7_full.hpp"
//   struct Config_... { static constexpr u32 tile_m = 128, tile_n = 64, width = 64, stages = 4; ... };
//   FP8TWIN_KERNEL(384) gemm_7_full_128x64_s4_c1x1_bf16(FP8TWIN_GRID_CONSTANT TmaGemmArguments arguments) {
//     gemm_7_full(Config_...{}, arguments);
//   }
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gpu/jit/nvrtc.hpp"
#include "gpu/launch/configs.hpp"

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

/// One kernel of the ladder.
Source gemm_source(const GemmConfig& config);

/// Many of them: one translation unit for each step and tile_n, so that its headers are read once.
std::vector<Source> gemm_sources(std::span<const GemmConfig> configs);

/// The kernel in front of contiguous groups; its entry.
Source find_groups_source();
inline constexpr const char* find_groups_name = "find_groups_of_rows";

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
