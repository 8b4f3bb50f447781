// `transpose`: [R,C] to [C,R], scales included: what a weight stored [K,N] needs once, before its first FP8 GEMM.
#include <fmt/core.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "emulator/cli/command.hpp"
#include "emulator/cli/transpose_plan.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/model/transpose.hpp"
#include "emulator/support/buffer.hpp"

namespace fp8twin::cli {
namespace {

struct Options {
  std::string in, out;
  std::vector<std::string> tensors;
};

template <class T>
void turn_matrices(const Tensor& from, std::span<std::byte> to, int threads) {
  const std::int64_t rows = from.shape[from.shape.size() - 2], columns = from.shape.back();
  const auto size = static_cast<std::size_t>(rows * columns);
  const std::span<const T> x = from.as<T>();
  const std::span<T> y(reinterpret_cast<T*>(to.data()), to.size() / sizeof(T));
  for (std::size_t first = 0; first < x.size(); first += size)
    transpose_matrix(rows, columns, x.subspan(first, size), y.subspan(first, size), threads);
}

/// Its elements' bits, whatever they mean.
Buffer<std::byte> turn(const Tensor& from, int threads) {
  Buffer<std::byte> to(from.bytes.size());
  if (from.shape.size() < 2) {
    if (!from.bytes.empty()) std::memcpy(to.span().data(), from.bytes.data(), from.bytes.size());
    return to;
  }
  switch (dtype_size(from.dtype)) {
    case 1:
      turn_matrices<std::uint8_t>(from, to.span(), threads);
      break;
    case 2:
      turn_matrices<std::uint16_t>(from, to.span(), threads);
      break;
    default:
      turn_matrices<std::uint32_t>(from, to.span(), threads);
  }
  return to;
}

void transpose_file(const Options& options, Context& context) {
  need_writable(options.out, {options.in});
  const TensorFile file = read_tensor_file(options.in);
  const TransposePlan plan = plan_transpose(file, options.tensors);
  std::vector<Tensor> tensors;
  std::deque<Buffer<std::byte>> bytes;
  Json list = Json::array();
  for (const Tensor& tensor : file.tensors) {
    const TransposeItem* item = plan.find(tensor);
    if (!item) {
      tensors.push_back(tensor);
      continue;
    }
    const auto& turned = bytes.emplace_back(turn(tensor, context.threads));
    tensors.push_back({tensor.name, tensor.dtype, item->shape, turned.span()});
    context.text += fmt::format("{} {} {} -> {}\n", quote(tensor.name), dtype_name(tensor.dtype),
                                shape_text(tensor.shape), shape_text(item->shape));
    list.push_back({{"name", tensor.name},
                    {"dtype", dtype_name(tensor.dtype)},
                    {"from", tensor.shape},
                    {"shape", item->shape},
                    {"scale", item->is_scale}});
  }
  Metadata metadata = file.metadata;
  for (auto& [key, value] : provenance(context, "none")) {
    if (key != "seed" || !metadata.count(key)) metadata[key] = value;  // the seed is that of the operands
  }
  write_tensor_file(options.out, tensors, options.out.ends_with(".npy") ? Metadata{} : metadata);
  context.answer = {{"output", options.out}, {"tensors", list}};
}

}  // namespace

void add_transpose(CLI::App& app, Context& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, context, "transpose",
                                  "Turns tensors [R,C] to [C,R] (of three dimensions: each matrix), and with "
                                  "codes NAME their NAME_scale or "
                                  "NAME_scale_inv: what a weight stored [K,N] needs before an FP8 GEMM, "
                                  "which reads K contiguous. Scales of 128x128 "
                                  "go along exactly; those of 1x128 cannot, since each would be a column's. "
                                  "All other tensors pass through.",
                                  "fp8twin transpose kn.safetensors nk.safetensors --tensor b\n"
                                  "  fp8twin transpose both.safetensors nt.safetensors --tensor a,b");
  command->add_option("IN", options->in, "problem file, checkpoint or .npy file (its tensor is called data)")
      ->required();
  command->add_option("OUT", options->out, "file to write; .npy for a single tensor")->required();
  command
      ->add_option("--tensor", options->tensors,
                   "which tensors, with commas between; may be given more than once")
      ->required()
      ->type_name("NAME[,NAME]")
      ->take_all()
      ->expected(1);
  command->callback([options, &context] { transpose_file(*options, context); });
}

}  // namespace fp8twin::cli
