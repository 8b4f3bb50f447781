#include "gpu/bench/kernel_times.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "emulator/support/error.hpp"
#include "gpu/bench/device_sources.hpp"
#include "gpu/bench/statistics.hpp"

namespace fp8twin::bench {

KernelTimer::KernelTimer(const KernelTimerOptions& options) : options_(options) { try_cupti(); }

void KernelTimer::try_cupti() {
  if (options_.events) {
    why_events_ = "asked for";
    return;
  }
  try {
    cupti_ = std::make_unique<Cupti>(options_.cupti);
  } catch (const Error& error) {
    why_events_ = error.what();
  }
}

void KernelTimer::begin(const Device& device, KernelCache& kernels) {
  device_ = &device;
  if (!cupti_) try_cupti();
  start_ = std::make_unique<Event>();
  end_ = std::make_unique<Event>();
  const Kernel empty = kernels.get(empty_source(), "bench_empty");
  const Buffer<u8> busy(std::size_t{256} << 20);
  const auto fill = [&] { memory::fill(reinterpret_cast<CUdeviceptr>(busy.device()), 0, busy.size()); };
  const auto launch = [&] { empty.launch({1, 1}, 32, 0, EmptyArguments{}); };
  if (cupti_) {
    try {
      time(fill, launch);
    } catch (const Error& error) {
      why_events_ = error.what();
      cupti_.reset();
    }
  }
  std::vector<double> gaps;
  for (int round = 0; round < 12; ++round) {
    fill();
    gaps.push_back(by_events(launch).microseconds);
  }
  if (cupti_) cupti_->take();  // those of the empty kernels
  gap_us_ = summary_of(std::move(gaps)).median;
}

LaunchTime KernelTimer::time(const std::function<void()>& before, const std::function<void()>& launch) {
  if (before) before();
  return cupti_ ? by_records(launch) : by_events(launch);
}

std::string KernelTimer::method() const {
  return cupti_ ? cupti_->description()
                : fmt::format("CUDA events ({}); an empty kernel measures {:.1f} us", why_events_, gap_us_);
}

LaunchTime KernelTimer::by_records(const std::function<void()>& launch) {
  launch();
  wait();
  LaunchTime time;
  for (KernelRecord& record : cupti_->take()) {
    time.microseconds += record.microseconds;
    time.kernels.push_back(std::move(record.name));
  }
  return time;
}

LaunchTime KernelTimer::by_events(const std::function<void()>& launch) {
  start_->record();
  launch();
  end_->record();
  wait();
  return {end_->microseconds_since(*start_), {}};
}

void KernelTimer::wait() const {
  if (device_->finished_within(patience)) return;
  const std::string why = fmt::format("the card has not finished after {} s: a kernel hangs", patience);
  if (on_hang) on_hang(why);
  fmt::print(stderr, "{}\n", why);
  std::fflush(nullptr);
  std::_Exit(2);
}

}  // namespace fp8twin::bench
