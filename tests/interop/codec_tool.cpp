// A window onto the codecs for codecs_interop.py: words in on stdin, words out on stdout, little-endian.
//
//   interop_codec_tool encode e4m3|e4m3-plain|e5m2|e5m2-plain|bf16|f16    binary32 -> codes, one or two bytes
//   interop_codec_tool decode e4m3|e5m2|e8m0|bf16|f16                     codes -> binary32
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "emulator/number/bf16.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/number/e5m2.hpp"
#include "emulator/number/e8m0.hpp"
#include "emulator/number/f16.hpp"

namespace {

using namespace fp8twin;

/// Maps every In on stdin to an Out on stdout.
template <class In, class Out, class Map>
int pipe(const Map& map) {
  std::vector<In> in(1 << 16);
  std::vector<Out> out;
  for (std::size_t count; (count = std::fread(in.data(), sizeof(In), in.size(), stdin)) > 0;) {
    out.clear();
    for (std::size_t i = 0; i < count; ++i) out.push_back(map(in[i]));
    if (std::fwrite(out.data(), sizeof(Out), count, stdout) != count) return 2;
  }
  return std::fflush(stdout) == 0 ? 0 : 2;
}

int encode(std::string_view format) {
  constexpr NanSign keep = NanSign::keep;
  if (format == "e4m3") return pipe<float, std::uint8_t>([](float x) { return E4M3::satfinite(x).code; });
  if (format == "e4m3-plain")
    return pipe<float, std::uint8_t>([](float x) { return E4M3::nonsaturating(x, keep).code; });
  if (format == "e5m2") return pipe<float, std::uint8_t>([](float x) { return E5M2::satfinite(x).code; });
  if (format == "e5m2-plain")
    return pipe<float, std::uint8_t>([](float x) { return E5M2::nonsaturating(x, keep).code; });
  if (format == "bf16") return pipe<float, std::uint16_t>([](float x) { return BF16::rn(x).code; });
  if (format == "f16") return pipe<float, std::uint16_t>([](float x) { return F16::rn(x).code; });
  return 2;
}

int decode(std::string_view format) {
  if (format == "e4m3")
    return pipe<std::uint8_t, float>([](std::uint8_t code) { return E4M3{code}.value(); });
  if (format == "e5m2")
    return pipe<std::uint8_t, float>([](std::uint8_t code) { return E5M2{code}.value(); });
  if (format == "e8m0")
    return pipe<std::uint8_t, float>([](std::uint8_t code) { return E8M0{code}.value(); });
  if (format == "bf16")
    return pipe<std::uint16_t, float>([](std::uint16_t code) { return BF16{code}.value(); });
  if (format == "f16")
    return pipe<std::uint16_t, float>([](std::uint16_t code) { return F16{code}.value(); });
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view direction = argc == 3 ? argv[1] : "";
  const int status = direction == "encode" ? encode(argv[2]) : direction == "decode" ? decode(argv[2]) : 2;
  if (status != 0) std::fputs("usage: interop_codec_tool encode|decode FORMAT <words >words\n", stderr);
  return status;
}
