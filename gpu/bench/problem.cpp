#include "gpu/bench/problem.hpp"

#include <cmath>
#include <numbers>

#include "emulator/number/quantize.hpp"
#include "emulator/support/parallel.hpp"
#include "emulator/support/random.hpp"

namespace fp8twin::bench {
namespace {

/// Two independent normal values of one draw (Box and Muller).
std::pair<float, float> normal_pair(std::uint64_t bits) {
  const float u = static_cast<float>((bits >> 40) + 1) * 0x1p-24f;  // (0, 1]
  const float angle = static_cast<float>(bits & 0xffffff) * (0x1p-24f * 2 * std::numbers::pi_v<float>);
  const float radius = std::sqrt(-2 * std::log(u));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

std::vector<BF16> normal_values(i64 count, u64 seed, int threads) {
  std::vector<BF16> values(static_cast<std::size_t>(count));
  const Random random(seed, 0);
  constexpr i64 piece = 1 << 16;
  parallel_for((count + piece - 1) / piece, threads, [&](std::int64_t index, int) {
    const i64 begin = index * piece, end = std::min(count, begin + piece);
    for (i64 i = begin; i < end; i += 2) {
      const auto [first, second] = normal_pair(random.bits(static_cast<std::uint64_t>(i / 2)));
      values[static_cast<std::size_t>(i)] = BF16::rn(first);
      if (i + 1 < end) values[static_cast<std::size_t>(i + 1)] = BF16::rn(second);
    }
  });
  return values;
}

}  // namespace

Quantised normal_operand(i64 rows, i64 k, i64 block_rows, u64 seed, int threads) {
  const BlockGrid grid(1, rows, k, {block_rows, 128});
  const std::vector<BF16> values = normal_values(rows * k, seed, threads);
  Quantised result;
  result.codes.resize(static_cast<std::size_t>(grid.elements()));
  result.scales.resize(static_cast<std::size_t>(grid.scales()));
  quantize(recipe_from_name("deepgemm"), ScaleFormat::f32, grid, std::span<const BF16>(values), result.codes,
           result.scales, threads);
  return result;
}

HostProblem Problems::problem(const Shape& shape) {
  std::shared_ptr<const Quantised>& b = b_[{shape.n, shape.k}];
  if (!b) b = std::make_shared<Quantised>(normal_operand(shape.n, shape.k, 128, 2 * seed_ + 1));
  const auto a = std::make_shared<Quantised>(normal_operand(shape.m, shape.k, 1, 2 * seed_));
  return {shape, a, b};
}

i64 differing(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
  if (a.size() != b.size()) return static_cast<i64>(std::max(a.size(), b.size()));
  i64 count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

}  // namespace fp8twin::bench
