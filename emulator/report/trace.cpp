#include "emulator/report/trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "emulator/files/quote.hpp"
#include "emulator/layout/fragment.hpp"
#include "emulator/layout/swizzle.hpp"
#include "emulator/report/compare.hpp"
#include "emulator/report/diff_text.hpp"
#include "emulator/report/word.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

constexpr std::int64_t k32_steps = 4;

/// The tensors of one trace, with shapes that fit one another.
struct Trace {
  const Tensor &a_tile, &b_tile, &accumulator, &promoted, &output;
  std::int64_t blocks, tile_m, tile_n;
};

void need_shape(const TensorFile& file, const Tensor& tensor, DType dtype, const Shape& shape) {
  if (tensor.dtype == dtype && tensor.shape == shape) return;
  throw Error(fmt::format("{}: tensor {} of this trace is {} {}; {} {} is needed", file.path,
                          quote(tensor.name), dtype_name(tensor.dtype), shape_text(tensor.shape),
                          dtype_name(dtype), shape_text(shape)));
}

Trace read_trace(const TensorFile& file) {
  const Tensor& output = file.at("output");
  if (output.shape.size() != 2 || (output.dtype != DType::bf16 && output.dtype != DType::f32) ||
      output.shape[0] % 64 != 0 || output.shape[1] % 8 != 0) {
    throw Error(
        fmt::format("{}: tensor \"output\" of this trace is {} {}; needed is BF16 or F32 [tile_m, tile_n], "
                    "multiples of 64 and 8",
                    file.path, dtype_name(output.dtype), shape_text(output.shape)));
  }
  const Tensor& promoted = file.at("promoted");
  const std::int64_t blocks = promoted.shape.empty() ? 0 : promoted.shape[0];
  const Trace trace{file.at("a_tile"), file.at("b_tile"), file.at("accumulator"), promoted, output, blocks,
                    output.shape[0],   output.shape[1]};
  const std::int64_t threads = 2 * trace.tile_m, registers = trace.tile_n / 2;
  need_shape(file, trace.a_tile, DType::u8, {blocks, trace.tile_m, 128});
  need_shape(file, trace.b_tile, DType::u8, {blocks, trace.tile_n, 128});
  need_shape(file, trace.accumulator, DType::f32, {blocks, k32_steps, threads, registers});
  need_shape(file, trace.promoted, DType::f32, {blocks, threads, registers});
  return trace;
}

std::string said(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? "(not said)" : found->second;
}

void need_same_launch(const TensorFile& a, const TensorFile& b) {
  for (const char* key :
       {"m", "n", "k", "kernel", "tile", "stages", "cluster", "output", "trace_tile", "trace_group"}) {
    if (said(a, key) == said(b, key)) continue;
    throw Error(
        fmt::format("{} is a trace with {} {} and {} one with {}; two of the same problem and configuration "
                    "are needed",
                    a.path, key, said(a, key), b.path, said(b, key)));
  }
}

/// Item `item` of `items` equal parts of a tensor, both sides: the index of the first element that differs.
std::optional<std::int64_t> first_in(const Tensor& a, const Tensor& b, std::int64_t item,
                                     std::int64_t items) {
  const std::size_t bytes = a.bytes.size() / static_cast<std::size_t>(items);
  const std::size_t first = static_cast<std::size_t>(item) * bytes;
  const auto left = a.bytes.subspan(first, bytes), right = b.bytes.subspan(first, bytes);
  const auto [at, _] = std::mismatch(left.begin(), left.end(), right.begin());
  if (at == left.end()) return std::nullopt;
  return static_cast<std::int64_t>((first + static_cast<std::size_t>(at - left.begin())) /
                                   dtype_size(a.dtype));
}

TraceDifference difference(std::string step, const Tensor& a, const Tensor& b, std::int64_t element) {
  TraceDifference d;
  d.step = std::move(step);
  d.tensor = a.name;
  d.index = coordinates(a.shape, element);
  d.dtype = a.dtype;
  d.a = load_word(a, element);
  d.b = load_word(b, element);
  return d;
}

