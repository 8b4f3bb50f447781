#include "gpu/jit/wgmma_shapes.hpp"

#include <fmt/format.h>

#include "emulator/support/error.hpp"

namespace fp8twin::jit {
namespace {

/// text(0) + ", " + text(1) + ... for count items.
template <class Text>
std::string list(int count, const Text& text) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    out += text(i);
  }
  return out;
}

/// One overload of mma_async. A is `a_registers` 32-bit registers, or a descriptor when that is 0.
std::string overload(int n, int a_registers) {
  const int d = n / 2;  // %0 .. %(d-1): the accumulators
  const int b =
      d + (a_registers ? a_registers : 1);  // then A, then B's descriptor, scale-d, the two immediates
  const std::string d_names = list(d, [](int i) { return fmt::format("%{}", i); });
  const std::string a_names =
      a_registers ? fmt::format("{{{}}}", list(a_registers, [d](int i) { return fmt::format("%{}", d + i); }))
                  : fmt::format("%{}", d);
  const std::string outputs = list(d, [](int i) { return fmt::format("\"+f\"(d[{}])", i); });
  const std::string a_inputs = a_registers
                                   ? list(a_registers, [](int i) { return fmt::format("\"r\"(a[{}])", i); })
                                   : std::string("\"l\"(a)");
  return fmt::format(
      R"(
  template <i32 ScaleA, i32 ScaleB>
  FP8TWIN_DEVICE static void mma_async(float (&d)[{d}], {a_type}, u64 b, u32 scale_d) {{
    asm volatile("{{\n.reg .pred p;\nsetp.ne.b32 p, %{scale_d}, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n{n}k32.f32.e4m3.e4m3 "
                 "{{{d_names}}}, {a_names}, %{b}, p, %{scale_a}, %{scale_b};\n}}\n"
                 : {outputs}
                 : {a_inputs}, "l"(b), "r"(scale_d), "n"(ScaleA), "n"(ScaleB)
                 : "memory");
  }}
)",
      fmt::arg("d", d), fmt::arg("n", n), fmt::arg("b", b), fmt::arg("scale_d", b + 1),
      fmt::arg("scale_a", b + 2), fmt::arg("scale_b", b + 3), fmt::arg("d_names", d_names),
      fmt::arg("a_names", a_names), fmt::arg("outputs", outputs), fmt::arg("a_inputs", a_inputs),
      fmt::arg("a_type", a_registers ? fmt::format("const u32 (&a)[{}]", a_registers) : "u64 a"));
}

}  // namespace

std::string wgmma_shapes(std::span<const int> shapes) {
  std::string text = "#pragma once\nnamespace fp8twin {\n";
  for (const int n : shapes) {
    if (n < 8 || n > 256 || n % 8 != 0) {
      throw Error(fmt::format("wgmma has no shape m64n{}k32: N is a multiple of 8 from 8 to 256", n));
    }
    text +=
        fmt::format("\ntemplate <>\nstruct WgmmaShape<{}> {{{}{}}};\n", n, overload(n, 0), overload(n, 4));
  }
  return text + "\n}  // namespace fp8twin\n";
}

}  // namespace fp8twin::jit
