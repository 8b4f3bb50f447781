// Replays the recordings of grouped, batched and 1D1D problems, and of D = c + product, through the model and the machine: 0
// differing bits in either output.
#include <set>

#include "emulator/engine/launchable.hpp"
#include "tests/catch.hpp"
#include "tests/golden/golden.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("recorded problems of every kind: 0 differing bits by model and machine") {
  const auto model = make_engine("model"), machine = make_engine("machine");
  std::set<std::string> kinds;
  std::size_t with_c = 0, by_ends = 0, number = 0;
  for (const std::string& path : golden_files("grouped")) {
    INFO(path);
    const TensorFile file = read_tensor_file(path);
    for (const char* key :
         {"command", "device", "driver", "cuda", "nvrtc", "date", "seed", "kernels", "distribution"}) {
      INFO(key);
      REQUIRE(file.metadata.contains(key));
    }
    const Problem problem = read_problem(file);
    kinds.insert(std::string(kind_name(problem.kind)));
    with_c += problem.has_c;
    by_ends += !problem.group_ends.empty();
    for (const bool f32 : {false, true}) {
      const Tensor& d = file.at(f32 ? "d_f32" : "d_bf16");
      CHECK(differing(model->run(problem, d.dtype, {}).d, d.bytes, dtype_size(d.dtype)) == 0);
      const std::vector<GemmConfig> configs =
          offered_configs(number++ % 3 == 2 ? 9 : 8, product_of(problem).form);
      const auto config = std::find_if(configs.begin(), configs.end(),
                                       [&](const GemmConfig& c) { return c.output_f32 == f32; });
      REQUIRE(config != configs.end());
      RunOptions options{.config = *config, .multiprocessors = 8};
      CHECK(differing(machine->run(problem, d.dtype, options).d, d.bytes, dtype_size(d.dtype)) == 0);
    }
  }
  for (const char* kind : {"1d2d", "1d1d", "batched", "contiguous", "masked", "k-grouped"})
    CHECK(kinds.contains(kind));
  CHECK(with_c >= 3);
  CHECK(by_ends >= 1);
}
