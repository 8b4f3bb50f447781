// cuBLASLt's FP8 GEMMs, the yardsticks: loaded at run time, first heuristic result, 32 MiB of workspace.
//
//   block-scaled    D = A B^T, scales per 1 x 128 of A and per 128 x 128 of B          what our kernels compute
//   rows            D += A B^T in FP32, scales per 1 x 128 of both
//   plain           D = A B^T, no scale, fast accumulation                             what the tensor cores can do
//
// For few rows and a long K the first result splits K among blocks and adds their sums afterwards: faster than its other
// kernels, and another order of additions, so other bits. Order::ascending forbids that: the bits then are the model's.
//
// cuBLASLt counts columns first. A row-major [rows, k] is to it a matrix of k rows, so its A is our B and its B our A, and
// with op(A) = transposed it computes our D:
//
//   our   D [m,n]  = A [m,k] B [n,k]^T
//   its   D'[n,m]  = op(A') B',    A' = B: k x n, ld k     B' = A: k x m, ld k     D': n x m, ld n, BF16
//
// Layout of the scales: cublaslt_scales.hpp. CUDA 12.9 and later have the block-scaled modes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "emulator/layout/integers.hpp"
#include "gpu/launch/driver.hpp"

namespace fp8twin::bench {

struct CublasLtLibrary;  // its functions
struct CublasLtPlan;     // descriptors and the algorithm chosen

/// The library and a handle. Needs a Device made before it.
class CublasLt {
 public:
  /// Throws Error where the library is missing.
  CublasLt();
  ~CublasLt();

  /// "cuBLASLt 13.0.2 (libcublasLt.so.13)"
  std::string description() const;
  std::string version() const;  // "13.0.2"

 private:
  friend class CublasLtGemm;
  std::unique_ptr<CublasLtLibrary> library_;
  Buffer<u8> workspace_;
};

/// Addresses on the card.
struct CublasLtOperands {
  const u8* a;           // [m, k]
  const float* a_scale;  // as vec128_scales(); null for plain
  const u8* b;           // [n, k]
  const float* b_scale;  // as blk128_scales(), for rows as vec128_scales(); null for plain
  void* d;               // [m, n], BF16; for rows FP32
};

class CublasLtGemm {
 public:
  enum class Scaling { block, rows, none };
  enum class Order { any, ascending };  // of the sums of K blocks

  /// Why there is no algorithm for this extent; nothing where there is one.
  static std::optional<std::string> refusal(const CublasLt& lt, Scaling scaling, i64 m, i64 n, i64 k);
  /// The least m, from this one on, that block-scaled multiplication takes. Throws Error when none up to 128 more is taken.
  static i64 padded_m(const CublasLt& lt, i64 m, i64 n, i64 k);

  /// Throws Error that names the call and its status when there is no algorithm.
  CublasLtGemm(const CublasLt& lt, Scaling scaling, i64 m, i64 n, i64 k, const CublasLtOperands& operands,
               Order order = Order::any);
  ~CublasLtGemm();

  /// Launches on the default stream; does not wait.
  void launch() const;
  /// Blocks add parts of K, and their sums are added afterwards.
  bool splits_k() const;

 private:
  const CublasLt& lt_;
  CublasLtOperands operands_;
  std::unique_ptr<CublasLtPlan> plan_;
};

}  // namespace fp8twin::bench
