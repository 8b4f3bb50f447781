// On a machine with an H100 or H200: cuBLASLt has the model's bits, with rows added and without; a contest
// times what it is given. Elsewhere: skipped.
#include <set>
#include <string>

#include "emulator/support/error.hpp"
#include "gpu/bench/candidates.hpp"
#include "gpu/bench/card_problem.hpp"
#include "gpu/bench/contest.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/have_gpu.hpp"

using namespace fp8twin;
using namespace fp8twin::bench;

TEST_CASE("ours, cuBLASLt and the model: the same bits, whatever M") {
  if (!test::have_gpu()) return;
  const Device device;
  KernelCache kernels;
  const CublasLt lt;
  Problems problems(3);
  for (const Shape shape :
       {Shape{1, 512, 640}, Shape{7, 2112, 512}, Shape{64, 256, 1024}, Shape{200, 384, 896}}) {
    INFO(shape.name());
    const HostProblem host = problems.problem(shape);
    const CardProblem problem(host);
    const auto multiprocessors = static_cast<u32>(device.multiprocessors());
    OurGemm ours(kernels, problem, chosen_config(shape, multiprocessors), multiprocessors);
    TheirGemm theirs(lt, problem, CublasLtGemm::Order::ascending);
    ours.poison();
    theirs.poison();
    ours.launch();
    theirs.launch();
    const std::vector<std::uint16_t> model = model_d(host);
    CHECK(theirs.padded_m() % 4 == 0);
    CHECK(theirs.padded_m() >= shape.m);
    CHECK(differing(ours.d(), model) == 0);
    CHECK(differing(theirs.d(), model) == 0);
  }
}

TEST_CASE(
    "a contest: every contender in every round, and one that cannot be launched leaves with the reason") {
  if (!test::have_gpu()) return;
  KernelTimer timer({});
  const Device device;
  KernelCache kernels;
  timer.begin(device, kernels);
  Contest contest(timer, std::size_t{256} << 20);
  Problems problems(3);
  const CardProblem problem(problems.problem({64, 256, 1024}));
  const OurGemm gemm(kernels, problem, GemmConfig{.tile_m = 64, .tile_n = 64}, 132);
  int launched = 0;
  const std::vector<Contender> contenders = {{"gemm",
                                              [&] {
                                                ++launched;
                                                gemm.launch();
                                              }},
                                             {"none", [] { throw Error("it cannot be launched"); }}};
  const std::vector<ContestResult> results = contest.run(contenders, 5);
  CHECK(launched == 6);  // one round is not counted
  CHECK(results[0].us.count == 5);
  CHECK(results[0].us.min > 0);
  CHECK(results[0].us.min <= results[0].us.median);
  if (!timer.uses_events())
    CHECK(results[0].kernels == std::vector<std::string>{"gemm_7_full_64x64_s4_c1x1_bf16"});
  CHECK(results[1].refusal == "it cannot be launched");
  CHECK(results[1].us.count == 0);
}
