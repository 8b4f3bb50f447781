#include "gpu/bench/card_problem.hpp"

#include <fmt/format.h>

#include <cstring>

#include "emulator/support/error.hpp"
#include "fp8twin/model.hpp"
#include "gpu/bench/cublaslt_scales.hpp"
#include "gpu/jit/kernels.hpp"
#include "gpu/launch/card_gemm.hpp"

namespace fp8twin::bench {
namespace {

i64 blocks_of(i64 extent) { return (extent + 127) / 128; }

u64 row_stride(const Shape& shape) { return static_cast<u64>((shape.k + 15) / 16 * 16); }

std::vector<std::uint16_t> codes_of(const std::vector<u8>& bytes) {
  std::vector<std::uint16_t> codes(bytes.size() / 2);
  if (!codes.empty()) std::memcpy(codes.data(), bytes.data(), codes.size() * 2);
  return codes;
}

}  // namespace

CardProblem::CardProblem(const HostProblem& problem)
    : shape_(problem.shape),
      host_(problem),
      stride_(row_stride(shape_)),
      a_(padded_rows(problem.a->codes, static_cast<u64>(shape_.m), static_cast<u64>(shape_.k), stride_)),
      b_(padded_rows(problem.b->codes, static_cast<u64>(shape_.n), static_cast<u64>(shape_.k), stride_)),
      b_scale_(problem.b->scales) {}

OurGemm::OurGemm(KernelCache& kernels, const CardProblem& problem, const GemmConfig& config,
                 u32 multiprocessors)
    : kernel_(kernels.get(jit::gemm_source(config), config.name())),
      plan_(resident(plan_gemm(problem.shape_.m, problem.shape_.n, problem.shape_.k, config, multiprocessors),
                     kernel_)),
      a_scale_(arranged_scales(plan_, problem.host_.a->scales)),
      d_(plan_.d_bytes()) {
  if (plan_.a_stride != problem.stride_ || plan_.b_stride != problem.stride_) {
    throw Error(fmt::format("{} wants rows {} bytes apart; they lie {} apart", config.name(), plan_.a_stride,
                            problem.stride_));
  }
  arguments_ = card_arguments(plan_, {problem.a_.device(), a_scale_.device(), problem.b_.device(),
                                      problem.b_scale_.device(), d_.device()});
}

void OurGemm::launch(bool overlap) const { launch_on_card(kernel_, plan_, arguments_, overlap); }

std::vector<std::uint16_t> OurGemm::d() const {
  return codes_of(cropped_rows(d_.download(), plan_.m, plan_.n * u64{2}, plan_.d_stride * 2));
}

u32 OurGemm::resident_clusters() const {
  return kernel_.most_resident_clusters({plan_.grid_x, plan_.grid_y, plan_.cluster}, plan_.threads,
                                        plan_.shared_bytes);
}

TheirGemm::TheirGemm(const CublasLt& lt, const CardProblem& problem, CublasLtGemm::Order order)
    : shape_(problem.shape_),
      padded_m_(CublasLtGemm::padded_m(lt, shape_.m, shape_.n, shape_.k)),
      a_scale_(vec128_scales(problem.host_.a->scales, shape_.m, blocks_of(shape_.k), padded_m_)),
      b_scale_(blk128_scales(problem.host_.b->scales, blocks_of(shape_.n), blocks_of(shape_.k))),
      d_(static_cast<std::size_t>(padded_m_ * shape_.n * 2)) {
  if (problem.stride_ != static_cast<u64>(shape_.k)) {
    throw Error(fmt::format("cuBLASLt is compared for K a multiple of 16; K is {}", shape_.k));
  }
  const u8* a = problem.a_.device();
  if (padded_m_ != shape_.m) {
    std::vector<u8> rows(problem.host_.a->codes);
    rows.resize(static_cast<std::size_t>(padded_m_ * shape_.k));
    padded_a_ = std::make_unique<Buffer<u8>>(rows);
    a = padded_a_->device();
  }
  gemm_ = std::make_unique<CublasLtGemm>(
      lt, CublasLtGemm::Scaling::block, padded_m_, shape_.n, shape_.k,
      CublasLtOperands{a, a_scale_.device(), problem.b_.device(), b_scale_.device(), d_.device()}, order);
}

std::vector<std::uint16_t> TheirGemm::d() const {
  std::vector<std::uint16_t> d = codes_of(d_.download());
  d.resize(static_cast<std::size_t>(shape_.m * shape_.n));
  return d;
}

PlainGemm::PlainGemm(const CublasLt& lt, const HostProblem& problem)
    : a_(problem.a->codes),
      b_(problem.b->codes),
      d_(static_cast<std::size_t>(problem.shape.m * problem.shape.n * 2)) {
  const Shape& shape = problem.shape;
  gemm_ = std::make_unique<CublasLtGemm>(
      lt, CublasLtGemm::Scaling::none, shape.m, shape.n, shape.k,
      CublasLtOperands{a_.device(), nullptr, b_.device(), nullptr, d_.device()});
}

std::vector<std::uint16_t> model_d(const HostProblem& problem) {
  const Shape& shape = problem.shape;
  std::vector<std::uint16_t> d(static_cast<std::size_t>(shape.m * shape.n));
  gemm(shape.m, shape.n, shape.k, problem.a->codes, problem.a->scales, problem.b->codes, problem.b->scales,
       std::span<std::uint16_t>(d));
  return d;
}

}  // namespace fp8twin::bench
