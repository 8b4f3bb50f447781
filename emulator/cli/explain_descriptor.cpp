// The 64-bit matrix descriptor of wgmma taken apart: see emulator/layout/descriptor.hpp for what the fields mean.
#include <fmt/core.h>

#include <array>

#include "emulator/cli/explain.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/layout/descriptor.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::array<BitField, 9> fields{{{"swizzle", 2},
                                          {"-", 10},
                                          {"base", 3},
                                          {"-", 3},
                                          {"stride>>4", 14},
                                          {"-", 2},
                                          {"leading>>4", 14},
                                          {"-", 2},
                                          {"start>>4", 14}}};

std::string times_16(u32 bytes) { return fmt::format("0x{:x} << 4 = {} bytes", bytes >> 4, bytes); }

}  // namespace

Explanation explain_descriptor(const std::string& value) {
  const u64 bits = parse_bits("explain descriptor", value, 64);
  const MatrixDescriptor d = decode_descriptor(bits);
  const u64 unused = bits & descriptor_unused_bits;
  const bool swizzled = d.swizzle != SwizzleMode::none;

  Explanation result;
  result.text = fmt::format("wgmma matrix descriptor {}\n\n{}\n", hex(bits, 16), draw_fields(bits, fields));
  result.text += line("start", times_16(d.start_address) + " into the shared window");
  result.text += line(
      "leading", times_16(d.leading_byte_offset) + (swizzled ? "; not used by a K-major tile with a swizzle"
                                                             : " from one core matrix to the next along K"));
  result.text += line("stride", times_16(d.stride_byte_offset) + " from 8 rows to the next 8 along M or N");
  result.text += line(
      "base", fmt::format("{}{}", d.base_offset,
                          d.base_offset ? ": the swizzle's pattern is shifted by so many times 128 bytes" : ""));
  result.text += line("swizzle", fmt::format("{}: {}", static_cast<u32>(d.swizzle), swizzle_name(d.swizzle)));
  if (unused) {
    result.text +=
        line("unused bits",
             hex(unused, 16) + " are set; no field owns them, and a well-formed descriptor has zeros there");
  }
  result.answer = {{"descriptor", hex(bits, 16)},
                   {"start_address", d.start_address},
                   {"leading_byte_offset", d.leading_byte_offset},
                   {"stride_byte_offset", d.stride_byte_offset},
                   {"base_offset", d.base_offset},
                   {"swizzle", swizzle_name(d.swizzle)},
                   {"unused_bits", hex(unused, 16)}};
  return result;
}

}  // namespace fp8twin::cli
