// parallel_for: every index once, exceptions out, any thread count.
#include "emulator/support/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

using fp8twin::parallel_for;

TEST_CASE("parallel_for calls every index exactly once") {
  const int threads = GENERATE(0, 1, 2, 7);
  const int count = GENERATE(0, 1, 2, 1000);
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
  parallel_for(count, threads, [&](std::int64_t index, int worker) {
    if (worker < 0 || worker >= fp8twin::thread_count(threads)) throw std::logic_error("worker out of range");
    ++calls[static_cast<std::size_t>(index)];
  });
  for (const auto& each : calls) REQUIRE(each == 1);
}

TEST_CASE("parallel_for rethrows and stops handing out") {
  const int threads = GENERATE(1, 3);
  std::atomic<int> calls{0};
  CHECK_THROWS_AS(parallel_for(1'000'000, threads,
                               [&](std::int64_t index, int) {
                                 ++calls;
                                 if (index == 10) throw std::runtime_error("ten");
                               }),
                  std::runtime_error);
  CHECK(calls < 1'000'000);
}
