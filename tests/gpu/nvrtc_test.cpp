// NVRTC compiles every kernel in every configuration, without a GPU: no error, no spill, no stack frame, no
// repaired wgmma.
#include "gpu/jit/nvrtc.hpp"

#include <algorithm>
#include <regex>
#include <string>

#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"
#include "gpu/capture/all_kernels.hpp"
#include "gpu/launch/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/skip.hpp"

using namespace fp8twin;

namespace {

bool have_nvrtc() {
  try {
    jit::nvrtc_version();
    return true;
  } catch (const Error& error) {
    test::skip(error.what());
    return false;
  }
}

/// Registers that a kernel's warpgroups have once they have given and taken (gpu/kernels/roles.hpp), and those of its launch.
/// Both 0 for a kernel where nothing moves.
struct Moved {
  int wanted = 0, threads = 0;
};

Moved moved_registers(const std::string& kernel) {
  std::smatch match;
  if (!std::regex_search(kernel, match, std::regex("^gemm_([4-9])_[a-z]+_([0-9]+)x"))) return {};
  switch (std::stoi(match[2])) {
    case 64:
      return {128 * (40 + 256), 256};
    case 192:
      return {128 * (56 + 3 * 152), 512};
    default:
      return {128 * (40 + 2 * 232), 384};
  }
}

/// What is wrong with a translation unit: empty when nothing is.
std::string verdict(const jit::Source& source) {
  try {
    const jit::Compiled compiled = jit::compile(source);
    if (compiled.cubin.size() < 1000) return source.name + ": no machine code";
    if (compiled.resources.empty()) return source.name + ": ptxas reported no resources\n" + compiled.log;
    for (const jit::Resources& r : compiled.resources) {
      if (r.registers < 1 || r.registers > 255 || r.stack_bytes || r.spill_store_bytes ||
          r.spill_load_bytes) {
        return r.kernel + ":\n" + compiled.log;
      }
      const Moved moved = moved_registers(r.kernel);
      if (r.registers * moved.threads < moved.wanted) {
        return r.kernel + ": setmaxnreg would wait for ever\n" + compiled.log;
      }
    }
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void check_all(const std::vector<jit::Source>& sources) {
  std::vector<std::string> verdicts(sources.size());
  parallel_for(static_cast<std::int64_t>(sources.size()), 0, [&](std::int64_t i, int) {
    verdicts[static_cast<std::size_t>(i)] = verdict(sources[static_cast<std::size_t>(i)]);
  });
  for (const std::string& each : verdicts) CHECK(each == "");
}

/// The comparison's kernels take most of the time and differ little from one N to the next: they are the slow
/// test.
bool is_comparison(const jit::Source& source) { return source.name.rfind("compare_", 0) == 0; }

}  // namespace

#ifdef FP8TWIN_COMPARISON_KERNELS
TEST_CASE("every comparison kernel compiles without spills") {
  if (!have_nvrtc()) return;
  std::vector<jit::Source> sources = capture::all_kernels();
  std::erase_if(sources, [](const jit::Source& source) { return !is_comparison(source); });
  REQUIRE(sources.size() == 32 * 6);
  check_all(sources);
}
#else
TEST_CASE("every kernel compiles without spills, stack frames or repaired wgmma") {
  if (!have_nvrtc()) return;
  std::vector<jit::Source> sources = capture::all_kernels();
  std::erase_if(sources, is_comparison);
  REQUIRE(sources.size() >= 280);
  check_all(sources);
}

TEST_CASE("the PTX of a kernel names its instructions") {
  if (!have_nvrtc()) return;
  const std::string ptx = jit::dump_ptx(jit::gemm_source({.cluster_m = 2}));
  for (const char* word :
       {".entry gemm_7_full_128x128_s4_c2x1_bf16", "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16", "mbarrier.try_wait.parity.shared::cta.b64",
        "setmaxnreg.inc.sync.aligned.u32 232", "fence.proxy.async"}) {
    INFO(word);
    CHECK(ptx.find(word) != std::string::npos);
  }
  CHECK(ptx.find("fma.rn.f32") != std::string::npos);
}

TEST_CASE("a comparison kernel compiles for the narrowest and the widest shape") {
  if (!have_nvrtc()) return;
  std::vector<jit::Source> sources = capture::all_kernels();
  std::erase_if(sources, [](const jit::Source& source) {
    return !is_comparison(source) ||
           !(source.wgmma_shapes.front() == 8 || source.wgmma_shapes.front() == 256);
  });
  REQUIRE(sources.size() == 12);
  check_all(sources);
}

TEST_CASE("an error of the compiler becomes a sentence with its log") {
  if (!have_nvrtc()) return;
  try {
    jit::compile({"broken", "no_such_type x;", {}});
    FAIL("compiled");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("kernel broken does not compile") == 0);
    CHECK(std::string(error.what()).find("no_such_type") != std::string::npos);
  }
}

TEST_CASE("the cache says why a source is not ready, and goes on") {
  if (!have_nvrtc()) return;
  KernelCache kernels;
  const std::vector<jit::Source> sources = {{"broken", "no_such_type x;", {}},
                                            {"broken, too", "nor_this x;", {}}};
  const std::vector<std::string> refusals = kernels.try_prepare(sources, 2);
  REQUIRE(refusals.size() == 2);
  CHECK(refusals[0].find("kernel broken does not compile") == 0);
  CHECK(refusals[1].find("kernel broken, too does not compile") == 0);
  CHECK_THROWS_WITH(kernels.prepare(sources, 2), refusals[0]);
}

TEST_CASE("a kernel that reads accumulators before their wait is refused, though ptxas repairs it") {
  if (!have_nvrtc()) return;
  const std::string text =
      "#include \"gpu/kernels/wgmma_chain.hpp\"\n"
      "using namespace fp8twin;\n"
      "FP8TWIN_KERNEL(128) hasty(const WgmmaArguments w) {\n"
      "  Accumulator<8> d{};\n"
      "  wgmma_fence(d);\n"
      "  wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, core_descriptor(0, 64, 0), core_descriptor(2048, 8, 0), "
      "1);\n"
      "  wgmma_commit_group();\n"
      "  for (u32 i = 0; i < 4; ++i) st_global_f32(w.d + tid_x() * 4 + i, d[i]);\n"
      "}\n";
  try {
    jit::compile({"hasty", text, {8}});
    FAIL("compiled");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("C75") != std::string::npos);
  }
}
#endif
