// Shares: every element of d in exactly one, cuts where scales allow them, balance, and the bits of the parts.
#include "emulator/model/shares.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/model/gemm.hpp"
#include "emulator/support/random.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// Extents alone: shares() looks at nothing else.
GemmSlice extents(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmSlice slice{};
  slice.m = m;
  slice.n = n;
  slice.k = k;
  return slice;
}

double work_of(std::span<const GemmSlice> slices, const Share& share) {
  double work = 0;
  for (const Rectangle& r : share) work += fp8twin::work_of(slices[r.slice], r);
  return work;
}

double most_work(std::span<const GemmSlice> slices, int workers) {
  double most = 0;
  for (const Share& share : shares(slices, workers)) most = std::max(most, work_of(slices, share));
  return most;
}

double all_work(std::span<const GemmSlice> slices) { return most_work(slices, 1); }

/// How often each element of a slice is covered.
std::vector<int> coverage(const GemmSlice& slice, std::size_t index, const std::vector<Share>& all) {
  std::vector<int> count(static_cast<std::size_t>(slice.m * slice.n));
  for (const Share& share : all) {
    for (const Rectangle& r : share) {
      if (r.slice != index) continue;
      for (std::int64_t i = r.row; i < r.row + r.rows; ++i)
        for (std::int64_t j = r.column; j < r.column + r.columns; ++j)
          ++count.at(static_cast<std::size_t>(i * slice.n + j));
    }
  }
  return count;
}

/// The most that one cut can miss the point of balance by: half a step of the side that is cut, or half of a rectangle
/// too small to cut.
double worst_cut(std::span<const GemmSlice> slices) {
  double worst = 0;
  for (const GemmSlice& s : slices) {
    const double longer = static_cast<double>(std::max({s.m, s.n, share_columns}));
    worst = std::max(worst, static_cast<double>(share_columns) / 2 * longer * static_cast<double>(s.k + 1));
  }
  return worst;
}

std::vector<GemmSlice> random_slices(std::uint64_t seed) {
  const Random random(seed, 0);
  std::vector<GemmSlice> slices;
  const std::uint32_t count = 1 + random.below(0, 5);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t at = 10 * (i + 1);
    slices.push_back(extents(random.below(at, 400), random.below(at + 1, 700), random.below(at + 2, 300)));
  }
  return slices;
}

}  // namespace

TEST_CASE("shares tile every slice exactly once, cut where they may, and are balanced") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<GemmSlice> slices = random_slices(seed);
    for (const int workers : {1, 2, 3, 4, 7, 16, 61}) {
      INFO("seed " << seed << ", " << workers << " workers");
      const std::vector<Share> all = shares(slices, workers);
      REQUIRE(all.size() == static_cast<std::size_t>(workers));
      CHECK(all == shares(slices, workers));
      for (std::size_t i = 0; i < slices.size(); ++i) {
        const std::vector<int> count = coverage(slices[i], i, all);
        CHECK(std::all_of(count.begin(), count.end(), [](int times) { return times == 1; }));
      }
      for (const Share& share : all) {
        for (const Rectangle& r : share) {
          CHECK(r.rows > 0);
          CHECK(r.columns > 0);
          CHECK(r.row % share_rows == 0);
          CHECK(r.column % share_columns == 0);
        }
      }
      int halvings = 0;
      while ((1 << halvings) < workers) ++halvings;
      CHECK(most_work(slices, workers) <= all_work(slices) / workers + halvings * worst_cut(slices));
    }
  }
}

TEST_CASE("a layer of a model is shared out within two per cent") {
  const std::vector<GemmSlice> dense{extents(4096, 7168, 2048)};
  for (const int workers : {2, 3, 4, 8, 16})
    CHECK(most_work(dense, workers) <= 1.02 * all_work(dense) / workers);
  std::vector<GemmSlice> experts;  // the rows that a router gave to each
  for (std::int64_t i = 0; i < 64; ++i) experts.push_back(extents(128 * (1 + i * 37 % 11), 4096, 7168));
  for (const int workers : {2, 3, 4, 8, 16})
    CHECK(most_work(experts, workers) <= 1.02 * all_work(experts) / workers);
}

