// compare: every variant, every distribution, every N; counted on the card, listed here.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <iterator>

#include "emulator/model/distribution.hpp"
#include "gpu/capture/capture.hpp"
#include "gpu/capture/sources.hpp"

namespace fp8twin::capture {
namespace {

constexpr std::uint32_t distributions = 12;  // as docs/numerics.md numbers them: all_distributions()[0..11]

std::string_view distribution_label(std::uint32_t number) {
  return distribution_name(all_distributions()[number - 1]);
}

void print_mismatches(const Variant& variant, int n, const Counters::Slot& slot) {
  for (const Mismatch& m : slot.first) {
    fmt::print("  differs: {} n{} {} tile {} row {} column {}: c {}, card {}, oracle {}\n", variant.name, n,
               distribution_label(m.distribution), m.tile, m.row, m.column, hex(m.c, 8), hex(m.card, 8),
               hex(m.model, 8));
  }
}

/// Launches one variant over all N and distributions and waits. Counts by [shape][distribution].
std::vector<Counters::Slot> run_variant(Session& session, const Device& device, const Variant& variant,
                                        std::size_t variant_index, double outputs) {
  const std::vector<int> shapes = shapes_of(session);
  const Counters counters(shapes.size() * distributions, 8);
  const double each = outputs * variant.share / static_cast<double>(shapes.size() * distributions);
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const int n = shapes[s];
    const Kernel kernel =
        session.kernels.get(compare_source(variant, n, session.oracle_bits), compare_entry(variant, n));
    const u64 tiles = static_cast<u64>(each / (64.0 * n)) + 1;
    for (std::uint32_t d = 1; d <= distributions; ++d) {
      const std::size_t slot = s * distributions + d - 1;
      // Every launch draws from streams of its own.
      const u64 seed = ((session.seed * 16 + variant_index) * 512 + static_cast<u64>(n)) * 16 + d;
      kernel.launch(
          {static_cast<unsigned>(std::min<u64>(tiles, static_cast<u64>(device.multiprocessors()) * 8)), 1},
          128, compare_shared_bytes(static_cast<u32>(n), static_cast<u32>(variant.k_steps)),
          CompareArguments{seed, tiles, d, variant.scale_d, counters.compared.device() + slot,
                           counters.mismatch_count.device() + slot,
                           counters.mismatches.device() + slot * counters.capacity, counters.capacity});
    }
  }
  device.synchronize();
  return counters.read();
}

/// Adds the slots of one variant to the record, by distribution and by N.
Json summary(const Variant& variant, const std::vector<int>& shapes,
             const std::vector<Counters::Slot>& slots) {
  Json by_distribution = Json::object(), by_n = Json::object();
  std::uint64_t outputs = 0, mismatches = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::string n = fmt::format("n{}", shapes[i / distributions]);
    const std::string d(distribution_label(static_cast<std::uint32_t>(i % distributions) + 1));
    for (Json* entry : {&by_n[n], &by_distribution[d]}) {
      if (entry->is_null()) *entry = {{"outputs", std::uint64_t{0}}, {"mismatches", std::uint64_t{0}}};
      (*entry)["outputs"] = (*entry)["outputs"].get<std::uint64_t>() + slots[i].compared;
      (*entry)["mismatches"] = (*entry)["mismatches"].get<std::uint64_t>() + slots[i].mismatches;
    }
    outputs += slots[i].compared;
    mismatches += slots[i].mismatches;
  }
  return {{"variant", variant.name},
          {"outputs", outputs},
          {"mismatches", mismatches},
          {"distributions", by_distribution},
          {"shapes", by_n}};
}

}  // namespace

int compare(Session& session, double outputs) {
  const Device& device = session.device();
  Json answer = provenance(session, device);
  fmt::print("{}, driver {}, NVRTC {}\n", device.name(), device.driver_version(),
             answer["nvrtc"].get<std::string>());

  const auto started = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  };
  const std::vector<int> shapes = shapes_of(session);
  std::vector<jit::Source> sources;
  for (const Variant& variant : variants) {
    for (const int n : shapes) sources.push_back(compare_source(variant, n, session.oracle_bits));
  }
  session.kernels.prepare(sources, session.threads);
  fmt::print("{} kernels compiled in {:.1f} s\n", sources.size(), seconds());

  std::uint64_t total = 0, differing = 0;
  answer["variants"] = Json::array();
  for (std::size_t v = 0; v < std::size(variants); ++v) {
    const auto slots = run_variant(session, device, variants[v], v, outputs);
    for (std::size_t i = 0; i < slots.size(); ++i)
      print_mismatches(variants[v], shapes[i / distributions], slots[i]);
    const Json entry = summary(variants[v], shapes, slots);
    fmt::print("{:<18} {:>16} outputs {:>8} differ   {:.1f} s\n", variants[v].name,
               entry["outputs"].get<std::uint64_t>(), entry["mismatches"].get<std::uint64_t>(), seconds());
    std::fflush(stdout);
    total += entry["outputs"].get<std::uint64_t>();
    differing += entry["mismatches"].get<std::uint64_t>();
    answer["variants"].push_back(entry);
  }
  fmt::print("total              {:>16} outputs {:>8} differ\n", total, differing);
  answer["outputs"] = total;
  answer["mismatches"] = differing;
  if (!session.record_path.empty()) write_json(session.record_path, answer);
  return differing ? 1 : 0;
}

}  // namespace fp8twin::capture
