// `explain`: the promised JSON, values recomputed here from the formats' definitions, and the text's landmarks.
#include <cmath>
#include <cstdio>

#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"

using namespace fp8twin::test;
using nlohmann::json;

namespace {

json explain(const std::string& arguments) { return answer("explain " + arguments); }
std::string text(const std::string& arguments) { return succeeds("explain " + arguments); }
void refused(const std::string& arguments, const std::string& part) { refuses("explain " + arguments, part); }

}  // namespace

TEST_CASE("explain e4m3: every field of a code") {
  const json e = explain("e4m3 0x7e");
  CHECK(e["code"] == "0x7e");
  CHECK(e["value"] == 448);
  CHECK(e["sign"] == 0);
  CHECK(e["exponent_field"] == 15);
  CHECK(e["exponent"] == 8);
  CHECK(e["significand"] == 14);
  CHECK(e["formula"] == "1.75 * 2^8 = 448");
  CHECK_THAT(text("e4m3 0x7e"),
             contains_text("0   1111       110") && contains_text("1111b = 15, less the bias 7: 8"));
}

TEST_CASE("explain e4m3: values by the definition of the format") {
  for (const int code : {0x00, 0x01, 0x07, 0x08, 0x38, 0x3f, 0x72, 0x80, 0x81, 0x87, 0x88, 0xb8, 0xfe}) {
    char argument[16];
    std::snprintf(argument, sizeof argument, "e4m3 0x%02x", static_cast<unsigned>(code));
    const int field = code >> 3 & 15, fraction = code & 7;
    const double magnitude = field ? std::ldexp(8 + fraction, field - 10) : std::ldexp(fraction, -9);
    INFO(argument);
    const json e = explain(argument);
    CHECK(e["value"] == (code & 0x80 ? -magnitude : magnitude));
    CHECK(e["class"] == (field ? "normal" : fraction ? "subnormal" : "zero"));
  }
  CHECK(explain("e4m3 0x7f")["value"] == "NaN");
  CHECK(explain("e4m3 0xff")["value"] == "NaN");
  CHECK(std::signbit(explain("e4m3 0x80")["value"].get<double>()));
}

TEST_CASE("explain takes a decimal through binary32, once") {
  const json e = explain("e4m3 0.1");
  CHECK(e["input"]["bits"] == "0x3dcccccd");
  CHECK(e["code"] == "0x1d");
  CHECK(explain("f32 1e-50")["code"] == "0x00000000");
  CHECK(explain("f32 1e60")["code"] == "0x7f800000");
  CHECK(explain("f32 -1e60")["code"] == "0xff800000");
  CHECK(explain("f32 1e-45")["code"] == "0x00000001");
  // The halfway point of 1 and 1 + 2^-23 with a digit beyond a double's reach: through a double it would tie to even.
  CHECK(explain("f32 1.00000005960464477539062500000001")["code"] == "0x3f800001");
  CHECK(explain("f32 1.000000059604644775390625")["code"] == "0x3f800000");
  CHECK(explain("f32 0x1")["code"] == "0x00000001");
  refused("f32 1.5x", "'1.5x' is not a number");
  refused("f32 ' 1'", "is not a number");
  refused("f32 ''", "is not a number");
  refused("f32 1e", "is not a number");
  refused("f32 'nan(1)'", "is not a number");
  refused("f32 -0x1", "is not a number");
  refused("f32 0x1p3", "is not a bit pattern");
  refused("f32 0x", "is not a bit pattern");
  refused("f32 0x100000000", "more than 32 bits");
  refused("e4m3 0x100", "more than 8 bits");
  refused("bf16 0x10000", "more than 16 bits");
}

