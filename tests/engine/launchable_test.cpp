// A problem as the kernels see it: its form, its extents, rows and arrays of groups, for every kind.
#include "emulator/engine/launchable.hpp"

#include "tests/catch.hpp"
#include "tests/engine/grouped_problem.hpp"

using namespace fp8twin;
using test::Case;
using test::none;

namespace {

Problem problem(const Case& c) { return problem_of(c, Distribution::ones, 1); }

}  // namespace

TEST_CASE("forms: the kind's grouping, scales of B, c") {
  CHECK(product_form(Kind::dense_1d2d, 128, false) == ProductForm{});
  CHECK(product_form(Kind::dense_1d1d, 1, true) == ProductForm{Grouping::none, true, true});
  CHECK(product_form(Kind::batched, 128, false) == ProductForm{Grouping::batched});
  CHECK(product_form(Kind::contiguous, 1, false) == ProductForm{Grouping::contiguous, true});
  CHECK(product_form(Kind::masked, 128, false) == ProductForm{Grouping::masked});
  CHECK(product_form(Kind::k_grouped, 1, true) == ProductForm{Grouping::along_k, true, true});
}

TEST_CASE("products: extents, and the rows of each group that count where the host knows them") {
  struct Row {
    Case problem;
    i64 m, k, groups;
    std::vector<i64> rows, k_sizes;
  };
  const Row table[] = {
      {{"1d2d", "", 5, 8, 130}, 5, 130, 1, {}, {}},
      {{"batched", "3", 5, 8, 130}, 5, 130, 3, {}, {}},
      {{"contiguous", "200,0,56,192", none, 8, 130}, 640, 130, 4, {200, 0, 56, 192}, {}},
      {{"contiguous", "200,0,56,192", 624, 8, 130, none, "", false, true},
       624,
       130,
       4,
       {200, 0, 56, 192},
       {}},
      {{"contiguous", "128,0,1", none, 8, 130, none, "", false, true}, 256, 130, 3, {128, 0, 1}, {}},
      {{"contiguous", "0,7", none, 8, 130, none, "", false, false, "", "2,1,1"}, 640, 130, 2, {0, 7}, {}},
      {{"masked", "3,0,64", none, 8, 130, 70}, 70, 130, 3, {3, 0, 64}, {}},
      {{"k-grouped", "200,0,56", 5, 8, none}, 5, 256, 3, {}, {200, 0, 56}}};
  for (const Row& each : table) {
    INFO(each.problem.text());
    const Problem p = problem(each.problem);
    const Product product = product_of(p);
    CHECK(product.m == each.m);
    CHECK(product.n == 8);
    CHECK(product.k == each.k);
    CHECK(product.groups == each.groups);
    CHECK(product.rows == each.rows);
    CHECK(product.k_sizes == each.k_sizes);
    CHECK(product.form == product_form(p.kind, p.b_scale_rows, p.has_c));
  }
}

TEST_CASE("rows to expect where nobody knows them: all of each D, or an even share of contiguous ones") {
  CHECK(Product{.form = {}, .m = 7}.expected_rows() == std::vector<i64>{7});
  CHECK(Product{.form = {Grouping::masked}, .m = 7, .groups = 2}.expected_rows() == std::vector<i64>{7, 7});
  CHECK(Product{.form = {Grouping::contiguous}, .m = 7, .groups = 2}.expected_rows() ==
        std::vector<i64>{4, 4});
  CHECK(Product{.form = {Grouping::contiguous}, .m = 7, .groups = 0}.expected_rows().empty());
}

TEST_CASE("K blocks of a group along K: rounded up, one at least") {
  CHECK(k_blocks_taken(0) == 1);
  CHECK(k_blocks_taken(1) == 1);
  CHECK(k_blocks_taken(128) == 1);
  CHECK(k_blocks_taken(129) == 2);
}

TEST_CASE("operands: the problem's own arrays, and the one that says the groups") {
  const auto groups_of = [](const Problem& p) {
    const GemmOperands operands = operands_of(p);
    CHECK(operands.a.data() == p.a.data());
    CHECK(operands.b_scale.data() == p.b_scale.data());
    CHECK(operands.c.data() == p.c.data());
    CHECK(operands.by_ends == !p.group_ends.empty());
    return std::vector<i32>(operands.groups.begin(), operands.groups.end());
  };
  CHECK(groups_of(problem({"masked", "3,0,64", none, 8, 130, 70})) == std::vector<i32>{3, 0, 64});
  CHECK(groups_of(problem({"contiguous", "2,1", none, 8, 130, none, "", false, true})) ==
        std::vector<i32>{2, 129});
  CHECK(groups_of(problem({"contiguous", "2,1", 129, 8, 130})).size() == 129);
  CHECK(groups_of(problem({"batched", "3", 5, 8, 130})).empty());
  CHECK(groups_of(problem({"k-grouped", "3,5", 5, 8, none, none, "", true})).empty());

  Problem of_no_group;
  of_no_group.kind = Kind::contiguous;
  of_no_group.m = 5;
  CHECK(operands_of(of_no_group).by_ends);
}

TEST_CASE("more groups than a launch takes are a sentence") {
  Problem many;
  many.kind = Kind::batched;
  many.groups = most_groups;
  CHECK_NOTHROW(product_of(many));
  many.groups = most_groups + 1;
  CHECK_THROWS_WITH(product_of(many),
                    "has 65537 groups; the kernels take 65536 at most, engine model any number");
}
