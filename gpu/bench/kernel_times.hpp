// How long a launch keeps the card busy: by CUPTI's records where it can be had, by events otherwise.
//
//   CUPTI     |        [kernel]    [kernel]        |    the sum of what is in brackets, as a profiler reports it
//   events    [  gap   [kernel]    [kernel]  gap   ]    from mark to mark: the gap of launching comes on top
//
// With events the gap is measured, by an empty kernel in the same way, and reported beside the durations, never subtracted:
// both contenders carry it. Whatever is queued before (a large buffer written, say) keeps the card busy while the host
// launches, so that neither way counts the host's time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/bench/cupti.hpp"
#include "gpu/launch/driver.hpp"
#include "gpu/launch/kernel_cache.hpp"

namespace fp8twin::bench {

/// What one launch took.
struct LaunchTime {
  double microseconds = 0;
  std::vector<std::string> kernels;  // names, in the order of their launches; with events: none
};

struct KernelTimerOptions {
  bool events = false;  // do not try CUPTI
  std::string cupti;    // its path; empty: searched for
};

class KernelTimer {
 public:
  /// Before the Device is made, so that CUPTI sees the context begin. Falls back on events when CUPTI is missing or refuses.
  explicit KernelTimer(const KernelTimerOptions& options);

  /// Once there is a Device: tries CUPTI again if it refused, makes sure that records appear (else falls back, too), and
  /// measures the gap of events.
  void begin(const Device& device, KernelCache& kernels);

  /// Runs `launch`, waits, and says how long its kernels took. `before` is queued in front and not counted; what it
  /// launches must be copies and fills, no kernels.
  LaunchTime time(const std::function<void()>& before, const std::function<void()>& launch);

  /// "CUPTI activity records (...)", or "CUDA events (why no CUPTI); an empty kernel measures 2.1 us".
  std::string method() const;
  bool uses_events() const { return !cupti_; }
  double gap_us() const { return gap_us_; }

  /// What happens when the card has not finished after `patience` seconds. It must not return: while a kernel runs no memory can
  /// be freed, so an exception would unwind into a wait without end. Unless replaced, it says why and leaves the process.
  std::function<void(const std::string& why)> on_hang;
  double patience = 20;

 private:
  void try_cupti();
  LaunchTime by_records(const std::function<void()>& launch);
  LaunchTime by_events(const std::function<void()>& launch);
  void wait() const;

  KernelTimerOptions options_;
  std::unique_ptr<Cupti> cupti_;
  std::string why_events_;
  const Device* device_ = nullptr;
  std::unique_ptr<Event> start_, end_;
  double gap_us_ = 0;
};

}  // namespace fp8twin::bench
