// What `verify` draws: forms that the engines take, the same for the same seed, and every configuration in turn.
#include "emulator/cli/verify_draw.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/catch.hpp"

using namespace fp8twin;
using cli::Draw;
using cli::Drawer;
using cli::Form;

namespace {

constexpr std::int64_t any = std::int64_t{1} << 50;
const std::vector<Form> plain{Form{}};

}  // namespace

TEST_CASE("forms: of the kinds asked for, in a step that takes them") {
  CHECK(cli::drawable_forms({}, std::nullopt) == cli::all_forms());
  CHECK(cli::drawable_forms({}, 7) == plain);
  CHECK(cli::drawable_forms({}, 8) == cli::all_forms());
  CHECK(cli::drawable_forms({Kind::dense_1d2d}, std::nullopt).size() == 2);  // with c, and without
  CHECK(cli::drawable_forms({Kind::masked, Kind::batched}, 9).size() == 4);
  CHECK_THROWS_WITH(cli::drawable_forms({Kind::dense_1d2d, Kind::k_grouped}, 3),
                    contains_text("k-grouped, which kernel gemm_3_stages does not take"));
}

TEST_CASE("every kind comes alike, with every form, and the same seed draws the same") {
  const std::vector<std::string> engines{"model", "machine"};
  const Drawer drawer(5, engines, std::nullopt, cli::all_forms());
  const Drawer again(5, engines, std::nullopt, cli::all_forms()),
      other(6, engines, std::nullopt, cli::all_forms());
  std::map<Kind, int> kinds;
  std::set<std::string> forms;
  int same_as_other = 0;
  for (std::int64_t i = 0; i < 3000; ++i) {
    const Draw draw = drawer.draw(i, any);
    const Form& form = draw.problem.form;
    CHECK(form == drawer.form(i));
    ++kinds[form.kind];
    forms.insert(std::string(kind_name(form.kind)) + (form.has_c ? " c " : " ") +
                 std::to_string(form.b_scale_rows));
    const Draw repeated = again.draw(i, any);
    CHECK(cli::reproducer(repeated, engines, 1) == cli::reproducer(draw, engines, 1));
    same_as_other += other.draw(i, any).problem.command() == draw.problem.command();
  }
  CHECK(kinds.size() == 6);
  for (const auto& [kind, count] : kinds) CHECK(std::abs(count - 500) < 90);
  CHECK(forms.size() == cli::all_forms().size());
  CHECK(same_as_other == 0);
}

TEST_CASE("a smaller budget changes the extents and nothing else") {
  const Drawer drawer(6, {"model", "machine"}, std::nullopt, cli::all_forms());
  for (std::int64_t i = 0; i < 300; ++i) {
    const Draw whole = drawer.draw(i, any), draw = drawer.draw(i, 1000);
    CHECK(draw.problem.macs() <= 1000);
    CHECK(draw.problem.seed == whole.problem.seed);
    CHECK(draw.problem.sizes.padding == whole.problem.sizes.padding);
    CHECK(draw.runs[1].config == whole.runs[1].config);
    CHECK(draw.runs[1].schedule_seed == whole.runs[1].schedule_seed);
  }
}

TEST_CASE("every configuration of an output comes before any comes again, in an order of each engine's own") {
  const Drawer drawer(7, {"machine", "gpu"}, std::nullopt, plain);
  std::vector<GemmConfig> all;
  for (int step = first_step; step <= last_step; ++step) {
    for (const GemmConfig& config : offered_configs(step)) all.push_back(config);
  }
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

TEST_CASE("forms other than 1d2d without c go to steps 8 and 9, in all their configurations") {
  const Drawer drawer(8, {"gpu", "machine"}, std::nullopt, cli::all_forms());
  std::set<std::string> late, early;
  for (std::int64_t i = 0; i < 6000; ++i) {
    const GemmConfig config = drawer.config(i, 0);
    (drawer.form(i).plain() ? early : late).insert(config.name());
    if (!drawer.form(i).plain()) CHECK(config.step >= 8);
  }
  std::size_t offered = 0;
  for (const ProductForm& form : product_forms()) {
    if (form != ProductForm{}) offered += offered_configs(8, form).size() + offered_configs(9, form).size();
  }
  CHECK(late.size() == offered);
  CHECK_FALSE(early.empty());
}

TEST_CASE("runs are accepted, and stages vary on the machine") {
  const Drawer drawer(8, {"machine", "gpu"}, 3, plain);
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
  Draw draw = Drawer(9, engines, 7, plain).draw(0, 10'000);
  draw.problem.sizes.m = 3;
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

TEST_CASE("an engine named twice writes two files, and models differ in their instructions") {
  const std::vector<std::string> engines = {"model", "model"};
  CHECK(cli::labels_of({"model", "machine", "model"}) ==
        std::vector<std::string>{"model", "machine", "model-2"});
  const Drawer drawer(10, engines, std::nullopt, cli::all_forms());
  std::set<Simd> paths;
  for (std::int64_t i = 0; i < 50; ++i) paths.insert(drawer.draw(i, 1000).runs[1].simd);
  CHECK(paths.size() == simd_here().size());
  Draw draw = drawer.draw(0, 1000);
  draw.runs[1].simd = Simd::portable;
  const std::vector<std::string> lines = cli::reproducer(draw, engines, 1);
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[2], contains_text("-o model-2.safetensors --engine model"));
  CHECK_THAT(lines[2], contains_text("--simd portable"));
  CHECK(lines[3] == "fp8twin diff model.safetensors model-2.safetensors");
}
