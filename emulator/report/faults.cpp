// Faults of a single K block: what a kernel with one wrong wait, one wrong barrier phase or one wrong scale
// index computes. Each is the model's chain of promotions with one block changed.
#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <map>

#include "emulator/number/bf16.hpp"
#include "emulator/report/variants.hpp"
#include "emulator/report/word.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

constexpr std::int64_t tested_elements = 1000;
constexpr std::int64_t most_blocks = 512;  // the search is quadratic in the number of K blocks
constexpr std::array fault_kinds{FaultKind::block_left_out, FaultKind::block_twice,
                                 FaultKind::scales_of_previous, FaultKind::scales_of_next,
                                 FaultKind::ends_after};

struct Blocks {
  std::vector<float> p, scale, before;  // of each K block: its sum, its scale, `final` before it
};

Blocks blocks_of(const Element& e) {
  Blocks blocks;
  float final = 0.0f;
  for (std::int64_t j = 0; j < e.k_blocks(); ++j) {
    blocks.before.push_back(final);
    blocks.p.push_back(chain(sm90, e.a + 128 * j, e.b + 128 * j, e.block_length(j)));
    blocks.scale.push_back(e.scale(j));
    final = fma_rn(blocks.scale.back(), blocks.p.back(), final);
  }
  return blocks;
}

/// The model's FP32 result with the fault in block j; absent where it cannot happen.
std::optional<float> with_fault(const Blocks& blocks, FaultKind kind, std::size_t j) {
  const std::size_t count = blocks.p.size();
  float final = blocks.before[j];
  switch (kind) {
    case FaultKind::block_left_out:
      break;
    case FaultKind::block_twice:
      final = fma_rn(blocks.scale[j], blocks.p[j], fma_rn(blocks.scale[j], blocks.p[j], final));
      break;
    case FaultKind::scales_of_previous:
      if (j == 0) return std::nullopt;
      final = fma_rn(blocks.scale[j - 1], blocks.p[j], final);
      break;
    case FaultKind::scales_of_next:
      if (j + 1 == count) return std::nullopt;
      final = fma_rn(blocks.scale[j + 1], blocks.p[j], final);
      break;
    case FaultKind::ends_after:  // two blocks or more are missing; one is block_left_out
      if (j + 2 >= count) return std::nullopt;
      return blocks.before[j + 1];
  }
  for (std::size_t i = j + 1; i < count; ++i) final = fma_rn(blocks.scale[i], blocks.p[i], final);
  return final;
}

}  // namespace

std::string Fault::sentence() const {
  switch (kind) {
    case FaultKind::block_left_out:
      return fmt::format("b is the model's result without K block {}", k_block);
    case FaultKind::block_twice:
      return fmt::format("b is the model's result with K block {} added twice", k_block);
    case FaultKind::scales_of_previous:
      return fmt::format("b has K block {} scaled by the scales of block {}", k_block, k_block - 1);
    case FaultKind::scales_of_next:
      return fmt::format("b has K block {} scaled by the scales of block {}", k_block, k_block + 1);
    case FaultKind::ends_after:
      break;
  }
  return fmt::format("b is the model's result after K block {}, the later blocks missing", k_block);
}

std::optional<Fault> find_fault(const Elements& elements, const Tensor& b,
                                std::span<const std::int64_t> differing, int threads) {
  const auto available = static_cast<std::int64_t>(differing.size());
  const std::int64_t tested = std::min(tested_elements, available);
  using Counts = std::map<std::pair<FaultKind, std::int64_t>, std::int64_t>;
  std::vector<Counts> parts(static_cast<std::size_t>(thread_count(threads)));
  parallel_for(tested, threads, [&](std::int64_t i, int worker) {
    const std::int64_t index = differing[static_cast<std::size_t>(i * available / tested)];
    const Element element = elements.at(index);
    if (!element.scaled || element.k_blocks() > most_blocks) return;
    const std::uint32_t wanted = load_word(b, index);
    const Blocks blocks = blocks_of(element);
    for (const FaultKind kind : fault_kinds) {
      for (std::size_t j = 0; j < blocks.p.size(); ++j) {
        std::optional<float> d = with_fault(blocks, kind, j);
        if (!d) continue;
        if (element.c) *d = add_rn(*element.c, *d);
        const std::uint32_t bits = b.dtype == DType::f32 ? f32_bits(*d) : BF16::rn(*d).code;
        if (bits == wanted) ++parts[static_cast<std::size_t>(worker)][{kind, static_cast<std::int64_t>(j)}];
      }
    }
  });
  Counts counts;
  for (const Counts& part : parts) {
    for (const auto& [fault, count] : part) counts[fault] += count;
  }
  std::optional<Fault> best;
  bool alone = true;
  for (const auto& [fault, count] : counts) {
    if (best && count == best->reproduced) alone = false;
    if (best && count <= best->reproduced) continue;
    best = Fault{fault.first, fault.second, count, tested};
    alone = true;
  }
  return best && alone && 2 * best->reproduced > tested ? best : std::nullopt;
}

}  // namespace fp8twin
