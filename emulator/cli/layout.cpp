// `layout`: where a value lives. The formulas are those of emulator/layout; this prints them with their numbers.
#include "emulator/cli/layout.hpp"

#include <fmt/core.h>

#include <array>
#include <memory>

#include "emulator/cli/explain.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/layout/operand.hpp"
#include "emulator/layout/shared_window.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::array modes{SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};

constexpr u32 address_bits = 18;  // of shared memory, as a descriptor counts them

/// The address's bits that the pattern reads and writes, above each other.
std::string draw_swizzle(SwizzleMode mode, u32 linear) {
  const int bits = mode == SwizzleMode::b128 ? 3 : mode == SwizzleMode::b64 ? 2 : 1;
  const int between = 7 - (4 + bits);
  std::vector<BitField> fields{{"-", static_cast<int>(address_bits) - 7 - bits}, {"line", bits}};
  if (between) fields.push_back({"-", between});
  fields.insert(fields.end(), {{"chunk", bits}, {"byte", 4}});
  return draw_fields(linear, fields) +
         line("swizzle", fmt::format("chunk ^ line = {} ^ {} = {}", binary(linear >> 4, bits),
                                     binary(linear >> 7, bits), binary(swizzle(mode, linear) >> 4, bits)));
}

struct SwizzleOptions {
  SwizzleMode mode = SwizzleMode::b128;
  u32 base = 0;
  std::int64_t row = 0, byte = 0;
};

void answer_swizzle(const SwizzleOptions& o, Context& context) {
  const u32 width = tile_width(o.mode);
  if (o.byte >= width) {
    throw Error(
        fmt::format("--byte: {} is out of range; a row has {} bytes with mode {}, so one from 0 to {} is "
                    "needed",
                    o.byte, width, swizzle_name(o.mode), width - 1));
  }
  need_shared("layout swizzle", o.base + o.row * width + o.byte);
  const u32 linear = o.base + static_cast<u32>(o.row * width + o.byte);
  const u32 address = swizzle(o.mode, linear);

  context.text = fmt::format("byte {} of row {} of a tile at {}, {}\n\n", o.byte, o.row, hex_address(o.base),
                             swizzle_words(o.mode));
  context.text += line("linear", fmt::format("{} + {} * {} + {} = {}", hex_address(o.base), o.row, width,
                                             o.byte, hex_address(linear)));
  if (o.mode != SwizzleMode::none) context.text += draw_swizzle(o.mode, linear);
  context.text += line("address", hex_address(address));
  context.answer = {
      {"mode", swizzle_name(o.mode)},  {"base", hex_address(o.base)},    {"row", o.row}, {"byte", o.byte},
      {"linear", hex_address(linear)}, {"address", hex_address(address)}};
}

struct DescriptorOptions {
  MatrixDescriptor fields;
  std::int64_t base_offset = 0, row = 0, k = 0;
};

void answer_descriptor(const DescriptorOptions& o, bool element, Context& context) {
  MatrixDescriptor d = o.fields;
  d.base_offset = static_cast<u32>(o.base_offset);
  Explanation explanation = explain_descriptor(hex(encode(d), 16));
  context.text = std::move(explanation.text);
  context.answer = std::move(explanation.answer);
  if (!element) return;
  const u32 row = static_cast<u32>(o.row), k = static_cast<u32>(o.k);
  const u32 linear = wgmma_operand_linear_address(d, row, k), address = wgmma_operand_address(d, row, k);
  context.text += line("reads", fmt::format("row {}, byte {} along K: {}, swizzled {}", row, k,
                                            hex_address(linear), hex_address(address)));
  context.answer["row"] = row;
  context.answer["k"] = k;
  context.answer["linear"] = hex_address(linear);
  context.answer["address"] = hex_address(address);
}

}  // namespace

CLI::Option* add_bytes(CLI::App* command, const std::string& name, u32& value, const std::string& description,
                       u32 step, u32 high) {
  return command
      ->add_option_function<std::string>(
          name,
          [&value, name, step, high](const std::string& text) {
            const std::uint64_t bytes = is_bit_pattern(text)
                                            ? parse_bits(name, text, 32)
                                            : static_cast<std::uint64_t>(parse_integer(name, text, 0, high));
            if (bytes > high || bytes % step) {
              throw Error(fmt::format("{}: found {}; a multiple of {} from 0 to {} is needed", name, text,
                                      step, hex_address(high)));
            }
            value = static_cast<u32>(bytes);
          },
          description)
      ->type_name("BYTES");
}

