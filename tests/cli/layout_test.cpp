// `layout`: the promised JSON, the pictures' landmarks, and a sentence for each thing that cannot be.
#include <set>

#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"

using namespace fp8twin::test;
using nlohmann::json;

namespace {

json layout(const std::string& arguments) { return answer("layout " + arguments); }
std::string text(const std::string& arguments) { return succeeds("layout " + arguments); }
void refused(const std::string& arguments, const std::string& part) { refuses("layout " + arguments, part); }

}  // namespace

TEST_CASE("layout fragment: from a register to its element") {
  const json d = layout("fragment --n 256 --thread 77 --register 43");
  CHECK(d["row"] == 43);
  CHECK(d["column"] == 83);
  CHECK(d["warp"] == 2);
  CHECK(d["lane"] == 13);
  CHECK(d["n"] == 256);
  CHECK(d["operand"] == "d");
  CHECK(layout("fragment --n 8 --thread 127 --register 3")["row"] == 63);
  CHECK(layout("fragment --n 8 --thread 127 --register 3")["column"] == 7);
  const json a = layout("fragment --operand a --thread 77 --register 3 --byte 1");
  CHECK(a["row"] == 16 * 2 + 3 + 8);
  CHECK(a["column"] == 4 + 16 + 1);
  CHECK(a["byte"] == 1);
  CHECK_THAT(text("fragment --thread 77 --register 43"),
             contains_text("warp 2 of the warpgroup, lane 13") &&
                 contains_text("43 = 16 * 2 + 13/4 + 8 * (43/2 % 2)"));
}

TEST_CASE("layout fragment: from an element to its register, and back") {
  const json slot = layout("fragment --n 256 --row 25 --column 10");
  CHECK(slot["thread"] == 37);
  CHECK(slot["register"] == 6);
  for (const char* element : {"--row 0 --column 0", "--row 63 --column 31", "--row 17 --column 22"}) {
    const json there = layout(std::string("fragment --operand a ") + element);
    const json back = layout("fragment --operand a --thread " + there["thread"].dump() + " --register " +
                             there["register"].dump() + " --byte " + there["byte"].dump());
    CHECK(back == there);
  }
}

TEST_CASE("layout fragment: what does not exist") {
  refused("fragment --n 12 --thread 0 --register 0", "12 is no width of wgmma");
  refused("fragment --n 264 --thread 0 --register 0", "--n: 264 is out of range");
  refused("fragment --n 8 --thread 0 --register 4", "m64n8 has 4 of them, so one from 0 to 3 is needed");
  refused("fragment --n 8 --row 0 --column 8", "m64n8 has 8 of them");
  refused("fragment --thread 128 --register 0", "--thread: 128 is out of range");
  refused("fragment --operand a --thread 0 --register 4", "A has 4 of them");
  refused("fragment --operand a --row 0 --column 32", "A has 32 of them");
  refused("fragment --operand a --n 8 --row 0 --column 0", "--n belongs to --operand d");
  refused("fragment --thread 0 --register 0 --byte 1", "--byte belongs to --operand a");
  refused("fragment --operand a --row 0 --column 1 --byte 1", "--byte belongs to --register");
  refused("fragment --operand b --row 0 --column 0", "no fragment is called 'b'; d or a is needed");
  for (const char* half :
       {"", "--thread 1", "--row 1", "--thread 1 --row 1", "--thread 1 --register 1 --row 1"})
    refused(std::string("fragment ") + half,
            "either --thread with --register, or --row with --column is needed");
}

TEST_CASE("layout swizzle") {
  const auto address = [](const std::string& arguments) {
    return layout("swizzle " + arguments)["address"].get<std::string>();
  };
  CHECK(address("--mode 128B --base 0x480 --row 0 --byte 0") == "0x490");
  CHECK(address("--mode 128B --base 1152 --row 1 --byte 17") == "0x531");
  CHECK(address("--mode 128B --base 0x400 --row 0 --byte 0") == "0x400");
  CHECK(address("--mode 128B --base 0x400 --row 7 --byte 127") == "0x78f");
  CHECK(address("--mode 64B --base 0x400 --row 2 --byte 0") == "0x490");
  CHECK(address("--mode 32B --base 0x400 --row 4 --byte 31") == "0x48f");
  CHECK(address("--mode none --base 0x480 --row 2 --byte 3") == "0x583");
  CHECK_THAT(text("swizzle --base 0x480"), contains_text("000 ^ 001 = 001") && contains_text("0x490"));
  refused("swizzle --mode 64B --byte 64", "a row has 64 bytes with mode 64B, so one from 0 to 63 is needed");
  refused("swizzle --mode 16B", "no swizzle is called '16B'; one of none, 32B, 64B, 128B is needed");
  refused("swizzle --base 0x481", "--base: found 0x481; a multiple of 16 from 0 to 0x39000 is needed");
  refused("swizzle --base 0x100000000", "more than 32 bits");
  refused("swizzle --base -16", "-16 is out of range");
  refused("swizzle --base 0x38f80 --row 1", "byte 233472 lies past the shared memory of a block");
}

