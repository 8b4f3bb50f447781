#include "emulator/model/gemm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/number/bf16.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/number/group_step.hpp"
#include "emulator/number/panel.hpp"
#include "emulator/number/scale_block.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

constexpr std::int64_t tile_rows = 128;

/// A tile of 128 x 64 outputs and what computing it needs; one a worker, so nothing is allocated in the loops.
struct Tile {
  const GemmSlice& slice;
  const TensorCore& core;
  bool promote;
  std::int64_t m0, n0;
  int rows, columns;
};

struct Workspace {
  Panel<lane_columns> b;
  Panel<1> a;
  Lanes accumulator[tile_rows];  // `final` when promoting, else the one chain
};

/// How the arithmetic of one tile core steps along K: by lanes where they are exact, else by the readable dot().
bool lanes_are_exact(const TensorCore& core) {
  return core.fraction_bits <= max_lane_fraction_bits && core.output_bits == core.fraction_bits;
}

/// chain <- one K block of `row` against the tile's columns, by dot(): any core, slowly.
void block_by_dot(const Tile& t, const std::uint8_t* a_row, std::int64_t k, int depth, Lanes& chain) {
  std::uint8_t a[panel_k] = {}, b[panel_k] = {};
  std::memcpy(a, a_row + k, static_cast<std::size_t>(depth));
  for (int j = 0; j < t.columns; ++j) {
    std::memcpy(b, t.slice.b + (t.n0 + j) * t.slice.ldb + k, static_cast<std::size_t>(depth));
    float& c = chain[static_cast<std::size_t>(j)];
    for (int i = 0; i < depth; i += t.core.group) c = dot(t.core, a + i, b + i, c);
  }
}

float scale_of(const Tile& t, std::int64_t row, std::int64_t column, std::int64_t k_block) {
  const GemmSlice& s = t.slice;
  return mul_rn(s.a_scale[row * s.a_scale_stride + k_block],
                s.b_scale[column / s.b_scale_rows * s.b_scale_stride + k_block]);
}

void start(const Tile& t, Workspace& work) {
  const GemmSlice& s = t.slice;
  for (int i = 0; i < t.rows; ++i) {
    work.accumulator[i].fill(0.0f);
    if (s.a_scale || !s.c) continue;  // a wgmma starts from c; elsewhere c comes last
    for (int j = 0; j < t.columns; ++j)
      work.accumulator[i][static_cast<std::size_t>(j)] = s.c[(t.m0 + i) * s.n + t.n0 + j];
  }
}

void multiply(const Tile& t, Workspace& work) {
  const GemmSlice& s = t.slice;
  const bool lanes = lanes_are_exact(t.core), promote = t.promote && s.a_scale;
  for (std::int64_t k = 0; k < s.k; k += panel_k) {
    const int depth = static_cast<int>(std::min<std::int64_t>(panel_k, s.k - k));
    if (lanes) work.b.load(s.b + t.n0 * s.ldb + k, s.ldb, t.columns, depth, t.core.group);
    for (int i = 0; i < t.rows; ++i) {
      const std::uint8_t* a_row = s.a + (t.m0 + i) * s.lda;
      Lanes block{};  // P: a chain from +0
      Lanes& chain = promote ? block : work.accumulator[i];
      if (lanes) {
        work.a.load(a_row + k, 0, 1, depth, t.core.group);
        for (int g = 0; g < depth; g += t.core.group) group_step(t.core, work.a, work.b, g, chain);
      } else {
        block_by_dot(t, a_row, k, depth, chain);
      }
      if (!promote) continue;
      for (int j = 0; j < t.columns; ++j) {
        float& final = work.accumulator[i][static_cast<std::size_t>(j)];
        final =
            fma_rn(scale_of(t, t.m0 + i, t.n0 + j, k / panel_k), block[static_cast<std::size_t>(j)], final);
      }
    }
  }
}

void finish(const Tile& t, const Workspace& work, DType output, std::byte* d, std::int64_t ldd) {
  const GemmSlice& s = t.slice;
  for (int i = 0; i < t.rows; ++i) {
    const std::int64_t row = t.m0 + i;
    for (int j = 0; j < t.columns; ++j) {
      float value = work.accumulator[i][static_cast<std::size_t>(j)];
      if (s.a_scale && !t.promote && s.k > 0) value = mul_rn(scale_of(t, row, t.n0 + j, 0), value);
      if (s.a_scale && s.c) value = add_rn(s.c[row * s.n + t.n0 + j], value);
      const std::int64_t at = row * ldd + t.n0 + j;
      if (output == DType::f32) {
        std::memcpy(d + 4 * at, &value, 4);
      } else {
        const BF16 rounded = BF16::rn(value);
        std::memcpy(d + 2 * at, &rounded.code, 2);
      }
    }
  }
}

