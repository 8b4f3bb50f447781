// The chooser: always a configuration that is offered and fits, the same each time, and the one that was measured to be best
// where the best stands out.
#include "gpu/launch/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "gpu/launch/plan.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

struct Shape {
  i64 m, n, k;
  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
  }
};

constexpr std::array<Shape, 6> few_rows = {
    {{1, 2112, 7168}, {1, 24576, 1536}, {1, 32768, 512}, {1, 7168, 16384}, {1, 4096, 7168}, {1, 7168, 2048}}};

std::vector<Shape> shapes() {
  std::vector<Shape> all = {{0, 0, 0},
                            {1, 1, 0},
                            {1, 1, 1},
                            {65, 65, 129},
                            {0, 8, 8},
                            {8, 0, 8},
                            {4096, 7168, 2048},
                            {4096, 4096, 4096},
                            {64, 64, 4096},
                            {8192, 8192, 8192},
                            {100000, 8, 128},
                            {8, 2000000000, 1},
                            {131072, 131072, 131072}};
  for (const i64 m : {1, 8, 16, 32, 48, 64, 128, 200, 4096}) {
    for (const Shape& shape : few_rows) all.push_back({m, shape.n, shape.k});
  }
  return all;
}

}  // namespace

TEST_CASE("whatever the shape, the card and the output: something offered, which fits the card and plans") {
  for (const bool f32 : {false, true}) {
    const std::vector<GemmConfig> offered[] = {offered_configs(8), offered_configs(9)};
    for (const u32 multiprocessors : {1u, 2u, 3u, 16u, 114u, 132u, 1000u}) {
      for (const Shape& shape : shapes()) {
        const GemmConfig config = choose_config(shape.m, shape.n, shape.k, f32, multiprocessors);
        INFO(config.name() << " for " << shape.text() << " on " << multiprocessors);
        REQUIRE((config.step == 8 || config.step == 9));
        const std::vector<GemmConfig>& some = offered[config.step - 8];
        CHECK(std::find(some.begin(), some.end(), config) != some.end());
        CHECK(config.output_f32 == f32);
        CHECK(config.shared_bytes() <= most_shared_bytes);
        CHECK(config.cluster_m * config.cluster_n <= multiprocessors);
        CHECK(config == choose_config(shape.m, shape.n, shape.k, f32, multiprocessors));
        CHECK_NOTHROW(plan_gemm(shape.m, shape.n, shape.k, config, multiprocessors));
        for (const int step : {8, 9}) {
          CHECK(choose_config(step, shape.m, shape.n, shape.k, f32, multiprocessors).step == step);
        }
      }
    }
  }
}

TEST_CASE("whatever the form, the groups and the card: something offered, which fits the card and plans") {
  const std::vector<i64> rows[] = {{}, {0}, {1}, {0, 0, 3}, {200, 0, 56, 192}, {4096, 4096}, {20, 20, 20}};
  for (const ProductForm& form : product_forms()) {
    for (const std::vector<i64>& groups : rows) {
      for (const bool known : {true, false}) {
        Product product{
            .form = form, .m = 4096, .n = 2112, .k = 512, .groups = static_cast<i64>(groups.size())};
        if (form.grouping == Grouping::none) product.groups = 1;
        if (form.grouping == Grouping::along_k) product.k_sizes = groups;
        const bool of_rows = form.grouping == Grouping::contiguous || form.grouping == Grouping::masked;
        if (of_rows && known) product.rows = groups;
        if (form.grouping == Grouping::contiguous) product.m = 8192;
        for (const bool f32 : {false, true}) {
          for (const u32 multiprocessors : {1u, 3u, 132u}) {
            const GemmConfig config = choose_config(product, f32, multiprocessors);
            INFO(config.name() << ", " << groups.size() << " groups, on " << multiprocessors);
            const std::vector<GemmConfig> offered = offered_configs(config.step, form);
            CHECK(std::find(offered.begin(), offered.end(), config) != offered.end());
            CHECK(config.output_f32 == f32);
            CHECK(config.cluster_m * config.cluster_n <= multiprocessors);
            CHECK(config == choose_config(product, f32, multiprocessors));
            CHECK_NOTHROW(plan_gemm(product, config, multiprocessors));
            const Estimate e = estimate(product, config, multiprocessors);
            CHECK(std::isfinite(e.total));
            CHECK(why(e).find('\n') == std::string::npos);
            for (const int step : {8, 9})
              CHECK(choose_config(step, product, f32, multiprocessors).step == step);
          }
        }
      }
    }
  }
}

TEST_CASE("an estimate is the sum of its parts, and no less than any bound") {
  for (const Shape& shape : shapes()) {
    for (const GemmConfig& config : offered_configs(8)) {
      const Estimate e = estimate(shape.m, shape.n, shape.k, config, 132);
      INFO(config.name() << " for " << shape.text());
      CHECK(std::isfinite(e.total));
      if (shape.m == 0 || shape.n == 0) {
        CHECK(e.total == 0);
        continue;
      }
      CHECK(e.waves * e.resident >= e.clusters);
      CHECK((e.waves - 1) * e.resident < e.clusters);
      const double longest = std::max({e.memory, e.caches, e.copies, e.products + e.stores});
      const double around = e.start + e.last_store + e.waits;
      CHECK(e.total >= around + longest);
      CHECK(e.total <= around + longest * 1.3161);  // the 4-norm of three that are equal: 3^(1/4)
    }
  }
}

