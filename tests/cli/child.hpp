// The program as a child process that the test can signal, whose stdout it chooses, and whose memory it reads off.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace fp8twin::test {

struct Ending {
  bool exited = false;  // by itself, not killed
  int status = -1;      // its exit status
  long peak_kib = 0;    // largest resident set
};

class Child {
 public:
  /// Starts `fp8twin arguments...` with stdout on `descriptor` (-1: closed) and stderr in the file `err`.
  Child(std::vector<std::string> arguments, int descriptor, const std::string& err) {
    arguments.insert(arguments.begin(), FP8TWIN_PROGRAM);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int errors = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int started[2];  // closed by execv: until then the child has this program's signal handlers
    if (errors < 0 || pipe2(started, O_CLOEXEC) != 0) std::abort();
    pid_ = fork();
    if (pid_ < 0) std::abort();
    if (pid_ == 0) {
      descriptor >= 0 ? dup2(descriptor, STDOUT_FILENO) : close(STDOUT_FILENO);
      dup2(errors, STDERR_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(errors);
    close(started[1]);
    char none;
    while (read(started[0], &none, 1) < 0) {
    }
    close(started[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Returns once the kernel says that the program catches `signal`, or that it is gone.
  void wait_until_it_catches(int signal) const {
    const std::uint64_t bit = 1ull << (signal - 1);
    for (;;) {
      std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
      std::uint64_t caught = 0;
      bool running = false;
      for (std::string word; status >> word;) {
        if (word == "SigCgt:") running = static_cast<bool>(status >> std::hex >> caught);
      }
      if (!running || (caught & bit)) return;
    }
  }

  void send(int signal) const { kill(pid_, signal); }

  Ending wait() const {
    int raw = 0;
    rusage usage{};
    wait4(pid_, &raw, 0, &usage);
    return {WIFEXITED(raw), WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, usage.ru_maxrss};
  }

 private:
  pid_t pid_;
};

}  // namespace fp8twin::test
