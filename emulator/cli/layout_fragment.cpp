// `layout fragment`: which element a register holds, or which register holds an element: of D, or of A in registers.
#include <fmt/core.h>

#include <memory>

#include "emulator/cli/layout.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/layout/fragment.hpp"

namespace fp8twin::cli {
namespace {

struct Options {
  std::string operand = "d";
  std::int64_t n = 256;
  std::int64_t thread = 0, reg = 0, byte = 0, row = 0, column = 0;
  bool has_n = false, has_byte = false;
  bool from_register = false;  // else from an element
};

/// Both sides of the question.
struct Place {
  u32 thread, reg, byte, row, column;
};

void need_below(const char* option, std::int64_t found, std::int64_t count, const std::string& what) {
  if (found >= count) {
    throw Error(fmt::format("{}: {} is out of range; {} has {} of them, so one from 0 to {} is needed",
                            option, found, what, count, count - 1));
  }
}

Place accumulator_place(const Options& o) {
  if (o.n % 8)
    throw Error(fmt::format("--n: {} is no width of wgmma; a multiple of 8 from 8 to 256 is needed", o.n));
  if (o.has_byte)
    throw Error("layout fragment: --byte belongs to --operand a, whose registers hold four codes");
  const std::string shape = fmt::format("m64n{}", o.n);
  if (o.from_register) {
    need_below("--register", o.reg, o.n / 2, shape);
    const u32 thread = static_cast<u32>(o.thread), reg = static_cast<u32>(o.reg);
    const Coordinate at = accumulator_coordinate(thread, reg);
    return {thread, reg, 0, at.row, at.column};
  }
  need_below("--column", o.column, o.n, shape);
  const u32 row = static_cast<u32>(o.row), column = static_cast<u32>(o.column);
  const FragmentSlot slot = accumulator_slot(row, column);
  return {slot.thread, slot.reg, 0, row, column};
}

Place a_place(const Options& o) {
  if (o.has_n) throw Error("layout fragment: --n belongs to --operand d; A is 64 x 32 for every N");
  if (o.from_register) {
    need_below("--register", o.reg, 4, "A");
    const u32 thread = static_cast<u32>(o.thread), reg = static_cast<u32>(o.reg),
              byte = static_cast<u32>(o.byte);
    const Coordinate at = a_fragment_coordinate(thread, reg, byte);
    return {thread, reg, byte, at.row, at.column};
  }
  need_below("--column", o.column, 32, "A");
  const u32 row = static_cast<u32>(o.row), column = static_cast<u32>(o.column);
  const AFragmentSlot slot = a_fragment_slot(row, column);
  return {slot.thread, slot.reg, slot.byte, row, column};
}

void answer_fragment(const Options& o, Context& context) {
  const bool a = o.operand == "a";
  if (!a && o.operand != "d")
    throw Error(fmt::format("--operand: no fragment is called '{}'; d or a is needed", o.operand));
  const Place p = a ? a_place(o) : accumulator_place(o);
  const u32 warp = p.thread / 32, lane = p.thread % 32;

  context.text =
      a ? "A of wgmma.m64nNk32 in registers: four of four codes in each thread\n\n"
        : fmt::format("D of wgmma.m64n{}k32: {} registers in each of 128 threads\n\n", o.n, o.n / 2);
  context.text += line("thread", fmt::format("{} = 32 * {} + {}: warp {} of the warpgroup, lane {}", p.thread,
                                             warp, lane, warp, lane));
  context.text += line("register", fmt::format("{}", p.reg));
  if (a) context.text += line("byte", fmt::format("{}, bits {} to {}", p.byte, 8 * p.byte, 8 * p.byte + 7));
  context.text +=
      line("row", fmt::format("{} = 16 * {} + {}/4 + 8 * {}", p.row, warp, lane,
                              a ? fmt::format("({}%2)", p.reg) : fmt::format("({}/2 % 2)", p.reg)));
  context.text +=
      line("column", a ? fmt::format("{} = 4 * ({}%4) + 16 * ({}/2) + {}", p.column, lane, p.reg, p.byte)
                       : fmt::format("{} = 8 * ({}/4) + 2 * ({}%4) + {}%2", p.column, p.reg, lane, p.reg));
  context.answer = {{"operand", o.operand}, {"row", p.row}, {"column", p.column}, {"thread", p.thread},
                    {"register", p.reg},    {"warp", warp}, {"lane", lane}};
  if (a) context.answer["byte"] = p.byte;
  if (!a) context.answer["n"] = o.n;
}

}  // namespace

void add_layout_fragment(CLI::App& layout, Context& context) {
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  CLI::App* command =
      add_command(layout, context, "fragment",
                  "Which element of a wgmma a register holds, or which register holds an element.",
                  "fp8twin layout fragment --n 256 --thread 77 --register 43\n"
                  "  fp8twin layout fragment --n 256 --row 25 --column 10\n"
                  "  fp8twin layout fragment --operand a --thread 77 --register 3 --byte 1");
  command->add_option("--operand", o.operand, "d: the accumulator; a: A in registers (default d)")
      ->type_name("d|a");
  const CLI::Option* n = add_integer(command, "--n", o.n, "d: N of the wgmma (default 256)", 8, 256);
  const CLI::Option* thread = add_integer(command, "--thread", o.thread, "thread of the warpgroup", 0, 127);
  const CLI::Option* reg = add_integer(command, "--register", o.reg, "register of that thread", 0, 127);
  const CLI::Option* byte =
      add_integer(command, "--byte", o.byte, "a: byte of that register (default 0)", 0, 3);
  const CLI::Option* row = add_integer(command, "--row", o.row, "row of the operand", 0, 63);
  const CLI::Option* column =
      add_integer(command, "--column", o.column, "column of d, or of a along K", 0, 255);
  command->callback([=, &context] {
    const bool place = thread->count() && reg->count(), element = row->count() && column->count();
    if (thread->count() + reg->count() + row->count() + column->count() != 2 || place == element)
      throw Error("layout fragment: either --thread with --register, or --row with --column is needed");
    if (element && byte->count())
      throw Error("layout fragment: --byte belongs to --register; with --column nothing is left to choose");
    options->has_n = n->count() > 0;
    options->has_byte = byte->count() > 0;
    options->from_register = place;
    answer_fragment(*options, context);
  });
}

}  // namespace fp8twin::cli
