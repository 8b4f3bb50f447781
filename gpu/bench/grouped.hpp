// A grouped product on the card: ours in one launch, the groups one by one by our kernel for one product, and by cuBLASLt.
#pragma once

#include "gpu/bench/cublaslt.hpp"
#include "gpu/bench/grouped_cases.hpp"
#include "gpu/launch/card_gemm.hpp"

namespace fp8twin::bench {

/// Normal operands, quantised; rows that do not count, and c, are zero. On the host.
struct GroupedOperands {
  std::vector<u8> a, b;
  std::vector<float> a_scale, b_scale, c;
  std::vector<i32> groups;  // m_indices or masked_m

  GroupedOperands(const GroupedCase& what, u64 seed);
  GemmOperands view() const;
};

/// Launches of their own for each group, over the arrays of `whole`, into a D of their own.
class OneByOne {
 public:
  OneByOne(KernelCache& kernels, const GroupedCase& what, const LaunchPlan& plan, const CardGemm& whole,
           u32 multiprocessors);
  void launch() const;
  /// All bytes of D, 0xff where no group has rows.
  std::vector<u8> d() const { return d_.download(); }

 private:
  struct Part {
    Kernel kernel;
    LaunchPlan plan;
    TmaGemmArguments arguments;
  };
  Buffer<u8> d_;
  std::vector<Part> parts_;
};

/// The same by cuBLASLt.
class CublasLtOneByOne {
 public:
  CublasLtOneByOne(const CublasLt& lt, const GroupedCase& what, const GroupedOperands& operands,
                   const LaunchPlan& plan, const CardGemm& whole);
  void launch() const;

 private:
  Buffer<u8> d_;
  std::vector<std::unique_ptr<Buffer<float>>> scales_;
  std::vector<std::unique_ptr<CublasLtGemm>> parts_;
};

}  // namespace fp8twin::bench
