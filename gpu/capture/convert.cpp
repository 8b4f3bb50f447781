// convert: three conversions over all 2^32 inputs, compared on the card; a checksum of every 2^24 results is
// recorded.
#include <fmt/format.h>

#include <algorithm>

#include "gpu/capture/capture.hpp"
#include "gpu/capture/sources.hpp"

namespace fp8twin::capture {
namespace {

constexpr const char* names[conversions] = {"cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32",
                                            "cvt.rn.bf16.f32"};

}  // namespace

int convert(Session& session) {
  const Device& device = session.device();
  Json answer = provenance(session, device);
  Buffer<u64> checksums(conversions * conversion_blocks), count(1);
  Buffer<ConversionMismatch> mismatches(4096);
  checksums.fill(0);
  count.fill(0);
  mismatches.fill(0);
  session.kernels.get(convert_source(), "convert")
      .launch({64, conversion_blocks}, 256, 0,
              ConvertArguments{checksums.device(), count.device(), mismatches.device(), 4096});
  device.synchronize();

  const u64 differing = count.download()[0];
  const std::vector<u64> sums = checksums.download();
  answer["inputs"] = std::uint64_t{1} << 32;
  answer["mismatches"] = differing;
  answer["checksum"] =
      "sum over the 2^24 inputs x of a block of mix(x << 32 | code), modulo 2^64; mix(v): v *= "
      "0x9e3779b97f4a7c15; "
      "v = (v ^ v >> 32) * 0xd6e8feb86659fd93; v ^ v >> 32. Block i holds the inputs i << 24 to (i << 24) + "
      "0xffffff";
  for (u32 c = 0; c < conversions; ++c) {
    Json list = Json::array();
    for (u32 i = 0; i < conversion_blocks; ++i) list.push_back(hex(sums[c * conversion_blocks + i], 16));
    answer["blocks"][names[c]] = list;
  }
  answer["listed"] = Json::array();
  const std::vector<ConversionMismatch> listed = mismatches.download();
  for (u64 i = 0; i < std::min<u64>(differing, listed.size()); ++i) {
    const ConversionMismatch& m = listed[i];
    answer["listed"].push_back({{"conversion", names[m.conversion]},
                                {"input", hex(m.input, 8)},
                                {"card", hex(m.card, 4)},
                                {"oracle", hex(m.model, 4)}});
    if (i < 16) {
      fmt::print("  differs: {} of {}: card {}, oracle {}\n", names[m.conversion], hex(m.input, 8),
                 hex(m.card, 4), hex(m.model, 4));
    }
  }
  fmt::print("{}, driver {}: {} conversions over 2^32 inputs (both bytes of the packed ones): {} differ\n",
             device.name(), device.driver_version(), static_cast<u32>(conversions), differing);
  if (!session.record_path.empty()) write_json(session.record_path, answer);
  return differing ? 1 : 0;
}

}  // namespace fp8twin::capture