TEST_CASE("explain e5m2, bf16, f32 and e8m0") {
  CHECK(explain("e5m2 0x7b")["value"] == 57344);
  CHECK(explain("e5m2 0x7c")["value"] == "inf");
  CHECK(explain("e5m2 0xfc")["value"] == "-inf");
  CHECK(explain("e5m2 0x7d")["value"] == "NaN");
  CHECK(explain("e5m2 0x01")["value"] == std::ldexp(1, -16));
  CHECK(explain("bf16 0x3f80")["value"] == 1);
  CHECK(explain("bf16 0.1")["code"] == "0x3dcd");
  CHECK(explain("bf16 nan")["code"] == "0x7fff");
  CHECK(explain("bf16 0x0001")["value"] == std::ldexp(1, -133));
  CHECK(explain("f32 0x7f7fffff")["value"] == std::ldexp(16777215.0, 104));
  CHECK(explain("f32 0x00000001")["value"] == std::ldexp(1, -149));
  CHECK(explain("e8m0 0x7f")["value"] == 1);
  CHECK(explain("e8m0 0x00")["value"] == std::ldexp(1, -127));
  CHECK(explain("e8m0 0xff")["value"] == "NaN");
  CHECK(explain("e8m0 4.1")["code"] == "0x82");
  CHECK(explain("e8m0 4")["code"] == "0x81");
  refused("e8m0 -1", "-1 is negative");
}

TEST_CASE("explain encode: both casts at the corners") {
  const auto codes = [](const std::string& value) {
    const json e = explain("encode " + value);
    return e["code"].get<std::string>() + " " + e["code_nonsaturating"].get<std::string>();
  };
  CHECK(codes("464") == "0x7e 0x7e");
  CHECK(codes("464.00003") == "0x7e 0x7f");
  CHECK(codes("-464.00003") == "0xfe 0xff");
  CHECK(codes("inf") == "0x7e 0x7f");
  CHECK(codes("nan") == "0x7f 0x7f");
  CHECK(codes("-0") == "0x80 0x80");
  CHECK(codes("0.0009765625") == "0x00 0x00");
  CHECK(codes("0.0009765626") == "0x01 0x01");
  CHECK(codes("1.0625") == "0x38 0x38");
  CHECK(codes("1.1875") == "0x3a 0x3a");
  CHECK(codes("0x43e80001") == "0x7e 0x7f");
}

TEST_CASE("explain encode: neighbours and ties") {
  const json tie = explain("encode 1.0625");
  CHECK(tie["tie"] == true);
  CHECK(tie["exact"] == false);
  CHECK(tie["neighbours"] == json::parse(R"([{"code":"0x38","value":1},{"code":"0x39","value":1.125}])"));
  CHECK_THAT(text("encode 1.0625"), contains_text("a tie, so the even code wins"));
  const json exact = explain("encode -448");
  CHECK(exact["exact"] == true);
  CHECK(exact["tie"] == false);
  CHECK(exact["neighbours"].size() == 1);
  CHECK(explain("encode 464")["tie"] == true);
  CHECK(explain("encode 464.00003")["tie"] == false);
  CHECK_THAT(text("encode 464.00003"), contains_text("464: the value lies past it"));
  CHECK_THAT(text("encode 1e9"), contains_text("past the whole grid"));
}

TEST_CASE("explain descriptor") {
  const json d = explain("descriptor 0x4000004000010040");
  CHECK(d["descriptor"] == "0x4000004000010040");
  CHECK(d["start_address"] == 1024);
  CHECK(d["leading_byte_offset"] == 16);
  CHECK(d["stride_byte_offset"] == 1024);
  CHECK(d["base_offset"] == 0);
  CHECK(d["swizzle"] == "128B");
  CHECK(d["unused_bits"] == "0x0000000000000000");
  CHECK(explain("descriptor 0x8000000000000000")["swizzle"] == "64B");
  CHECK(explain("descriptor 0xc00e000000000000")["swizzle"] == "32B");
  CHECK(explain("descriptor 0xc00e000000000000")["base_offset"] == 7);
  CHECK(explain("descriptor 0x0")["swizzle"] == "none");
  CHECK(explain("descriptor 0x3fff")["start_address"] == 0x3fff0);
  CHECK(explain("descriptor 0xffffffffffffffff")["unused_bits"] == "0x3ff1c000c000c000");
  CHECK_THAT(text("descriptor 0x4000"), contains_text("0x0000000000004000 are set"));
  refused("descriptor 64", "is not a bit pattern");
  refused("descriptor 0x10000000000000000", "more than 64 bits");
}

