// A trace of the emulated machine, section by section, against the model: tiles, k32 steps, promotion, output.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "emulator/layout/fragment.hpp"
#include "emulator/layout/swizzle.hpp"
#include "gpu/launch/machine_gemm.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/random_gemm.hpp"

using namespace fp8twin;
using test::RandomGemm;

namespace {

float float_at(const std::vector<u32>& trace, u64 word) {
  float value;
  std::memcpy(&value, &trace[word], 4);
  return value;
}

/// Rows row0.. of a matrix [rows, k], columns of one K block; zero past the ends.
std::vector<u8> tile_of(const std::vector<std::uint8_t>& matrix, i64 rows, i64 k, i64 row0, i64 tile_rows,
                        i64 block) {
  std::vector<u8> tile(static_cast<std::size_t>(tile_rows * 128));
  for (i64 row = 0; row < tile_rows; ++row) {
    for (i64 column = 0; column < 128; ++column) {
      if (row0 + row >= rows || 128 * block + column >= k) continue;
      tile[static_cast<std::size_t>(row * 128 + column)] =
          matrix[static_cast<std::size_t>((row0 + row) * k + 128 * block + column)];
    }
  }
  return tile;
}

/// The same bytes as TMA lays them, as words.
std::vector<u32> swizzled_words(const std::vector<u8>& tile) {
  std::vector<u32> words(tile.size() / 4);
  for (u32 at = 0; at < tile.size(); ++at) {
    const u32 to = swizzle(SwizzleMode::b128, at);
    words[to / 4] |= u32{tile[at]} << (8 * (to % 4));
  }
  return words;
}

struct Traced {
  RandomGemm problem;
  LaunchPlan plan;
  TraceLayout layout;
  u32 tile_m, tile_n;  // as the kernel counts
  MachineGemmResult result;

  /// Tile m,n of D, along M and along N.
  Traced(const RandomGemm& problem_, const GemmConfig& config, u32 m, u32 n)
      : problem(problem_),
        plan(plan_gemm(problem.m, problem.n, problem.k, config, 2)),
        layout(plan.trace()),
        tile_m(config.swapped() ? n : m),
        tile_n(config.swapped() ? m : n),
        result(run_on_machine(plan, problem.operands(),
                              {.launch = {.threads = 1}, .trace = {.tile_m = m, .tile_n = n}})) {}

  /// The tile's rows are rows of A, its columns rows of B; or the other way round.
  bool swapped() const { return plan.config.swapped(); }
  std::vector<u8> row_tile(i64 row0, i64 block) const {
    return swapped() ? tile_of(problem.b, problem.n, problem.k, row0, layout.tile_m, block)
                     : tile_of(problem.a, problem.m, problem.k, row0, layout.tile_m, block);
  }
  std::vector<u8> column_tile(i64 row0, i64 block) const {
    return swapped() ? tile_of(problem.a, problem.m, problem.k, row0, layout.tile_n, block)
                     : tile_of(problem.b, problem.n, problem.k, row0, layout.tile_n, block);
  }

  /// Differing words of a section that should hold `words`.
  std::size_t differing(u64 at, const std::vector<u32>& words) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < words.size(); ++i) count += result.trace[at + i] != words[i];
    return count;
  }

  /// One 64-row slice of the tile after `steps` k32 steps, by the model.
  std::vector<float> product(const std::vector<u8>& a, const std::vector<u8>& b, u32 slice, u32 steps) const {
    const auto first_columns = [&](const std::vector<u8>& tile, u32 row0, u32 rows) {
      std::vector<std::uint8_t> part;
      for (u32 row = row0; row < row0 + rows; ++row) {
        part.insert(part.end(), tile.begin() + 128 * row, tile.begin() + 128 * row + 32 * steps);
      }
      return part;
    };
    std::vector<float> d(64 * layout.tile_n);
    wgmma(layout.tile_n, 32 * steps, first_columns(a, 64 * slice, 64), first_columns(b, 0, layout.tile_n), {},
          d);
    return d;
  }

  void check_sections() const {
    const u32 threads = layout.threads(), registers = layout.registers();
    std::vector<float> total(threads * registers);
    std::size_t wrong_steps = 0, wrong_totals = 0;
    for (u32 block = 0; block < layout.k_blocks; ++block) {
      const i64 row0 = i64{tile_m} * layout.tile_m, column0 = i64{tile_n} * layout.tile_n;
      const std::vector<u8> a = row_tile(row0, block), b = column_tile(column0, block);
      CHECK(differing(layout.a_tile(block), swizzled_words(a)) == 0);
      CHECK(differing(layout.b_tile(block), swizzled_words(b)) == 0);
      for (u32 step = 0; step < 4; ++step) {
        for (u32 slice = 0; slice < layout.tile_m / 64; ++slice) {
          const std::vector<float> d = product(a, b, slice, step + 1);
          for (u32 thread = 0; thread < 128; ++thread) {
            for (u32 reg = 0; reg < registers; ++reg) {
              const Coordinate at = accumulator_coordinate(thread, reg);
              const float p = d[at.row * layout.tile_n + at.column];
              const u64 inside = layout.fragment_word(128 * slice + thread, reg);
              wrong_steps += float_at(result.trace, layout.accumulator(block, step) + inside) != p;
              if (step < 3) continue;
              i64 row = row0 + 64 * slice + at.row, column = column0 + at.column;
              if (swapped()) std::swap(row, column);
              if (row < problem.m && column < problem.n) {
                const float s =
                    problem.a_scale[static_cast<std::size_t>(row * layout.k_blocks + block)] *
                    problem.b_scale[static_cast<std::size_t>(column / 128 * layout.k_blocks + block)];
                total[inside] = std::fma(s, p, total[inside]);
              }
              wrong_totals += float_at(result.trace, layout.promoted(block) + inside) != total[inside];
            }
          }
        }
      }
    }
    CHECK(wrong_steps == 0);
    CHECK(wrong_totals == 0);
  }

  void check_output() const {
    std::size_t wrong = 0;
    const u32 element = plan.config.output_f32 ? 4 : 2;
    for (u32 row = 0; row < layout.tile_m; ++row) {
      for (u32 column = 0; column < layout.tile_n; ++column) {
        u64 m = u64{tile_m} * layout.tile_m + row, n = u64{tile_n} * layout.tile_n + column;
        if (swapped()) std::swap(m, n);
        u32 bits = 0;
        if (m < plan.m && n < plan.n) std::memcpy(&bits, &result.d[(m * plan.n + n) * element], element);
        wrong += result.trace[layout.output() + row * layout.tile_n + column] != bits;
      }
    }
    CHECK(wrong == 0);
  }
};

}  // namespace

