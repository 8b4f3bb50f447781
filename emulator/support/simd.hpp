// Which vector instructions to compute with. Every path gives the same bits; only the time differs.
//
//     portable   plain C++, any processor                      the compiler finds the lanes
//     avx2       AVX2, FMA and F16C       8 binary32 lanes     x86-64 since 2013
//     avx512     AVX-512 F, BW, DQ, VL   16 binary32 lanes     x86-64 servers since 2017
//
// A path lives in source files of its own, compiled for its instructions (fp8twin_simd_sources in
// emulator/CMakeLists.txt) and called only where runs_here() says so. The rule for such a file: everything it defines has
// internal linkage and nothing it calls inline comes from a shared header, or the linker may keep its copy of an inline
// function, with its instructions, for the whole program.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/support/error.hpp"

namespace fp8twin {

enum class Simd { portable, avx2, avx512 };

constexpr std::string_view simd_name(Simd simd) {
  return simd == Simd::avx512 ? "avx512" : simd == Simd::avx2 ? "avx2" : "portable";
}

/// Whether this processor and this build have the path.
inline bool runs_here([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx2) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");  // F16C is older than both
  }
  if (simd == Simd::avx512) {
    return runs_here(Simd::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
#endif
  return simd == Simd::portable;
}

/// The paths this processor has, the fastest last.
inline std::vector<Simd> simd_here() {
  std::vector<Simd> here;
  for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
    if (runs_here(simd)) here.push_back(simd);
  }
  return here;
}

inline Simd best_simd() {
  static const Simd best = simd_here().back();
  return best;
}

/// "auto" or a path by its name; Throws Error for others and for those that this processor lacks.
inline Simd simd_from_name(std::string_view name) {
  if (name == "auto") return best_simd();
  for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
    if (name != simd_name(simd)) continue;
    if (runs_here(simd)) return simd;
    throw Error("'" + std::string(name) +
                "' was asked for; this processor has no such instructions, needed is auto or portable");
  }
  throw Error("found '" + std::string(name) + "'; auto, portable, avx2 or avx512 is needed");
}

}  // namespace fp8twin
