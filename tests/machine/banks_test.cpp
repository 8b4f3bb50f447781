// Bank conflicts, against a count made by hand: how many rounds of 32 banks a warp's access takes.
#include "emulator/machine/banks.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "emulator/layout/swizzle.hpp"
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;
using machine::BankNote;
using machine::extra_wavefronts;

namespace {

/// Serves the lanes' words in rounds, one word a bank and round, group by group; the rounds beyond one a group.
u32 rounds_beyond(const std::vector<u32>& addresses, u32 bytes) {
  const u32 lanes_together = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  u32 beyond = 0;
  for (std::size_t first = 0; first < addresses.size(); first += lanes_together) {
    std::set<u32> words;
    for (std::size_t l = first; l < std::min(first + lanes_together, addresses.size()); ++l) {
      for (u32 b = 0; b < bytes; b += 4) words.insert((addresses[l] + b) / 4);
    }
    u32 rounds = 0;
    for (; !words.empty(); ++rounds) {
      std::set<u32> busy;
      for (auto word = words.begin(); word != words.end();)
        word = busy.insert(*word % 32).second ? words.erase(word) : std::next(word);
    }
    beyond += rounds - 1;
  }
  return beyond;
}

u32 extra(const std::vector<u32>& addresses, u32 bytes) {
  return extra_wavefronts(addresses.data(), static_cast<u32>(addresses.size()), bytes);
}

std::vector<u32> strided(u32 lanes, u32 stride) {
  std::vector<u32> addresses;
  for (u32 lane = 0; lane < lanes; ++lane) addresses.push_back(1024 + lane * stride);
  return addresses;
}

}  // namespace

TEST_CASE("known patterns of 4-byte accesses") {
  CHECK(extra(strided(32, 4), 4) == 0);     // neighbours
  CHECK(extra(strided(32, 0), 4) == 0);     // one word for all: a broadcast
  CHECK(extra(strided(32, 8), 4) == 1);     // every other bank, twice
  CHECK(extra(strided(32, 128), 4) == 31);  // one bank for all
  CHECK(extra(strided(32, 132), 4) == 0);   // padded rows
}

TEST_CASE("known patterns of 16-byte accesses: eight lanes at once") {
  CHECK(extra(strided(32, 16), 16) == 0);
  CHECK(extra(strided(32, 32), 16) == 4);       // four groups, each twice
  CHECK(extra(strided(32, 128), 16) == 4 * 7);  // a column of a tile with rows of 128 bytes
  std::vector<u32> column = strided(8, 128);    // the same column, swizzled
  for (u32& address : column) address = swizzle(SwizzleMode::b128, address);
  CHECK(extra(column, 16) == 0);
}

TEST_CASE("every stride and width, and random addresses, against the count by rounds") {
  u32 state = 1;
  for (const u32 bytes : {4u, 8u, 16u}) {
    for (u32 stride = 0; stride <= 512; stride += bytes) {
      INFO("bytes " << bytes << ", stride " << stride);
      CHECK(extra(strided(32, stride), bytes) == rounds_beyond(strided(32, stride), bytes));
    }
    for (u32 i = 0; i < 300; ++i) {
      std::vector<u32> addresses(32);
      for (u32& address : addresses) {
        state = state * 1664525 + 1013904223;
        address = 1024 + (state >> 16) % (i + 2) * bytes;
      }
      CHECK(extra(addresses, bytes) == rounds_beyond(addresses, bytes));
    }
  }
}

TEST_CASE("a launch counts by line and by whole warps, summed over blocks") {
  const machine::LaunchReport report = run({.threads = 64, .shared_bytes = 16384, .grid = {3, 1}}, [] {
    const u32 at = dynamic_shared();
    for (u32 i = 0; i < 2; ++i) st_shared_u32(at + 8192 + 4 * tid_x(), 0);  // no conflict
    st_shared_u32(at + 128 * tid_x(), 1);                                   // one bank
    bar_sync(0, 64);
    if (tid_x() < 16) ld_shared_u32(at + 128 * tid_x());  // half a warp: not counted
  });
  REQUIRE(report.bank_notes.size() == 3);
  const auto note = [&](u32 extra_each) {
    return *std::find_if(report.bank_notes.begin(), report.bank_notes.end(), [&](const BankNote& n) {
      return n.accesses != 0 && n.extra_wavefronts == n.accesses * extra_each;
    });
  };
  CHECK(note(0).accesses == 3 * 2 * 2);
  CHECK(note(31).accesses == 3 * 2);
  CHECK(std::string(note(31).instruction) == "st.shared");
  CHECK_THAT(note(31).site.text(), contains_text("banks_test.cpp:"));
}

TEST_CASE("lanes that come in any order are one access of their warp") {
  for (const Turn turn : every_turn()) {
    const machine::LaunchReport report = run(
        {},
        [] {
          for (u32 i = 0; i < 10; ++i) {
            st_shared_u32(dynamic_shared() + 64 * tid_x(), i);
            if ((tid_x() * 7 + i) % 3 == 0) bar_arrive(1 + tid_x() % 2, 32);
          }
        },
        turn);
    REQUIRE(report.bank_notes.size() == 1);
    CHECK(report.bank_notes[0].accesses == 10);
    CHECK(report.bank_notes[0].extra_wavefronts == 10 * 15);
  }
}
