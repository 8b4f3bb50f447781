#include "emulator/cli/process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "emulator/files/atomic_file.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

extern "C" void leave_on_signal(int signal) {
  remove_unfinished_files();
  _exit(128 + signal);
}

void catch_signal(int signal) {
  struct sigaction action = {};
  action.sa_handler = leave_on_signal;
  sigfillset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Opens /dev/null where a standard descriptor is closed, in the direction that makes its use fail.
void fill_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) == -1) {
      const int opened =
          open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR);  // the lowest free one: this
      if (opened != descriptor) _exit(2);
    }
  }
}

}  // namespace

void prepare_process() {
  fill_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // Also where a shell script's "&" had SIGINT ignored: whoever sends the signal wants the program to end.
  catch_signal(SIGINT);
  catch_signal(SIGTERM);
  if (!is_ignored(SIGHUP)) catch_signal(SIGHUP);
}

std::string failure_text() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory: the operands and the result need more than this machine gives; try a smaller "
           "problem";
  } catch (const std::length_error&) {
    return "out of memory: a tensor of this problem is larger than any machine's address space";
  } catch (const std::exception& error) {
    return error.what();
  }
}

void write_stdout(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(fmt::format("standard output does not take the answer's {} bytes: {}", text.size(),
                            std::strerror(errno)));
  }
}

}  // namespace fp8twin::cli
