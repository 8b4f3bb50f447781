// The launch plan and what it is made of: tiles of the raster, scale blocks a tile meets, shared memory, padding.
#include "gpu/launch/plan.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "emulator/support/error.hpp"
#include "gpu/kernels/raster.hpp"
#include "gpu/kernels/shared_layout.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

std::string refusal(const GemmConfig& config) {
  try {
    check_accepted(config);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the raster meets every tile once, in groups of rows") {
  for (u32 tiles_m = 1; tiles_m <= 20; ++tiles_m) {
    for (const auto& [tiles_n, group] : {std::pair<u32, u32>{1, 8}, {9, 8}, {5, 2}, {7, 1}, {3, 32}}) {
      const Raster raster{tiles_m, tiles_n, group};
      std::set<std::pair<u32, u32>> met;
      for (u32 index = 0; index < raster.tiles(); ++index) {
        const RasterPlace place = raster.place(index);
        REQUIRE(place.m < tiles_m);
        REQUIRE(place.n < tiles_n);
        CHECK(place.m / group == index / (group * tiles_n));
        met.insert({place.m, place.n});
      }
      CHECK(met.size() == raster.tiles());
    }
  }
  CHECK(Raster{9, 3}.place(8) == RasterPlace{0, 1});
  CHECK(Raster{9, 3}.place(24) == RasterPlace{8, 0});
  CHECK(Raster{9, 3}.place(26) == RasterPlace{8, 2});
}

TEST_CASE("shared memory: nothing overlaps, tiles begin on the swizzle's period, barriers on eight bytes") {
  for (const GemmConfig& config : offered_configs()) {
    INFO(config.name());
    const SharedLayout shared = shared_layout(config.machine(), 4096, config.beside());
    u32 end = 4096;
    const auto next = [&](u32 begin, u32 bytes, u32 alignment) {
      CHECK(begin >= end);
      CHECK(begin % alignment == 0);
      end = begin + bytes;
    };
    const u32 slots = config.stages * config.in_flight;
    for (u32 slot = 0; slot < slots; ++slot) next(shared.a_tile(slot), config.tile_m * 128, 1024);
    for (u32 slot = 0; slot < slots; ++slot) next(shared.b_tile(slot), config.tile_n * 128, 1024);
    // Staging: a tile in step 7; from step 8 on the slabs of BF16, and of FP32 one for each warpgroup.
    const u32 tile_bytes = config.tile_m * config.tile_n * (config.output_f32 ? 4 : 2);
    const u32 slabs = config.step < 8 ? 0 : config.tile_m / (config.output_f32 ? 64 * config.slabs() : 64);
    CHECK(shared.staged == slabs);
    CHECK(shared.staging_bytes == (config.step < 7    ? 0
                                   : config.step == 7 ? tile_bytes
                                                      : tile_bytes / (config.tile_m / 64) * slabs));
    next(shared.staging(), shared.staging_bytes, 1024);
    for (u32 slot = 0; slot < slots; ++slot) {
      next(shared.a_scales(slot), shared.a_scale_bytes, config.loads_scales_by_tma() ? 128 : 1);
      next(shared.b_scales(slot), shared.b_scale_bytes, config.form.b_scale_per_row ? 128 : 1);
    }
    for (u32 stage = 0; stage < config.stages; ++stage) next(shared.full(stage), 8, 8);
    for (u32 stage = 0; stage < config.stages; ++stage) next(shared.empty(stage), 8, 8);
    for (u32 slab = 0; slab < slabs; ++slab) next(shared.staged_full(slab), 8, 8);
    for (u32 slab = 0; slab < slabs; ++slab) next(shared.staged_empty(slab), 8, 8);
    for (u32 note = 0; config.step >= 8 && note < config.stages + 2; ++note)
      next(shared.note(note), note_bytes, 16);
    CHECK(shared.end() == end);
    CHECK(config.shared_bytes() == 1024 + end - 4096);
    CHECK(config.shared_bytes() <= most_shared_bytes);
  }
}

TEST_CASE(
    "what is offered: every step, names unlike each other, each accepted by its rules, and deep enough to "
    "overlap") {
  std::set<std::string> names;
  const std::vector<GemmConfig> all = offered_configs();
  for (const GemmConfig& config : all) {
    names.insert(config.name());
    CHECK(refusal(config) == "");
    CHECK(config.threads() <= (config.tile_m == 192 ? 512 : 384));
    if (config.step >= 7) CHECK(config.stages * config.in_flight >= (config.output_f32 ? 2 : 3));
  }
  CHECK(names.size() == all.size());
  for (int step = first_step; step <= last_step; ++step) {
    CHECK(std::any_of(all.begin(), all.end(), [&](const GemmConfig& config) { return config.step == step; }));
    CHECK(step_from_name(step_name(step)) == step);
    CHECK(step_from_name(std::to_string(step)) == step);
  }
  CHECK(GemmConfig{.stages = 4, .cluster_m = 2}.name() == "gemm_7_full_128x128_s4_c2x1_bf16");
  CHECK(GemmConfig{.step = 8, .tile_m = 64, .tile_n = 32, .stages = 9, .in_flight = 4}.name() ==
        "gemm_8_overlapped_64x32_s9_c1x1_p4_bf16");
}

TEST_CASE(
    "from step 8 on a short list is offered: each height, cluster, number in flight and straddling width") {
  for (const int step : {8, 9}) {
    const std::vector<GemmConfig> offered = offered_configs(step), accepted = accepted_configs(step);
    INFO("step " << step);
    CHECK(offered.size() < 100);
    CHECK(accepted.size() > 10 * offered.size());
    for (const bool f32 : {false, true}) {
      std::set<u32> heights, in_flight, widths, accepted_heights, accepted_in_flight;
      std::set<std::pair<u32, u32>> clusters, accepted_clusters;
      for (const GemmConfig& config : offered) {
        if (config.output_f32 != f32) continue;
        heights.insert(config.tile_m);
        in_flight.insert(config.in_flight);
        widths.insert(config.tile_n);
        clusters.insert({config.cluster_m, config.cluster_n});
        CHECK(std::find(accepted.begin(), accepted.end(), config) != accepted.end());
      }
      for (const GemmConfig& config : accepted) {
        accepted_heights.insert(config.tile_m);
        accepted_in_flight.insert(config.in_flight);
        accepted_clusters.insert({config.cluster_m, config.cluster_n});
      }
      CHECK(heights == accepted_heights);
      CHECK(in_flight == accepted_in_flight);
      CHECK(clusters == accepted_clusters);
      if (f32) continue;
      for (const u32 straddling : {24, 88, 112, 136, 152, 176, 192}) CHECK(widths.contains(straddling));
    }
  }
  CHECK(offered_configs(7).size() < accepted_configs(7).size());
  CHECK(offered_configs(3) == accepted_configs(3));
}

TEST_CASE("what is not accepted is refused in a sentence that says what is") {
  CHECK_THROWS_AS(step_from_name("gemm_8"), Error);
  CHECK(refusal({.step = 2, .tile_m = 128, .stages = 1}) ==
        "gemm_2_tma: tiles of 128 rows are not accepted; accepted are 64");
  CHECK(refusal({.tile_n = 100})
            .find("gemm_7_full: tiles of 100 columns are not accepted; accepted are 8, 16") == 0);
  CHECK(refusal({.step = 5, .cluster_m = 2}) ==
        "gemm_5_persistent: clusters of 2x1 are not accepted; accepted is 1x1");
  CHECK(refusal({.cluster_m = 2, .cluster_n = 2}) ==
        "gemm_7_full: clusters of 2x2 are not accepted; accepted are 1x1, 2x1, 1x2");
  CHECK(refusal({.tile_n = 24, .cluster_m = 2}).find("no halves of whole eights") != std::string::npos);
  CHECK(refusal({.step = 8, .tile_m = 128, .tile_n = 24, .cluster_m = 4})
            .find("has no quarters of whole eights") != std::string::npos);
  CHECK(refusal({.step = 8, .tile_m = 256, .tile_n = 64, .stages = 3, .in_flight = 2}) ==
        "gemm_8_overlapped: 2 K blocks in flight with tiles of 256 rows are not accepted; accepted are 1");
  CHECK(refusal({.step = 8, .tile_m = 256, .tile_n = 192, .stages = 2}) ==
        "gemm_8_overlapped: a tile of 256x192 with 1 in flight needs 288 registers of a thread for sums; 192 "
        "are the most");
  CHECK(refusal({.step = 9, .tile_m = 128, .tile_n = 32, .stages = 2, .in_flight = 8}) ==
        "gemm_9_swapped: a tile of 128x32 with 8 K blocks in flight needs 339200 bytes of shared memory in 2 "
        "stages; 232448 are the most");
  CHECK(refusal({.stages = 1}) ==
        "gemm_7_full: with tiles of 128x128 the number of stages is 2 to 6, found 1");
  CHECK(refusal({.step = 1, .tile_m = 64, .stages = 2}) ==
        "gemm_1_one_tile: with tiles of 64x128 the number of stages is 1, found 2");
}

TEST_CASE("a plan pads what TMA needs, and covers D") {
  for (const GemmConfig& config : offered_configs()) {
    for (const auto& [m, n, k] : {std::tuple<i64, i64, i64>{1, 1, 1}, {129, 201, 333}, {4096, 7168, 2048}}) {
      Product product{.form = config.form, .m = m, .n = n, .k = k};
      if (config.form.grouping != Grouping::none) product.groups = 3;
      if (config.form.grouping == Grouping::along_k) product.k_sizes = {k / 2, 0, k - k / 2};
      const LaunchPlan plan = plan_gemm(product, config, 132);
      INFO(config.name() << " " << m << " " << n << " " << k);
      CHECK(plan.grid_x % plan.cluster == 0);
      if (config.step >= 5) {
        CHECK(plan.grid_x <= 132);
      } else {
        CHECK(u64{plan.grid_x} * config.tile_m >= u64{plan.m});
        CHECK(u64{plan.grid_y} * config.tile_n >= u64{plan.n});
      }
      if (config.step > 1) {
        CHECK(plan.a_stride % 16 == 0);
        CHECK(plan.b_stride % 16 == 0);
        CHECK(plan.a.size[0] ==
              plan.k);  // the true extent: what pads is filled with zeros, whatever it holds
        CHECK(plan.a.box[1] * config.cluster_n == config.tile_m);
        CHECK(plan.b.box[1] * config.cluster_m == config.tile_n);
      }
      if (config.stores_by_tma()) {
        CHECK(plan.d.stride[0] % 16 == 0);
        CHECK((config.swapped() ? 64 : config.tile_n) % plan.d.box[0] == 0);
        CHECK(plan.d.box[1] == (config.swapped() ? config.tile_n : 64));
        CHECK(plan.d.size[0] == plan.n);
      }
    }
  }
}

TEST_CASE("extents beyond what a kernel takes are refused; empty ones launch nothing") {
  const GemmConfig config;
  CHECK_THROWS_AS(plan_gemm(-1, 8, 8, config, 132), Error);
  CHECK_THROWS_AS(plan_gemm(8, i64{1} << 31, 8, config, 132), Error);
  CHECK_THROWS_AS(plan_gemm(64, 65536 * 16, 8, {.step = 2, .tile_m = 64, .tile_n = 16, .stages = 1}, 132),
                  Error);
  CHECK(plan_gemm(0, 8, 8, config, 132).grid_x == 0);
  CHECK(plan_gemm(8, 0, 8, config, 132).grid_x == 0);
  CHECK(plan_gemm(8, 8, 0, config, 132).grid_x == 1);
}

TEST_CASE("rows are counted where arrays have them: of rooms and of each D; of B but along K") {
  const GemmConfig config{.step = 8, .tile_m = 64, .tile_n = 16, .stages = 2};
  const auto refused = [&](Grouping grouping, i64 m, i64 n, i64 groups) -> std::string {
    Product many{.form = {.grouping = grouping}, .m = m, .n = n, .k = 128, .groups = groups};
    if (grouping == Grouping::along_k) many.k_sizes.assign(static_cast<std::size_t>(groups), 0);
    try {
      plan_gemm(many, config, 132);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refused(Grouping::contiguous, 1 << 20, 16, 4096) == "");
  CHECK(refused(Grouping::along_k, 16, 1 << 20, 4096) == "");
  for (const Grouping grouping : {Grouping::batched, Grouping::masked, Grouping::along_k}) {
    CHECK_THAT(refused(grouping, 1 << 20, 16, 4096), contains_text("the number of rows in all groups is"));
  }
  for (const Grouping grouping : {Grouping::batched, Grouping::masked, Grouping::contiguous}) {
    CHECK_THAT(refused(grouping, 16, 1 << 20, 4096),
               contains_text("the number of rows of B in all groups is"));
  }
  CHECK(refused(Grouping::masked, 1, 1, most_groups) == "");
  CHECK(refused(Grouping::masked, 1, 1, most_groups + 1) ==
        "there are 65537 groups; the kernels take 0 to 65536");
}

TEST_CASE(
    "a grid is no smaller than the clusters of all groups' tiles, where it need not be, and none for no "
    "group") {
  std::mt19937 generator(3);
  for (const int step : {8, 9}) {
    const GemmConfig config{
        .step = step, .tile_m = 64, .tile_n = 24, .stages = 2, .cluster_m = 1, .cluster_n = 2};
    const u32 rows_of_cluster = config.rows_of_d() * (step == 8 ? 1 : 2),
              columns_of_cluster = config.columns_of_d() * (step == 8 ? 2 : 1);
    for (u32 turn = 0; turn < 50; ++turn) {
      std::vector<i64> rows(generator() % 9);
      i64 m = 0, clusters = 0;
      const i64 n = static_cast<i64>(1 + generator() % 300);
      for (i64& each : rows) {
        each = static_cast<i64>(generator() % 5 == 0 ? 0 : generator() % 200);
        m += (each + 127) / 128 * 128;
        clusters += (each + rows_of_cluster - 1) / rows_of_cluster *
                    ((n + columns_of_cluster - 1) / columns_of_cluster);
      }
      const i64 groups = static_cast<i64>(rows.size());
      for (const Grouping grouping : {Grouping::contiguous, Grouping::masked}) {
        const LaunchPlan plan = plan_gemm({.form = {.grouping = grouping},
                                           .m = grouping == Grouping::masked ? 200 : m,
                                           .n = n,
                                           .k = 128,
                                           .groups = groups},
                                          config, 1 << 20);
        INFO(groups << " groups, " << m << " x " << n << ", step " << step);
        CHECK(plan.grid_x >= 2 * clusters);
        CHECK((plan.grid_x == 0) == (groups == 0 || (grouping == Grouping::contiguous && m == 0)));
      }
    }
  }
}

TEST_CASE("the default is accepted, and small where D is") {
  for (int step = first_step; step <= last_step; ++step) {
    for (const bool f32 : {false, true}) {
      for (const auto& [m, n] : {std::pair<i64, i64>{1, 1}, {64, 2112}, {4096, 7168}, {333, 1000}}) {
        const GemmConfig config = default_config(step, m, n, 1024, f32, 132);
        INFO(config.name() << " for " << m << " x " << n);
        CHECK(refusal(config) == "");
        CHECK(config.step == step);
        CHECK(config.output_f32 == f32);
      }
    }
  }
  CHECK(default_config(8, 4096, 7168, 2048, false, 132).tile_m > 64);
  CHECK(default_config(9, 1, 7168, 2048, false, 132).tile_n == 8);
  CHECK(default_config(7, 1, 1, 1, false, 132).tile_m == 64);
  CHECK(default_config(7, 4096, 7168, 2048, false, 132).tile_m == 128);
}

TEST_CASE("more stages than a block counts are refused, not counted wrong") {
  const GemmConfig narrow = {.step = 8, .tile_m = 64, .tile_n = 8, .stages = 2};
  CHECK_THROWS_AS(plan_gemm(23171, 23171, 524288, narrow, 1), Error);  // 4307398656 stages in 1051611 tiles
  CHECK_NOTHROW(plan_gemm(23171, 23171, 524288, narrow, 2));
}

TEST_CASE("the raster's group: all rows where A stays in the L2 cache, else about as high as wide") {
  const auto shift = [](i64 m, i64 n, i64 k) {
    const GemmConfig tall = {.step = 8, .tile_m = 256, .tile_n = 128, .stages = 3, .cluster_n = 2};
    return plan_gemm(m, n, k, tall, 132).raster_shift;
  };
  CHECK(shift(4096, 32768, 512) == 4);  // 2 MB of A: 16 rows of tiles in one group
  CHECK(shift(4200, 32768, 512) == 5);  // 17 of them
  CHECK(shift(4096, 4096, 4096) == 4);  // 17 MB
  CHECK(shift(8192, 8192, 8192) == 3);  // 67 MB: 2048 x 66 / 8 * 256 elements a wave
  CHECK(shift(64, 32768, 512) == 0);    // one row
  CHECK(shift(4096, 128, 512) < 5);     // one column: any
}