/// A tile lies in rows of 128 bytes whose chunks of 16 the swizzle has exchanged.
TraceDifference in_tile(std::string step, const Tensor& a, const Tensor& b, std::int64_t element) {
  TraceDifference d = difference(std::move(step), a, b, element);
  const u32 address = static_cast<u32>(128 * d.index[1] + d.index[2]);  // tiles begin on multiples of 1024
  d.row = d.index[1];
  d.column = swizzle(SwizzleMode::b128, address) % 128;
  return d;
}

/// The last two indices are a thread and one of its registers.
TraceDifference in_fragment(std::string step, const Tensor& a, const Tensor& b, std::int64_t element) {
  TraceDifference d = difference(std::move(step), a, b, element);
  d.thread = d.index[d.index.size() - 2];
  d.reg = d.index.back();
  const Coordinate at = accumulator_coordinate(static_cast<u32>(*d.thread), static_cast<u32>(*d.reg));
  d.row = at.row;
  d.column = at.column;
  return d;
}

TraceDifference in_output(const Tensor& a, const Tensor& b, std::int64_t element) {
  TraceDifference d = difference("output", a, b, element);
  d.row = d.index[0];
  d.column = d.index[1];
  const FragmentSlot slot = accumulator_slot(static_cast<u32>(d.row), static_cast<u32>(d.column));
  d.thread = slot.thread;
  d.reg = slot.reg;
  return d;
}

std::optional<TraceDifference> in_block(const Trace& a, const Trace& b, std::int64_t block) {
  const auto name = [block](const std::string& step) { return fmt::format("block {}, {}", block, step); };
  if (const auto at = first_in(a.a_tile, b.a_tile, block, a.blocks)) {
    return in_tile(name("tile a"), a.a_tile, b.a_tile, *at);
  }
  if (const auto at = first_in(a.b_tile, b.b_tile, block, a.blocks)) {
    return in_tile(name("tile b"), a.b_tile, b.b_tile, *at);
  }
  for (std::int64_t step = 0; step < k32_steps; ++step) {
    const auto at = first_in(a.accumulator, b.accumulator, k32_steps * block + step, k32_steps * a.blocks);
    if (at) return in_fragment(name(fmt::format("k32 step {}", step)), a.accumulator, b.accumulator, *at);
  }
  if (const auto at = first_in(a.promoted, b.promoted, block, a.blocks)) {
    return in_fragment(name("promotion"), a.promoted, b.promoted, *at);
  }
  return std::nullopt;
}

std::optional<TraceDifference> first_difference(const Trace& a, const Trace& b) {
  for (std::int64_t block = 0; block < a.blocks; ++block) {
    if (auto found = in_block(a, b, block)) return found;
  }
  if (const auto at = first_in(a.output, b.output, 0, 1)) return in_output(a.output, b.output, *at);
  return std::nullopt;
}

}  // namespace

bool is_trace(const TensorFile& file) { return said(file, "kind") == "trace"; }

std::string TraceDifference::sentence() const {
  const std::string what =
      thread ? fmt::format("thread {}, register {} (row {}, column {} of the tile of D{})", *thread, *reg,
                           row, column, swapped ? " transposed" : "")
             : fmt::format("byte {} of shared row {} (row {}, column {} of the block's {})", index[2],
                           index[1], row, column, (tensor == "a_tile") != swapped ? "A" : "B");
  return fmt::format("{}: {} holds {} {} in a and {} {} in b", step, what, word_text(dtype, a),
                     word_hex(dtype, a), word_text(dtype, b), word_hex(dtype, b));
}

std::optional<TraceDifference> first_trace_difference(const TensorFile& a_file, const TensorFile& b_file) {
  const Trace a = read_trace(a_file), b = read_trace(b_file);
  need_same_launch(a_file, b_file);
  if (a.promoted.shape != b.promoted.shape || a.output.shape != b.output.shape ||
      a.output.dtype != b.output.dtype) {
    throw Error(fmt::format("{} and {}: the metadata say one configuration, the tensors' shapes two",
                            a_file.path, b_file.path));
  }
  std::optional<TraceDifference> found = first_difference(a, b);
  if (found) found->swapped = said(a_file, "kernel") == "gemm_9_swapped";
  return found;
}

}  // namespace fp8twin
