#include "emulator/model/tile.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/number/bf16.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/number/group_step.hpp"
#include "emulator/number/lanes/lanes.hpp"

namespace fp8twin {

std::unique_ptr<TileWorker> make_tile_worker(const TensorCore& core, Simd simd) {
  const bool cut_as_aligned = core.output_bits == core.fraction_bits;
  if (cut_as_aligned && core.fraction_bits <= max_step_fraction_bits && step_functions(simd)) {
    return make_lanes_worker(simd);
  }
  if (cut_as_aligned && core.fraction_bits <= max_lane_fraction_bits) return make_group_worker();
  return make_dot_worker();
}

namespace {

/// Row `i`, columns j to j + count of the tile, in d's arithmetic but not yet its type.
void finished_values(const Tile& t, const float* values, int i, int j, int count, float* out) {
  const GemmSlice& s = t.slice;
  std::copy_n(values, count, out);
  if (s.a_scale && !t.promote && s.k > 0) {
    for (int x = 0; x < count; ++x) {
      out[x] = mul_rn(mul_rn(t.a_scale(i, 0), t.b_scale(j + x, 0)), out[x]);
    }
  }
  if (s.a_scale && s.c) {
    const float* c = s.c + (t.m0 + i) * s.n + t.n0 + j;
    for (int x = 0; x < count; ++x) out[x] = add_rn(c[x], out[x]);
  }
}

}  // namespace

void finish_tile(const Tile& t, const TileWorker& worker, DType output, std::byte* d, std::int64_t ldd) {
  std::array<float, tile_strip> values;
  std::array<std::uint16_t, tile_strip> rounded;
  for (int i = 0; i < t.rows; ++i) {
    for (int j = 0; j < t.columns; j += tile_strip) {
      const int count = std::min(tile_strip, t.columns - j);
      finished_values(t, worker.values(i, j), i, j, count, values.data());
      const auto at = static_cast<std::size_t>((t.m0 + i) * ldd + t.n0 + j),
                 bytes = static_cast<std::size_t>(count);
      if (output == DType::f32) {
        std::memcpy(d + 4 * at, values.data(), 4 * bytes);
      } else {
        for (std::size_t x = 0; x < bytes; ++x) rounded[x] = BF16::rn(values[x]).code;
        std::memcpy(d + 2 * at, rounded.data(), 2 * bytes);
      }
    }
  }
}

}  // namespace fp8twin
