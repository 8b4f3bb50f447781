// `random`: a problem file of any kind, the same bytes on every machine.
#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "emulator/cli/command.hpp"
#include "emulator/cli/problem_extents.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/model/distribution.hpp"
#include "emulator/number/scale_block.hpp"

namespace fp8twin::cli {
namespace {

struct Options {
  std::string out, kind = "1d2d", groups, distribution = "normal";
  ExtentOptions extents;
};

/// Draws tensors and keeps their bytes.
class Builder {
 public:
  Builder(Distribution distribution, const Context& context)
      : distribution_(distribution), seed_(context.seed), threads_(context.threads) {}

  void codes(const char* name, Operand operand, Shape shape) {
    auto& values = codes_.emplace_back(static_cast<std::size_t>(element_count(shape)));
    fill_codes(distribution_, seed_, operand, shape.back(), values, threads_);
    add<std::uint8_t>(name, DType::f8_e4m3, std::move(shape), values);
  }

  void scales(const char* name, Operand operand, Shape shape) {
    auto& values = floats_.emplace_back(static_cast<std::size_t>(element_count(shape)));
    fill_scales(distribution_, seed_, operand, values);
    add<float>(name, DType::f32, std::move(shape), values);
  }

  void c(Shape shape) {
    auto& values = floats_.emplace_back(static_cast<std::size_t>(element_count(shape)));
    fill_c(distribution_, seed_, values);
    add<float>("c", DType::f32, std::move(shape), values);
  }

  void indices(const char* name, const std::vector<std::int32_t>& values) {
    add<std::int32_t>(name, DType::i32, {static_cast<std::int64_t>(values.size())}, values);
  }

  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  template <class T>
  void add(const char* name, DType dtype, Shape shape, std::span<const T> values) {
    tensors_.push_back(tensor_of(name, dtype, std::move(shape), values));
  }

  Distribution distribution_;
  std::uint64_t seed_;
  int threads_;
  std::deque<std::vector<std::uint8_t>> codes_;
  std::deque<std::vector<float>> floats_;
  std::vector<Tensor> tensors_;
};

/// The tensors of emulator/model/problem.hpp's table.
void build(const ProblemExtents& p, Builder& file) {
  const auto grouped = [&](Shape shape) {
    shape.insert(shape.begin(), p.groups);
    return shape;
  };
  const bool grouped_a = p.kind == Kind::batched || p.kind == Kind::masked;
  const bool grouped_b = grouped_a || p.kind == Kind::contiguous;
  const bool scale_for_each_row = p.kind == Kind::dense_1d1d || p.kind == Kind::k_grouped;
  const std::int64_t b_scale_rows = scale_for_each_row ? p.n : scale_blocks(p.n);

  file.codes("a", Operand::a, grouped_a ? grouped({p.m, p.k}) : Shape{p.m, p.k});
  file.codes("b", Operand::b, grouped_b ? grouped({p.n, p.k}) : Shape{p.n, p.k});
  if (p.kind != Kind::wgmma) {
    file.scales("a_scale", Operand::a_scale,
                grouped_a ? grouped({p.m, p.k_blocks()}) : Shape{p.m, p.k_blocks()});
    file.scales("b_scale", Operand::b_scale,
                grouped_b ? grouped({b_scale_rows, p.k_blocks()}) : Shape{b_scale_rows, p.k_blocks()});
  }
  if (p.with_c) file.c(p.kind == Kind::k_grouped ? grouped({p.m, p.n}) : Shape{p.m, p.n});
  if (p.kind == Kind::contiguous) file.indices("m_indices", p.m_indices);
  if (p.kind == Kind::masked) file.indices("masked_m", p.masked_m);
  if (p.kind == Kind::k_grouped) file.indices("k_sizes", p.k_sizes);
}

void run_random(Context& context, const Options& options) {
  const Distribution distribution = distribution_from_name(options.distribution);
  const ProblemExtents extents = problem_extents(options.kind, options.groups, options.extents);
  need_writable(options.out);
  Builder builder(distribution, context);
  build(extents, builder);

  Metadata metadata = provenance(context, "none");
  metadata["kind"] = options.kind;
  metadata["distribution"] = options.distribution;
  read_problem({options.out, builder.tensors(), metadata, nullptr});  // what is written can be multiplied
  write_tensor_file(options.out, builder.tensors(), metadata);

  context.text = fmt::format("{}: a {} problem, {}, seed {}\n", options.out, options.kind,
                             options.distribution, context.seed);
  Json tensors = Json::array();
  for (const Tensor& tensor : builder.tensors()) {
    context.text +=
        fmt::format("  {:<10} {:<8} {}\n", tensor.name, dtype_name(tensor.dtype), shape_text(tensor.shape));
    tensors.push_back({{"name", tensor.name}, {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}});
  }
  context.answer = {{"output", options.out}, {"kind", options.kind},
                    {"m", extents.m},        {"n", extents.n},
                    {"k", extents.k},        {"groups", extents.groups},
                    {"seed", context.seed},  {"distribution", options.distribution},
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
                   "index -1, random codes); "
                   "k-grouped: K of each group; batched: how many")
      ->type_name("LIST");
  add_integer(command, "--max-m", options->extents.max_m, "masked: rows there is room for in each group", 0,
              largest_extent);
  command->add_flag("--with-c", options->extents.with_c, "1d1d, k-grouped, wgmma: adds a c");
  command->add_option("--distribution", options->distribution, distribution_list() + " (default normal)")
      ->type_name("NAME");
  command->callback([&context, options] { run_random(context, *options); });
}

}  // namespace fp8twin::cli
