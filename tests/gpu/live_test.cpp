// On a machine with an H100 or H200: the kernels' bits against the model's, on fresh inputs. Elsewhere:
// skipped.
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "fp8twin/model.hpp"
#include "gpu/launch/driver.hpp"
#include "gpu/launch/gemm.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/skip.hpp"

using namespace fp8twin;

namespace {

bool have_gpu() {
  std::string why;
  if (device_present(why)) return true;
  test::skip(why);
  return false;
}

template <class T>
std::size_t differing(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += std::memcmp(&a[i], &b[i], sizeof(T)) != 0;
  return count;
}

void compare_gemm(KernelCache& kernels, std::int64_t m, std::int64_t n, std::int64_t k,
                  Distribution distribution, int tile_n) {
  INFO("M " << m << " N " << n << " K " << k << " " << distribution_name(distribution) << " tile " << tile_n);
  const std::int64_t k_blocks = (k + 127) / 128, n_blocks = (n + 127) / 128;
  const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  std::vector<std::uint8_t> a(size(m * k)), b(size(n * k));
  std::vector<float> a_scale(size(m * k_blocks)), b_scale(size(n_blocks * k_blocks));
  fill_codes(distribution, 77, Operand::a, k, a);
  fill_codes(distribution, 77, Operand::b, k, b);
  fill_scales(distribution, 77, Operand::a_scale, a_scale);
  fill_scales(distribution, 77, Operand::b_scale, b_scale);
  const DeviceGemm problem(m, n, k, a, a_scale, b, b_scale);

  std::vector<float> model(size(m * n)), card(size(m * n));
  gemm(m, n, k, a, a_scale, b, b_scale, std::span<float>(model));
  Buffer<std::uint8_t> d(size(m * n) * 4);
  d.fill(0xff);
  GemmConfig config{
      .step = 1, .tile_m = 64, .tile_n = static_cast<u32>(tile_n), .stages = 1, .output_f32 = true};
  launch_gemm_1_one_tile(kernels, problem, config, d);
  std::memcpy(card.data(), d.download().data(), card.size() * 4);
  CHECK(differing(card, model) == 0);

  std::vector<std::uint16_t> model16(size(m * n)), card16(size(m * n));
  gemm(m, n, k, a, a_scale, b, b_scale, std::span<std::uint16_t>(model16));
  Buffer<std::uint8_t> d16(size(m * n) * 2);
  d16.fill(0xff);
  config.output_f32 = false;
  launch_gemm_1_one_tile(kernels, problem, config, d16);
  std::memcpy(card16.data(), d16.download().data(), card16.size() * 2);
  CHECK(differing(card16, model16) == 0);
}

}  // namespace

TEST_CASE("GEMM on the card: the model's bits") {
  if (!have_gpu()) return;
  const Device device;
  KernelCache kernels;
  for (const int tile_n : {8, 64, 136}) {
    compare_gemm(kernels, 1, 1, 1, Distribution::uniform, tile_n);
    compare_gemm(kernels, 130, 200, 384, Distribution::normal, tile_n);
    compare_gemm(kernels, 65, 257, 333, Distribution::adversarial, tile_n);
    compare_gemm(kernels, 7, 576, 192, Distribution::extremes, tile_n);
  }
}

TEST_CASE("wgmma on the card: the model's bits") {
  if (!have_gpu()) return;
  const Device device;
  KernelCache kernels;
  for (const int n : {8, 104, 256}) {
    for (const Distribution distribution :
         {Distribution::uniform, Distribution::any_c, Distribution::row_exponent}) {
      INFO("N " << n << " " << distribution_name(distribution));
      const auto size = [](int count) { return static_cast<std::size_t>(count); };
      std::vector<std::uint8_t> a(size(64 * 128)), b(size(n * 128));
      std::vector<float> c(size(64 * n)), model(c.size());
      fill_codes(distribution, 5, Operand::a, 128, a);
      fill_codes(distribution, 5, Operand::b, 128, b);
      fill_c(distribution, 5, c);
      wgmma(n, 128, a, b, c, model);
      CHECK(differing(run_wgmma_chain(kernels, {n, 4, 1, 1, false}, a, b, c, true), model) == 0);
      CHECK(differing(run_wgmma_chain(kernels, {n, 4, 1, 1, true}, a, b, c, true), model) == 0);
      wgmma(n, 128, a, b, {}, model);
      CHECK(differing(run_wgmma_chain(kernels, {n, 4, 1, 1, false}, a, b, c, false), model) == 0);
    }
  }
}
