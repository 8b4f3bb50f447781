// `pack`: a problem file made from tensors of checkpoints, of which a real layer's weights are the usual `b`.
#include <fmt/format.h>

#include <memory>

#include "emulator/cli/command.hpp"
#include "emulator/cli/pack_sources.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/model/problem.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

struct Options {
  std::string out;
  std::vector<std::string> sources;
};

/// read_problem knows the tensors by their names in the problem; who typed the command knows where they came
/// from.
Problem check(const TensorFile& file, const std::vector<PackedTensor>& tensors) {
  try {
    return read_problem(file);
  } catch (const Error& error) {
    std::vector<std::string> origins;
    for (const PackedTensor& packed : tensors)
      origins.push_back(packed.tensor.name + "=" + packed.source.text());
    throw Error(fmt::format("{} (from {})", error.what(), fmt::join(origins, ", ")));
  }
}

void run_pack(Context& context, const Options& options) {
  std::vector<Source> sources;
  for (const std::string& text : options.sources) sources.push_back(parse_source(text));
  Packer packer;
  const std::vector<PackedTensor> packed = packer.gather(sources);
  std::vector<std::string> inputs;
  for (const Source& source : sources) inputs.push_back(source.file);
  for (const PackedTensor& each : packed) inputs.push_back(each.source.file);
  need_writable(options.out, inputs);

  TensorFile file{options.out, {}, provenance(context, "none"), nullptr};
  std::vector<TableRow> rows;
  Json tensors = Json::array();
  for (const PackedTensor& each : packed) {
    const Tensor& tensor = each.tensor;
    file.tensors.push_back(tensor);
    file.metadata[tensor.name + "_from"] = each.source.name;
    rows.push_back({tensor.name, std::string(dtype_name(tensor.dtype)), shape_text(tensor.shape),
                    fmt::format("{} {}", dtype_name(each.stored_as), each.source.text())});
    tensors.push_back({{"name", tensor.name},
                       {"dtype", dtype_name(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"file", each.source.file},
                       {"source", each.source.name},
                       {"source_dtype", dtype_name(each.stored_as)}});
  }
  const Problem problem = check(file, packed);
  write_tensor_file(options.out, file.tensors, file.metadata);

  context.text = fmt::format("{}: a {} problem, M {}, N {}, K {}\n{}", options.out, kind_name(problem.kind),
                             problem.m, problem.n, problem.k, table(rows));
  context.answer = {
      {"output", options.out}, {"kind", kind_name(problem.kind)}, {"m", problem.m},    {"n", problem.n},
      {"k", problem.k},        {"groups", problem.groups},        {"tensors", tensors}};
}

}  // namespace

void add_pack(CLI::App& app, Context& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, context, "pack",
                                  "Makes a problem file from checkpoint tensors. The scales of a and b are "
                                  "found beside them, as NAME_scale_inv or "
                                  "NAME_scale, or named with a_scale= and b_scale=; c=, m_indices=, "
                                  "group_ends=, masked_m= and k_sizes= may be added.",
                                  "fp8twin pack p.safetensors a=activations.safetensors:x "
                                  "b=model.safetensors.index.json:model.layers.3.mlp.up_proj.weight");
  command->add_option("OUT", options->out, "the problem file to write (.safetensors)")->required();
  command
      ->add_option("SOURCES", options->sources,
                   "KEY=FILE:NAME each; FILE is a .safetensors, a .npy (its NAME is data) or a "
                   "*.safetensors.index.json")
      ->required()
      ->type_name("KEY=FILE:NAME");
  command->callback([&context, options] { run_pack(context, *options); });
}

}  // namespace fp8twin::cli
