// wgmma on the emulated machine, through the kernel wgmma_chain: the model's bits for every form of the instruction.
#include "gpu/launch/machine_wgmma.hpp"

#include <cstring>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "emulator/support/error.hpp"
#include "fp8twin/model.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

std::size_t differing(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += std::memcmp(&a[i], &b[i], 4) != 0;
  return count;
}

std::vector<u8> negated(std::vector<u8> codes) {
  for (u8& code : codes) code ^= 0x80;
  return codes;
}

}  // namespace

TEST_CASE("every form of the instruction: chain, operands negated, A in registers, scale-d") {
  for (const u32 n : {8u, 104u, 256u}) {
    for (const u32 k_steps : {1u, 3u}) {
      for (const Distribution distribution : {Distribution::uniform_nan, Distribution::any_c}) {
        const std::size_t k = 32 * k_steps;
        std::vector<u8> a(2 * 64 * k), b(2 * n * k);
        std::vector<float> c(2 * 64 * n), model(c.size());
        fill_codes(distribution, 5, Operand::a, static_cast<i64>(k), a);
        fill_codes(distribution, 5, Operand::b, static_cast<i64>(k), b);
        fill_c(distribution, 5, c);
        for (u32 form = 0; form < 16; ++form) {
          MachineChainConfig config{n, k_steps};
          if (form & 1) config.scale_a = -1;
          if (form & 2) config.scale_b = -1;
          config.a_in_registers = form & 4;
          const bool scale_d = form & 8;
          INFO("N " << n << " steps " << k_steps << " form " << form);
          const std::vector<u8> model_a = form & 1 ? negated(a) : a, model_b = form & 2 ? negated(b) : b;
          for (std::size_t tile = 0; tile < 2; ++tile) {
            const std::span<float> d = std::span(model).subspan(tile * 64 * n, 64 * n);
            wgmma(
                n, static_cast<i64>(k), std::span(model_a).subspan(tile * 64 * k, 64 * k),
                std::span(model_b).subspan(tile * n * k, n * k),
                scale_d ? std::span<const float>(c).subspan(tile * 64 * n, 64 * n) : std::span<const float>(),
                d);
          }
          CHECK(differing(run_wgmma_chain_on_machine(config, a, b, c, scale_d), model) == 0);
        }
      }
    }
  }
}

TEST_CASE("operands of other sizes, and shapes that the instruction does not have, are refused") {
  const std::vector<u8> a(64 * 32), b(8 * 32);
  const std::vector<float> c(64 * 8);
  CHECK_THROWS_AS(run_wgmma_chain_on_machine({12, 1}, a, b, c, true), Error);
  CHECK_THROWS_AS(run_wgmma_chain_on_machine({16, 1}, a, b, c, true), Error);
  CHECK_THROWS_AS(run_wgmma_chain_on_machine({8, 2}, a, b, c, true), Error);
  CHECK(run_wgmma_chain_on_machine({8, 1}, a, b, c, true) == std::vector<float>(64 * 8));
}
