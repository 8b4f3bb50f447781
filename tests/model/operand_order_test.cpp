// Orders of operands: their names, which memory an FP8 tensor core can read, and the sentence for every other.
#include "emulator/model/operand_order.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

const std::vector<std::uint8_t> codes(300 * 200);

KMajorCodes read(OperandOrder order, const char* name, std::int64_t rows, std::int64_t columns,
                 std::int64_t row_stride, std::int64_t column_stride) {
  return k_major_codes(order, name, {codes, rows, columns, row_stride, column_stride});
}

void same(const KMajorCodes& found, std::int64_t rows, std::int64_t k, std::int64_t stride) {
  CHECK((found.rows == rows && found.k == k && found.stride == stride));
  CHECK(found.data == codes.data());
}

}  // namespace

TEST_CASE("order names are BLAS's letters, of A and of B") {
  for (const OperandOrder order : {OperandOrder::nt, OperandOrder::nn, OperandOrder::tn, OperandOrder::tt}) {
    CHECK(order_from_name(order_name(order)) == order);
    CHECK(a_is_k_first(order) == (order_name(order)[0] == 't'));
    CHECK(b_is_k_first(order) == (order_name(order)[1] == 'n'));
  }
  CHECK_FALSE(order_from_name("tq"));
}

TEST_CASE("K contiguous is taken under every name, with any stride between rows") {
  same(read(OperandOrder::nt, "a", 300, 200, 200, 1), 300, 200, 200);
  same(read(OperandOrder::nt, "b", 100, 200, 256, 1), 100, 200, 256);
  same(read(OperandOrder::nn, "b", 200, 300, 1, 200), 300, 200, 200);  // [K, N], column by column
  same(read(OperandOrder::tn, "a", 200, 300, 1, 200), 300, 200, 200);
  same(read(OperandOrder::tt, "a", 200, 100, 1, 512), 100, 200, 512);
  same(read(OperandOrder::tt, "b", 100, 200, 200, 1), 100, 200, 200);
}

TEST_CASE("extents of one and none leave K contiguous") {
  same(read(OperandOrder::nn, "b", 200, 1, 1, 1), 1, 200, 1);    // one column
  same(read(OperandOrder::nn, "b", 1, 300, 300, 1), 300, 1, 1);  // K = 1
  same(read(OperandOrder::nn, "b", 0, 300, 300, 1), 300, 0, 1);  // K = 0
  same(read(OperandOrder::nn, "b", 200, 0, 0, 1), 0, 200, 1);    // N = 0
  same(read(OperandOrder::tn, "a", 1, 300, 7, 9), 300, 1, 9);
}

TEST_CASE("K not contiguous is a sentence: operand, order found, why, and what to do") {
  CHECK_THROWS_WITH(
      read(OperandOrder::nn, "b", 200, 300, 300, 1),
      contains_text("operand 'b' of gemm_nn is [K, N] = [200, 300] with strides [300, 1], N contiguous"));
  CHECK_THROWS_WITH(read(OperandOrder::nn, "b", 200, 300, 300, 1),
                    contains_text("(only 16-bit types may be MN-major)"));
  CHECK_THROWS_WITH(
      read(OperandOrder::nn, "b", 200, 300, 300, 1),
      contains_text("transpose() its codes to [N, K] once, 128x128 scales likewise, and call gemm_nt"));
  CHECK_THROWS_WITH(read(OperandOrder::tn, "a", 200, 300, 300, 1), contains_text("call gemm_nn"));
  CHECK_THROWS_WITH(read(OperandOrder::tn, "b", 200, 300, 300, 1), contains_text("call gemm_tt"));
  CHECK_THROWS_WITH(read(OperandOrder::nt, "a", 300, 200, 1, 300), contains_text("call gemm_nt"));
  CHECK_THROWS_WITH(read(OperandOrder::nt, "a", 10, 20, 400, 2),
                    contains_text("neither dimension contiguous"));
  CHECK_THROWS_WITH(read(OperandOrder::nn, "b", 200, 1, 2, 1), contains_text("N contiguous"));
}

TEST_CASE("views are checked against their spans") {
  CHECK_THROWS_WITH(read(OperandOrder::nt, "a", 301, 200, 200, 1),
                    contains_text("over 60000 codes; needed are 60200"));
  CHECK_NOTHROW(read(OperandOrder::nt, "a", 300, 200, 200, 1));
  CHECK_THROWS_WITH(read(OperandOrder::nt, "a", -1, 200, 200, 1), contains_text("has -1 rows"));
  CHECK_THROWS_WITH(read(OperandOrder::nt, "a", 3, 200, -200, 1), contains_text("a stride of -200"));
  CHECK_THROWS_WITH(read(OperandOrder::nt, "a", 0x7fffffff, 0x7fffffff, 0x7fffffff, 1),
                    contains_text("needed are"));
  CHECK_THROWS_WITH(k_major_codes(OperandOrder::nt, "b", {{}, 1, 1, 1, 1}), contains_text("over 0 codes"));
}
