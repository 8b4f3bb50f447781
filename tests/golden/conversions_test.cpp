// The conversions as the H200 made them, by checksum: every block of 2^24 inputs, and a few blocks for every
// day.
#include <cstdint>
#include <string>

#include "emulator/number/bf16.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/number/e5m2.hpp"
#include "emulator/support/parallel.hpp"
#include "tests/catch.hpp"
#include "tests/golden/golden.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

/// As conversions.json explains it.
constexpr std::uint64_t mix(std::uint64_t v) {
  v *= 0x9e3779b97f4a7c15u;
  v = (v ^ v >> 32) * 0xd6e8feb86659fd93u;
  return v ^ v >> 32;
}

struct Sums {
  std::uint64_t e4m3 = 0, e5m2 = 0, bf16 = 0;
};

Sums sums_of_block(std::uint32_t block) {
  Sums sums;
  for (std::uint32_t i = 0; i < 1u << 24; ++i) {
    const std::uint32_t bits = block << 24 | i;
    const float x = f32_from_bits(bits);
    const std::uint64_t input = std::uint64_t{bits} << 32;
    sums.e4m3 += mix(input | E4M3::satfinite(x).code);
    sums.e5m2 += mix(input | E5M2::satfinite(x).code);
    sums.bf16 += mix(input | BF16::rn(x).code);
  }
  return sums;
}

std::uint64_t recorded_sum(const nlohmann::json& recorded, const char* conversion, std::uint32_t block) {
  return std::stoull(recorded.at("blocks").at(conversion).at(block).get<std::string>(), nullptr, 16);
}

void check_blocks(const std::vector<std::uint32_t>& blocks) {
  const nlohmann::json recorded = golden_json("conversions.json");
  CHECK(recorded.at("mismatches") == 0);
  CHECK(recorded.at("device").get<std::string>().find("H200") != std::string::npos);
  std::vector<Sums> sums(blocks.size());
  parallel_for(static_cast<std::int64_t>(blocks.size()), 0, [&](std::int64_t i, int) {
    sums[static_cast<std::size_t>(i)] = sums_of_block(blocks[static_cast<std::size_t>(i)]);
  });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    INFO("inputs from " << blocks[i] << " << 24");
    CHECK(sums[i].e4m3 == recorded_sum(recorded, "cvt.rn.satfinite.e4m3x2.f32", blocks[i]));
    CHECK(sums[i].e5m2 == recorded_sum(recorded, "cvt.rn.satfinite.e5m2x2.f32", blocks[i]));
    CHECK(sums[i].bf16 == recorded_sum(recorded, "cvt.rn.bf16.f32", blocks[i]));
  }
}

}  // namespace

#ifdef FP8TWIN_ALL_BLOCKS
TEST_CASE("conversions of all 2^32 floats, as recorded on the H200") {
  std::vector<std::uint32_t> all;
  for (std::uint32_t block = 0; block < 256; ++block) all.push_back(block);
  check_blocks(all);
}
#else
TEST_CASE("conversions where they turn, as recorded on the H200") {
  // E4M3's subnormals, its saturation, E5M2's saturation, infinity and NaN, negative normals.
  check_blocks({0x3b, 0x43, 0x47, 0x7f, 0xbd});
}
#endif
