// What another project's test looks like: the expected bits of a small GEMM, from the frozen entry alone.
#include <cstdint>
#include <cstdio>
#include <fp8twin/model.hpp>
#include <vector>

namespace {

int failures = 0;

void expect(const char* what, float found, float needed) {
  if (found == needed) return;
  std::printf("%s: found %.9g, needed %.9g\n", what, found, needed);
  ++failures;
}

/// One element of D: two rows of k codes, scales of 1.
float element(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b, bool promote) {
  const auto k = static_cast<std::int64_t>(a.size());
  const std::vector<float> scales((a.size() + 127) / 128, 1.0f);
  std::vector<float> d(1, -1.0f);
  fp8twin::ModelOptions options;
  options.promote = promote;
  fp8twin::gemm(1, 1, k, a, scales, b, scales, d, options);
  return d[0];
}

}  // namespace

int main() {
  // 448 * 448 = 196 * 2^10 puts E at 16 and the grid at 2^3: each of the other products, 2 * 2, is cut to nothing.
  std::vector<std::uint8_t> codes(32, 0x40);
  codes[0] = 0x7e;
  expect("448*448 + 31*(2*2)", element(codes, codes, true), 200704.0f);

  // 16512 ones: a chain of the tensor core stops at 2^14, the promoted sum does not.
  const std::vector<std::uint8_t> ones(16512, 0x38);
  expect("16512 ones, promoted", element(ones, ones, true), 16512.0f);
  expect("16512 ones, one chain", element(ones, ones, false), 16384.0f);

  // A weight stored [K, N] is no operand of an FP8 tensor core; transposed, with its 128x128 scales, it is.
  constexpr std::int64_t k = 256, n = 2;
  std::vector<std::uint8_t> weight(k * n, 0x38), turned(n * k);  // column 1 twice column 0
  for (std::size_t i = 1; i < weight.size(); i += 2) weight[i] = 0x40;
  const std::vector<float> weight_scale{1.0f, 3.0f}, row_scale{1.0f, 1.0f};
  std::vector<float> turned_scale(2), d(n);
  fp8twin::transpose(k, n, weight, turned);
  fp8twin::transpose(2, 1, weight_scale, turned_scale);
  const std::vector<std::uint8_t> row(k, 0x38);
  fp8twin::gemm_nt(fp8twin::row_major(row, 1, k), row_scale, fp8twin::row_major(turned, n, k), turned_scale,
                   std::span<float>(d));
  expect("a transposed weight, column 0", d[0], 128.0f + 3 * 128);
  expect("a transposed weight, column 1", d[1], 2 * (128.0f + 3 * 128));

  // A span of the wrong size is an Error, with a sentence.
  bool refused = false;
  try {
    fp8twin::gemm(1, 1, 32, codes, std::vector<float>(1, 1.0f), codes, std::vector<float>(1, 1.0f), d);
  } catch (const fp8twin::Error& error) {
    refused = error.what()[0] != '\0';
  }
  if (!refused) {
    std::printf("a d of two elements for a 1x1 result: not refused\n");
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}