TEST_CASE("more multiprocessors, more of K, of M or of N in whole tiles: never faster, or never slower") {
  for (const Shape& shape : shapes()) {
    if (shape.m == 0 || shape.n == 0) continue;
    double before = 0;
    for (const u32 multiprocessors : {1u, 2u, 4u, 7u, 60u, 114u, 131u, 132u, 133u, 264u, 10000u}) {
      const GemmConfig config = choose_config(shape.m, shape.n, shape.k, false, multiprocessors);
      const double total = estimate(shape.m, shape.n, shape.k, config, multiprocessors).total;
      INFO(shape.text() << " on " << multiprocessors);
      if (before > 0) CHECK(total <= before);
      before = total;
    }
    for (const GemmConfig& config : candidate_configs(8, false)) {
      const double total = estimate(shape.m, shape.n, shape.k, config, 132).total;
      INFO(shape.text() << " by " << config.name());
      CHECK(estimate(shape.m, shape.n, shape.k + 1024, config, 132).total >= total);
      CHECK(estimate(shape.m, shape.n + 6 * config.tile_n, shape.k, config, 132).total >= total);
      if (shape.m < config.tile_m) continue;  // where rows of a tile are empty, and cost more than full ones
      CHECK(estimate(shape.m + 6 * config.tile_m, shape.n, shape.k, config, 132).total >= total);
    }
  }
}

TEST_CASE("a H200's best, where it stands out among those measured") {
  struct Pick {
    Shape shape;
    const char* config;
  };
  for (const Pick& pick :
       std::initializer_list<Pick>{{{1, 2112, 7168}, "gemm_9_swapped_64x8_s6_c1x1_p4_bf16"},
                                   {{32, 4096, 7168}, "gemm_9_swapped_64x32_s4_c1x1_p4_bf16"},
                                   {{64, 4096, 7168}, "gemm_8_overlapped_64x32_s4_c1x1_p4_bf16"},
                                   {{64, 7168, 16384}, "gemm_8_overlapped_64x64_s3_c1x1_p4_bf16"},
                                   {{64, 32768, 512}, "gemm_8_overlapped_64x128_s4_c1x1_p2_bf16"},
                                   {{128, 2112, 7168}, "gemm_8_overlapped_64x32_s4_c1x1_p4_bf16"},
                                   {{128, 7168, 16384}, "gemm_8_overlapped_64x128_s4_c1x1_p2_bf16"},
                                   {{128, 32768, 512}, "gemm_8_overlapped_128x128_s5_c1x1_p1_bf16"},
                                   {{4096, 2112, 7168}, "gemm_8_overlapped_128x192_s4_c1x1_p1_bf16"},
                                   {{4096, 4096, 4096}, "gemm_8_overlapped_256x128_s3_c1x2_p1_bf16"},
                                   {{4096, 4096, 7168}, "gemm_8_overlapped_256x128_s3_c1x2_p1_bf16"},
                                   {{4096, 7168, 2048}, "gemm_8_overlapped_256x128_s3_c1x2_p1_bf16"},
                                   {{4096, 7168, 16384}, "gemm_8_overlapped_256x128_s3_c1x2_p1_bf16"}}) {
    INFO(pick.shape.text());
    CHECK(choose_config(pick.shape.m, pick.shape.n, pick.shape.k, false, 132).name() == pick.config);
  }
}

TEST_CASE("tall tiles for many rows, short ones for few, and little between with FP32 output") {
  for (const Shape& shape : few_rows) {
    for (const bool f32 : {false, true}) {
      INFO(shape.text());
      const GemmConfig tall = choose_config(4096, shape.n, shape.k, f32, 132);
      CHECK(tall.step == 8);
      CHECK(tall.tile_m * tall.tile_n >= 128 * 128);
      const GemmConfig few = choose_config(64, shape.n, shape.k, f32, 132);
      CHECK(few.tile_m == 64);
      CHECK(few.in_flight > 1);
    }
  }
}

TEST_CASE("a sentence for each: waves, time and bound") {
  for (const Shape& shape : shapes()) {
    const GemmConfig config = choose_config(shape.m, shape.n, shape.k, false, 132);
    const std::string sentence = why(estimate(shape.m, shape.n, shape.k, config, 132));
    INFO(sentence);
    if (shape.m == 0 || shape.n == 0) {
      CHECK(sentence == "nothing to compute");
    } else {
      CHECK(sentence.find(" bound by what ") != std::string::npos);
    }
    CHECK(sentence.find('\n') == std::string::npos);
  }
  const auto bound = [](const Shape& shape) {
    return why(
        estimate(shape.m, shape.n, shape.k, choose_config(shape.m, shape.n, shape.k, false, 132), 132));
  };
  CHECK(bound({64, 7168, 16384}).find("112 clusters in 1 wave of 132: about ") == 0);
  CHECK(bound({64, 7168, 16384}).find("bound by what memory delivers") != std::string::npos);
  CHECK(bound({8192, 8192, 8192}).find("bound by what products and their promotion take") !=
        std::string::npos);
}