TEST_CASE("four workers make a square of a square, so that none reads all of A or B") {
  const std::vector<GemmSlice> square{extents(1024, 1024, 64)};
  const std::vector<Share> all = shares(square, 4);
  CHECK(all == std::vector<Share>{{{0, 0, 512, 0, 512}},
                                  {{0, 0, 512, 512, 512}},
                                  {{0, 512, 512, 0, 512}},
                                  {{0, 512, 512, 512, 512}}});
}

TEST_CASE("what is too small to cut goes to one worker, and nothing to many") {
  const std::vector<GemmSlice> small{extents(64, 128, 32)};
  const std::vector<Share> all = shares(small, 4);
  CHECK(std::count_if(all.begin(), all.end(), [](const Share& share) { return !share.empty(); }) == 1);
  const std::vector<GemmSlice> nothing{extents(0, 128, 32), extents(64, 0, 32)};
  for (const Share& share : shares(nothing, 3)) CHECK(share.empty());
  for (const Share& share : shares({}, 3)) CHECK(share.empty());
}

TEST_CASE("a slice without K is still written by somebody, and extents of a header's size do not overflow") {
  const std::vector<GemmSlice> no_k{extents(256, 256, 0)};
  for (const Share& share : shares(no_k, 2)) CHECK(work_of(no_k, share) == 256 * 128);
  constexpr std::int64_t largest = 0x7fffffff;
  const std::vector<GemmSlice> huge{extents(largest, 1 << 17, largest)};
  CHECK(most_work(huge, 1000) <= 1.05 * all_work(huge) / 1000);
}

TEST_CASE("parts computed alone have the bits of the whole, with scales of either form and with c") {
  constexpr std::int64_t m = 150, n = 300, k = 200, k_blocks = 2;
  const Random random(3, 1);
  std::vector<std::uint8_t> a(m * k), b(n * k);
  std::vector<float> a_scale(m * k_blocks), b_scale(n * k_blocks), c(m * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint8_t>(random.bits(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::uint8_t>(random.bits(100'000 + i));
  for (std::size_t i = 0; i < a_scale.size(); ++i) a_scale[i] = 1 + static_cast<float>(i % 7);
  for (std::size_t i = 0; i < b_scale.size(); ++i) b_scale[i] = 1 + static_cast<float>(i % 5);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 1000);
  for (const std::int64_t b_scale_rows : {std::int64_t{1}, std::int64_t{128}}) {
    for (const bool scaled : {true, false}) {
      for (const bool with_c : {true, false}) {
        const GemmSlice whole{.a = a.data(),
                              .lda = k,
                              .b = b.data(),
                              .ldb = k,
                              .a_scale = scaled ? a_scale.data() : nullptr,
                              .a_scale_stride = k_blocks,
                              .b_scale = scaled ? b_scale.data() : nullptr,
                              .b_scale_stride = k_blocks,
                              .b_scale_rows = b_scale_rows,
                              .c = with_c ? c.data() : nullptr,
                              .m = m,
                              .n = n,
                              .k = k,
                              .d_offset = 7 * n};
        std::vector<float> wanted(m * n), found(m * n, -1.0f);
        gemm_slice(whole, DType::f32, reinterpret_cast<std::byte*>(wanted.data()), n, {.threads = 1});
        for (const Share& share : shares({&whole, 1}, 5)) {
          for (const Rectangle& r : share) {
            const Part part = part_of(whole, r);
            float* d = found.data() + part.slice.d_offset - whole.d_offset;
            gemm_slice(part.slice, DType::f32, reinterpret_cast<std::byte*>(d), n, {.threads = 1});
          }
        }
        CHECK(std::memcmp(found.data(), wanted.data(), m * n * sizeof(float)) == 0);
      }
    }
  }
}