TEST_CASE("every step's trace is what the model says, probe by probe") {
  const RandomGemm straight(200, 100, 336, Distribution::normal, 9),
      swapped(100, 200, 336, Distribution::normal, 9);
  for (int step = first_step; step <= last_step; ++step) {
    GemmConfig config{.step = step,
                      .tile_m = step < 4 ? 64u : 128u,
                      .tile_n = 16,
                      .stages = step < 3 ? 1u : 3u,
                      .output_f32 = step % 2 == 0,
                      .trace = true};
    if (step >= 8) config.in_flight = step == 8 ? 1 : 2;
    if (step >= 6) (step == 6 ? config.cluster_m : config.cluster_n) = 2;
    INFO(config.name());
    const RandomGemm& problem = config.swapped() ? swapped : straight;
    const Traced traced = config.swapped() ? Traced(problem, config, 6, 1)
                                           : Traced(problem, config, 1, 6);  // it hangs over D's ends
    REQUIRE(traced.result.trace.size() == traced.layout.words());
    traced.check_sections();
    traced.check_output();
    CHECK(traced.result.d == problem.model(config.output_f32));  // the probes change no bit
  }
}

TEST_CASE("the trace of a tile of two slabs a warpgroup, and of three warpgroups") {
  const RandomGemm problem(300, 70, 336, Distribution::normal, 9);
  for (const u32 tile_m : {256u, 192u}) {
    const GemmConfig config{.step = 8, .tile_m = tile_m, .tile_n = 24, .stages = 3, .trace = true};
    INFO(config.name());
    for (const u32 tile : {0u, 1u}) {
      const Traced traced(problem, config, tile, 2);
      traced.check_sections();
      traced.check_output();
      CHECK(traced.result.d == problem.model(false));
    }
  }
}

TEST_CASE("a trace's sections follow one another without a gap") {
  for (const TraceLayout layout :
       {TraceLayout{64, 8, 1}, TraceLayout{128, 192, 5}, TraceLayout{128, 24, 0}}) {
    CHECK(layout.a_tile(0) == 0);
    CHECK(layout.b_tile(0) == u64{layout.k_blocks} * layout.tile_m * 32);
    CHECK(layout.accumulator(0, 0) - layout.b_tile(0) == u64{layout.k_blocks} * layout.tile_n * 32);
    CHECK(layout.promoted(0) - layout.accumulator(0, 0) ==
          u64{4} * layout.k_blocks * layout.tile_m * layout.tile_n);
    CHECK(layout.output() - layout.promoted(0) == u64{layout.k_blocks} * layout.tile_m * layout.tile_n);
    CHECK(layout.words() - layout.output() == u64{layout.tile_m} * layout.tile_n);
  }
}

TEST_CASE("a tile that D does not have cannot be traced") {
  const RandomGemm problem(64, 16, 128, Distribution::normal, 9);
  const LaunchPlan plan =
      plan_gemm(64, 16, 128, {.step = 1, .tile_m = 64, .tile_n = 16, .stages = 1, .trace = true}, 2);
  CHECK_THROWS_AS(run_on_machine(plan, problem.operands(), {.trace = {.tile_m = 1}}), Error);
  CHECK_THROWS_AS(run_on_machine(plan, problem.operands(), {.trace = {.tile_n = 1}}), Error);
}

TEST_CASE("a tile to trace is counted along M and along N of D, whatever the kernel's tile is") {
  const auto refusal = [](const GemmConfig& config, i64 m, i64 n, i64 tile_m, i64 tile_n) -> std::string {
    try {
      check_trace_tile(config, m, n, tile_m, tile_n);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const GemmConfig straight{.step = 8, .tile_m = 64, .tile_n = 8},
      swapped{.step = 9, .tile_m = 64, .tile_n = 8};
  CHECK(refusal(straight, 65, 16, 1, 1) == "");
  CHECK(refusal(straight, 65, 16, 2, 0) ==
        "there is no tile 2,0; needed is a tile of D, counted from 0: D is 65 x 16 and has 2 along M and 2 "
        "along "
        "N, of 64 x 8");
  CHECK(refusal(straight, 65, 16, 0, 2) != "");
  CHECK(refusal(swapped, 16, 65, 1, 1) == "");
  CHECK(refusal(swapped, 16, 65, 2, 0) != "");
  CHECK(refusal(swapped, 16, 65, 0, 2) ==
        "there is no tile 0,2; needed is a tile of D, counted from 0: D is 16 x 65 and has 2 along M and 2 "
        "along "
        "N, of 8 x 64 (64x8 of D transposed)");
  CHECK(refusal(straight, 0, 8, 0, 0) != "");
  CHECK(refusal(straight, 65, 16, i64{1} << 40, 0) != "");
}
