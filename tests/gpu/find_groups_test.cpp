// find_groups on the machine against a loop over the rows: the table, whichever way the groups are said, and rows of D that are
// nobody's cleared, up to N and no further.
#include "gpu/kernels/find_groups.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;

namespace {

/// Groups of rows, each from a multiple of 128 on, `tail` rows more or fewer than the last one's block ends with.
struct Rows {
  std::vector<i32> group_of_row;  // -1: nobody's
  std::vector<i32> ends;
  u32 groups;

  /// `gap`: blocks of padding before each group, which ends cannot say.
  Rows(const std::vector<u32>& sizes, i32 tail, u32 gap = 0) : groups(static_cast<u32>(sizes.size())) {
    i32 end = 0;
    for (u32 group = 0; group < groups; ++group) {
      group_of_row.insert(group_of_row.end(), 128 * gap, -1);
      if (sizes[group] > 0) end = static_cast<i32>(group_of_row.size() + sizes[group]);
      ends.push_back(end);
      group_of_row.insert(group_of_row.end(), sizes[group], static_cast<i32>(group));
      while (group_of_row.size() % 128 != 0) group_of_row.push_back(-1);
    }
    const i64 rows = static_cast<i64>(group_of_row.size()) + tail;
    group_of_row.resize(static_cast<std::size_t>(rows), -1);
  }

  std::vector<u32> table() const {
    std::vector<u32> first_and_end(2 * groups);
    for (u32 row = 0; row < group_of_row.size(); ++row) {
      if (group_of_row[row] < 0) continue;
      u32* entry = &first_and_end[2 * static_cast<u32>(group_of_row[row])];
      if (entry[1] == 0) entry[0] = row;
      entry[1] = row + 1;
    }
    return first_and_end;
  }
};

void check(const Rows& rows, bool by_ends, u32 row_bytes, u32 gap, test::Turn turn) {
  constexpr u8 untouched = 0xab;
  const u32 m = static_cast<u32>(rows.group_of_row.size()), pitch = (row_bytes + 15) / 16 * 16 + 16 * gap;
  INFO(m << " rows of " << row_bytes << " bytes, " << pitch << " apart" << (by_ends ? ", by ends" : ""));
  const std::vector<i32>& said = by_ends ? rows.ends : rows.group_of_row;
  const std::vector<u32> words(said.begin(), said.end());
  std::vector<u32> table(2 * rows.groups);
  std::vector<u8> d(m * pitch, untouched);
  machine::GlobalMemory memory;
  memory.add("groups", words.data(), 4 * words.size(), machine::GlobalMemory::Access::read);
  memory.add("group_table", table.data(), 4 * table.size(), machine::GlobalMemory::Access::write);
  memory.add("d", d.data(), d.size(), machine::GlobalMemory::Access::write);
  const FindGroupsArguments arguments = {by_ends ? nullptr : words.data(),
                                         by_ends ? words.data() : nullptr,
                                         table.data(),
                                         d.data(),
                                         pitch,
                                         row_bytes,
                                         m,
                                         rows.groups};
  test::run(
      {.threads = 128, .shared_bytes = 0, .grid = {(m + 127) / 128, 1}, .memory = &memory},
      [&] { find_groups(MachineConfig{}, arguments); }, turn);
  CHECK(table == rows.table());
  u32 wrong = 0;
  for (u32 row = 0; row < m; ++row) {
    for (u32 byte = 0; byte < pitch; ++byte) {
      const bool cleared = rows.group_of_row[row] < 0 && byte < row_bytes;
      wrong += d[row * pitch + byte] != (cleared ? 0 : untouched);
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("the table and the cleared rows, by m_indices and by group_ends") {
  const std::vector<std::vector<u32>> lists = {
      {200, 0, 56, 192}, {0}, {0, 0, 0}, {1}, {128, 128}, {0, 300}, {127, 129, 0, 0, 64, 0}, {256, 1, 255}};
  u32 turns = 0;
  for (const std::vector<u32>& sizes : lists) {
    const u32 last = sizes.back(), padding = (last + 127) / 128 * 128 - last;
    for (const i32 tail : {0, 1, 200, -static_cast<i32>(padding)}) {  // the last one cuts the padding off
      const Rows rows(sizes, tail);
      if (rows.group_of_row.empty()) continue;
      for (const bool by_ends : {false, true}) {
        check(rows, by_ends, turns % 2 ? 40 : 34, turns % 3,
              test::every_turn()[turns % test::every_turn().size()]);
        ++turns;
      }
    }
  }
}

TEST_CASE("whole blocks of padding before and between groups") {
  for (const u32 gap : {1u, 2u}) {
    check(Rows({200, 0, 56}, 130, gap), false, 48, 0, {test::Schedule::random, gap});
    check(Rows({0, 0}, 7, gap), false, 48, 0, {test::Schedule::random, gap});
  }
}

TEST_CASE("rows of every width are cleared up to N: 16 bytes a lane, and what is left by twos") {
  const Rows rows({3}, -120);
  for (u32 row_bytes = 2; row_bytes <= 70; row_bytes += 2) {
    check(rows, true, row_bytes, row_bytes % 3, {test::Schedule::random, row_bytes});
  }
  for (const u32 row_bytes : {512u, 510u, 514u, 1030u, 2064u}) {
    check(rows, false, row_bytes, 1, {test::Schedule::latest, row_bytes});
  }
}
