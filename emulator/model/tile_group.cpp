// The portable path: a row of A by 64 columns of B at a time, in plain loops.
#include <algorithm>

#include "emulator/model/tile.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/number/group_step.hpp"
#include "emulator/number/panel.hpp"

namespace fp8twin {
namespace {

constexpr int rows = 128;
static_assert(lane_columns == tile_strip);

class GroupWorker : public TileWorker {
 public:
  int most_rows() const override { return rows; }
  int most_columns() const override { return lane_columns; }
  const float* values(int row, int) const override { return values_[row].data(); }

  void compute(const Tile& t) override {
    for (int i = 0; i < t.rows; ++i) {
      values_[i].fill(0.0f);
      for (int j = 0; j < t.columns; ++j) values_[i][static_cast<std::size_t>(j)] = t.chain_start(i, j);
    }
    for (std::int64_t k = 0; k < t.slice.k; k += panel_k) {
      const int depth = static_cast<int>(std::min<std::int64_t>(panel_k, t.slice.k - k));
      b_.load(t.b(0) + k, t.slice.ldb, t.columns, depth, t.core.group);
      for (int i = 0; i < t.rows; ++i) {
        a_.load(t.a(i) + k, 0, 1, depth, t.core.group);
        Lanes block{};  // P: a chain from +0
        Lanes& chain = t.promote ? block : values_[i];
        for (int g = 0; g < depth; g += t.core.group) group_step(t.core, a_, b_, g, chain);
        if (t.promote) promote(t, i, k / panel_k, block);
      }
    }
  }

 private:
  void promote(const Tile& t, int i, std::int64_t k_block, const Lanes& block) {
    for (int j = 0; j < t.columns; ++j) {
      const auto at = static_cast<std::size_t>(j);
      values_[i][at] =
          fma_rn(mul_rn(t.a_scale(i, k_block), t.b_scale(j, k_block)), block[at], values_[i][at]);
    }
  }

  Panel<lane_columns> b_;
  Panel<1> a_;
  Lanes values_[rows];  // `final` when promoting, else the one chain
};

}  // namespace

std::unique_ptr<TileWorker> make_group_worker() { return std::make_unique<GroupWorker>(); }

}  // namespace fp8twin
