#include "emulator/engine/trace_file.hpp"

#include <fmt/core.h>

#include <array>
#include <vector>

#include "gpu/jit/sources.hpp"
#include "gpu/kernels/trace_layout.hpp"

namespace fp8twin {
namespace {

/// The low halves: BF16 codes.
std::vector<std::uint16_t> low_halves(std::span<const std::uint32_t> words) {
  std::vector<std::uint16_t> codes;
  codes.reserve(words.size());
  for (const std::uint32_t word : words) codes.push_back(static_cast<std::uint16_t>(word));
  return codes;
}

}  // namespace

std::string extents_text(std::uint32_t rows, std::uint32_t columns) {
  return fmt::format("{}x{}", rows, columns);
}

Metadata config_metadata(const GemmConfig& config) {
  Metadata metadata = {{"kernel", std::string(step_name(config.step))},
                       {"tile", extents_text(config.tile_m, config.tile_n)},
                       {"stages", std::to_string(config.stages)},
                       {"cluster", extents_text(config.cluster_m, config.cluster_n)},
                       {"kernels", fmt::format("0x{:016x}", jit::sources_digest())}};
  if (config.step >= 8) metadata["in_flight"] = std::to_string(config.in_flight);
  if (config.form.grouping != Grouping::none) metadata["grouping"] = grouping_name(config.form.grouping);
  return metadata;
}

void write_trace_file(const std::string& path, const TracedRun& run, std::span<const std::uint32_t> words,
                      Metadata metadata) {
  const std::int64_t k_blocks =
      run.config.form.grouping == Grouping::along_k ? k_blocks_taken(run.k) : (run.k + k_block - 1) / k_block;
  const TraceLayout at{run.config.tile_m, run.config.tile_n, static_cast<u32>(k_blocks)};
  const std::int64_t blocks = at.k_blocks, threads = at.threads(), registers = at.registers();
  const auto part = [&](const char* name, DType dtype, Shape shape, u64 first, u64 count) {
    return Tensor{name, dtype, std::move(shape), std::as_bytes(words.subspan(first, count))};
  };
  const auto output_words = words.subspan(at.output(), at.output_words());
  const std::vector<std::uint16_t> codes = low_halves(output_words);
  const Shape output_shape{run.config.tile_m, run.config.tile_n};

  const std::array<Tensor, 5> tensors{
      part("a_tile", DType::u8, {blocks, run.config.tile_m, k_block}, at.a_tile(0),
           at.k_blocks * at.a_tile_words()),
      part("b_tile", DType::u8, {blocks, run.config.tile_n, k_block}, at.b_tile(0),
           at.k_blocks * at.b_tile_words()),
      part("accumulator", DType::f32, {blocks, 4, threads, registers}, at.accumulator(0, 0),
           4 * at.k_blocks * at.fragment_words()),
      part("promoted", DType::f32, {blocks, threads, registers}, at.promoted(0),
           at.k_blocks * at.fragment_words()),
      run.config.output_f32 ? Tensor{"output", DType::f32, output_shape, std::as_bytes(output_words)}
                            : tensor_of<std::uint16_t>("output", DType::bf16, output_shape, codes)};

  metadata.merge(config_metadata(run.config));
  metadata["kind"] = "trace";
  metadata["m"] = std::to_string(run.m);
  metadata["n"] = std::to_string(run.n);
  metadata["k"] = std::to_string(run.k);
  metadata["output"] = run.config.output_f32 ? "f32" : "bf16";
  if (run.config.form.grouping != Grouping::none) metadata["trace_group"] = std::to_string(run.group);
  metadata["trace_tile"] = fmt::format("{},{}", run.tile_m, run.tile_n);
  write_tensor_file(path, tensors, metadata);
}

}  // namespace fp8twin
