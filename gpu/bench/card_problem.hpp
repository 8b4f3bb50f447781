// One problem on the card, uploaded once, and those who compute it: our kernels in any configuration, and cuBLASLt.
#pragma once

#include <memory>
#include <vector>

#include "gpu/bench/cublaslt.hpp"
#include "gpu/bench/problem.hpp"
#include "gpu/launch/kernel_cache.hpp"
#include "gpu/launch/plan.hpp"

namespace fp8twin::bench {

/// A and B with rows a multiple of 16 bytes apart, as every plan from step 2 on wants them. Needs a Device made before it.
class CardProblem {
 public:
  explicit CardProblem(const HostProblem& problem);
  const Shape& shape() const { return shape_; }

 private:
  friend class OurGemm;
  friend class TheirGemm;
  Shape shape_;
  HostProblem host_;
  u64 stride_;
  Buffer<u8> a_, b_;
  Buffer<float> b_scale_;
};

/// Our kernel in one configuration, ready to launch: compiled, its tensor maps encoded.
class OurGemm {
 public:
  OurGemm(KernelCache& kernels, const CardProblem& problem, const GemmConfig& config, u32 multiprocessors);

  void launch(bool overlap = false) const;
  /// Fills D with NaN, so that an element that is not stored shows.
  void poison() { d_.fill(0xff); }
  /// D, rows not padded. Waits.
  std::vector<std::uint16_t> d() const;
  const LaunchPlan& plan() const { return plan_; }
  /// Clusters of this launch that the card holds at a time.
  u32 resident_clusters() const;

 private:
  Kernel kernel_;
  LaunchPlan plan_;
  Buffer<float> a_scale_;
  Buffer<u8> d_;
  TmaGemmArguments arguments_ = {};
};

/// cuBLASLt's block-scaled GEMM. Uploads operands of its own: scales lie otherwise, and rows may be added.
class TheirGemm {
 public:
  TheirGemm(const CublasLt& lt, const CardProblem& problem,
            CublasLtGemm::Order order = CublasLtGemm::Order::any);

  void launch() const { gemm_->launch(); }
  void poison() { d_.fill(0xff); }
  std::vector<std::uint16_t> d() const;
  /// m, or more where cuBLASLt does not take it.
  i64 padded_m() const { return padded_m_; }
  bool splits_k() const { return gemm_->splits_k(); }

 private:
  Shape shape_;
  i64 padded_m_;
  std::unique_ptr<Buffer<u8>> padded_a_;
  Buffer<float> a_scale_, b_scale_;
  Buffer<u8> d_;
  std::unique_ptr<CublasLtGemm> gemm_;
};

/// The unscaled FP8 GEMM with fast accumulation, for the tensor cores' limit.
class PlainGemm {
 public:
  PlainGemm(const CublasLt& lt, const HostProblem& problem);
  void launch() const { gemm_->launch(); }

 private:
  Buffer<u8> a_, b_, d_;
  std::unique_ptr<CublasLtGemm> gemm_;
};

/// What the model says, as BF16 codes; all threads.
std::vector<std::uint16_t> model_d(const HostProblem& problem);

}  // namespace fp8twin::bench
