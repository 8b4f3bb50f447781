// The generator of wgmma's assembly: operand numbers, counts and names for all 32 shapes. Text only: no
// toolkit runs.
#include "gpu/jit/wgmma_shapes.hpp"

#include <regex>
#include <string>

#include "emulator/support/error.hpp"
#include "gpu/jit/nvrtc.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("every legal N: two overloads, N/2 accumulators each, operands numbered in order") {
  for (int n = 8; n <= 256; n += 8) {
    INFO("N = " << n);
    const std::string text = jit::wgmma_shapes(std::span(&n, 1));
    CHECK(count(text, "struct WgmmaShape<" + std::to_string(n) + ">") == 1);
    CHECK(count(text, "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k32.f32.e4m3.e4m3") == 2);
    CHECK(count(text, "\"+f\"") == static_cast<std::size_t>(n));  // N/2 in each of two
    CHECK(count(text, "\"n\"(ScaleA), \"n\"(ScaleB)") == 2);
    const int d = n / 2;
    // From shared memory: A, B, scale-d, and the two immediates follow the accumulators.
    const std::string shared = "}, %" + std::to_string(d) + ", %" + std::to_string(d + 1) + ", p, %" +
                               std::to_string(d + 3) + ", %" + std::to_string(d + 4) + ";";
    CHECK(count(text, shared) == 1);
    CHECK(count(text, "setp.ne.b32 p, %" + std::to_string(d + 2) + ", 0;") == 1);
    // From registers: four of A.
    const std::string registers = "}, {%" + std::to_string(d) + ", %" + std::to_string(d + 1) + ", %" +
                                  std::to_string(d + 2) + ", %" + std::to_string(d + 3) + "}, %" +
                                  std::to_string(d + 4) + ", p, %" + std::to_string(d + 6) + ", %" +
                                  std::to_string(d + 7) + ";";
    CHECK(count(text, registers) == 1);
    CHECK(count(text, "setp.ne.b32 p, %" + std::to_string(d + 5) + ", 0;") == 1);
  }
}

TEST_CASE("an N that wgmma does not have is refused with a sentence") {
  for (const int n : {0, -8, 4, 12, 250, 264}) {
    INFO("N = " << n);
    CHECK_THROWS_AS(jit::wgmma_shapes(std::span(&n, 1)), Error);
  }
}

TEST_CASE("ptxas's report is read kernel by kernel") {
  const auto all = jit::parse_resources(
      "ptxas info    : 17 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
      "ptxas info    : Function properties for first\n"
      "ptxas         .     1144 bytes stack frame, 1324 bytes spill stores, 1325 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 1144 bytes cumulative stack size\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
      "ptxas info    : Function properties for second\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 30 registers, used 1 barriers, 128 bytes smem\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].kernel == "first");
  CHECK(all[0].registers == 255);
  CHECK(all[0].stack_bytes == 1144);
  CHECK(all[0].spill_store_bytes == 1324);
  CHECK(all[0].spill_load_bytes == 1325);
  CHECK(all[1].kernel == "second");
  CHECK(all[1].registers == 30);
  CHECK(all[1].stack_bytes == 0);
  CHECK(all[1].shared_bytes == 128);
}
