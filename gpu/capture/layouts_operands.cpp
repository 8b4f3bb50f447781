// layouts: the address that wgmma reads for each row and byte of an operand, for descriptors of every mode,
// on and off the pattern's boundary, with every base offset.
#include <fmt/format.h>

#include <map>

#include "gpu/capture/layout_sources.hpp"  // first: DType shares names with integers.hpp

#include "emulator/layout/operand.hpp"
#include "gpu/capture/device/layout_records.hpp"

namespace fp8twin::capture {
namespace {

constexpr u32 tile = region_begin + 0x2000;  // a multiple of 1024, with room on both sides

/// Packed tiles: starts of 0 to 7 times 128 bytes, base offsets 0 to 7, every K step inside a row.
std::vector<MatrixDescriptor> packed_cases() {
  std::vector<MatrixDescriptor> cases;
  for (const SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128}) {
    const u32 steps = mode == SwizzleMode::none ? 1 : swizzle_width(mode) / 32;
    for (u32 offset = 0; offset < 8; ++offset) {
      for (u32 step = 0; step < steps; ++step) {
        for (u32 base = 0; base < 8; ++base) {
          const u32 stride = mode == SwizzleMode::none ? 256 : swizzle_period(mode);
          cases.push_back({tile + 128 * offset + 32 * step, 128, stride, base, mode});
        }
      }
    }
  }
  return cases;
}

/// Other strides and leading offsets, and starts of 16 to 112 bytes into a row.
std::vector<MatrixDescriptor> other_cases() {
  std::vector<MatrixDescriptor> cases;
  for (const SwizzleMode mode : {SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128}) {
    const u32 period = swizzle_period(mode);
    for (const u32 stride : {0u, 128u, period / 2, period + 16, period + 128, 2 * period})
      cases.push_back({tile, 128, stride, 0, mode});
    for (const u32 leading : {0u, 16u, 1024u, 4096u}) cases.push_back({tile, leading, period, 0, mode});
    for (u32 chunk = 1; chunk < 8; ++chunk) {
      for (const u32 base : {0u, 1u}) cases.push_back({tile + 16 * chunk, 128, period, base, mode});
    }
  }
  const std::pair<u32, u32> leading_stride[] = {{1024, 128}, {128, 512}, {0, 128},    {128, 0},
                                                {16, 32},    {2048, 16}, {144, 1168}, {32, 512}};
  for (const auto& [leading, stride] : leading_stride)
    cases.push_back({tile, leading, stride, 0, SwizzleMode::none});
  for (u32 chunk = 1; chunk < 8; ++chunk)
    cases.push_back({tile + 16 * chunk, 128, 256, 0, SwizzleMode::none});
  return cases;
}

std::vector<u16> run(Session& session, bool test_b, const std::vector<u64>& descriptors) {
  const Buffer<u64> in{std::span<const u64>(descriptors)};
  Buffer<u16> out(descriptors.size() * 64 * 32);
  out.fill(0xff);
  const jit::Source source = operand_source(test_b);
  session.kernels.get(source, source.name)
      .launch({static_cast<unsigned>(descriptors.size()), 1}, 128, shared_end,
              OperandArguments{in.device(), out.device()});
  session.device().synchronize();
  return out.download();
}

/// [64][32] addresses in few words: "16 rows" where bytes follow each other within a chunk and eight rows
/// repeat at a constant distance: the addresses of both chunks of rows 0 to 15. Else as much as is needed.
std::string table_of(std::span<const u16> seen) {
  bool chunks = true, groups = true;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const u16 first = seen[i / 16 * 16];
    chunks &= seen[i] == (first == address_outside ? first : static_cast<u16>(first + i % 16));
    if (i >= 16 * 32)
      groups &= static_cast<u16>(seen[i] - seen[i - 8 * 32]) == static_cast<u16>(seen[8 * 32] - seen[0]);
  }
  if (!chunks) return "bytes " + hex_list(seen);
  std::vector<u16> first;
  for (std::size_t i = 0; i < (groups ? seen.size() / 4 : seen.size()); i += 16) first.push_back(seen[i]);
  return (groups ? "16 rows " : "64 rows ") + hex_list(first);
}

std::uint64_t differences(const MatrixDescriptor& d, std::span<const u16> seen) {
  std::uint64_t count = 0;
  for (u32 i = 0; i < 64 * 32; ++i)
    count += seen[i] + region_begin != wgmma_operand_address(d, i / 32, i % 32);
  return count;
}

}  // namespace

bool capture_operands(Session& session, Json& answer) {
  std::vector<MatrixDescriptor> cases = packed_cases();
  const std::size_t packed = cases.size();
  for (const MatrixDescriptor& d : other_cases()) cases.push_back(d);
  std::vector<u64> descriptors;
  for (const MatrixDescriptor& d : cases) descriptors.push_back(encode(d));

  answer = {
      {"region_begin", hex(region_begin, 4)},
      {"tables",
       "address read, less region_begin, at [row][16-byte chunk of K]; '16 rows': the other groups "
       "of eight follow at the same distance; ffff: outside the region"},
      {"cases", "descriptor, index of its table, entries (of 64 x 32) that the formula puts elsewhere"}};
  std::uint64_t differing = 0;
  std::map<std::string, std::size_t> known;
  Json tables = Json::array();
  for (const bool test_b : {false, true}) {
    const char* operand = test_b ? "b" : "a";
    const std::vector<u16> seen = run(session, test_b, descriptors);
    std::map<std::string, std::uint64_t> right, all;  // by mode and base offset
    for (std::size_t c = 0; c < cases.size(); ++c) {
      const std::span<const u16> one = std::span(seen).subspan(c * 64 * 32, 64 * 32);
      const std::string table = table_of(one);
      const auto [at, added] = known.try_emplace(table, known.size());
      if (added) tables.push_back(table);
      const std::uint64_t count = differences(cases[c], one);
      differing += count;
      const std::string group =
          c < packed
              ? fmt::format("{:<4} base offset {}", swizzle_name(cases[c].swizzle), cases[c].base_offset)
              : fmt::format("{:<4} other strides and starts", swizzle_name(cases[c].swizzle));
      ++all[group];
      right[group] += count == 0;
      answer[operand].push_back(fmt::format("{} {} {}", hex(descriptors[c], 16), at->second, count));
    }
    for (const auto& [group, count] : all)
      fmt::print("  {} {:<28} {:>3} of {:>3} cases as the formula says\n", operand, group, right[group],
                 count);
  }
  answer["table"] = tables;
  answer["differing"] = differing;
  return true;
}

}  // namespace fp8twin::capture
