#include "emulator/files/mapped_file.hpp"

#include <sys/stat.h>

#include <cstdio>

#include "tests/catch.hpp"
#include "tests/files/hostile.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;

namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

TEST_CASE("a mapped file shows the file's bytes") {
  const test::Folder folder;
  std::string text(100'000, 'x');
  text[99'999] = '\0';
  test::write_text(folder / "file", text);
  CHECK(text_of(MappedFile(folder / "file")) == text);
}

TEST_CASE("an empty file maps to no bytes") {
  const test::Folder folder;
  test::write_text(folder / "empty", "");
  CHECK(MappedFile(folder / "empty").bytes().empty());
}

TEST_CASE("a file that is replaced while it is mapped keeps its old bytes") {
  const test::Folder folder;
  test::write_text(folder / "file", "old");
  const MappedFile file(folder / "file");
  test::write_text(folder / "other", "new");
  REQUIRE(std::rename((folder / "other").c_str(), (folder / "file").c_str()) == 0);
  CHECK(text_of(file) == "old");
}

TEST_CASE("what cannot be mapped is refused with a sentence") {
  const test::Folder folder;
  const auto refusal = [](const std::string& path) { return test::error_of([&] { MappedFile file(path); }); };
  CHECK(refusal(folder / "absent") == (folder / "absent") + ": cannot be read: No such file or directory");
  CHECK(refusal(folder.path()) ==
        folder.path() + ": is a directory; a regular file is needed, since it is read by memory map");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);  // no writer: must not wait for one
  CHECK(refusal(folder / "pipe") ==
        (folder / "pipe") +
            ": is a pipe or device; a regular file is needed, since it is read by memory map");
  CHECK(refusal("/dev/null") ==
        "/dev/null: is a pipe or device; a regular file is needed, since it is read by memory map");
  test::write_text(folder / "file", "text");
  CHECK(refusal(folder / "file/below") == (folder / "file/below") + ": cannot be read: Not a directory");
  CHECK(refusal("") == "the input file's name is empty");
}
