// `layout tile`: the map of a tile in shared memory: which of its 16-byte chunks lies where.
//
//     address   +0x00  +0x10  +0x20  ...     a line of 128 bytes: all 32 banks, as eight bank groups of 16 bytes
//     0x400     0.0    0.1    0.2    ...     row.chunk
//     0x480     1.1    1.0    1.3    ...
//
// A tile is shape:stride in bytes, (rows, bytes of a row); the swizzle acts on base + shape:stride.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "emulator/cli/layout.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/layout/shared_window.hpp"
#include "emulator/report/shape.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::int64_t most_rows = 4096, most_width = 4096;
constexpr std::int64_t bank_groups = 8, chunk_bytes = 16;
constexpr u32 line_bytes = 128;  // what all banks give at once

struct Options {
  SwizzleMode mode = SwizzleMode::b128;
  u32 base = 0, width = 0;
  std::int64_t rows = 8;
  std::string shape;
};

struct Tile {
  ShapeMode shape;
  std::int64_t rows, chunks;
  std::vector<u32> address;  // [rows][chunks]
  u32 at(std::int64_t row, std::int64_t chunk) const {
    return address[static_cast<std::size_t>(row * chunks + chunk)];
  }
};

/// Rows as TMA lays them. A swizzle has rows of its own width: a narrower box is padded to it, and a wider tile is several
/// boxes, one after the other.
ShapeMode packed_rows(const Options& o) {
  const std::int64_t row = o.mode == SwizzleMode::none ? o.width : tile_width(o.mode);
  if (o.width > row && o.width % row) {
    throw Error(
        fmt::format("--width: {} bytes are no whole rows of mode {}; a multiple of {}, or less, is needed",
                    o.width, swizzle_name(o.mode), row));
  }
  const ShapeMode rows{o.rows, row, {}};
  if (o.width <= row) return {1, 0, {rows, {o.width, 1, {}}}};
  return {1, 0, {rows, {1, 0, {{row, 1, {}}, {o.width / row, o.rows * row, {}}}}}};
}

/// Where chunk `chunk` of `row` begins, before base and swizzle.
std::int64_t chunk_offset(const ShapeMode& shape, std::int64_t row, std::int64_t chunk) {
  const auto byte = [&](std::int64_t i) { return offset(shape, std::array{row, chunk_bytes * chunk + i}); };
  bool whole = byte(0) % chunk_bytes == 0;
  for (std::int64_t i = 1; i < chunk_bytes; ++i) whole = whole && byte(i) == byte(0) + i;
  if (!whole) {
    throw Error(fmt::format(
        "--shape: chunk {} of row {} is not 16 bytes on a multiple of 16; needed are rows of such "
        "chunks, as in (64,128):(128,1)",
        chunk, row));
  }
  return byte(0);
}

Tile make_tile(const Options& o) {
  Tile tile{o.shape.empty() ? packed_rows(o) : parse_shape_stride(o.shape), 0, 0, {}};
  if (tile.shape.parts.size() != 2) {
    throw Error(fmt::format("--shape: {} has {} parts; two are needed, rows and the bytes of a row",
                            to_string(tile.shape), tile.shape.parts.size()));
  }
  tile.rows = size(tile.shape.parts[0]);
  const std::int64_t width = size(tile.shape.parts[1]);
  if (tile.rows > most_rows || width > most_width || width % chunk_bytes) {
    throw Error(
        fmt::format("--shape: {} rows of {} bytes; at most {} rows and a multiple of 16 to {} are needed",
                    tile.rows, width, most_rows, most_width));
  }
  tile.chunks = width / chunk_bytes;
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    for (std::int64_t chunk = 0; chunk < tile.chunks; ++chunk) {
      const std::int64_t linear = o.base + chunk_offset(tile.shape, row, chunk);
      need_shared("layout tile", linear + chunk_bytes - 1);
      tile.address.push_back(swizzle(o.mode, static_cast<u32>(linear)));
    }
  }
  return tile;
}

/// The lines of 128 bytes that hold some of the tile, and the chunks in each.
std::map<u32, std::array<std::string, bank_groups>> lines_of(const Tile& tile) {
  std::map<u32, std::array<std::string, bank_groups>> lines;
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    for (std::int64_t chunk = 0; chunk < tile.chunks; ++chunk) {
      const u32 address = tile.at(row, chunk);
      std::string& cell = lines[address / line_bytes * line_bytes][address / chunk_bytes % bank_groups];
      const std::string name = fmt::format("{}.{}", row, chunk);
      if (!cell.empty()) {
        throw Error(
            fmt::format("--shape: chunks {} and {} (row.chunk) both lie at {}; needed is a place for each",
                        cell, name, hex_address(address)));
      }
      cell = name;
    }
  }
  return lines;
}

