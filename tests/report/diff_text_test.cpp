// What the text report says: verdict, counts, places, owners, causes.
#include "emulator/report/diff_text.hpp"

#include <limits>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

std::string text_of(const std::vector<float>& a, const std::vector<float>& b, Shape shape,
                    std::optional<TileShape> tile = {}) {
  const DiffSubject subject{"d", tensor_of<float>("d", DType::f32, shape, a),
                            tensor_of<float>("d", DType::f32, shape, b), tile, 0};
  return diff_text(subject, compare(subject.a, subject.b), nullptr);
}

DiffCause cause_of(std::int64_t tested, std::int64_t first, std::int64_t second) {
  DiffCause cause;
  cause.differing_tested = cause.sample_tested = tested;
  cause.scores = {{{"model"}, first, tested}, {{"multiply-then-add"}, second, tested}};
  cause.best = best_variant(cause.scores);
  return cause;
}

}  // namespace

TEST_CASE("values and bits") {
  CHECK((word_text(DType::bf16, 0x3fc0) == "1.5" && word_hex(DType::bf16, 0x3fc0) == "0x3fc0"));
  CHECK((word_text(DType::f8_e4m3, 0x7e) == "448" && word_hex(DType::f8_e4m3, 0x7e) == "0x7e"));
  CHECK((word_text(DType::f32, 0xffc00000u) == "NaN" && word_text(DType::f32, 0xff800000u) == "-inf" &&
         word_text(DType::f32, 0x80000000u) == "-0"));
  CHECK((word_text(DType::i32, 0xffffffffu) == "-1" && word_text(DType::u8, 255) == "255"));
}

TEST_CASE("equal and empty") {
  CHECK_THAT(text_of({1, 2}, {1, 2}, {2}), contains_text("d: equal, all 2 elements"));
  CHECK_THAT(text_of({}, {}, {0, 3}), contains_text("no elements"));
}

TEST_CASE("one difference, with its owner") {
  std::vector<float> a(64 * 128, 1.0f), b = a;
  b[3 * 128 + 17] = 1.0f + 0x1p-23f;
  const std::string text = text_of(a, b, {64, 128}, TileShape{});
  CHECK_THAT(text, contains_text("d: 1 of 8192 elements differ (0.0122 %), by at most 1 ULP"));
  CHECK_THAT(text, contains_text("at [3, 17]"));
  CHECK_THAT(text, contains_text("owner, for tiles of 64 x 128"));
  CHECK_THAT(text, contains_text("tile (0, 0), warpgroup 0, warp 0, lane 12, register 9"));
}

TEST_CASE("NaN and signed zeros have their own words") {
  const std::string text = text_of({std::numeric_limits<float>::quiet_NaN(), 0.0f}, {1.0f, -0.0f}, {2});
  CHECK_THAT(text, contains_text("1 of them with a NaN"));
  CHECK_THAT(text, contains_text("0 (-0 and +0)"));
}

TEST_CASE("the sentence about the cause") {
  CHECK(cause_of(0, 0, 0).sentence() == "nothing differs, so there is nothing to explain");
  CHECK(cause_of(10, 0, 10).sentence() == "b is reproduced by multiply-then-add in every element tested");
  CHECK_THAT(cause_of(10, 10, 3).sentence(), contains_text("it is a that departs"));
  CHECK_THAT(cause_of(10, 0, 7).sentence(), contains_text("in 7 of 10 differing"));
  CHECK(cause_of(10, 0, 2).sentence() == "no variant reproduces most of b's differing elements");
  DiffCause tie = cause_of(10, 0, 10);
  tie.scores.push_back({{"fp32-sums"}, 10, 10});
  CHECK(tie.sentence() ==
        "b is reproduced by multiply-then-add and by fp32-sums alike in every element tested");
  DiffCause fault = cause_of(10, 0, 2);
  fault.fault = Fault{FaultKind::block_left_out, 4, 9, 10};
  CHECK_THAT(fault.sentence(), contains_text("without K block 4, in 9 of 10"));
}
