// Watches over the work: how far all ranks are, told by rank 0, and an early end for all when one fails.
//
//   rank r -> rank 0    report   { work done; at work | through | failed }    now and then, and once at the end
//   rank 0 -> rank r    verdict  { go on | stop }                             exactly one a rank
//
// The verdict is "go on" when all are through, or "stop" as soon as one failed. Ranks at work look for it as they report,
// so that a full disk on one node does not leave the others computing for an hour. Every message that is sent is received.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/cli/command.hpp"
#include "emulator/mpi/team.hpp"

namespace fp8twin::mpi {

class Watch {
 public:
  /// `total`: the work of all ranks. `lines`: one line on stderr for each tenth of it, instead of a counter that shows on a
  /// terminal only.
  Watch(const Team& team, double total, bool lines);

  /// Runs this rank's work, which calls update() as it goes, and returns when no rank works any more. Rethrows what the
  /// work threw; when another rank failed, the work ends early and nothing is thrown here.
  void over(const std::function<void()>& work);

  /// This rank's work so far; from one thread at a time. Throws what over() catches when the job is to stop.
  void update(double done);

 private:
  struct Stopped {};

  void finish(bool failed);
  void report(double state);
  bool verdict_is_here();
  void receive_reports();
  void stop_all();
  void show();

  const Team& team_;
  double total_;
  bool lines_;
  std::optional<cli::Progress> progress_;
  int tenths_ = 0;
  std::int64_t looked_ns_ = 0;
  double done_here_ = 0;
  bool stopped_ = false;      // this rank knows that the job is to stop
  bool has_verdict_ = false;  // not on rank 0
  std::vector<double> done_;  // on rank 0, of each rank
  int through_ = 0;           // on rank 0: ranks that finished or failed
};

}  // namespace fp8twin::mpi
