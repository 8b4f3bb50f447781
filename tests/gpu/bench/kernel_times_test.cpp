// What the timer and the yardstick say where they cannot work: one sentence each.
#include "gpu/bench/kernel_times.hpp"

#include <string>

#include "emulator/support/error.hpp"
#include "gpu/bench/device_sources.hpp"
#include "gpu/jit/nvrtc.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/skip.hpp"

using namespace fp8twin;
using namespace fp8twin::bench;

TEST_CASE("without CUPTI the timer falls back on events and says why") {
  const KernelTimer timer({.events = false, .cupti = "no_such_folder/libcupti.so"});
  CHECK(timer.uses_events());
  CHECK(timer.method().find(
            "CUDA events (CUPTI, CUDA's profiling library, was not found (no_such_folder/libcupti.so): ") ==
        0);
  const KernelTimer asked({.events = true, .cupti = ""});
  CHECK(asked.method().find("CUDA events (asked for)") == 0);
}

TEST_CASE("a library that is no CUPTI is refused by its first missing function") {
  CHECK_THROWS_WITH(Cupti("libm.so.6"),
                    "libm.so.6 has no function cuptiGetVersion: a newer version is needed");
}

TEST_CASE("the benchmarks' own kernels compile without spills") {
  try {
    jit::nvrtc_version();
  } catch (const Error& error) {
    test::skip(error.what());
    return;
  }
  for (const jit::Source& source : {empty_source(), stream_source()}) {
    const jit::Compiled compiled = jit::compile(source);
    REQUIRE(compiled.resources.size() == 1);
    INFO(compiled.log);
    CHECK(compiled.resources[0].stack_bytes == 0);
    CHECK(compiled.resources[0].spill_store_bytes == 0);
  }
  // Eight loads before the first of their sums: that many are under way.
  const std::string ptx = jit::dump_ptx(stream_source());
  CHECK(ptx.find("ld.global.nc.L1::no_allocate.v4.u32") != std::string::npos);
}