/// Without promotion one scale must serve all of K.
void check_scales_constant(const GemmSlice& s) {
  if (!s.a_scale) return;
  const std::int64_t blocks = scale_blocks(s.k);
  const auto check = [&](const char* name, const float* scales, std::int64_t rows, std::int64_t stride) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 1; k < blocks; ++k) {
        if (f32_bits(scales[row * stride + k]) == f32_bits(scales[row * stride])) continue;
        throw Error(fmt::format(
            "tensor '{}' has {} at [{}, {}] and {} at [{}, 0]; without promotion the scales must be "
            "constant along K",
            name, scales[row * stride + k], row, k, scales[row * stride], row));
      }
    }
  };
  check("a_scale", s.a_scale, s.m, s.a_scale_stride);
  check("b_scale", s.b_scale, (s.n + s.b_scale_rows - 1) / s.b_scale_rows, s.b_scale_stride);
}

void check_options(DType output, const GemmOptions& options) {
  const TensorCore& core = options.core;
  if (output != DType::f32 && output != DType::bf16) {
    throw Error(fmt::format("the result was asked for as {}; needed is F32 or BF16", dtype_name(output)));
  }
  if (core.fraction_bits < min_fraction_bits || core.fraction_bits > max_fraction_bits) {
    throw Error(fmt::format("{} fraction bits were asked for; needed are {} to {}", core.fraction_bits,
                            min_fraction_bits, max_fraction_bits));
  }
  if (core.output_bits < 1 || core.output_bits > 23) {
    throw Error(fmt::format("{} output bits were asked for; needed are 1 to 23", core.output_bits));
  }
  if (core.group < 1 || 32 % core.group != 0) {
    throw Error(fmt::format("groups of {} products were asked for; needed is a divisor of 32", core.group));
  }
}

/// Counts finished tiles over all slices and tells the caller.
class TileCounter {
 public:
  TileCounter(const GemmOptions& options, std::int64_t total) : report_(options.progress), total_(total) {}
  void one_done() {
    if (!report_) return;
    const std::scoped_lock lock(mutex_);
    report_(++done_, total_);
  }

 private:
  const std::function<void(std::int64_t, std::int64_t)>& report_;
  std::mutex mutex_;
  std::int64_t done_ = 0, total_;
};

std::int64_t tiles_down(const GemmSlice& s) { return (s.m + tile_rows - 1) / tile_rows; }
std::int64_t tiles_across(const GemmSlice& s) { return (s.n + lane_columns - 1) / lane_columns; }

std::vector<std::unique_ptr<Workspace>> workspaces(int threads, std::int64_t tiles) {
  const std::int64_t workers = std::clamp<std::int64_t>(tiles, 1, thread_count(threads));
  std::vector<std::unique_ptr<Workspace>> work(static_cast<std::size_t>(workers));
  for (auto& each : work) each = std::make_unique<Workspace>();
  return work;
}

/// Every tile of every slice through one hand-out, so that many small groups share the threads as one large one does.
/// Row 0 of slice i starts at d + d_offset, in elements of `output`.
void run_slices(std::span<const GemmSlice> parts, DType output, std::byte* d, std::int64_t ldd,
                const GemmOptions& options) {
  std::vector<std::int64_t> first_tile{0};  // of each slice, then the number of all
  for (const GemmSlice& s : parts) {
    if (!options.promote) check_scales_constant(s);
    first_tile.push_back(first_tile.back() + tiles_down(s) * tiles_across(s));
  }
  const std::int64_t tiles = first_tile.back();
  std::vector<std::unique_ptr<Workspace>> work = workspaces(options.threads, tiles);
  TileCounter counter(options, tiles);
  parallel_for(tiles, static_cast<int>(work.size()), [&](std::int64_t index, int worker) {
    const auto after = std::upper_bound(first_tile.begin(), first_tile.end(), index);
    const auto part = static_cast<std::size_t>(after - first_tile.begin() - 1);
    const GemmSlice& s = parts[part];
    const std::int64_t inside = index - first_tile[part];
    const std::int64_t m0 = inside % tiles_down(s) * tile_rows, n0 = inside / tiles_down(s) * lane_columns;
    const Tile tile{s,
                    options.core,
                    options.promote,
                    m0,
                    n0,
                    static_cast<int>(std::min(tile_rows, s.m - m0)),
                    static_cast<int>(std::min<std::int64_t>(lane_columns, s.n - n0))};
    Workspace& space = *work[static_cast<std::size_t>(worker)];
    start(tile, space);
    multiply(tile, space);
    finish(tile, space, output, d + s.d_offset * static_cast<std::int64_t>(dtype_size(output)), ldd);
    counter.one_done();
  });
}

}  // namespace

void gemm_slice(const GemmSlice& slice, DType output, std::byte* d, std::int64_t ldd,
                const GemmOptions& options) {
  check_options(output, options);
  GemmSlice alone = slice;
  alone.d_offset = 0;
  run_slices({&alone, 1}, output, d, ldd, options);
}

void gemm(const Problem& problem, DType output, std::span<std::byte> d, const GemmOptions& options) {
  check_options(output, options);
  const std::size_t needed = static_cast<std::size_t>(element_count(problem.d_shape())) * dtype_size(output);
  if (d.size() != needed)
    throw Error(fmt::format("the result has {} bytes of room; needed are {}", d.size(), needed));
  std::ranges::fill(d, std::byte{0});
  run_slices(slices(problem), output, d.data(), problem.n, options);
}

}  // namespace fp8twin
