#include "emulator/files/file_storage.hpp"

#include "tests/catch.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;

TEST_CASE("aligned bytes stay in the map, misaligned ones are copied, and both say the same") {
  const test::Folder folder;
  test::write_text(folder / "file", "0123456789abcdef");
  FileStorage storage(folder / "file");
  const auto map = storage.map.bytes();
  for (const DType dtype : {DType::u8, DType::f8_e4m3, DType::bf16, DType::f16, DType::f32, DType::i32}) {
    for (std::size_t begin = 0; begin < 8; ++begin) {
      const auto part = map.subspan(begin, 8);
      const std::size_t copies = storage.copies.size();
      const auto bytes = storage.aligned(part, dtype);
      const bool fits = begin % dtype_size(dtype) == 0;  // a map begins on a page
      CHECK((bytes.data() == part.data()) == fits);
      CHECK(storage.copies.size() == copies + (fits ? 0 : 1));
      CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % dtype_size(dtype) == 0);
      CHECK(std::equal(bytes.begin(), bytes.end(), part.begin(), part.end()));
    }
  }
}

TEST_CASE("no bytes at an odd place are no bytes") {
  const test::Folder folder;
  test::write_text(folder / "file", "0123");
  FileStorage storage(folder / "file");
  CHECK(storage.aligned(storage.map.bytes().subspan(1, 0), DType::f32).empty());
}
