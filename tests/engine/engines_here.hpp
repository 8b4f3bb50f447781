// The engines that this machine has: model and machine anywhere, gpu where a card is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "tests/gpu/random_gemm.hpp"
#include "tests/gpu/skip.hpp"

namespace fp8twin::test {

inline std::vector<std::unique_ptr<Engine>> engines_here() {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const char* name : {"model", "machine", "gpu"}) {
    try {
      engines.push_back(make_engine(name));
    } catch (const Error& error) {
      if (std::string(name) != "gpu") throw;
      std::printf("without engine gpu: %s\n", error.what());
    }
  }
  return engines;
}

inline Problem problem_of(const RandomGemm& random) {
  Problem problem;
  problem.m = random.m;
  problem.n = random.n;
  problem.k = random.k;
  problem.a = random.a;
  problem.b = random.b;
  problem.a_scale = random.a_scale;
  problem.b_scale = random.b_scale;
  return problem;
}

}  // namespace fp8twin::test