TEST_CASE("explain dot: Hopper's thirteen bits") {
  const json e = explain("dot '448*448 + 31*(2*2)'");
  CHECK(e["E"] == 16);  // 448 = 1.75 * 2^8
  REQUIRE(e["terms"].size() == 33);
  CHECK(e["terms"][0]["aligned"] == 200704 / 8);  // the grid is 2^(16 - 13)
  CHECK(e["terms"][1]["aligned"] == 0);
  CHECK(e["terms"][31]["a"] == "0x40");
  CHECK(e["terms"][32]["c"] == "0x00000000");
  CHECK(e["sum"] == 25088);
  CHECK(e["result"] == 200704);
  CHECK(e["result_bits"] == "0x48440000");
  CHECK(e["exact"] == 200828);
  CHECK_THAT(text("dot '448*448 + 31*(2*2)'"), contains_text("1..31") && contains_text("off by -124"));
}

TEST_CASE("explain dot: C, what-if bits, special values") {
  CHECK(explain("dot '448*448 + 31*(2*2)' --fraction-bits 25")["result"] == 200828);
  CHECK(explain("dot '448*448 + 31*(2*2)' --c 200")["sum"] == 25088 + 25);
  CHECK(explain("dot '448*448 + 31*(2*2)' --c 200")["result"] == 200896);  // 200904 needs 14 fraction bits
  CHECK(explain("dot 1*1 --c 0x3f800000")["result"] == 2);
  CHECK(explain("dot 1*1 --c 1e-45")["exact_rest"] == std::ldexp(1, -149));
  CHECK(explain("dot 0*448 --c -0")["result_bits"] == "0x00000000");
  CHECK(explain("dot 0*448 --c -0")["E"].is_null());
  CHECK(explain("dot 'nan*1'")["result_bits"] == "0x7fffffff");
  CHECK(explain("dot '0xff*0'")["result_bits"] == "0x7fffffff");
  CHECK(explain("dot 1*1 --c nan")["result_bits"] == "0x7fffffff");
  CHECK(explain("dot 1*1 --c -inf")["result"] == "-inf");
  refused("dot 1*1 --fraction-bits 41", "41 is out of range");
  refused("dot 1*1 --c x", "--c: 'x' is not a number");
  refused("e4m3 1 --c 1", "belong to 'dot' only");
}

TEST_CASE("explain dot: the grammar") {
  const auto result = [](const std::string& sum) {
    return explain("dot '" + sum + "'")["result"].get<double>();
  };
  CHECK(result("2*3") == 6);
  CHECK(result(" 2 * 3 ") == 6);
  CHECK(result("-2*3 - 0.5*-4") == -4);
  CHECK(result("2*3-1*1+(4*1)") == 9);
  CHECK(result("0x38*0x40 - 3*(1*-1)") == 5);
  CHECK(result("-3*(1*1)") == -3);
  CHECK(result("1.25e-1*8 + 5e-1*2") == 2);
  CHECK(result("0x3e*1-0x3e*1") == 0);
  refused("dot '0.3*1'", "0.3 is no E4M3 value; needed is one, such as 0x29 = 0.28125 and 0x2a = 0.3125");
  refused("dot 'inf*1'", "inf is no E4M3 value");
  refused("dot '500*1'", "500 is no E4M3 value");
  refused("dot '1*1*1'", "found '*1'");
  refused("dot '1'", "found the end where '*' is needed");
  refused("dot '1*'", "found the end where a number is needed");
  refused("dot '1*1 +'", "a number is needed");
  refused("dot '2*(1*1'", "')' is needed");
  refused("dot '33*(1*1)'", "33 is out of range");
  refused("dot '1.5*(1*1)'", "'1.5' is not a decimal integer");
  refused("dot '32*(1*1) + 1*1'", "more than 32 products");
  refused("dot '0x100*1'", "more than 8 bits");
}

TEST_CASE("explain names the nearest kind") {
  refused("e4m4 1", "no kind is called 'e4m4'; did you mean e4m3?");
  refused("fp16 1", "one of e4m3, e5m2");
}
