// CUPTI's activity records: how long each kernel ran, as the card itself noted it. CUPTI User Guide, "CUPTI Activity API".
//
//   launch ... launch -> Device::synchronize -> take(): a record for each kernel, in the order of the launches
//
//   start, end    timestamps that the card takes when the kernel begins and ends, in nanoseconds: no launch gap, no host
//
// CUPTI is loaded at run time. It hands records over in buffers, from a thread of its own choosing; one recorder serves
// the process. Make it before the context: kernels of a context that is older are recorded too late or not at all.
#pragma once

#include <string>
#include <vector>

namespace fp8twin::bench {

struct KernelRecord {
  std::string name;          // as the machine code has it: mangled, if it is C++
  unsigned correlation = 0;  // numbers the calls to the driver
  double microseconds = 0;
};

class Cupti {
 public:
  /// `path`: the library; empty: wherever CUDA's libraries are looked for (gpu/launch/library.hpp). Throws Error, with the
  /// call that failed and CUPTI's words, where kernels cannot be recorded.
  explicit Cupti(const std::string& path);

  /// "CUPTI 13.0.1 activity records (libcupti.so.13)"
  const std::string& description() const { return description_; }

  /// The kernels launched since the last call; a record that missed that call is dropped. All must have ended, and at least
  /// one is waited for. Throws Error when none appears, or when CUPTI dropped some.
  std::vector<KernelRecord> take();

 private:
  std::string description_;
  unsigned last_ = 0;  // correlation of the last record taken
};

}  // namespace fp8twin::bench
