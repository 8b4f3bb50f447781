// The configurations that `fp8twin-capture gemm` runs on the card: checked where there is none.
#include <set>
#include <string>

#include "gpu/capture/gemm_runner.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("captured configurations: accepted in both outputs, none twice, every step") {
  for (const bool output_f32 : {false, true}) {
    std::set<std::string> names;
    std::set<int> steps;
    for (const GemmConfig& config : capture::captured_configs(output_f32)) {
      INFO(config.name());
      CHECK(config.output_f32 == output_f32);
      CHECK_NOTHROW(check_accepted(config));
      CHECK(names.insert(config.name()).second);
      steps.insert(config.step);
    }
    CHECK(steps.size() == last_step);
  }
}