CLI::Option* add_swizzle_mode(CLI::App* command, const std::string& name, SwizzleMode& mode) {
  return command
      ->add_option_function<std::string>(
          name,
          [&mode, name](const std::string& text) {
            for (const SwizzleMode each : modes) {
              if (text == swizzle_name(each)) {
                mode = each;
                return;
              }
            }
            throw Error(fmt::format("{}: no swizzle is called '{}'; one of none, 32B, 64B, 128B is needed",
                                    name, text));
          },
          "none, 32B, 64B or 128B (default 128B)")
      ->type_name("MODE");
}

std::string swizzle_words(SwizzleMode mode) {
  return mode == SwizzleMode::none ? "no swizzle" : fmt::format("{} swizzle", swizzle_name(mode));
}

std::string hex_address(u32 address) { return fmt::format("0x{:x}", address); }

void need_shared(const std::string& what, std::int64_t last) {
  if (last >= shared_memory_end) {
    throw Error(
        fmt::format("{}: byte {} lies past the shared memory of a block, which ends at {}; a smaller base "
                    "or row is needed",
                    what, last, hex_address(shared_memory_end)));
  }
}

void add_layout_swizzle(CLI::App& layout, Context& context) {
  const auto options = std::make_shared<SwizzleOptions>();
  CLI::App* command =
      add_command(layout, context, "swizzle",
                  "Where a byte of a swizzled tile lies: the address that TMA writes and wgmma reads.",
                  "fp8twin layout swizzle --mode 128B --base 0x480 --row 0 --byte 0");
  add_swizzle_mode(command, "--mode", options->mode);
  add_bytes(command, "--base", options->base, "address of the tile, decimal or 0x... (default 0)", 16,
            shared_memory_end);
  add_integer(command, "--row", options->row,
              "row of the tile; rows are as wide as the mode, none: 128 bytes", 0, shared_memory_end);
  add_integer(command, "--byte", options->byte, "byte of the row", 0, 127);
  command->callback([&context, options] { answer_swizzle(*options, context); });
}

void add_layout_descriptor(CLI::App& layout, Context& context) {
  constexpr u32 high = (1u << address_bits) - 16;
  const auto options = std::make_shared<DescriptorOptions>();
  options->fields.swizzle = SwizzleMode::b128;
  CLI::App* command = add_command(
      layout, context, "descriptor",
      "The matrix descriptor that tells wgmma where an operand lies, and which byte it then reads.",
      "fp8twin layout descriptor --start 0x400 --leading 16 --stride 1024 --swizzle 128B\n"
      "  fp8twin layout descriptor --start 0x480 --stride 1024 --swizzle 128B --row 0 --k 0");
  add_bytes(command, "--start", options->fields.start_address, "address of the operand (default 0)", 16,
            high);
  add_bytes(command, "--leading", options->fields.leading_byte_offset,
            "from a core matrix to the next along K; not read with a swizzle (default 0)", 16, high);
  add_bytes(command, "--stride", options->fields.stride_byte_offset,
            "from eight rows to the next eight (default 0)", 16, high);
  add_swizzle_mode(command, "--swizzle", options->fields.swizzle);
  add_integer(command, "--base-offset", options->base_offset,
              "shifts the swizzle's pattern by so many times 128 bytes (default 0)", 0, 7);
  const CLI::Option* row =
      add_integer(command, "--row", options->row, "a row of the operand: say where it is read", 0, 255);
  const CLI::Option* k =
      add_integer(command, "--k", options->k, "a byte of that row along K (default 0)", 0, 31);
  command->callback(
      [&context, options, row, k] { answer_descriptor(*options, row->count() || k->count(), context); });
}

void add_layout(CLI::App& app, Context& context) {
  CLI::App* layout = add_command(app, context, "layout",
                                 "Where a value lives: in which thread and register, at which address.",
                                 "fp8twin layout fragment --n 256 --thread 77 --register 43");
  layout->require_subcommand(1);
  add_layout_fragment(*layout, context);
  add_layout_swizzle(*layout, context);
  add_layout_descriptor(*layout, context);
  add_layout_tile(*layout, context);
}

}  // namespace fp8twin::cli
