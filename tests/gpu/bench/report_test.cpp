// The table, the floors and the means that the benchmark prints.
#include "gpu/bench/report.hpp"

#include <algorithm>

#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;
using namespace fp8twin::bench;

namespace {

Summary at(double us) { return {us, us, us, 30}; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Twice as fast as cuBLASLt on a shape.
Row twice(const Shape& shape, double us) {
  return {shape, "some_config", at(us), at(2 * us), shape.m, {}, {}};
}

}  // namespace

TEST_CASE("floors: bytes for few rows, operations for many") {
  const Floors floors{4e12, 4e12, 1.5e15};
  const Shape decode{64, 7168, 16384}, prefill{8192, 8192, 8192};
  CHECK(floors.bytes_us(decode) == Approx(decode.bytes() / 4e6));
  CHECK(floors.us(decode) == floors.bytes_us(decode));
  CHECK(floors.us(prefill) == Approx(2.0 * 8192 * 8192 * 8192 / 1.5e9));
  CHECK(Floors{}.us(decode) == 0);  // nothing was measured
}

TEST_CASE("what a shape needs: 1.03 where the published kernel is slow and M large") {
  CHECK(needed_of(*figure_of({4096, 2112, 7168})) == 1.03);
  CHECK(needed_of(*figure_of({4096, 4096, 4096})) == 1.00);  // 1400 is not below 1400
  CHECK(needed_of(*figure_of({8192, 8192, 8192})) == 1.00);
  CHECK(needed_of(*figure_of({64, 2112, 7168})) == 1.00);
}

TEST_CASE("ratios and conclusions") {
  const Floors floors{4e12, 4e12, 1.5e15};
  std::vector<Row> rows = {twice({64, 7168, 16384}, 30), twice({128, 4096, 7168}, 12),
                           twice({1, 4096, 7168}, 9)};
  CHECK(ratio_of(rows[0]) == 2);
  CHECK(*of_published(rows[0]) == Approx(2 / 1.28));
  CHECK_FALSE(of_published(rows[2]));
  std::vector<std::string> lines = conclusions(floors, rows);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] ==
        "Geometric mean, M <= 128 (2 shapes): cuBLASLt's time over ours 2.000, 1.368 times the published "
        "ratio (aim: 1.10).");
  CHECK(lines[2] == "Geometric mean, decode (1 shapes): cuBLASLt's time over ours 2.000.");
  CHECK(lines[3] == "64x7168x16384 moves its bytes at 1.00 of the read-only stream's bandwidth (aim: 0.80).");
  rows.push_back(
      {{4096, 2112, 7168}, "slow", at(100), at(118), 4096, {}, Differences{0, 3, 0, 0}});  // 1.18 of 1.17
  lines = conclusions(floors, rows);
  CHECK(contains(lines[lines.size() - 3],
                 "4096x2112x7168 is at 1.009 times the published ratio, where 1.03 is the aim."));
  CHECK(contains(lines.back(), "on 1 shapes: 3 differ"));
  rows.back().ours = at(90);
  CHECK(conclusions(floors, rows).size() == lines.size() - 1);
}

TEST_CASE("where cuBLASLt splits K both of its times count, and are told apart") {
  const Floors floors{4e12, 4e12, 1.5e15};
  std::vector<Row> rows = {twice({64, 7168, 16384}, 30), twice({128, 4096, 7168}, 12)};
  rows[0].ascending = at(90);
  rows[0].differences = Differences{0, 0, 0, 77};
  CHECK(ratio_of(rows[0]) == 2);
  CHECK(ascending_ratio_of(rows[0]) == 3);
  CHECK(ascending_ratio_of(rows[1]) == 2);
  CHECK(*ascending_of_published(rows[0]) == Approx(3 / 1.28));
  const std::vector<std::string> lines = conclusions(floors, rows);
  CHECK(lines[0] ==
        "Geometric mean, M <= 128 (2 shapes): cuBLASLt's time over ours 2.000, 1.368 times the published "
        "ratio; "
        "where it may not split K 2.449, 1.675 times the published ratio (aim: 1.10).");
  CHECK(contains(lines[lines.size() - 2],
                 "splits K on 1 shapes: sums in another order, and other bits (77 elements)."));
  CHECK(contains(lines.back(),
                 "cuBLASLt without a split of K and the model compared element by element on 1 shapes: 0"));
}

TEST_CASE("the table: a row for each shape, as many cells as its head, padding and differences said") {
  const std::vector<Row> rows = {
      {{1, 4096, 7168}, "config_a", at(9), at(18), 16, {}, Differences{}},
      {{64, 7168, 16384}, "config_b", at(32), at(51.2), 64, at(64), Differences{1, 2, 3, 4}}};
  const Provenance provenance{"2026-12-01", "A card",          "1.2",     "13.0", "cuBLASLt 13.0.2",
                              "by hand",    "Nothing before.", "run --it"};
  const std::string text = markdown(provenance, {4e12, 3e12, 1.5e15}, rows);
  for (const char* part :
       {"A card, driver 1.2, CUDA 13.0, cuBLASLt 13.0.2; 2026-12-01.", "`run --it`", "4.00 TB/s", "3.00 TB/s",
        "1500 TFLOP/s", "18.00 (M 16)", "`config_a`", "| 0, 0, 0 |", "| 1, 2, 3; split 4 |", "bytes"}) {
    INFO(part);
    CHECK(contains(text, part));
  }
  std::size_t cells = 0, lines = 0;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    if (line.empty() || line[0] != '|') continue;
    const auto bars = static_cast<std::size_t>(std::count(line.begin(), line.end(), '|'));
    if (lines++ == 0) cells = bars;
    CHECK(bars == cells);
  }
  CHECK(lines == 4);
}

TEST_CASE("a generated part of a page is replaced, the rest kept") {
  const std::string page =
      "# Page\n<!-- BEGIN generated: table -->\nold\n<!-- END generated: table -->\nafter\n";
  const std::string once = with_generated(page, "table", "new\nlines\n");
  CHECK(once ==
        "# Page\n<!-- BEGIN generated: table -->\nnew\nlines\n<!-- END generated: table -->\nafter\n");
  CHECK(with_generated(once, "table", "new\nlines\n") == once);
  CHECK_THROWS_AS(with_generated(page, "other", ""), Error);
  CHECK_THROWS_AS(with_generated("<!-- BEGIN generated: table -->\n", "table", ""), Error);
}
