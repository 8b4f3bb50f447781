// Runs the program as a person would and keeps what it said: status, stdout, stderr. A fresh folder for its files.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/folder.hpp"

namespace fp8twin::test {

struct Result {
  int status = -1;  // exit status; 128 + signal when killed
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Runs `fp8twin ARGUMENTS` through the shell, so quote as you would there; `setup`: shell commands before it.
inline Result run(const std::string& arguments, const std::string& setup = "") {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  const std::string line =
      setup + "'" FP8TWIN_PROGRAM "' " + arguments + " >" + out + " 2>" + err + " </dev/null";
  const int raw = std::system(line.c_str());
  Result result{WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw), read_text(out), read_text(err)};
  return result;
}

}  // namespace fp8twin::test
