// The kernels of the layout captures as sources for NVRTC, and the sections that use them.
#pragma once

#include <fmt/format.h>

#include <span>
#include <vector>

#include "gpu/capture/capture.hpp"

#include "emulator/layout/swizzle.hpp"

namespace fp8twin::capture {

/// One entry `name` that calls `function` ("capture::window<0, 1>") with its arguments.
inline jit::Source layout_source(const std::string& name, const std::string& header,
                                 const std::string& function, const std::string& arguments,
                                 const std::vector<int>& shapes = {}, unsigned threads = 128,
                                 unsigned cluster = 1) {
  const std::string text = fmt::format(
      "#include \"gpu/capture/device/{}\"\nusing namespace fp8twin;\n"
      "extern \"C\" __global__ void {}__launch_bounds__({}, 1) {}"
      "(const __grid_constant__ capture::{} arguments) {{ {}(arguments); }}\n",
      header, cluster > 1 ? fmt::format("__cluster_dims__({}, 1, 1) ", cluster) : "", threads, name,
      arguments, function);
  return {name, text, shapes};
}

inline jit::Source window_source(unsigned static_bytes, unsigned cluster) {
  return layout_source(fmt::format("window_static{}_cluster{}", static_bytes, cluster), "layout_window.hpp",
                       fmt::format("capture::window<{}, {}>", static_bytes, cluster), "WindowArguments", {},
                       32, cluster);
}

inline jit::Source tma_source(bool store) {
  const std::string name = store ? "tma_store" : "tma_load";
  return layout_source(name, "layout_tma.hpp", "capture::" + name, "TmaArguments");
}

inline jit::Source operand_source(bool test_b) {
  return layout_source(test_b ? "operand_b" : "operand_a", "layout_operand.hpp",
                       fmt::format("capture::operand_addresses<{}>", test_b), "OperandArguments", {32, 64});
}

inline jit::Source accumulator_source(int n) {
  std::vector<int> shapes = {32, 64};
  if (n != 64) shapes.push_back(n);
  return layout_source(fmt::format("accumulator_n{}", n), "layout_fragment.hpp",
                       fmt::format("capture::accumulator_elements<{}>", n), "FragmentArguments", shapes);
}

inline jit::Source a_fragment_source() {
  return layout_source("a_fragment", "layout_fragment.hpp", "capture::a_fragment_places", "FragmentArguments",
                       {32, 64});
}

inline jit::Source stmatrix_source() {
  return layout_source("stmatrix", "layout_stmatrix.hpp", "capture::stmatrix_places", "StmatrixArguments", {},
                       32);
}

inline std::vector<jit::Source> layout_sources() {
  return {window_source(0, 1),   window_source(100, 1),  window_source(0, 2),     window_source(100, 2),
          tma_source(false),     tma_source(true),       operand_source(false),   operand_source(true),
          accumulator_source(8), accumulator_source(64), accumulator_source(256), a_fragment_source(),
          stmatrix_source()};
}

/// The sections of the recording. Each fills its own part, prints its counts, and leaves in "differing" how
/// many entries the formulas of emulator/layout put elsewhere. False: a case faulted, go on in a new process.
bool capture_window(Session& session, Json& section);
bool capture_tma(Session& session, Json& section);
bool capture_operands(Session& session, Json& section);
bool capture_fragments(Session& session, Json& section);
bool capture_stmatrix(Session& session, Json& section);

/// The values as hex digits without a prefix, `digits` each.
std::string hex_list(std::span<const std::uint16_t> values, int digits = 4);

std::string swizzle_name(SwizzleMode mode);

}  // namespace fp8twin::capture
