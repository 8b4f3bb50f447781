// The capture's own kernels as sources for NVRTC.
#pragma once

#include "gpu/jit/kernels.hpp"

namespace fp8twin::capture {

/// One wgmma or chain under test: what `compare` calls a variant.
struct Variant {
  const char* name;
  int k_steps, scale_a, scale_b;
  bool a_in_registers, scale_d;
  double share;  // of the outputs asked for
};

inline constexpr Variant variants[] = {
    {"one-instruction", 1, 1, 1, false, true, 1.0},     {"chain-of-four", 4, 1, 1, false, true, 0.1},
    {"scale-d-false", 1, 1, 1, false, false, 0.1},  // over accumulators that hold NaN, infinity, anything
    {"negate-a", 1, -1, 1, false, true, 0.1},           {"negate-b", 1, 1, -1, false, true, 0.1},
    {"negate-a-negate-b", 1, -1, -1, false, true, 0.1}, {"register-a", 1, 1, 1, true, true, 0.1},
};

inline jit::ChainConfig chain_config(const Variant& variant, int n) {
  return {n, variant.k_steps, variant.scale_a, variant.scale_b, variant.a_in_registers};
}

inline std::string compare_entry(const Variant& variant, int n) {
  return "compare_" + chain_config(variant, n).name();
}

/// The oracle aligns to `oracle_bits` fraction bits: 13, or another number (8 to 20) to see it fail.
inline jit::Source compare_source(const Variant& variant, int n, int oracle_bits = 13) {
  const std::string name = compare_entry(variant, n);
  const std::string members = chain_config(variant, n).members() +
                              " static constexpr i32 oracle_bits = " + std::to_string(oracle_bits) + ";";
  return jit::source_of(name, "gpu/capture/device/compare.hpp", {n},
                        {{name, "capture::compare", "capture::CompareArguments", members}});
}

/// Plain functions: their Config says nothing.
inline jit::Source convert_source() {
  return jit::source_of("convert", "gpu/capture/device/convert.hpp", {},
                        {{"convert", "capture::convert", "capture::ConvertArguments", "", 256}});
}

inline jit::Source check_gemm_source() {
  return jit::source_of("check_gemm", "gpu/capture/device/gemm_oracle.hpp", {},
                        {{"check_gemm", "capture::check_gemm", "capture::GemmCheckArguments", "", 256}});
}

inline jit::Source reduce_source() {
  std::vector<jit::Entry> entries;
  for (const char* name : {"reduce_prepare", "reduce_add", "reduce_check"})
    entries.push_back({name, std::string("capture::") + name, "capture::ReduceArguments", "", 256});
  return jit::source_of("reduce", "gpu/capture/device/reduce.hpp", {}, entries);
}

}  // namespace fp8twin::capture
