// Every N, distribution and variant of wgmma by digest: the inputs are drawn again from their seeds, so that
// 2688 results of the H200 fit in one small file.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>

#include "emulator/model/distribution.hpp"
#include "emulator/support/parallel.hpp"
#include "fp8twin/model.hpp"
#include "tests/catch.hpp"
#include "tests/golden/golden.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

/// 64-bit FNV-1a over 32-bit words, as the file says.
std::string digest(std::span<const float> values) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float& value : values) {
    std::uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    hash = (hash ^ word) * 0x100000001b3u;
  }
  char text[19];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(hash));
  return text;
}

struct Case {
  int n;
  std::uint64_t seed;
  Distribution distribution;
};

std::vector<std::uint8_t> codes(const Case& c, Operand operand, int rows, int k, bool negate) {
  std::vector<std::uint8_t> result(static_cast<std::size_t>(rows) * static_cast<std::size_t>(k));
  fill_codes(c.distribution, c.seed, operand, k, result);
  return negate ? negated(result) : result;
}

/// The model's digest of one variant, from the seed alone.
std::string ours(const Case& c, const std::string& variant) {
  const int k = variant == "chain-of-four" ? 128 : 32;
  const auto a = codes(c, Operand::a, 64, k, variant.find("negate-a") != std::string::npos);
  const auto b = codes(c, Operand::b, c.n, k, variant.find("negate-b") != std::string::npos);
  std::vector<float> accumulator(static_cast<std::size_t>(64 * c.n)), d(accumulator.size());
  fill_c(c.distribution, c.seed, accumulator);
  wgmma(c.n, k, a, b, variant == "scale-d-false" ? std::span<const float>() : accumulator, d);
  return digest(d);
}

}  // namespace

TEST_CASE("digests of every N, distribution and variant of wgmma") {
  const nlohmann::json recorded = golden_json("wgmma_digests.json");
  const std::vector<std::string> variants = {"one-instruction", "chain-of-four", "scale-d-false",
                                             "negate-a",        "negate-b",      "negate-a-negate-b",
                                             "register-a"};
  const nlohmann::json& cases = recorded.at("cases");
  std::vector<std::string> wrong(cases.size());
  parallel_for(static_cast<std::int64_t>(cases.size()), 0, [&](std::int64_t i, int) {
    const nlohmann::json& each = cases[static_cast<std::size_t>(i)];
    const auto distribution = each.at("distribution").get<std::string>();
    const Case c{each.at("n").get<int>(), each.at("seed").get<std::uint64_t>(),
                 distribution_from_name(distribution)};
    for (const std::string& variant : variants) {
      if (ours(c, variant) != each.at(variant).get<std::string>()) {
        wrong[static_cast<std::size_t>(i)]
            .append("n")
            .append(std::to_string(c.n))
            .append(" ")
            .append(distribution);
        wrong[static_cast<std::size_t>(i)].append(" ").append(variant).append("; ");
      }
    }
  });
  std::set<std::pair<int, std::string>> seen;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK(wrong[i] == "");
    seen.emplace(cases[i].at("n").get<int>(), cases[i].at("distribution").get<std::string>());
  }
  CHECK(seen.size() == 32 * 12);
}

TEST_CASE("the comparison on the card: what it counted") {
  const nlohmann::json recorded = golden_json("compare.json");
  CHECK(recorded.at("outputs").get<std::uint64_t>() >= 100'000'000'000u);
  CHECK(recorded.at("mismatches") == 0);
  CHECK(recorded.at("variants").size() == 7);
  for (const nlohmann::json& variant : recorded.at("variants")) {
    INFO(variant.at("variant"));
    CHECK(variant.at("shapes").size() == 32);
    CHECK(variant.at("distributions").size() == 12);
    std::uint64_t outputs = 0;
    for (const nlohmann::json& shape : variant.at("shapes")) {
      CHECK(shape.at("mismatches") == 0);
      outputs += shape.at("outputs").get<std::uint64_t>();
    }
    CHECK(outputs == variant.at("outputs").get<std::uint64_t>());
  }
  CHECK(golden_json("gemm.json").at("mismatches") == 0);
}
