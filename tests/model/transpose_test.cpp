// Transposition in blocks: every element where it belongs, for extents around the blocks', on any number of threads.
#include "emulator/model/transpose.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

template <class T>
bool turns(std::int64_t rows, std::int64_t columns, int threads) {
  std::vector<T> x(static_cast<std::size_t>(rows * columns)), y(x.size()), back(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 2654435761u >> 3);
  transpose_matrix<T>(rows, columns, x, y, threads);
  transpose_matrix<T>(columns, rows, y, back, threads);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (y[static_cast<std::size_t>(column * rows + row)] !=
          x[static_cast<std::size_t>(row * columns + column)])
        return false;
    }
  }
  return back == x;
}

}  // namespace

TEST_CASE("transpose: [rows, columns] to [columns, rows], and back") {
  for (const std::int64_t rows : {0, 1, 2, 63, 64, 65, 200}) {
    for (const std::int64_t columns : {0, 1, 7, 64, 129, 300}) {
      INFO(rows << " x " << columns);
      CHECK(turns<std::uint8_t>(rows, columns, 1));
      CHECK(turns<std::uint8_t>(rows, columns, 3));
      CHECK(turns<float>(rows, columns, 2));
    }
  }
}
