// A value rounded to E4M3: its two neighbours, the halfway point between them, and what each kind of cast makes of it.
#include <fmt/core.h>

#include <cmath>

#include "emulator/cli/explain.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/number/e4m3.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::uint32_t largest = 0x7e;
constexpr double past_largest =
    480;  // where 0x7f would lie if it were a number: the grid's next point decides the tie

double grid(std::uint32_t magnitude) {
  return magnitude <= largest ? decode(e4m3_format, magnitude) : past_largest;
}

/// Where |x| lies between consecutive points of the grid.
struct Place {
  std::uint32_t low = 0;  // magnitude code of the largest point <= |x|
  bool beyond = false;    // |x| >= 480: no point above
  bool exact = false;
  double halfway = 0;
};

Place place_of(double magnitude) {
  Place place;
  place.beyond = magnitude >= past_largest;
  while (place.low < largest && grid(place.low + 1) <= magnitude) ++place.low;
  place.exact = grid(place.low) == magnitude;
  place.halfway = (grid(place.low) + grid(place.low + 1)) / 2;
  return place;
}

std::string code_text(E4M3 code) { return fmt::format("{} = {}", hex(code.code, 2), decimal(code.value())); }

std::string neighbours_text(const Place& place, std::uint8_t sign) {
  const auto at = [sign](std::uint32_t magnitude) {
    return code_text({static_cast<std::uint8_t>(magnitude | sign)});
  };
  if (place.exact) return "none needed: the value is " + at(place.low);
  if (place.beyond) return at(largest) + " is the last; the value lies past the whole grid";
  if (place.low < largest) return at(place.low) + " and " + at(place.low + 1);
  return fmt::format("{} and {}480, the grid's next point, whose code is NaN", at(largest), sign ? "-" : "");
}

std::string halfway_text(const Place& place, double x) {
  const double halfway = std::copysign(place.halfway, x);
  if (std::abs(x) != place.halfway) {
    return fmt::format("{}: the value lies {} it", decimal(halfway),
                       std::abs(x) > place.halfway ? "past" : "short of");
  }
  return fmt::format("{}: a tie, so the even code wins", decimal(halfway));
}

}  // namespace

std::string e4m3_neighbours(float x) {
  return neighbours_text(place_of(std::abs(static_cast<double>(x))), std::signbit(x) ? 0x80 : 0);
}

Explanation explain_encode(const std::string& value) {
  const float x = is_bit_pattern(value)
                      ? f32_from_bits(static_cast<std::uint32_t>(parse_bits("explain encode", value, 32)))
                      : parse_f32("explain encode", value);
  const E4M3 saturating = E4M3::satfinite(x), plain = E4M3::nonsaturating(x);

  Explanation result;
  result.text = fmt::format("{} to E4M3\n\n", value);
  result.text += line("binary32", fmt::format("{} = {}", hex(f32_bits(x), 8), decimal(x)));
  result.answer = {{"input", {{"bits", hex(f32_bits(x), 8)}, {"value", number(x)}}},
                   {"code", hex(saturating.code, 2)},
                   {"value", number(saturating.value())},
                   {"code_nonsaturating", hex(plain.code, 2)},
                   {"value_nonsaturating", number(plain.value())}};
  if (is_nan(x)) {
    result.text += line("NaN", "has no neighbours, and every NaN becomes the one positive code");
  } else {
    const Place place = place_of(std::abs(static_cast<double>(x)));
    const bool tie = !place.exact && std::abs(static_cast<double>(x)) == place.halfway;
    const std::uint8_t sign = std::signbit(x) ? 0x80 : 0;
    result.text += line("neighbours", neighbours_text(place, sign));
    if (!place.exact && !place.beyond) result.text += line("halfway", halfway_text(place, x));
    result.answer["exact"] = place.exact;
    result.answer["tie"] = tie;
    result.answer["neighbours"] = Json::array();
    for (std::uint32_t magnitude = place.low;
         magnitude <= std::min(place.low + (place.exact ? 0u : 1u), largest); ++magnitude) {
      const E4M3 code{static_cast<std::uint8_t>(magnitude | sign)};
      result.answer["neighbours"].push_back({{"code", hex(code.code, 2)}, {"value", number(code.value())}});
    }
  }
  result.text +=
      "\n" + line("saturating", code_text(saturating) + "   the GPU's cvt.rn.satfinite.e4m3x2.f32");
  result.text +=
      line("non-saturating",
           code_text(plain) + (saturating == plain ? "   the plain cast of frameworks: the same"
                                                   : "   the plain cast of frameworks: past 464 comes NaN"));
  return result;
}

}  // namespace fp8twin::cli
