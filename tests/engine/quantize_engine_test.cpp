// One test body over the engines of `quantize`: the same codes and scales for every recipe. The card's turn says why where there is none.
#include "emulator/engine/quantize_engine.hpp"

#include "emulator/support/error.hpp"
#include "gpu/capture/quantize_cases.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;
using capture::Quantized;

namespace {

std::vector<std::unique_ptr<QuantizeEngine>> quantize_engines_here() {
  std::vector<std::unique_ptr<QuantizeEngine>> engines;
  for (const char* name : {"model", "machine", "gpu"}) {
    try {
      engines.push_back(make_quantize_engine(name));
    } catch (const Error& error) {
      if (std::string(name) != "gpu") throw;
      std::printf("without engine gpu: %s\n", error.what());
    }
  }
  return engines;
}

}  // namespace

TEST_CASE("every engine gives the same codes and scales") {
  const auto engines = quantize_engines_here();
  REQUIRE(engines.size() >= 2);
  for (const BlockShape shape : capture::block_shapes) {
    const BlockGrid grid(2, 70, 300, shape, std::vector<std::int32_t>{130, 170});
    for (const InputFormat input : capture::input_formats) {
      const capture::QuantizeInput x(input, grid, 21);
      for (const Recipe& recipe : all_recipes()) {
        Quantized needed(grid);
        quantize(recipe, ScaleFormat::f32, grid, x.values(), needed.codes, needed.scales);
        for (const auto& engine : engines) {
          INFO(engine->name() << " " << recipe.name);
          Quantized found(grid);
          engine->quantize(recipe, ScaleFormat::f32, grid, x.values(), found.codes, found.scales, 1);
          CHECK(found.codes == needed.codes);
          CHECK(found.scales_differing(needed) == 0);
        }
      }
    }
  }
}

TEST_CASE("engines of quantize by name") {
  CHECK(make_quantize_engine("model")->name() == "model");
  CHECK_FALSE(make_quantize_engine("model")->runs_kernels());
  CHECK(make_quantize_engine("machine")->name() == "machine");
  CHECK(make_quantize_engine("machine")->device() == "cpu");
  CHECK_THROWS_WITH(make_quantize_engine("tpu"), "engine: found 'tpu'; model, machine or gpu is needed");
}
