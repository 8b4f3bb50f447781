// The fast paths: up to 256 x 256 outputs, K outermost in steps of 32 so that 64 decoded columns stay in the first-level
// cache while all rows of the tile pass over them.
//
//     for each K block of 128
//       for each step of 32
//         rows of A decoded                       96 KB, used for each panel
//         for each panel of 64 columns
//           columns of B decoded                  26 KB, used for each row
//           chain <- step(rows, columns, chain)   64 KB
//       final <- promote(chain)
//
// Special values never leave this path. A NaN code turns its whole row or column of D into NaN, whatever else happens, so
// it counts as zero until values are read. A wgmma's C that is infinite, NaN, or so large that every product is cut off
// beside it, decides its element alone; the chain runs from zero instead and the element is put in place at the end.
#include <algorithm>
#include <array>
#include <cmath>

#include "emulator/model/tile.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/number/lanes/lanes.hpp"
#include "emulator/number/scale_block.hpp"

namespace fp8twin {
namespace {

constexpr int most_rows_of_tile = 256, panels = 4;

static_assert(step_columns == tile_strip);
using Panel64 = float[most_rows_of_tile][step_columns];

bool decides_alone(float c) { return !(std::abs(c) < max_step_c); }

/// What a chain over K > 0 makes of such a C: rule 1, or rule 6 with every product cut off.
float chain_of(float c, int fraction_bits) {
  if (is_nan(c) || is_infinite(c)) return canonical(c);
  return f32_from_bits(f32_bits(c) & ~((1u << (23 - fraction_bits)) - 1));
}

class LanesWorker : public TileWorker {
 public:
  explicit LanesWorker(const StepFunctions& functions) : functions_(functions) {}
  int most_rows() const override { return most_rows_of_tile; }
  int most_columns() const override { return panels * step_columns; }
  const float* values(int row, int column) const override { return values_[column / step_columns][row]; }

  void compute(const Tile& t) override {
    start(t);
    for (std::int64_t k = 0; k < t.slice.k; k += scale_block) multiply_block(t, k);
    collect(t);
  }

 private:
  static int panels_of(const Tile& t) { return (t.columns + step_columns - 1) / step_columns; }
  static int columns_of(const Tile& t, int panel) {
    return std::min(step_columns, t.columns - panel * step_columns);
  }

  void start(const Tile& t) {
    for (int p = 0; p < panels_of(t); ++p) {
      std::fill_n(&final_[p][0][0], t.rows * step_columns, 0.0f);
      std::fill_n(&chain_[p][0][0], t.rows * step_columns, 0.0f);
    }
    if (t.slice.a_scale || !t.slice.c) return;
    for (int i = 0; i < t.rows; ++i) {
      for (int j = 0; j < t.columns; ++j) {
        const float c = t.chain_start(i, j);
        chain_[j / step_columns][i][j % step_columns] = decides_alone(c) && t.slice.k > 0 ? 0.0f : c;
      }
    }
  }

  void multiply_block(const Tile& t, std::int64_t k0) {
    const std::int64_t end = std::min(k0 + scale_block, t.slice.k);
    for (std::int64_t k = k0; k < end; k += t.core.group) {
      const int depth = static_cast<int>(std::min<std::int64_t>(t.core.group, end - k));
      functions_.load_rows(t.a(0) + k, t.slice.lda, t.rows, depth, a_.data());
      for (int p = 0; p < panels_of(t); ++p) {
        functions_.load_columns(t.b(p * step_columns) + k, t.slice.ldb, columns_of(t, p), depth, b_);
        functions_.step({depth, t.core.fraction_bits}, a_.data(), t.rows, b_, &chain_[p][0][0]);
      }
    }
    if (t.promote) promote(t, k0 / scale_block);
  }

  void promote(const Tile& t, std::int64_t k_block) {
    for (int p = 0; p < panels_of(t); ++p) {
      alignas(64) std::array<float, step_columns> b_scale{};
      for (int j = 0; j < columns_of(t, p); ++j) {
        b_scale[static_cast<std::size_t>(j)] = t.b_scale(p * step_columns + j, k_block);
      }
      functions_.promote(t.slice.a_scale + t.m0 * t.slice.a_scale_stride + k_block, t.slice.a_scale_stride,
                         t.rows, b_scale.data(), &chain_[p][0][0], &final_[p][0][0]);
    }
  }

  /// Special values take their places.
  void collect(const Tile& t) {
    values_ = t.promote ? final_ : chain_;
    if (t.slice.k == 0) return;  // no step: a wgmma's C is as it was, a NaN's bits included
    std::array<bool, panels * step_columns> nan_column{};
    for (int j = 0; j < t.columns; ++j)
      nan_column[static_cast<std::size_t>(j)] = functions_.holds_nan(t.b(j), t.slice.k);
    for (int i = 0; i < t.rows; ++i) {
      const bool nan_row = functions_.holds_nan(t.a(i), t.slice.k);
      for (int p = 0; p < panels_of(t); ++p) {
        float* values = values_[p][i];
        for (int j = 0; j < step_columns; ++j) {
          const bool nan =
              nan_row || nan_column[static_cast<std::size_t>(p * step_columns + j)] || is_nan(values[j]);
          values[j] = nan ? f32_from_bits(f32_canonical_nan) : values[j];
        }
        if (!t.slice.a_scale && t.slice.c && !nan_row) place_c(t, i, p, nan_column);
      }
    }
  }

  void place_c(const Tile& t, int i, int panel, const std::array<bool, panels * step_columns>& nan_column) {
    for (int j = 0; j < columns_of(t, panel); ++j) {
      const int column = panel * step_columns + j;
      const float c = t.chain_start(i, column);
      if (decides_alone(c) && !nan_column[static_cast<std::size_t>(column)]) {
        values_[panel][i][j] = chain_of(c, t.core.fraction_bits);
      }
    }
  }

  const StepFunctions& functions_;
  ColumnGroup b_;
  alignas(64) Panel64 chain_[panels], final_[panels];
  std::array<RowGroup, most_rows_of_tile> a_;
  Panel64* values_ = chain_;  // or final_
};

}  // namespace

std::unique_ptr<TileWorker> make_lanes_worker(Simd simd) {
  return std::make_unique<LanesWorker>(*step_functions(simd));
}

}  // namespace fp8twin