TEST_CASE("layout descriptor") {
  const json d = layout("descriptor --start 0x400 --leading 16 --stride 1024 --swizzle 128B");
  CHECK(d["descriptor"] == "0x4000004000010040");
  CHECK(d["start_address"] == 1024);
  CHECK_FALSE(d.contains("address"));
  CHECK(layout("descriptor --swizzle none --base-offset 7")["descriptor"] == "0x000e000000000000");
  const auto reads = [](const std::string& arguments) {
    return layout("descriptor --start 0x480 --stride 1024 " + arguments)["address"].get<std::string>();
  };
  CHECK(reads("--row 0") == "0x490");
  CHECK(reads("--row 0 --base-offset 1") == "0x480");
  CHECK(reads("--row 9 --k 17 --base-offset 1") == "0x901");
  CHECK(reads("--swizzle none --leading 128 --row 9 --k 17") == "0x911");
  CHECK_THAT(text("descriptor --start 0x480 --stride 1024 --row 0"), contains_text("0x480, swizzled 0x490"));
  refused("descriptor --stride 8", "--stride: found 8; a multiple of 16 from 0 to 0x3fff0 is needed");
  refused("descriptor --base-offset 8", "from 0 to 7 is needed");
}

TEST_CASE("layout tile: every chunk once, where layout swizzle says") {
  for (const std::string mode : {"none", "32B", "64B", "128B"}) {
    const json tile = layout("tile --mode " + mode + " --base 0x480 --rows 9");
    std::set<std::string> seen;
    REQUIRE(tile["chunks"].size() == 9);
    for (std::size_t row = 0; row < 9; ++row) {
      for (std::size_t chunk = 0; chunk < tile["chunks"][row].size(); ++chunk)
        seen.insert(tile["chunks"][row][chunk]);
    }
    CHECK(seen.size() == 9 * tile["width"].get<std::size_t>() / 16);
    CHECK(tile["conflict_ways"] == (mode == "none" ? 8 : 1));
    const json last = layout("swizzle --mode " + mode + " --base 0x480 --row 8 --byte 16");
    CHECK(tile["chunks"][8][1] == last["address"]);
  }
}

TEST_CASE("layout tile: shape:stride, printed and taken") {
  CHECK(layout("tile")["shape"] == "(8,128):(128,1)");
  CHECK(layout("tile")["swizzle"] == "Sw<3,4,3>");
  CHECK(layout("tile --mode 64B --rows 64 --width 256")["shape"] == "(64,(64,4)):(64,(1,4096))");
  CHECK(layout("tile --mode 128B --rows 64 --width 32")["shape"] == "(64,32):(128,1)");  // padded
  CHECK(layout("tile --mode none --rows 64 --width 32")["shape"] == "(64,32):(32,1)");
  const std::string core = "'((8,2),(16,2)):((16,256),(1,128))'";
  const json tile = layout("tile --mode none --base 0x400 --shape " + core);
  CHECK(tile["rows"] == 16);
  CHECK(tile["width"] == 32);
  CHECK(tile["conflict_ways"] == 1);
  CHECK(tile["chunks"][9][1] == "0x590");
  CHECK_THAT(text("tile --mode none --shape " + core),
             contains_text("0x80     0.1    1.1    2.1") && contains_text("no conflict"));
  CHECK_THAT(text("tile --base 0x480"), contains_text("0x480    0.1    0.0    0.3    0.2"));
}

TEST_CASE("layout tile: what is no tile") {
  refused("tile --shape '(8,128:(128,1)'", "shape:stride '(8,128:(128,1)': found ':(128,1)'");
  refused("tile --shape 8:1", "has 0 parts; two are needed");
  refused("tile --shape '(8,16,2):(16,1,128)'", "has 3 parts; two are needed");
  refused("tile --shape '(8,24):(32,1)'", "8 rows of 24 bytes");
  refused("tile --shape '(8,32):(33,1)'", "chunk 0 of row 1 is not 16 bytes on a multiple of 16");
  refused("tile --shape '(8,32):(32,2)'", "chunk 0 of row 0 is not 16 bytes");
  refused("tile --mode none --shape '(2,16):(0,1)'", "chunks 0.0 and 1.0 (row.chunk) both lie at 0x0");
  refused("tile --shape '(8,128):(128,1)' --rows 8", "--shape says rows and width already");
  refused("tile --width 200", "--width: found 200; a multiple of 16");
  refused("tile --width 0", "0 bytes are no row");
  refused("tile --mode 64B --width 96", "96 bytes are no whole rows of mode 64B");
  refused("tile --rows 4096", "past the shared memory of a block");
}

TEST_CASE("layout: the kind is a command of its own") {
  refused(
      "",
      "layout: no kind given; one of fragment, swizzle, descriptor, tile is needed (fp8twin layout --help)");
  refused("swizle", "no kind is called 'swizle'; did you mean swizzle?");
  refused("tile --bas 1",
          "layout tile: no option is called --bas; did you mean --base? (fp8twin layout tile --help)");
  CHECK_THAT(text("--help"), contains_text("fragment") && contains_text("Usage: fp8twin layout "));
  CHECK_THAT(text("tile --help"), contains_text("Usage: fp8twin layout tile ") && contains_text("Example:"));
  CHECK_THAT(succeeds("--help-all"), contains_text("--- fp8twin layout tile ---\n"));
}
