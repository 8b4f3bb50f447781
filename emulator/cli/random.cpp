// `random`: a problem file of any kind, the same bytes on every machine.
#include <fmt/core.h>

#include <memory>

#include "emulator/cli/command.hpp"
#include "emulator/cli/problem_extents.hpp"
#include "emulator/cli/random_problem.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/model/distribution.hpp"

namespace fp8twin::cli {
namespace {

struct Options {
  std::string out, kind = "1d2d", groups, distribution = "normal";
  ExtentOptions extents;
};

void run_random(Context& context, const Options& options) {
  const Distribution distribution = distribution_from_name(options.distribution);
  const ProblemExtents extents = problem_extents(options.kind, options.groups, options.extents);
  need_writable(options.out);
  const RandomProblem drawn(extents, distribution, context.seed, context.threads);

  Metadata metadata = provenance(context, "none");
  metadata["kind"] = options.kind;
  metadata["distribution"] = options.distribution;
  if (extents.padding != Padding::random) metadata["padding"] = padding_name(extents.padding);
  read_problem(drawn.file(options.out, metadata));  // what is written can be multiplied
  write_tensor_file(options.out, drawn.tensors(), metadata);

  context.text = fmt::format("{}: a {} problem, {}, seed {}\n", options.out, options.kind,
                             options.distribution, context.seed);
  Json tensors = Json::array();
  for (const Tensor& tensor : drawn.tensors()) {
    context.text +=
        fmt::format("  {:<10} {:<8} {}\n", tensor.name, dtype_name(tensor.dtype), shape_text(tensor.shape));
    tensors.push_back({{"name", tensor.name}, {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}});
  }
  context.answer = {{"output", options.out},
                    {"kind", options.kind},
                    {"m", extents.m},
                    {"n", extents.n},
                    {"k", extents.k},
                    {"groups", extents.groups},
                    {"seed", context.seed},
                    {"distribution", options.distribution},
                    {"padding", padding_name(extents.padding)},
                    {"tensors", tensors}};
}

std::string distribution_list() {
  std::string list;
  for (const Distribution distribution : all_distributions()) {
    list += (list.empty() ? "" : ", ") + std::string(distribution_name(distribution));
  }
  return list;
}

}  // namespace

void add_random(CLI::App& app, Context& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, context, "random", "Writes a problem file of random operands: the same bytes on every machine.",
      "fp8twin random p.safetensors --m 64 --n 128 --k 512\n"
      "  fp8twin random p.safetensors --kind contiguous --groups 200,0,56,192 --n 256 --k 512\n"
      "  fp8twin random p.safetensors --kind contiguous --groups 200,0,56 --group-ends --padding nan --n 256 "
      "--k 512\n"
      "  fp8twin random p.safetensors --kind masked --max-m 256 --groups 200,0,56 --n 256 --k 512 "
      "--distribution adversarial");
  command->add_option("OUT", options->out, "the file to write (.safetensors)")->required();
  command->add_option("--kind", options->kind,
                      "1d2d (default), 1d1d, contiguous, masked, k-grouped, batched or wgmma");
  add_integer(command, "--m", options->extents.m, "rows of A; with --groups 200,0,56 it may be left out", 0,
              largest_extent);
  add_integer(command, "--n", options->extents.n,
              "rows of B, columns of D; wgmma: a multiple of 8 from 8 to 256", 0, largest_extent);
  add_integer(command, "--k", options->extents.k, "the length summed over; wgmma: a multiple of 32", 0,
              largest_extent);
  command
      ->add_option("--groups", options->groups,
                   "contiguous, masked: rows of each group (contiguous pads each to a multiple of 128 rows: "
                   "index -1); "
                   "k-grouped: K of each group; batched: how many")
      ->type_name("LIST");
  add_integer(command, "--max-m", options->extents.max_m, "masked: rows there is room for in each group", 0,
              largest_extent);
  command
      ->add_option(
          "--gaps", options->extents.gaps,
          "contiguous: whole blocks of 128 padding rows before each group; one number more: after all")
      ->type_name("LIST");
  command->add_flag("--group-ends", options->extents.group_ends,
                    "contiguous: write group_ends, running sums, in place of m_indices");
  command
      ->add_option(
          "--padding", options->extents.padding,
          "contiguous, masked: codes and scales of A in rows that belong to no group: random (default), "
          "nan or zero")
      ->type_name("NAME");
  command
      ->add_option(
          "--b-block", options->extents.b_block,
          "batched, contiguous, masked, k-grouped: what shares a scale of B, 128x128 or 1x128 (default "
          "128x128; k-grouped 1x128)")
      ->type_name("BLOCK");
  command->add_flag("--with-c", options->extents.with_c, "1d2d, 1d1d, k-grouped, wgmma: adds a c");
  command->add_option("--distribution", options->distribution, distribution_list() + " (default normal)")
      ->type_name("NAME");
  command->callback([&context, options] { run_random(context, *options); });
}

}  // namespace fp8twin::cli
