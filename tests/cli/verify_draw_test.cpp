// What `verify` draws: within its ranges and its budget, the same for the same seed, and every configuration in turn.
#include "emulator/cli/verify_draw.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "tests/catch.hpp"

using namespace fp8twin;
using cli::Draw;
using cli::Drawer;

namespace {
constexpr std::int64_t any = std::int64_t{1} << 40;
}

TEST_CASE("sizes are of the kernels' kind and reach both ends") {
  const Drawer drawer(5, {"model", "machine"}, std::nullopt);
  std::int64_t small = 0, large = 0, adversarial = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const Draw draw = drawer.draw(i, any);
    CHECK((draw.m >= 1 && draw.m <= 4096));
    CHECK((draw.n >= 8 && draw.n <= 4096 && draw.n % 8 == 0));
    CHECK((draw.k >= 16 && draw.k <= 4096 && draw.k % 16 == 0));
    small += draw.m <= 4;
    large += draw.m > 1024;
    adversarial += draw.distribution == Distribution::adversarial;
  }
  // Log-uniform: 1, 2 and 3 to 4 are three of thirteen octaves, 1025 to 4096 two; 2000 draws have a deviation below 20.
  CHECK(std::abs(small - 2000 * 3 / 13) < 100);
  CHECK(std::abs(large - 2000 * 2 / 13) < 100);
  CHECK(std::abs(adversarial - (500 + 1500 / 14)) < 100);
}

TEST_CASE("what costs too much is drawn smaller, down to the smallest there is") {
  const Drawer drawer(6, {"model", "gpu"}, std::nullopt);
  for (std::int64_t i = 0; i < 300; ++i) {
    const Draw whole = drawer.draw(i, any);
    for (const std::int64_t most : {cli::least_macs, std::int64_t{1000}, std::int64_t{1'000'000}}) {
      const Draw draw = drawer.draw(i, most);
      CHECK(draw.macs() <= most);
      CHECK(draw.n % 8 == 0);
      CHECK(draw.k % 16 == 0);
      if (whole.macs() <= most) CHECK(draw.macs() == whole.macs());
      CHECK(draw.seed == whole.seed);
      CHECK(draw.runs[1].config == whole.runs[1].config);
    }
  }
}

TEST_CASE("every configuration of an output comes before any comes again, in an order of each engine's own") {
  const Drawer drawer(7, {"machine", "gpu"}, std::nullopt);
  const std::vector<GemmConfig> all = offered_configs();
  const auto f32 = std::count_if(all.begin(), all.end(), [](const GemmConfig& c) { return c.output_f32; });
  const auto bf16 = static_cast<std::ptrdiff_t>(all.size()) - f32;
  std::set<std::string> machine, gpu;
  bool same_order = true;
  for (std::int64_t i = 0; i < 2 * std::max(f32, bf16); ++i) {  // the outputs take turns
    const bool first_round = i / 2 < (i % 2 ? f32 : bf16);
    CHECK(machine.insert(drawer.config(i, 0).name()).second == first_round);
    gpu.insert(drawer.config(i, 1).name());
    same_order = same_order && drawer.config(i, 0) == drawer.config(i, 1);
  }
  CHECK(machine.size() == all.size());
  CHECK(gpu == machine);
  CHECK_FALSE(same_order);
}

TEST_CASE("runs are accepted, and stages vary on the machine") {
  const Drawer drawer(8, {"machine", "gpu"}, 3);
  std::set<u32> stages;
  for (std::int64_t i = 0; i < 200; ++i) {
    const Draw draw = drawer.draw(i, any);
    for (const RunOptions& run : draw.runs) {
      CHECK_NOTHROW(check_accepted(run.config));
      CHECK(run.config.step == 3);
      CHECK(run.config.output_f32 == (draw.output == DType::f32));
    }
    stages.insert(draw.runs[0].config.stages);
  }
  CHECK(stages.size() > 3);
}

TEST_CASE("the commands that show a difference") {
  const std::vector<std::string> engines = {"model", "machine", "gpu"};
  Draw draw = Drawer(9, engines, 7).draw(0, 10'000);
  draw.m = 3;
  draw.runs[0].core = with_fraction_bits(14);
  draw.runs[1].schedule = machine::Schedule::latest;
  draw.runs[1].schedule_seed = 42;
  draw.runs[2].config = {.step = 7, .tile_m = 128, .tile_n = 64, .stages = 4, .cluster_m = 2};
  const std::vector<std::string> machine = cli::reproducer(draw, engines, 1),
                                 gpu = cli::reproducer(draw, engines, 2);
  CHECK_THAT(machine[0], contains_text("fp8twin random p.safetensors --m 3 --n "));
  CHECK(machine[1] ==
        "fp8twin gemm p.safetensors -o model.safetensors --engine model --output bf16 --fraction-bits 14");
  CHECK_THAT(machine[2], contains_text("--engine machine"));
  CHECK_THAT(machine[2], contains_text("--schedule latest --schedule-seed 42"));
  CHECK(gpu[2] ==
        "fp8twin gemm p.safetensors -o gpu.safetensors --engine gpu --output bf16 --kernel gemm_7_full "
        "--tile 128x64 "
        "--stages 4 --cluster 2x1");
  CHECK(gpu[3] == "fp8twin diff model.safetensors gpu.safetensors");
  draw.runs[2].config = {.step = 8, .tile_m = 64, .tile_n = 32, .stages = 3, .in_flight = 4};
  CHECK_THAT(cli::reproducer(draw, engines, 2)[2],
             contains_text("--kernel gemm_8_overlapped --tile 64x32 --stages 3 --cluster 1x1 --in-flight 4"));
}
