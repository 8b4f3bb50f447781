// FNV-1a against the values that its authors publish.
#include "emulator/support/fnv1a.hpp"

#include "tests/catch.hpp"

using fp8twin::Fnv1a;

namespace {

std::uint64_t hash_of(std::string_view text) {
  Fnv1a hash;
  hash.add(text);
  return hash.value();
}

}  // namespace

TEST_CASE("FNV-1a of nothing, of a letter and of a word") {
  CHECK(hash_of("") == 0xcbf29ce484222325u);
  CHECK(hash_of("a") == 0xaf63dc4c8601ec8cu);
  CHECK(hash_of("foobar") == 0x85944171f73967e8u);
}

TEST_CASE("a text in two pieces is the text; a word is its eight bytes") {
  Fnv1a pieces, word;
  pieces.add(std::string_view("foo"));
  pieces.add(std::string_view("bar"));
  CHECK(pieces.value() == hash_of("foobar"));
  word.add(std::int64_t{0x61});
  CHECK(word.value() == hash_of(std::string_view("a\0\0\0\0\0\0\0", 8)));
}
