// `fp8twin layout KIND`: one file or function for each kind, and what the kinds share.
#pragma once

#include <string>

#include "emulator/cli/command.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/layout/swizzle.hpp"

namespace fp8twin::cli {

void add_layout_fragment(CLI::App& layout, Context& context);
void add_layout_swizzle(CLI::App& layout, Context& context);
void add_layout_descriptor(CLI::App& layout, Context& context);
void add_layout_tile(CLI::App& layout, Context& context);

/// An option that takes an address or a number of bytes, decimal or 0x..., a multiple of `step` up to `high`.
CLI::Option* add_bytes(CLI::App* command, const std::string& name, u32& value, const std::string& description,
                       u32 step, u32 high);

/// An option that takes none, 32B, 64B or 128B.
CLI::Option* add_swizzle_mode(CLI::App* command, const std::string& name, SwizzleMode& mode);

std::string swizzle_words(SwizzleMode mode);  // "128B swizzle", "no swizzle"

/// Bytes in a row of a tile that nobody described: the mode's width, and 128 without a swizzle.
constexpr u32 tile_width(SwizzleMode mode) { return mode == SwizzleMode::none ? 128 : swizzle_width(mode); }

/// An address as short as it is: "0x490".
std::string hex_address(u32 address);

/// Throws Error unless the bytes up to `last` are addresses that a block's shared memory can have.
void need_shared(const std::string& what, std::int64_t last);

}  // namespace fp8twin::cli
