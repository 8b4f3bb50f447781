// Runs the program as a person would and keeps what it said: status, stdout, stderr. A fresh folder for its files.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace fp8twin::test {

/// A folder that exists as long as the object does.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fp8twin-test-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Result {
  int status = -1;  // exit status; 128 + signal when killed
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Runs `fp8twin ARGUMENTS` through the shell, so quote as you would there.
inline Result run(const std::string& arguments) {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  const std::string line = std::string(FP8TWIN_PROGRAM) + " " + arguments + " >" + out + " 2>" + err + " </dev/null";
  const int raw = std::system(line.c_str());
  Result result{WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw), read_text(out), read_text(err)};
  return result;
}

}  // namespace fp8twin::test
