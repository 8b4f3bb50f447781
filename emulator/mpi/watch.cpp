#include "emulator/mpi/watch.hpp"

#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <thread>

namespace fp8twin::mpi {
namespace {

constexpr int report_tag = 1, verdict_tag = 2;
constexpr double at_work = 0, through = 1, failed_state = 2;  // a report's second number
constexpr int go_on = 0, stop = 1;
constexpr std::int64_t between_looks_ns = 200'000'000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Does what rank 0 says on stderr end on a terminal? Open MPI's mpirun takes it through a pipe, but is the rank's parent
/// where it runs on the same host, and its own stderr can be asked.
bool seen_on_terminal() {
  if (isatty(STDERR_FILENO) == 1) return true;
  if (!std::getenv("OMPI_COMM_WORLD_RANK")) return false;
  std::error_code error;
  const std::string target =
      std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", getppid()), error).string();
  return target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
}

/// MPI's own waiting spins, which would take a core from ranks that still work.
void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

Watch::Watch(const Team& team, double total, bool lines) : team_(team), total_(total), lines_(lines) {
  if (!team.first()) return;
  done_.resize(static_cast<std::size_t>(team.size()));
  if (!lines) progress_.emplace("gemm", 1000, seen_on_terminal());
}

void Watch::over(const std::function<void()>& work) {
  try {
    work();
  } catch (const Stopped&) {
    finish(false);
    return;
  } catch (...) {
    finish(true);
    throw;
  }
  finish(false);
}

void Watch::update(double done) {
  done_here_ = done;
  const std::int64_t now = now_ns();
  if (now - looked_ns_ < between_looks_ns) return;
  looked_ns_ = now;
  if (team_.first()) {
    receive_reports();
    show();
  } else {
    report(at_work);
    verdict_is_here();
  }
  if (stopped_) throw Stopped{};
}

void Watch::finish(bool failed) {
  if (!team_.first()) {
    report(failed ? failed_state : through);
    while (!verdict_is_here()) nap();
    return;
  }
  if (failed) stop_all();
  ++through_;
  while (through_ < team_.size()) {
    receive_reports();
    show();
    nap();
  }
  show();
  if (stopped_) return;
  for (int rank = 1; rank < team_.size(); ++rank)
    MPI_Send(&go_on, 1, MPI_INT, rank, verdict_tag, MPI_COMM_WORLD);
}

void Watch::report(double state) {
  const double message[] = {done_here_, state};
  MPI_Send(message, 2, MPI_DOUBLE, 0, report_tag, MPI_COMM_WORLD);
}

bool Watch::verdict_is_here() {
  if (has_verdict_) return true;
  int arrived = 0;
  MPI_Iprobe(0, verdict_tag, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
  if (!arrived) return false;
  int verdict = go_on;
  MPI_Recv(&verdict, 1, MPI_INT, 0, verdict_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  stopped_ = verdict == stop;
  return has_verdict_ = true;
}

void Watch::receive_reports() {
  for (;;) {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, report_tag, MPI_COMM_WORLD, &arrived, &status);
    if (!arrived) return;
    double message[2];
    MPI_Recv(message, 2, MPI_DOUBLE, status.MPI_SOURCE, report_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    done_[static_cast<std::size_t>(status.MPI_SOURCE)] = message[0];
    if (message[1] != at_work) ++through_;
    if (message[1] == failed_state) stop_all();
  }
}

void Watch::stop_all() {
  if (stopped_) return;
  stopped_ = true;
  for (int rank = 1; rank < team_.size(); ++rank)
    MPI_Send(&stop, 1, MPI_INT, rank, verdict_tag, MPI_COMM_WORLD);
}

void Watch::show() {
  done_[0] = done_here_;
  const double part = total_ > 0 ? std::accumulate(done_.begin(), done_.end(), 0.0) / total_ : 1.0;
  if (progress_) progress_->update(static_cast<std::int64_t>(1000 * part));
  // The sum of shares may miss the total by a rounding.
  for (; lines_ && tenths_ < static_cast<int>(10 * part + 1e-6); ++tenths_)
    fmt::print(stderr, "gemm: {} %\n", 10 * (tenths_ + 1));
}

}  // namespace fp8twin::mpi
