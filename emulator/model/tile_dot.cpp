// Element by element through the readable dot(): the only way for cores with many fraction bits.
#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/model/tile.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/number/scale_block.hpp"

namespace fp8twin {
namespace {

constexpr int rows = 128, columns = tile_strip;

/// chain <- one K block of a row of A and one of B.
float block(const TensorCore& core, const std::uint8_t* a_codes, const std::uint8_t* b_codes,
            std::int64_t depth, float chain) {
  std::uint8_t a[scale_block] = {}, b[scale_block] = {};
  std::memcpy(a, a_codes, static_cast<std::size_t>(depth));
  std::memcpy(b, b_codes, static_cast<std::size_t>(depth));
  for (std::int64_t k = 0; k < depth; k += core.group) chain = dot(core, a + k, b + k, chain);
  return chain;
}

class DotWorker : public TileWorker {
 public:
  int most_rows() const override { return rows; }
  int most_columns() const override { return columns; }
  const float* values(int row, int) const override { return values_[static_cast<std::size_t>(row)].data(); }

  void compute(const Tile& t) override {
    for (int i = 0; i < t.rows; ++i) {
      for (int j = 0; j < t.columns; ++j)
        values_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = element(t, i, j);
    }
  }

 private:
  static float element(const Tile& t, int i, int j) {
    float final = t.chain_start(i, j);
    for (std::int64_t k = 0; k < t.slice.k; k += scale_block) {
      const std::int64_t depth = std::min<std::int64_t>(scale_block, t.slice.k - k);
      const float chain = block(t.core, t.a(i) + k, t.b(j) + k, depth, t.promote ? 0.0f : final);
      const std::int64_t at = k / scale_block;
      final = t.promote ? fma_rn(mul_rn(t.a_scale(i, at), t.b_scale(j, at)), chain, final) : chain;
    }
    return final;
  }

  std::array<std::array<float, columns>, rows> values_;
};

}  // namespace

std::unique_ptr<TileWorker> make_dot_worker() { return std::make_unique<DotWorker>(); }

}  // namespace fp8twin
