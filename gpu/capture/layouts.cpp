// layouts: what the card does with addresses and registers, recorded section by section.
//
// Each section records what it saw and, apart from that, how many entries the formulas of emulator/layout put
// elsewhere. The file is written after every section, so that a fault in one costs none of the others.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "gpu/capture/layout_sources.hpp"

namespace fp8twin::capture {

std::string hex_list(std::span<const std::uint16_t> values, int digits) {
  std::string text;
  for (const std::uint16_t value : values) text += fmt::format("{:0{}x}", value, digits);
  return text;
}

std::string swizzle_name(SwizzleMode mode) {
  return mode == SwizzleMode::none ? "none" : fmt::format("{}B", swizzle_width(mode));
}

int layouts(Session& session, const std::string& path) {
  const Device& device = session.device();
  Json answer = provenance(session, device);
  fmt::print("{}, driver {}\n", device.name(), device.driver_version());
  session.kernels.prepare(layout_sources(), session.threads);

  using Section = Json (*)(Session&, std::uint64_t&);
  const std::pair<const char*, Section> sections[] = {{"window", capture_window},
                                                      {"fragments", capture_fragments},
                                                      {"stmatrix", capture_stmatrix},
                                                      {"operands", capture_operands},
                                                      {"tma", capture_tma}};
  std::uint64_t total = 0;
  bool failed = false;
  for (const auto& [name, section] : sections) {
    std::uint64_t differing = 0;
    try {
      answer[name] = section(session, differing);
      answer[name]["differing"] = differing;
      fmt::print("{:<10} {:>8} entries differ from the formula\n", name, differing);
    } catch (const std::exception& error) {
      answer[name]["error"] = error.what();
      fmt::print("{:<10} failed: {}\n", name, error.what());
      failed = true;
    }
    std::fflush(stdout);
    total += differing;
    write_json(path, answer);
  }
  return total || failed ? 1 : 0;
}

}  // namespace fp8twin::capture
