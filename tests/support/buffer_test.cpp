#include "emulator/support/buffer.hpp"

#include <cstdint>
#include <utility>

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("a buffer holds what is written to it, small or of many huge pages") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, (std::size_t{5} << 19) + 3}) {
    Buffer<std::uint32_t> buffer(size);
    REQUIRE(buffer.size() == size);
    REQUIRE(buffer.span().size() == size);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.span().data()) % 64 == 0);
    for (std::size_t i = 0; i < size; ++i) buffer.span()[i] = static_cast<std::uint32_t>(3 * i);
    const Buffer<std::uint32_t> moved = std::move(buffer);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < size; ++i) wrong += moved[i] != 3 * i;
    CHECK(wrong == 0);
    CHECK(&moved.span()[size - 1] == &moved[size - 1]);
  }
}

TEST_CASE("a buffer of nothing is empty") {
  const Buffer<float> none, zero(0);
  CHECK(none.span().empty());
  CHECK(zero.span().empty());
}
