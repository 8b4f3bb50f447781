#include "emulator/model/gemm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/model/tile.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/number/scale_block.hpp"
#include "emulator/support/default_floats.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

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

/// How D is cut: as large as a worker takes, but at least 8 tiles a thread, so that none waits long for the last one.
struct Cut {
  std::int64_t rows, columns;
  std::int64_t down(const GemmSlice& s) const { return (s.m + rows - 1) / rows; }
  std::int64_t across(const GemmSlice& s) const { return (s.n + columns - 1) / columns; }
};

std::int64_t tile_count(std::span<const GemmSlice> parts, const Cut& cut) {
  std::int64_t tiles = 0;
  for (const GemmSlice& s : parts) tiles += cut.down(s) * cut.across(s);
  return tiles;
}

Cut choose_cut(std::span<const GemmSlice> parts, const TileWorker& worker, int threads) {
  constexpr std::int64_t least = tile_strip;
  Cut cut{worker.most_rows(), worker.most_columns()};
  while (threads > 1 && tile_count(parts, cut) < std::int64_t{8} * threads &&
         std::max(cut.rows, cut.columns) > least) {
    std::int64_t& longer = cut.rows > cut.columns ? cut.rows : cut.columns;
    longer /= 2;
  }
  return cut;
}

/// Every tile of every slice through one hand-out, so that many small groups share the threads as one large one does.
/// Row 0 of slice i starts at d + d_offset, in elements of `output`.
void run_slices(std::span<const GemmSlice> parts, DType output, std::byte* d, std::int64_t ldd,
                const GemmOptions& options) {
  const DefaultFloats floats;
  std::vector<std::unique_ptr<TileWorker>> workers;
  workers.push_back(make_tile_worker(options.core, options.simd));
  const int threads = thread_count(options.threads);
  const Cut cut = choose_cut(parts, *workers.front(), threads);
  std::vector<std::int64_t> first_tile{0};  // of each slice, then the number of all
  for (const GemmSlice& s : parts) {
    if (!options.promote) check_scales_constant(s);
    first_tile.push_back(first_tile.back() + cut.down(s) * cut.across(s));
  }
  const std::int64_t tiles = first_tile.back();
  while (static_cast<std::int64_t>(workers.size()) < std::min<std::int64_t>(tiles, threads)) {
    workers.push_back(make_tile_worker(options.core, options.simd));
  }
  TileCounter counter(options, tiles);
  parallel_for(tiles, static_cast<int>(workers.size()), [&](std::int64_t index, int worker) {
    const auto after = std::upper_bound(first_tile.begin(), first_tile.end(), index);
    const auto part = static_cast<std::size_t>(after - first_tile.begin() - 1);
    const GemmSlice& s = parts[part];
    const std::int64_t inside = index - first_tile[part];
    const std::int64_t m0 = inside % cut.down(s) * cut.rows, n0 = inside / cut.down(s) * cut.columns;
    const Tile tile{s,
                    options.core,
                    options.promote && s.a_scale,
                    m0,
                    n0,
                    static_cast<int>(std::min(cut.rows, s.m - m0)),
                    static_cast<int>(std::min(cut.columns, s.n - n0))};
    TileWorker& computes = *workers[static_cast<std::size_t>(worker)];
    computes.compute(tile);
    finish_tile(tile, computes, output, d + s.d_offset * static_cast<std::int64_t>(dtype_size(output)), ldd);
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
  // Only these have rows that no slice writes.
  if (problem.kind == Kind::contiguous || problem.kind == Kind::masked) std::ranges::fill(d, std::byte{0});
  run_slices(slices(problem), output, d.data(), problem.n, options);
}

}  // namespace fp8twin
