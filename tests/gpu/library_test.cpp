// Where CUDA's libraries are looked for, and what is said when there is none.
#include "gpu/launch/library.hpp"

#include <algorithm>
#include <cstdlib>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// Sets a variable of the environment and puts back what it was.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    had_ = std::getenv(name) != nullptr;
    setenv(name, value, 1);
  }
  ~Variable() {
    if (had_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

std::ptrdiff_t place(const std::vector<std::string>& candidates, const std::string& one) {
  const auto found = std::find(candidates.begin(), candidates.end(), one);
  return found == candidates.end() ? -1 : found - candidates.begin();
}

}  // namespace

TEST_CASE("folders that the user names come first, then the loader's, then the toolkit's") {
  const Variable folders("FP8TWIN_LIBRARY_PATH", "first::second"), home("CUDA_HOME", "toolkit");
  const std::vector<std::string> all = cuda_library_candidates({"libx.so.2", "libx.so"});
  CHECK(all[0] == "first/libx.so.2");
  CHECK(all[1] == "first/libx.so");
  CHECK(all[2] == "second/libx.so.2");
  CHECK(all[4] == "libx.so.2");
  CHECK(place(all, "toolkit/lib64/libx.so.2") > 5);
  CHECK(place(all, "/usr/local/cuda/extras/CUPTI/lib64/libx.so") > place(all, "toolkit/lib64/libx.so"));
}

TEST_CASE("a library that is nowhere, and a function that a library lacks: one sentence each") {
  const std::vector<std::string> none = {"no_such_library.so"};
  CHECK_THROWS_WITH(Library(none, "It", "do something"),
                    "It was not found (no_such_library.so): do something");
  const std::vector<std::string> some = {"no_such_library.so", "libm.so.6"};
  const Library library(some, "It", "do something");
  CHECK(library.name() == "libm.so.6");
  double (*cosine)(double) = nullptr;
  library.load(cosine, "cos");
  CHECK(cosine(0) == 1);
  CHECK_THROWS_WITH(library.load(cosine, "no_such_function"),
                    "libm.so.6 has no function no_such_function: a newer version is needed");
}
