// shape:stride: what is read is printed again, nested coordinates, and every way to write it wrong.
#include "emulator/report/shape.hpp"

#include <array>
#include <set>

#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

std::int64_t at(const std::string& text, std::int64_t row, std::int64_t column) {
  return offset(parse_shape_stride(text), std::array{row, column});
}

void refused(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK_THROWS_WITH(parse_shape_stride(text), contains_text(part));
}

}  // namespace

TEST_CASE("shape:stride is read and printed") {
  for (const char* text : {"4:1", "(4):(1)", "(64,32):(32,1)", "((8,8),(16,2)):((16,256),(1,128))",
                           "(1,(2,(3,4))):(0,(0,(7,4611686018427387)))", "4611686018427387904:0"}) {
    CHECK(to_string(parse_shape_stride(text)) == text);
  }
  const ShapeMode mode = parse_shape_stride("(64,(32,2)):(32,(1,4096))");
  REQUIRE(mode.parts.size() == 2);
  CHECK(mode.parts[0] == ShapeMode{64, 32, {}});
  CHECK(mode.parts[1].parts[1] == ShapeMode{2, 4096, {}});
  CHECK(size(mode) == 64 * 64);
  CHECK(size(mode.parts[1]) == 64);
}

TEST_CASE("shape:stride: where a coordinate lies") {
  CHECK(at("(64,32):(32,1)", 3, 5) == 3 * 32 + 5);
  CHECK(at("(64,32):(1,64)", 3, 5) == 3 + 5 * 64);
  CHECK(at("(64,32):(0,1)", 63, 5) == 5);
  CHECK(offset(parse_shape_stride("5:7"), 4) == 28);
  // The first part runs fastest, at every level.
  const ShapeMode nested = parse_shape_stride("((2,3),(4,5)):((1,2),(6,24))");
  for (std::int64_t i = 0; i < 2 * 3 * 4 * 5; ++i) CHECK(offset(nested, i) == i);
}

TEST_CASE("shape:stride: core matrices are a layout of bytes") {
  const std::string text = "((8,8),(16,2)):((16,256),(1,128))";
  std::set<std::int64_t> seen;
  for (std::int64_t row = 0; row < 64; ++row) {
    for (std::int64_t k = 0; k < 32; ++k) {
      CHECK(at(text, row, k) == row % 8 * 16 + row / 8 * 256 + k % 16 + k / 16 * 128);
      seen.insert(at(text, row, k));
    }
  }
  CHECK(seen.size() == 64 * 32);
  CHECK(*seen.rbegin() == 64 * 32 - 1);
}

TEST_CASE("shape:stride: one sentence for each mistake") {
  refused("", "found its end after 0 characters; an integer from 1 to 2^62 is needed");
  refused("4", "found its end after 1 characters; ':' is needed");
  refused("4:", "an integer from 0 to 2^62 is needed");
  refused("0:1", "an integer from 1 to 2^62");
  refused("4:-1", "found '-1' after 2 characters");
  refused("():()", "found '):()' after 1 characters");
  refused("(4,2):(1)", "found ')' after 8 characters; ',' is needed");
  refused("(4):(1,2)", "')' is needed");
  refused("(4,2):1", "'(' is needed");
  refused("4:(1)", "an integer from 0");
  refused("(4,2:(1,4)", "found ':(1,4)'");
  refused("4:1 ", "its end is needed");
  refused(" 4:1", "an integer from 1");
  refused("4x:1", "found 'x:1' after 1 characters; ':' is needed");
  refused("99999999999999999999:1", "an integer from 1 to 2^62");
  refused("(4611686018427387904,2):(1,1)", "elements past 2^62");
  refused("(2,2):(4611686018427387904,1)", "elements past 2^62");
  refused("3:4611686018427387904", "elements past 2^62");
  refused(std::string(40, '(') + "1", "at most 16 brackets");
}
