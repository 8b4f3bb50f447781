#include "emulator/cli/explain.hpp"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <utility>

#include "emulator/cli/arguments.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/number/tensor_core.hpp"

namespace fp8twin::cli {
namespace {

using Explain = Explanation (*)(const std::string&);

constexpr std::array<std::pair<const char*, Explain>, 7> kinds{{{"e4m3", explain_e4m3},
                                                                {"e5m2", explain_e5m2},
                                                                {"e8m0", explain_e8m0},
                                                                {"encode", explain_encode},
                                                                {"bf16", explain_bf16},
                                                                {"f32", explain_f32},
                                                                {"descriptor", explain_descriptor}}};

struct Options {
  std::string kind, value, c = "0";
  std::int64_t fraction_bits = sm90.fraction_bits;
};

Explanation explain(const Options& options, bool dot_options) {
  if (options.kind == "dot")
    return explain_dot(options.value, options.c, static_cast<int>(options.fraction_bits));
  if (dot_options)
    throw Error(fmt::format("explain {}: --c and --fraction-bits belong to 'dot' only", options.kind));
  std::vector<std::string> names;
  for (const auto& [name, function] : kinds) {
    if (options.kind == name) return function(options.value);
    names.emplace_back(name);
  }
  names.emplace_back("dot");
  const std::string near = nearest(options.kind, names);
  throw Error(fmt::format("explain: no kind is called '{}'; {}one of {} is needed", options.kind,
                          near.empty() ? "" : "did you mean " + near + "? ", CLI::detail::join(names, ", ")));
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, context, "explain",
                  "Takes a value or a bit pattern apart, field by field, with the formula in numbers.",
                  "fp8twin explain e4m3 0x7e\n"
                  "  fp8twin explain encode 464.00003\n"
                  "  fp8twin explain descriptor 0x4000004000010040\n"
                  "  fp8twin explain dot '448*448 + 31*(2*2)' --c -1.5");
  command
      ->add_option("KIND", options->kind,
                   "e4m3, e5m2, e8m0, encode (to E4M3), bf16, f32, descriptor (of wgmma) or dot")
      ->required();
  command
      ->add_option("VALUE", options->value,
                   "0x... is a bit pattern, anything else a decimal rounded once to binary32; for dot a sum "
                   "of at most 32 products")
      ->required();
  const CLI::Option* c =
      command->add_option("--c", options->c, "dot: the accumulator, decimal or binary32 pattern (default 0)")
          ->type_name("VALUE");
  const CLI::Option* bits =
      add_integer(command, "--fraction-bits", options->fraction_bits,
                  "dot: bits kept below 2^E (default 13, Hopper's)", min_fraction_bits, max_fraction_bits);
  command->callback([&context, options, c, bits] {
    Explanation explanation = explain(*options, c->count() || bits->count());
    context.text = std::move(explanation.text);
    context.answer = std::move(explanation.answer);
  });
}

}  // namespace fp8twin::cli
