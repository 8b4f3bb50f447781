#include "emulator/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <thread>

#include "tests/catch.hpp"
#include "tests/files/hostile.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;
using Keep = AtomicFile::Keep;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void write_whole(const std::string& path, std::string_view text, Keep keep) {
  AtomicFile file(path, keep);
  file.write(bytes_of(text));
  file.commit();
}

std::string refusal(const std::string& path, Keep keep = Keep::unnamed_if_possible) {
  return test::error_of([&] { write_whole(path, "text", keep); });
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777u;
}

/// Can this folder's filesystem keep a file without a name?
bool has_unnamed_files(const test::Folder& folder) {
  const int probe = ::open(folder.path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (probe >= 0) ::close(probe);
  return probe >= 0;
}

/// Runs `work` in a child process, which ends when `work` returns a status. Returns what waitpid says.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

/// Runs a child that has written half of `path`, kills it with `signal`, and returns what waitpid says.
int kill_half_way(const std::string& path, Keep keep, int signal) {
  std::array<int, 2> ready{};
  REQUIRE(::pipe(ready.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    struct sigaction leave {};
    leave.sa_handler = [](int number) {
      remove_unfinished_files();
      ::_exit(128 + number);
    };
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &leave, nullptr);
    AtomicFile file(path, keep);
    file.write(bytes_of("half"));
    if (::write(ready[1], "x", 1) != 1) ::_exit(99);
    while (true) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  REQUIRE(::kill(child, signal) == 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("a committed file is there, complete, and alone in its folder") {
  const Keep keep = GENERATE(Keep::unnamed_if_possible, Keep::named);
  const test::Folder folder;
  write_whole(folder / "file", "some text", keep);
  CHECK(test::read_text(folder / "file") == "some text");
  write_whole(folder / "file", "", keep);
  CHECK(test::read_text(folder / "file").empty());
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("until commit the old file stands, and without commit it stays") {
  const Keep keep = GENERATE(Keep::unnamed_if_possible, Keep::named);
  const test::Folder folder;
  test::write_text(folder / "file", "old");
  {
    AtomicFile file(folder / "file", keep);
    file.write(bytes_of("new"));
    CHECK(test::read_text(folder / "file") == "old");
    const bool unnamed = keep == Keep::unnamed_if_possible && has_unnamed_files(folder);
    CHECK(folder.names().size() == (unnamed ? 1 : 2));
  }
  CHECK(test::read_text(folder / "file") == "old");
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("permissions: a new file follows the umask, an old one keeps its own") {
  const Keep keep = GENERATE(Keep::unnamed_if_possible, Keep::named);
  const test::Folder folder;
  const mode_t umask_before = ::umask(027);
  write_whole(folder / "new", "x", keep);
  ::umask(umask_before);
  CHECK(mode_of(folder / "new") == 0640u);
  REQUIRE(::chmod((folder / "new").c_str(), 0600) == 0);
  write_whole(folder / "new", "y", keep);
  CHECK(mode_of(folder / "new") == 0600u);
}

TEST_CASE("a symbolic link stays, and the file it points to is replaced") {
  const test::Folder folder, elsewhere;
  test::write_text(elsewhere / "real", "old");
  std::filesystem::create_symlink(elsewhere / "real", folder / "link");
  write_whole(folder / "link", "new", Keep::unnamed_if_possible);
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(test::read_text(elsewhere / "real") == "new");
}

TEST_CASE("a name without a folder is in the working folder") {
  const test::Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_whole("bare", "x", Keep::unnamed_if_possible);
  std::filesystem::current_path(before);
  CHECK(folder.names() == std::vector<std::string>{"bare"});
}

TEST_CASE("a place that cannot be written is refused with a sentence, and nothing is left") {
  const Keep keep = GENERATE(Keep::unnamed_if_possible, Keep::named);
  const test::Folder folder;
  test::write_text(folder / "file", "old");
  CHECK(refusal(folder.path(), keep) == folder.path() + ": is a directory; the name of a file is needed");
  CHECK(refusal(folder / "no/file", keep) == (folder / "no/file") + ": cannot be written: its folder " +
                                                 (folder / "no") + ": No such file or directory");
  CHECK(refusal(folder / "file/x", keep) == (folder / "file/x") + ": cannot be written: Not a directory");
  CHECK(refusal(folder / "no/", keep) == (folder / "no/") + ": cannot be written: its folder " +
                                             (folder / "no") + ": No such file or directory");
  CHECK(refusal(folder / std::string(300, 'x'), keep) ==
        (folder / std::string(300, 'x')) + ": cannot be written: File name too long");
  CHECK(refusal("/proc/fp8twin", keep).find("/proc/fp8twin: cannot be written: ") == 0);
  CHECK(refusal("", keep) == "the output file's name is empty");
  CHECK(folder.names() == std::vector<std::string>{"file"});
  if (::geteuid() != 0) {  // root may write everywhere
    REQUIRE(::chmod((folder / "file").c_str(), 0400) == 0);
    CHECK(refusal(folder / "file", keep) == (folder / "file") + ": cannot be written: Permission denied");
    REQUIRE(::chmod(folder.path().c_str(), 0500) == 0);
    CHECK(refusal(folder / "new", keep) == (folder / "new") + ": cannot be written: Permission denied");
    REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
  }
}

TEST_CASE("a full disk is an error, and leaves the old file") {
  CHECK(refusal("/dev/full") == "/dev/full: cannot be written: No space left on device");
  // A limit on the size of files acts on a regular file as a full disk does: a short write, then an error.
  const Keep keep = GENERATE(Keep::unnamed_if_possible, Keep::named);
  const test::Folder folder;
  test::write_text(folder / "file", "old");
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const std::string error =
        test::error_of([&] { write_whole(folder / "file", std::string(1000, 'x'), keep); });
    return error == (folder / "file") + ": cannot be written: File too large" ? 0 : 1;
  });
  CHECK(status == 0);
  CHECK(test::read_text(folder / "file") == "old");
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("a killed process leaves the old file and nothing else") {
  const Keep keep = GENERATE(Keep::unnamed_if_possible, Keep::named);
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const test::Folder folder;
  test::write_text(folder / "file", "old");
  const int status = kill_half_way(folder / "file", keep, signal);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 128 + signal);
  CHECK(test::read_text(folder / "file") == "old");
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("a file without a name vanishes even with SIGKILL, which no handler sees") {
  const test::Folder folder;
  if (!has_unnamed_files(folder)) {
    WARN("this filesystem has no O_TMPFILE: not tested");
    return;
  }
  kill_half_way(folder / "file", Keep::unnamed_if_possible, SIGKILL);
  CHECK(folder.names().empty());
}

TEST_CASE("a pipe takes the bytes as they come") {
  const test::Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::string received;
  std::thread reader([&] { received = test::read_text(folder / "pipe"); });
  write_whole(folder / "pipe", std::string(100'000, 'x'), Keep::unnamed_if_possible);
  reader.join();
  CHECK(received == std::string(100'000, 'x'));
  CHECK(folder.names() == std::vector<std::string>{"pipe"});
}

TEST_CASE("/dev/null is fine, the program's own standard output is refused") {
  CHECK(refusal("/dev/null").empty());
  const test::Folder folder;
  const int status = in_child([&] {
    const int out = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(out, STDOUT_FILENO);
    const std::string needed = ": is this program's standard output, which carries the answer; name a file";
    return refusal("/dev/stdout") == "/dev/stdout" + needed &&
                   refusal(folder / "out") == (folder / "out") + needed
               ? 0
               : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("several files may be under way at once, up to the length of the list") {
  const test::Folder folder;
  std::vector<std::unique_ptr<AtomicFile>> files;
  for (int i = 0; i < 16; ++i)
    files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i), Keep::named));
  CHECK(refusal(folder / "one too many", Keep::named) ==
        (folder / "one too many") + ": cannot be written: 16 other files are being written already");
  for (auto& file : files) file->commit();
  CHECK(folder.names().size() == 16);
  CHECK(refusal(folder / "now", Keep::named).empty());
}

TEST_CASE("a file with its length reserved takes pieces from others by its name; the rest is zero") {
  const test::Folder folder;
  const std::string path = folder / "file";
  {
    AtomicFile file(path, Keep::named);
    file.reserve(8);
    file.write(bytes_of("ab"));
    std::ofstream other(file.unfinished_name(), std::ios::in | std::ios::binary);
    other.seekp(5);
    CHECK(other.write("fg", 2).flush());
    CHECK_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  CHECK(test::read_text(path) == std::string("ab\0\0\0fg\0", 8));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(test::error_of([] { AtomicFile("/dev/null", Keep::named).reserve(8); }) ==
        "/dev/null: is a pipe or a device; a file is needed, since it is written in pieces");
}

TEST_CASE("a length beyond the limit for files is refused before a byte is written") {
  const test::Folder folder;
  const std::string path = folder / "file";
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string said = test::error_of([&] { AtomicFile(path, Keep::named).reserve(1001); });
    return said == path + ": cannot be written: File too large" ? 0 : 1;
  });
  CHECK(status == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}
