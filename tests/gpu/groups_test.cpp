// Groups on the machine: the walk over their tiles against plain loops, where their rows begin and end, how arrays are
// arranged, and what no kernel may write.
#include <algorithm>
#include <numeric>

#include "emulator/machine/launch.hpp"
#include "emulator/support/error.hpp"
#include "gpu/kernels/find_groups.hpp"
#include "gpu/kernels/tile_walk.hpp"
#include "gpu/launch/gemm_data.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

struct Visit {
  u32 group, m, n;
  friend bool operator==(const Visit&, const Visit&) = default;
};

/// What block `block` of `blocks` walks over.
std::vector<Visit> walked(const MachineConfig& config, const GemmArguments& g, u32 block, u32 blocks) {
  std::vector<Visit> visits;
  TileWalk<MachineConfig> walk = {config, g};
  if (g.groups > 0) {
    walk.enter(block);
    walk.advance(0);
  }
  for (; !walk.done(); walk.advance(blocks)) visits.push_back({walk.group, walk.place().m, walk.place().n});
  return visits;
}

/// The same by loops: groups in order, each in groups of 2^shift rows of tiles, column by column.
std::vector<Visit> looped(const std::vector<u32>& rows, u32 columns, u32 high, u32 wide, u32 shift,
                          bool swapped) {
  std::vector<Visit> visits;
  for (u32 group = 0; group < rows.size(); ++group) {
    const u32 down = swapped ? columns : rows[group], across = swapped ? rows[group] : columns;
    const u32 tiles_m = (down + high - 1) / high, tiles_n = (across + wide - 1) / wide;
    for (u32 first = 0; first < tiles_m; first += 1u << shift) {
      for (u32 n = 0; n < tiles_n; ++n) {
        for (u32 m = first; m < std::min(tiles_m, first + (1u << shift)); ++m)
          visits.push_back({group, m, n});
      }
    }
  }
  return visits;
}

struct Found {
  std::vector<u32> table;
  std::vector<u16> d;
};

Found found(const std::vector<i32>& words, bool by_ends, u32 m, u32 groups, u32 n, u32 pitch) {
  const std::vector<u32> in(words.begin(), words.end());
  Found out{std::vector<u32>(2 * groups), std::vector<u16>(std::size_t{m} * pitch, 0xffff)};
  machine::GlobalMemory memory;
  using Access = machine::GlobalMemory::Access;
  memory.add("groups", in.data(), 4 * in.size(), Access::read);
  memory.add("group_table", out.table.data(), 4 * out.table.size(), Access::write);
  memory.add("d", out.d.data(), 2 * out.d.size(), Access::write);
  machine::LaunchOptions options;
  options.memory = &memory;
  options.threads = 1;
  machine::launch(
      {(m + 127) / 128, 1}, {1, 1}, 128, 0,
      [](const FindGroupsArguments& a) { find_groups(MachineConfig{}, a); },
      FindGroupsArguments{by_ends ? nullptr : in.data(), by_ends ? in.data() : nullptr, out.table.data(),
                          out.d.data(), u64{2} * pitch, u64{2} * n, m, groups},
      options);
  return out;
}

LaunchPlan plan_of(const Product& product) {
  return plan_gemm(product, {.step = 8, .tile_m = 64, .tile_n = 16, .stages = 2}, 4);
}

}  // namespace

