// record: the golden files. tests/golden/golden_test.cpp replays every one of them through the emulator.
//
//   wgmma/nNNN_DISTRIBUTION.safetensors          a [64,32], b [N,32], c, d: one wgmma; three for each N
//   wgmma/nNNN_DISTRIBUTION_chain.safetensors    a [64,128], b [N,128], c, d: four chained; every fourth N
//   wgmma_digests.json                           every N, distribution and variant: a digest of d
//   gemm/NAME.safetensors                        a, a_scale, b, b_scale, d: problem files
//
// The any-c files also hold d of every variant (d_scale_d_false: whatever c, it is not read; d_negate_a;
// ...). conversions.json, compare.json and gemm.json are what the other subcommands write with --record.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "emulator/model/distribution.hpp"
#include "emulator/support/error.hpp"
#include "gpu/capture/capture.hpp"
#include "gpu/capture/gemm_runner.hpp"
#include "gpu/capture/sources.hpp"
#include "gpu/launch/card_wgmma.hpp"

namespace fp8twin::capture {
namespace {

constexpr std::size_t distributions = 12;

/// Inputs of all distributions for one N and K, tile by tile, and the seed of each.
struct WgmmaData {
  int n, k;
  std::vector<std::uint64_t> seeds;
  std::vector<std::uint8_t> a, b;
  std::vector<float> c;

  std::size_t a_size() const { return static_cast<std::size_t>(64 * k); }
  std::size_t b_size() const { return static_cast<std::size_t>(n * k); }
  std::size_t c_size() const { return static_cast<std::size_t>(64 * n); }

  WgmmaData(int n_, int k_, std::uint64_t base) : n(n_), k(k_) {
    a.resize(distributions * a_size());
    b.resize(distributions * b_size());
    c.resize(distributions * c_size());
    for (std::size_t i = 0; i < distributions; ++i) {
      const Distribution distribution = all_distributions()[i];
      seeds.push_back(base * 1'000'000 + static_cast<std::uint64_t>(n) * 1000 + i + 1);
      fill_codes(distribution, seeds[i], Operand::a, k, std::span(a).subspan(i * a_size(), a_size()));
      fill_codes(distribution, seeds[i], Operand::b, k, std::span(b).subspan(i * b_size(), b_size()));
      fill_c(distribution, seeds[i], std::span(c).subspan(i * c_size(), c_size()));
    }
  }
};

/// Accumulators that must not be read: the distribution's c among NaNs and infinities of both signs.
std::vector<float> poisoned(std::vector<float> c) {
  constexpr std::uint32_t poison[] = {0x7fffffff, 0xffc00001, 0x7f800000, 0xff800000};
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (i % 5 < 4) std::memcpy(&c[i], &poison[i % 5], 4);
  }
  return c;
}

/// 64-bit FNV-1a over the 32-bit words of `values`.
std::uint64_t digest(std::span<const float> values) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float& value : values) {
    std::uint32_t word;
    std::memcpy(&word, &value, 4);
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return hash;
}

/// "scale-d-false" as a tensor's or a key's name.
std::string underscored(std::string text) {
  for (char& each : text) {
    if (each == '-') each = '_';
  }
  return text;
}

struct Recorder {
  Session& session;
  std::filesystem::path folder;
  Json source;
  int files = 0;

  void write(const std::string& name, std::span<const Tensor> tensors, Metadata extra) {
    extra.merge(metadata_of(source));
    write_tensor_file((folder / name).string(), tensors, extra);
    ++files;
  }

  /// `d` of every variant, all distributions; then files and digests.
  void record_shape(int n, std::size_t position, Json& digests);
  void record_gemms();
};

