// Names of configurations, there and back; what the tuner tries; how tiles fill the card.
#include "gpu/bench/candidates.hpp"

#include <algorithm>
#include <string>

#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;
using namespace fp8twin::bench;

TEST_CASE("every offered configuration comes back from its name, with other stages and traced too") {
  for (GemmConfig config : offered_configs()) {
    INFO(config.name());
    CHECK(config_from_name(config.name()) == config);
    config.trace = true;
    CHECK(config_from_name(config.name()) == config);
    config.stages = most_stages(config);
    CHECK(config_from_name(config.name()) == config);
  }
}

TEST_CASE("names that are none") {
  const std::string good = GemmConfig{}.name();
  REQUIRE_NOTHROW(config_from_name(good));
  CHECK_THROWS_WITH(config_from_name("gemm"), "'gemm' names no configuration: needed is a name like " + good);
  for (const std::string& wrong :
       {std::string(), good + "_", good + "_trace_trace", good.substr(1), good.substr(0, good.size() - 1),
        std::string("gemm_7_full_128x_s4_c1x1_bf16"), std::string("gemm_7_full_0128x128_s4_c1x1_bf16"),
        std::string("gemm_7_full_99999999999x128_s4_c1x1_bf16"), std::string("gemm_7_full")}) {
    INFO(wrong);
    CHECK_THROWS_AS(config_from_name(wrong), Error);
  }
}

TEST_CASE("a name of a configuration that is not accepted gets the reason") {
  CHECK_THROWS_WITH(config_from_name("gemm_2_tma_128x128_s1_c1x1_bf16"),
                    "gemm_2_tma: tiles of 128 rows are not accepted; accepted are 64");
}

TEST_CASE("candidates: what a step accepts with BF16 output, all of it up to step 7") {
  for (const Shape& shape : all_shapes()) {
    for (int step = first_step; step <= last_step; ++step) {
      INFO(shape.name() << ", step " << step);
      const std::vector<GemmConfig> some = candidates(shape.m, shape.n, shape.k, step);
      if (step <= 7) CHECK(2 * some.size() == accepted_configs(step).size());
      if (step == 8 || shape.m <= 128) CHECK_FALSE(some.empty());
      std::size_t wrong = 0;
      for (const GemmConfig& config : some) wrong += config.step != step || config.output_f32 || config.trace;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("candidates from step 8 on: no tile that wastes more than half of its rows") {
  for (const GemmConfig& config : candidates(32, 4096, 7168, 9)) {
    INFO(config.name());
    CHECK(config.tile_n < 72);  // the rows of A in a swapped tile
  }
  for (const GemmConfig& config : candidates(4096, 4096, 7168, 8)) {
    INFO(config.name());
    CHECK(config.tile_m >= 128);
    CHECK(config.tile_n >= 64);
  }
  CHECK(candidates(4096, 4096, 7168, 9).empty());
}

TEST_CASE("a selection: all, steps, names") {
  const Shape shape{64, 4096, 7168};
  std::size_t all = 0;
  for (int step = first_step; step <= last_step; ++step) all += candidates(64, 4096, 7168, step).size();
  CHECK(selected_configs("all", shape).size() == all);
  CHECK(selected_configs("7", shape) == candidates(64, 4096, 7168, 7));
  CHECK(selected_configs("gemm_7_full", shape) == candidates(64, 4096, 7168, 7));
  CHECK(selected_configs("1,2", shape).size() ==
        selected_configs("1", shape).size() + selected_configs("2", shape).size());
  const GemmConfig one{.tile_n = 64}, other{.tile_n = 96, .cluster_m = 2};
  CHECK(selected_configs(one.name() + "," + other.name(), shape) == std::vector<GemmConfig>{one, other});
  CHECK_THROWS_AS(selected_configs("", shape), Error);
  CHECK_THROWS_AS(selected_configs("0", shape), Error);
  CHECK_THROWS_AS(selected_configs("99", shape), Error);
}

TEST_CASE("the chosen configuration is among the candidates of every shape") {
  for (const Shape& shape : all_shapes()) {
    const GemmConfig chosen = chosen_config(shape, 132);
    INFO(shape.name() << ": " << chosen.name());
    const std::vector<GemmConfig> some = candidates(shape.m, shape.n, shape.k, chosen.step);
    CHECK(std::find(some.begin(), some.end(), chosen) != some.end());
  }
}

TEST_CASE("tiling: waves and the part of the tiles that is D") {
  GemmConfig config{.tile_m = 64, .tile_n = 96};
  const Tiling full = tiling_of(plan_gemm(128, 96 * 132, 128, config, 132), 132);
  CHECK(full.tiles == 264);
  CHECK(full.waves == 2);
  CHECK(full.efficiency == 1);
  config.cluster_m = 2;  // 128 rows a cluster: 100 rows are one, as are 90 columns
  const Tiling part = tiling_of(plan_gemm(100, 90, 128, config, 132), 66);
  CHECK(part.tiles == 2);
  CHECK(part.waves == Approx(1 / 66.0));
  CHECK(part.efficiency == Approx(9000.0 / (128 * 96)));
}
