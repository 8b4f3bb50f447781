// Addresses of shared memory in a cluster: the rank in the top byte, and where dynamic memory begins.
#include "emulator/layout/shared_window.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("shared window: dynamic memory begins behind the system's kilobyte and the static variables") {
  STATIC_REQUIRE(dynamic_shared_address(0, 0) == 0x400);
  STATIC_REQUIRE(dynamic_shared_address(1, 0) == 0x01000400);
  STATIC_REQUIRE(dynamic_shared_address(0, 100) == 0x470);
  STATIC_REQUIRE(dynamic_shared_address(0, 112) == 0x470);
  STATIC_REQUIRE(dynamic_shared_address(0, 113) == 0x480);
}

TEST_CASE("shared window: mapa changes the rank and nothing else") {
  for (u32 rank = 0; rank < 16; ++rank) {
    for (u32 other = 0; other < 16; ++other) {
      for (u32 offset = 0; offset < shared_memory_end; offset += 0x3f0) {
        const u32 address = shared_address_of_rank(offset, rank);
        REQUIRE(rank_of_shared_address(address) == rank);
        REQUIRE(shared_address_of_rank(address, other) == other * 0x1000000 + offset);
        REQUIRE(shared_address_of_rank(shared_address_of_rank(address, other), rank) == address);
      }
    }
  }
}