void Recorder::record_shape(int n, std::size_t position, Json& digests) {
  const WgmmaData single(n, 32, session.seed), chain(n, 128, session.seed);
  std::vector<std::vector<float>> results;
  for (const Variant& variant : variants) {
    const WgmmaData& data = variant.k_steps == 1 ? single : chain;
    results.push_back(run_wgmma_chain(session.kernels, chain_config(variant, n), data.a, data.b,
                                      variant.scale_d ? data.c : poisoned(data.c), variant.scale_d));
  }

  for (std::size_t i = 0; i < distributions; ++i) {
    const std::string name(distribution_name(all_distributions()[i]));
    Json entry = {{"n", n}, {"distribution", name}, {"seed", single.seeds[i]}};
    for (std::size_t v = 0; v < std::size(variants); ++v) {
      entry[variants[v].name] =
          hex(digest(std::span(results[v]).subspan(i * single.c_size(), single.c_size())), 16);
    }
    digests.push_back(entry);

    const auto tensors = [&](const WgmmaData& data, std::size_t v) {
      return std::vector<Tensor>{
          tensor_of<std::uint8_t>("a", DType::f8_e4m3, {64, data.k},
                                  std::span(data.a).subspan(i * data.a_size(), data.a_size())),
          tensor_of<std::uint8_t>("b", DType::f8_e4m3, {n, data.k},
                                  std::span(data.b).subspan(i * data.b_size(), data.b_size())),
          tensor_of<float>("c", DType::f32, {64, n},
                           std::span(data.c).subspan(i * data.c_size(), data.c_size())),
          tensor_of<float>("d", DType::f32, {64, n},
                           std::span(results[v]).subspan(i * data.c_size(), data.c_size()))};
    };
    const Metadata extra = {{"distribution", name}, {"seed", std::to_string(single.seeds[i])}};
    // Three distributions for each N, four N for a full round, and each round begins elsewhere: every
    // distribution meets a quarter of the shapes, with all residues of N.
    if (i / 3 == (position + position / 4) % 4) {
      std::vector<Tensor> list = tensors(single, 0);
      if (all_distributions()[i] == Distribution::any_c) {
        for (std::size_t v = 2; v < std::size(variants); ++v) {
          list.push_back(
              tensor_of<float>("d_" + underscored(variants[v].name), DType::f32, {64, n},
                               std::span(results[v]).subspan(i * single.c_size(), single.c_size())));
        }
      }
      write(fmt::format("wgmma/n{:03}_{}.safetensors", n, name), list, extra);
    }
    if (position % 4 == 0 && i == (position / 4 * 5 + 1) % distributions) {
      write(fmt::format("wgmma/n{:03}_{}_chain.safetensors", n, name), tensors(chain, 1), extra);
    }
  }
}

void Recorder::record_gemms() {
  for (const GemmCase& gemm : golden_gemms()) {
    const std::uint64_t seed = gemm.seed(session.seed);
    const GemmData data(gemm, seed);
    const GemmVerdict verdict = run_gemm_case(session, gemm, data);
    if (verdict.mismatches) {
      throw Error(fmt::format("GEMM {}: {} outputs differ from the oracle's; nothing is recorded",
                              gemm.name(), verdict.mismatches));
    }
    const Tensor tensors[] = {
        tensor_of<std::uint8_t>("a", DType::f8_e4m3, {gemm.m, gemm.k}, data.a),
        tensor_of<float>("a_scale", DType::f32, {gemm.m, data.k_blocks}, data.a_scale),
        tensor_of<std::uint8_t>("b", DType::f8_e4m3, {gemm.n, gemm.k}, data.b),
        tensor_of<float>("b_scale", DType::f32, {data.n_blocks, data.k_blocks}, data.b_scale),
        tensor_of<std::uint8_t>("d", gemm.output_f32 ? DType::f32 : DType::bf16, {gemm.m, gemm.n},
                                verdict.d)};
    write(fmt::format("gemm/{}.safetensors", gemm.name()), tensors,
          {{"distribution", std::string(distribution_name(gemm.distribution))},
           {"seed", std::to_string(seed)},
           {"kernel", "gemm_1_one_tile"}});
  }
}

}  // namespace

int record(Session& session, const std::string& folder) {
  const Device& device = session.device();
  std::filesystem::create_directories(std::filesystem::path(folder) / "wgmma");
  std::filesystem::create_directories(std::filesystem::path(folder) / "gemm");
  Recorder recorder{session, folder, provenance(session, device)};

  const std::vector<int> shapes = shapes_of(session);
  std::vector<jit::Source> sources;
  for (const int n : shapes) {
    for (const Variant& variant : variants) {
      if (variant.scale_d) sources.push_back(jit::wgmma_chain_source(chain_config(variant, n)));
    }
  }
  session.kernels.prepare(sources, session.threads);
  prepare_gemm_kernels(session);

  Json digests = Json::array();
  for (std::size_t i = 0; i < shapes.size(); ++i) recorder.record_shape(shapes[i], i, digests);
  recorder.record_gemms();

  Json answer = recorder.source;
  answer["digest"] =
      "64-bit FNV-1a over the 32-bit words of d [64,N], row by row; chain-of-four: K = 128, else K = 32";
  answer["cases"] = digests;
  write_json((std::filesystem::path(folder) / "wgmma_digests.json").string(), answer);
  fmt::print("{}, driver {}: {} files and {} digests written to {}\n", device.name(), device.driver_version(),
             recorder.files, digests.size() * std::size(variants), folder);
  return 0;
}

}  // namespace fp8twin::capture
