// The cache of compiled kernels: hits, damage, strangers, folders that cannot be written, two processes at once. No
// toolkit runs.
#include "gpu/jit/disk_cache.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;
using jit::Compiled;
using jit::DiskCache;

namespace {

Compiled compiled_of(std::size_t bytes, char fill) {
  Compiled compiled;
  compiled.cubin.assign(bytes, fill);
  compiled.log =
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers\n";
  return compiled;
}

/// Sets an environment variable, and puts it back.
struct Variable {
  std::string name, before;
  bool was_set;
  Variable(const char* name_, const char* value) : name(name_), was_set(std::getenv(name_) != nullptr) {
    if (was_set) before = std::getenv(name_);
    if (value) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  ~Variable() {
    if (was_set) {
      ::setenv(name.c_str(), before.c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
};

}  // namespace

TEST_CASE("what was stored comes back, log and registers with it; another identity finds nothing") {
  const test::Folder folder;
  const DiskCache cache(folder / "deep/er");
  CHECK_FALSE(cache.load("a kernel"));
  REQUIRE(cache.store("a kernel", compiled_of(1000, 'x')));
  const auto found = cache.load("a kernel");
  REQUIRE(found);
  CHECK(found->cubin == std::vector<char>(1000, 'x'));
  CHECK(found->log == compiled_of(0, 0).log);
  REQUIRE(found->resources.size() == 1);
  CHECK(found->resources[0].registers == 168);
  CHECK_FALSE(cache.load("a kernel "));
}

TEST_CASE("a damaged file is as good as none, whichever byte it is, and is replaced") {
  const test::Folder folder;
  const DiskCache cache(folder / "cache");
  const std::string identity = "NVRTC 13.0\nsource";
  REQUIRE(cache.store(identity, compiled_of(50, 'x')));
  const std::string path = cache.path(identity), whole = test::read_text(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    test::write_text(path, damaged);
    INFO("byte " << i);
    CHECK_FALSE(cache.load(identity));
    test::write_text(path, whole.substr(0, i));
    CHECK_FALSE(cache.load(identity));
  }
  test::write_text(path, whole + "more");
  CHECK_FALSE(cache.load(identity));
  REQUIRE(cache.store(identity, compiled_of(60, 'y')));
  CHECK(cache.load(identity)->cubin.size() == 60);
}

TEST_CASE("a file of another kernel under this name is not taken") {
  const test::Folder folder;
  const DiskCache cache(folder / "cache");
  REQUIRE(cache.store("mine", compiled_of(10, 'm')));
  REQUIRE(cache.store("foreign", compiled_of(10, 'f')));
  std::filesystem::copy_file(cache.path("foreign"), cache.path("mine"),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK_FALSE(cache.load("mine"));
}

TEST_CASE("a folder that cannot be made or written means no cache, and no error") {
  const test::Folder folder;
  test::write_text(folder / "file", "not a folder");
  for (const std::string& where :
       {folder / "file", folder / "file/below", std::string("/proc/fp8twin"), std::string()}) {
    INFO(where);
    const DiskCache cache(where);
    CHECK_FALSE(cache.store("a kernel", compiled_of(10, 'x')));
    CHECK_FALSE(cache.load("a kernel"));
  }
}

TEST_CASE("the environment names the folder, the project's own variable first") {
  const Variable own("FP8TWIN_CACHE_DIR", "/own"), xdg("XDG_CACHE_HOME", "/xdg"), home("HOME", "/someone");
  CHECK(jit::cache_folder() == "/own");
  const Variable none("FP8TWIN_CACHE_DIR", nullptr);
  CHECK(jit::cache_folder() == "/xdg/fp8twin");
  const Variable neither("XDG_CACHE_HOME", "");
  CHECK(jit::cache_folder() == "/someone/.cache/fp8twin");
  const Variable nobody("HOME", nullptr);
  CHECK(jit::cache_folder() == "");
}

TEST_CASE("two processes that store and load the same kernel never see half of one") {
  const test::Folder folder;
  const DiskCache cache(folder / "cache");
  const auto work = [&](char mine) {
    for (int round = 0; round < 200; ++round) {
      if (!cache.store("shared", compiled_of(20000, mine))) return false;
      const auto found = cache.load("shared");
      if (!found || found->cubin.size() != 20000) return false;
      for (const char byte : found->cubin) {
        if (byte != found->cubin[0]) return false;
      }
    }
    return true;
  };
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(work('c') ? 0 : 1);
  CHECK(work('p'));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
