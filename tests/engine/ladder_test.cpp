// The long form: every step of the ladder on every engine here, twenty seeds, tails in every direction.
#include <cstring>

#include "emulator/engine/engine.hpp"
#include "tests/catch.hpp"
#include "tests/engine/engines_here.hpp"

using namespace fp8twin;
using test::RandomGemm;

TEST_CASE("every step under twenty seeds, shapes with tails included") {
  const auto engines = test::engines_here();
  const std::vector<RandomGemm> problems = {{1, 8, 16, Distribution::normal, 1},
                                            {64, 64, 128, Distribution::uniform, 2},
                                            {131, 136, 336, Distribution::adversarial, 3},
                                            {257, 72, 144, Distribution::rare_subnormal, 4},
                                            {70, 392, 656, Distribution::adversarial, 5}};
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const RandomGemm& random = problems[i];
    for (const bool f32 : {false, true}) {
      const std::vector<u8> expected = random.model(f32);
      for (int step = first_step; step <= last_step; ++step) {
        const std::vector<GemmConfig> configs = offered_configs(step);
        for (std::size_t seed = 1; seed <= 20; ++seed) {
          RunOptions options;
          options.config = configs[(97 * seed + 31 * i) % configs.size()];  // another one for each seed
          options.config.output_f32 = f32;
          options.config.stages = std::min(options.config.stages, most_stages(options.config));
          options.schedule = static_cast<machine::Schedule>(seed % 4);
          options.schedule_seed = seed;
          options.multiprocessors =
              std::max(2 + static_cast<u32>(seed % 5), options.config.cluster_m * options.config.cluster_n);
          for (const auto& engine : engines) {
            INFO(engine->name() << ", " << options.config.name() << ", problem " << i << ", seed " << seed);
            const RunResult result =
                engine->run(test::problem_of(random), f32 ? DType::f32 : DType::bf16, options);
            REQUIRE(result.d.size() == expected.size());
            CHECK(std::memcmp(result.d.data(), expected.data(), expected.size()) == 0);
          }
        }
      }
    }
  }
}