/// How many of eight neighbouring rows meet in one bank group, over one column of chunks: 1 is free of conflicts.
std::int64_t conflict_ways(const Tile& tile) {
  std::int64_t most = 0;
  for (std::int64_t first = 0; first < tile.rows; first += 8) {
    for (std::int64_t chunk = 0; chunk < tile.chunks; ++chunk) {
      std::array<std::int64_t, bank_groups> rows{};
      for (std::int64_t row = first; row < std::min(first + 8, tile.rows); ++row)
        most = std::max(most, ++rows[tile.at(row, chunk) / chunk_bytes % bank_groups]);
    }
  }
  return most;
}

std::string swizzle_notation(SwizzleMode mode) {
  return fmt::format("Sw<{},4,3>", mode == SwizzleMode::b128  ? 3
                                   : mode == SwizzleMode::b64 ? 2
                                   : mode == SwizzleMode::b32 ? 1
                                                              : 0);
}

std::string draw(const std::map<u32, std::array<std::string, bank_groups>>& lines) {
  std::vector<TableRow> rows{{"address"}};
  for (std::int64_t group = 0; group < bank_groups; ++group)
    rows[0].push_back(fmt::format("+0x{:02x}", 16 * group));
  for (const auto& [address, cells] : lines) {
    rows.push_back({hex_address(address)});
    for (const std::string& cell : cells) rows.back().push_back(cell.empty() ? "." : cell);
  }
  return table(rows);
}

void answer_tile(const Options& o, Context& context) {
  const Tile tile = make_tile(o);
  const auto lines = lines_of(tile);
  const std::int64_t ways = conflict_ways(tile);
  const auto [first, last] = std::minmax_element(tile.address.begin(), tile.address.end());

  context.text = fmt::format("tile of {} rows of {} bytes at {}, {}\n\n", tile.rows,
                             chunk_bytes * tile.chunks, hex_address(o.base), swizzle_words(o.mode));
  context.text += line("bytes", fmt::format("{}({} + {})", swizzle_notation(o.mode), hex_address(o.base),
                                            to_string(tile.shape)));
  context.text += line("occupies", fmt::format("{} to {}", hex_address(*first), hex_address(*last + 15)));
  context.text += line("eight rows",
                       ways == 1 ? "of a column of chunks lie in different bank groups: no conflict"
                                 : fmt::format("of a column of chunks: up to {} lie in one bank group, which "
                                               "gives one at a time",
                                               ways));
  context.text += "\n" + draw(lines);

  Json chunks = Json::array();
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    Json addresses = Json::array();
    for (std::int64_t chunk = 0; chunk < tile.chunks; ++chunk)
      addresses.push_back(hex_address(tile.at(row, chunk)));
    chunks.push_back(addresses);
  }
  context.answer = {{"mode", swizzle_name(o.mode)},
                    {"base", hex_address(o.base)},
                    {"rows", tile.rows},
                    {"width", chunk_bytes * tile.chunks},
                    {"shape", to_string(tile.shape)},
                    {"swizzle", swizzle_notation(o.mode)},
                    {"conflict_ways", ways},
                    {"chunks", chunks}};
}

}  // namespace

void add_layout_tile(CLI::App& layout, Context& context) {
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  CLI::App* command =
      add_command(layout, context, "tile",
                  "Which 16-byte chunk of a tile lies where: lines of 128 bytes, cells row.chunk.",
                  "fp8twin layout tile --mode 128B --rows 8\n"
                  "  fp8twin layout tile --mode 64B --base 0x480 --rows 16 --width 128\n"
                  "  fp8twin layout tile --mode none --shape '((8,2),(16,2)):((16,256),(1,128))'");
  add_swizzle_mode(command, "--mode", o.mode);
  add_bytes(command, "--base", o.base, "address of the tile, decimal or 0x... (default 0)", 16,
            shared_memory_end);
  const CLI::Option* rows =
      add_integer(command, "--rows", o.rows, "rows of the tile (default 8)", 1, most_rows);
  const CLI::Option* width = add_bytes(
      command, "--width", o.width, "bytes of a row (default: the mode's width; none: 128)", 16, most_width);
  const CLI::Option* shape =
      command
          ->add_option("--shape", o.shape,
                       "instead of rows and width: (rows,bytes) as shape:stride, in bytes")
          ->type_name("SHAPE:STRIDE");
  command->callback([=, &context] {
    if (shape->count() && (rows->count() || width->count()))
      throw Error(
          "layout tile: --shape says rows and width already; either it or --rows and --width is needed");
    if (width->count() && options->width == 0)
      throw Error("--width: 0 bytes are no row; a multiple of 16 is needed");
    if (!width->count()) options->width = tile_width(options->mode);
    answer_tile(*options, context);
  });
}

}  // namespace fp8twin::cli
