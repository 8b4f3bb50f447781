// The element behind an index of d, for kinds of problems whose indices are not one matrix.
#include "emulator/report/element.hpp"

#include "tests/catch.hpp"
#include "tests/report/small_problem.hpp"

using namespace fp8twin;
using test::SmallProblem;

TEST_CASE("a dense problem: every row and column") {
  const SmallProblem small(5, 260, 300);
  const Problem problem = small.problem();
  const Elements elements(problem);
  REQUIRE(elements.ranges().size() == 1);
  CHECK(elements.count() == 5 * 260);
  const Element e = elements.at(3 * 260 + 257);
  CHECK((e.a == small.a_row(3) && e.b == small.b_row(257) && e.k == 300 && e.k_blocks() == 3));
  CHECK((e.block_length(1) == 128 && e.block_length(2) == 44));
  for (std::int64_t block = 0; block < 3; ++block)
    CHECK(e.scale(block) == small.sa(3, block) * small.sb(257, block));
  CHECK(!e.constant_scales());
  CHECK(e.c == nullptr);
}

TEST_CASE("masked: rows past the mask have no element") {
  const std::vector<std::uint8_t> a(2 * 4 * 128, 0x38), b(2 * 8 * 128, 0x38);
  const std::vector<float> a_scale{1, 2, 3, 4, 5, 6, 7, 8}, b_scale{10, 20};
  const std::vector<std::int32_t> masked{1, 3};
  TensorFile file;
  file.path = "masked";
  file.tensors = {tensor_of<std::uint8_t>("a", DType::f8_e4m3, {2, 4, 128}, a),
                  tensor_of<float>("a_scale", DType::f32, {2, 4, 1}, a_scale),
                  tensor_of<std::uint8_t>("b", DType::f8_e4m3, {2, 8, 128}, b),
                  tensor_of<float>("b_scale", DType::f32, {2, 1, 1}, b_scale),
                  tensor_of<std::int32_t>("masked_m", DType::i32, {2}, masked)};
  const Problem problem = read_problem(file);
  const Elements elements(problem);
  REQUIRE(elements.ranges().size() == 2);
  CHECK((elements.ranges()[0].begin == 0 && elements.ranges()[0].end == 8));
  CHECK((elements.ranges()[1].begin == 32 && elements.ranges()[1].end == 56));
  const Element e = elements.at(32 + 2 * 8 + 5);  // group 1, row 2, column 5
  CHECK((e.scale(0) == 7.0f * 20 && e.a == a.data() + 6 * 128 && e.b == b.data() + 13 * 128));
  CHECK(e.constant_scales());
}

TEST_CASE("the chain takes 32 at a time and fills a short step with zeros") {
  const SmallProblem small(4, 4, 300);
  for (std::int64_t count = 0; count <= 300; count += 20) {
    CHECK(chain(sm90, small.a_row(1), small.b_row(2), count, 3.25f) ==
          test::second_chain(small.a_row(1), small.b_row(2), count, 3.25f));
  }
}
