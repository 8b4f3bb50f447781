// One test body for every engine: each gives the model's bits, and refuses in a sentence what it does not take.
#include "emulator/engine/engine.hpp"

#include <cstring>

#include "tests/catch.hpp"
#include "tests/engine/engines_here.hpp"

using namespace fp8twin;
using test::RandomGemm;

namespace {

/// What the model says, through the entry of other projects.
bool equals_model(const RunResult& result, const RandomGemm& random, DType output) {
  const std::vector<u8> expected = random.model(output == DType::f32);
  return result.d.size() == expected.size() &&
         (expected.empty() || std::memcmp(result.d.data(), expected.data(), expected.size()) == 0);
}

std::string refusal(Engine& engine, const Problem& problem, DType output) {
  try {
    engine.run(problem, output, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("every engine, every step: the model's bits") {
  const RandomGemm tails(67, 72, 272, Distribution::adversarial, 3), one(1, 8, 128, Distribution::normal, 4),
      nothing(3, 8, 0, Distribution::normal, 5);
  for (const auto& engine : test::engines_here()) {
    for (int step = first_step; step <= last_step; ++step) {
      for (const RandomGemm* random : {&tails, &one, &nothing}) {
        const DType output = step % 2 ? DType::bf16 : DType::f32;
        INFO(engine->name() << ", step " << step << ", M " << random->m);
        RunOptions options;
        options.threads = 1;
        options.config = default_config(step, random->m, random->n, random->k, output == DType::f32, 4);
        options.multiprocessors = 4;
        CHECK(equals_model(engine->run(test::problem_of(*random), output, options), *random, output));
      }
    }
  }
}

TEST_CASE(
    "every engine, the loops of steps 8 and 9: slabs, warpgroups in turn, batches, clusters of four, "
    "operands swapped") {
  const RandomGemm random(141, 72, 400, Distribution::adversarial, 6);
  const GemmConfig configs[] = {
      {.step = 8, .tile_m = 64, .tile_n = 24},
      {.step = 8, .tile_m = 128, .tile_n = 48, .cluster_n = 2},
      {.step = 8, .tile_m = 192, .tile_n = 16, .cluster_m = 2},
      {.step = 8, .tile_m = 256, .tile_n = 32},
      {.step = 8, .tile_m = 64, .tile_n = 32, .cluster_m = 4, .in_flight = 2},
      {.step = 9, .tile_m = 128, .tile_n = 16},
      {.step = 9, .tile_m = 64, .tile_n = 8, .in_flight = 8},
      {.step = 9, .tile_m = 64, .tile_n = 32, .cluster_m = 2, .cluster_n = 2, .in_flight = 4},
  };
  for (const auto& engine : test::engines_here()) {
    for (const GemmConfig& config : configs) {
      for (const bool f32 : {false, true}) {
        RunOptions options;
        options.threads = 1;
        options.config = config;
        options.config.output_f32 = f32;
        options.config.stages = 2;
        options.multiprocessors = 4;
        INFO(engine->name() << ", " << options.config.name());
        const DType output = f32 ? DType::f32 : DType::bf16;
        CHECK(equals_model(engine->run(test::problem_of(random), output, options), random, output));
      }
    }
  }
}

TEST_CASE("every engine: a chain of wgmma longer than a launch takes") {
  const i64 n = 136, k = 32 * 40;
  const RandomGemm random(64, n, k, Distribution::uniform, 9);
  Problem problem = test::problem_of(random);
  problem.kind = Kind::wgmma;
  problem.a_scale = problem.b_scale = {};
  const std::vector<float> c(static_cast<std::size_t>(64 * n), 1.5f);
  for (const bool has_c : {false, true}) {
    problem.has_c = has_c;
    problem.c = has_c ? std::span<const float>(c) : std::span<const float>();
    const std::vector<std::byte> expected = make_engine("model")->run(problem, DType::f32, {}).d;
    for (const auto& engine : test::engines_here()) {
      INFO(engine->name());
      CHECK(engine->run(problem, DType::f32, {}).d == expected);
    }
  }
}

TEST_CASE("the engines that run kernels store a wgmma's sums as F32 only") {
  const RandomGemm random(64, 8, 32, Distribution::normal, 1);
  for (const auto& engine : test::engines_here()) {
    if (!engine->runs_kernels()) continue;
    Problem problem = test::problem_of(random);
    problem.kind = Kind::wgmma;
    CHECK_THAT(refusal(*engine, problem, DType::bf16), contains_text("as F32"));
  }
}

TEST_CASE("names of engines and schedules, there and back") {
  for (const char* name : {"earliest", "latest", "mixed", "random"}) {
    CHECK(schedule_name(schedule_from_name(name)) == name);
  }
  CHECK_THROWS_AS(schedule_from_name("soon"), Error);
  CHECK_THROWS_AS(make_engine("fast"), Error);
  CHECK(make_engine("machine")->name() == "machine");
}
