#include "emulator/number/scale_block.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("blocks of 128: the last one may be partial, none holds nothing") {
  CHECK(scale_blocks(0) == 0);
  CHECK(scale_blocks(1) == 1);
  CHECK(scale_blocks(128) == 1);
  CHECK(scale_blocks(129) == 2);
  CHECK(scale_blocks(300) == 3);
  CHECK(scale_blocks(std::int64_t{1} << 40) == std::int64_t{1} << 33);
}