TEST_CASE("a walk meets every tile of every group once, block by block") {
  const std::vector<std::vector<u32>> all_rows = {{200, 0, 56, 192}, {3, 0, 64}, {0, 0},
                                                  {0, 0, 1},         {700},      {64, 65, 128, 1, 0, 0, 257}};
  for (const auto& rows : all_rows) {
    for (const bool swapped : {false, true}) {
      for (const u32 cluster : {1u, 2u}) {
        for (const u32 shift : {0u, 1u, 3u}) {
          for (const u32 blocks : {1u, 3u, 132u}) {
            const MachineConfig config{.tile_m = 64,
                                       .tile_n = 24,
                                       .cluster_m = cluster,
                                       .swapped = swapped,
                                       .grouping = Grouping::masked};
            GemmArguments g = {};
            g.m = 1000;
            g.n = 150;
            g.k = 128;
            g.raster_shift = shift;
            g.groups = static_cast<u32>(rows.size());
            g.group_table = rows.data();
            const std::vector<Visit> order = looped(rows, g.n, 64 * cluster, 24, shift, swapped);
            std::size_t wrong = 0;
            machine::LaunchOptions options;
            machine::GlobalMemory memory;
            memory.add("group_table", rows.data(), 4 * rows.size(), machine::GlobalMemory::Access::read);
            options.memory = &memory;
            options.threads = 1;
            machine::launch(
                {1, 1}, {1, 1}, 1, 0,
                [&](int) {
                  for (u32 block = 0; block < blocks; ++block) {
                    std::vector<Visit> expected;
                    for (std::size_t i = block; i < order.size(); i += blocks) expected.push_back(order[i]);
                    wrong += walked(config, g, block, blocks) != expected;
                  }
                },
                0, options);
            INFO(rows.size() << " groups, swapped " << swapped << ", cluster " << cluster << ", shift "
                             << shift << ", " << blocks << " blocks");
            CHECK(wrong == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("groups are found from indices and from ends, and rows between them become zero") {
  // 200 rows of group 0, a block of padding, 5 of group 2; group 1 and 3 have none
  std::vector<i32> indices(512 + 37, -1);
  std::fill_n(indices.begin(), 200, 0);
  std::fill_n(indices.begin() + 384, 5, 2);
  const u32 m = static_cast<u32>(indices.size()), n = 21, pitch = 24;
  const Found by_rows = found(indices, false, m, 4, n, pitch);
  CHECK(by_rows.table == std::vector<u32>{0, 200, 0, 0, 384, 389, 0, 0});
  const Found by_ends = found({200, 200, 261, 261}, true, m, 4, n, pitch);
  CHECK(by_ends.table == std::vector<u32>{0, 200, 0, 0, 256, 261, 0, 0});
  u32 wrong = 0;
  for (u32 row = 0; row < m; ++row) {
    for (u32 column = 0; column < pitch; ++column) {
      const auto expected = [&](bool padding) { return padding && column < n ? 0 : 0xffff; };
      wrong += by_rows.d[row * pitch + column] != expected(indices[row] < 0);
      wrong += by_ends.d[row * pitch + column] != expected(!(row < 200 || (row >= 256 && row < 261)));
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("along K each group begins with a K block of its own, and an empty one has a block of zeros") {
  const LaunchPlan plan = plan_of({.form = {.grouping = Grouping::along_k, .b_scale_per_row = true},
                                   .m = 2,
                                   .n = 1,
                                   .k = 331,
                                   .groups = 4,
                                   .k_sizes = {200, 0, 1, 130}});
  CHECK(plan.k_blocks() == 2 + 1 + 1 + 2);
  std::vector<u8> a(2 * 331), b(331);
  std::iota(a.begin(), a.end(), u8{0});
  std::fill(b.begin(), b.end(), u8{0x38});
  const std::vector<float> a_scale = {1, 2, 3, 4, 5, 11, 12, 13, 14, 15}, b_scale = {21, 22, 23, 24, 25};
  GemmOperands operands{a, a_scale, b, b_scale};
  const ArrangedOperands to = arranged(plan, operands);
  CHECK(to.group_table == std::vector<u32>{0, 2, 2, 1, 3, 1, 4, 2});
  const auto code = [&](u64 row, u64 column) { return to.a[row * plan.a_stride + column]; };
  CHECK(code(1, 199) == static_cast<u8>(331 + 199));
  CHECK(code(1, 200) == 0);
  CHECK(code(1, 3 * 128) == static_cast<u8>(331 + 200));
  CHECK(code(1, 3 * 128 + 1) == 0);
  CHECK(code(1, 4 * 128 + 129) == static_cast<u8>(331 + 330));
  std::vector<float> second;
  for (u64 block = 0; block < 6; ++block) second.push_back(to.a_scale[block * plan.a_scale_stride + 1]);
  CHECK(second == std::vector<float>{11, 12, 0, 13, 14, 15});
  CHECK(plan.a_scale_stride == 4);
}

TEST_CASE("scales of each group take a multiple of four places") {
  const LaunchPlan plan =
      plan_of({.form = {.grouping = Grouping::batched}, .m = 3, .n = 8, .k = 256, .groups = 2});
  std::vector<float> scales(12);
  std::iota(scales.begin(), scales.end(), 1.0f);
  CHECK(transposed_scales(scales, 2, 3, 2, plan.a_scale_stride) ==
        std::vector<float>{1, 3, 5, 0, 7, 9, 11, 0, 2, 4, 6, 0, 8, 10, 12, 0});
}

TEST_CASE("a kernel that writes past a mask is found out") {
  const LaunchPlan plan =
      plan_of({.form = {.grouping = Grouping::masked}, .m = 4, .n = 8, .k = 128, .groups = 2});
  const std::vector<i32> counts = {1, 3};
  GemmOperands operands;
  operands.groups = counts;
  std::vector<u8> d(plan.d_bytes(), 0xff);
  std::fill_n(d.begin(), 16, u8{1});
  std::fill_n(d.begin() + 4 * 16, 3 * 16, u8{2});
  const std::vector<u8> result = result_of(plan, operands, d);
  CHECK(std::count(result.begin(), result.end(), 0) == 16 * (3 + 1));
  d[2 * 16 + 5] = 0;
  CHECK_THROWS_WITH(result_of(plan, operands, d),
                    contains_text("has written row 2 of group 0 of d, past the mask's 1"));
}
