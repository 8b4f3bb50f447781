// The yardstick: Eigen's single-precision product D = A B^T of the same shape, built with -O3 -fopenmp for three targets.
//
//     native     -march=native, the best Eigen this machine can have
//     avx2       -march=haswell: AVX2 and FMA
//     baseline   no -m flag: what the compiler makes for any x86-64
//
// One source, eigen_product.cpp, compiled three times. Each renames the namespace Eigen, so that the linker cannot take one
// build's inline functions for another's.
#pragma once

#include <cstdint>
#include <memory>

#include "emulator/support/simd.hpp"

namespace fp8twin::bench {

class Product {
 public:
  virtual ~Product() = default;
  virtual void run() = 0;
};

std::unique_ptr<Product> eigen_native(std::int64_t m, std::int64_t n, std::int64_t k, int threads);
std::unique_ptr<Product> eigen_avx2(std::int64_t m, std::int64_t n, std::int64_t k, int threads);
std::unique_ptr<Product> eigen_baseline(std::int64_t m, std::int64_t n, std::int64_t k, int threads);

/// Eigen for the instructions that a path of the model has.
inline std::unique_ptr<Product> eigen_for(Simd simd, std::int64_t m, std::int64_t n, std::int64_t k,
                                          int threads) {
  return simd == Simd::avx512 ? eigen_native(m, n, k, threads)
         : simd == Simd::avx2 ? eigen_avx2(m, n, k, threads)
                              : eigen_baseline(m, n, k, threads);
}

}  // namespace fp8twin::bench
