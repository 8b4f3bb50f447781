// Which kernels the cache takes for one another: none that differ in text. Text only: no GPU.
#include "gpu/launch/kernel_cache.hpp"

#include <set>
#include <string>

#include "gpu/capture/all_kernels.hpp"
#include "gpu/capture/sources.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("comparisons with other oracle bits are other kernels") {
  for (const capture::Variant& variant : capture::variants) {
    std::set<std::string> keys;
    for (int bits = 8; bits <= 20; ++bits)
      keys.insert(KernelCache::key(capture::compare_source(variant, 64, bits)));
    CHECK(keys.size() == 13);
  }
}

TEST_CASE("the same configuration is the same kernel, and every other one another") {
  CHECK(KernelCache::key(jit::gemm_source({.tile_n = 64})) ==
        KernelCache::key(jit::gemm_source({.tile_n = 64})));
  std::set<std::string> keys;
  const std::vector<jit::Source> sources = capture::all_kernels();
  for (const jit::Source& source : sources) keys.insert(KernelCache::key(source));
  CHECK(keys.size() == sources.size());
}
