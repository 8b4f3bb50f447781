#include "emulator/cli/command.hpp"
namespace fp8twin::cli {
void add_explain(CLI::App& app, Context& context) {
  CLI::App* command = add_command(app, context, "explain", "takes a value apart", "fp8twin explain e4m3 0x7e");
  static std::string a, b;
  command->add_option("KIND", a, "what")->required();
  command->add_option("VALUE", b, "value")->required();
  command->callback([&] { context.text = a + "|" + b + "\n"; });
}
}
