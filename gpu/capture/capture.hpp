// fp8twin-capture: what its subcommands share.
//
//   compare   the tensor core against an oracle of its own, on the card, over as many outputs as asked
//   convert   the conversions over all 2^32 inputs
//   quantize  every recipe of quantisation, by the kernel, against the CPU
//   gemm      every step of the ladder against an oracle GEMM
//   record    the golden files that tests/golden replays through the emulator
//   grouped   problems of every kind, against the oracle GEMM, for tests/golden/grouped
//   layouts   what the card does with shared-memory addresses and registers, for tests/golden/layouts.json
//   traces    what the probes of the ladder's kernels saw, for tests/golden/traces
//   reduce    what adding to global memory gives, by TMA and otherwise, for tests/golden/reduce.json
//   broken    what the card makes of planted bugs, for tests/golden/broken.json
//   compile   every kernel, with what ptxas says of it; needs no GPU
//
// Each prints what it counted, and with which device; each returns 0, or 1 when a bit differed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "gpu/capture/records.hpp"
#include "gpu/launch/driver.hpp"
#include "gpu/launch/kernel_cache.hpp"

namespace fp8twin::capture {

using Json = nlohmann::ordered_json;

class Session {
 public:
  std::string command;  // as typed
  std::uint64_t seed = 1;
  int threads = 0;
  std::string record_path;  // --record FILE: the counts as JSON
  std::vector<int> shapes;  // N; empty: all 32
  int oracle_bits = 13;     // another number is a control: the comparison must then fail

  /// The GPU, opened at first use.
  const Device& device() {
    if (!device_) device_.emplace();
    return *device_;
  }

 private:
  std::optional<Device> device_;  // declared before the kernels, since modules are unloaded while it lives

 public:
  KernelCache kernels;
};

/// Every legal N, or what --n asked for.
std::vector<int> shapes_of(const Session& session);

/// Where a recorded number comes from: device, driver, CUDA, NVRTC, date, seed, command, digest of the
/// kernels' text.
Json provenance(const Session& session, const Device& device);
Metadata metadata_of(const Json& provenance);

/// Writes `json` to `path`, whole or not at all.
void write_json(const std::string& path, const Json& json);
std::string hex(std::uint64_t bits, int digits);

/// What compare() counts into, on the card.
struct Counters {
  explicit Counters(std::size_t slots, std::uint32_t listed);
  struct Slot {
    std::uint64_t compared, mismatches;
    std::vector<Mismatch> first;
  };
  std::vector<Slot> read() const;

  Buffer<u64> compared, mismatch_count;
  Buffer<Mismatch> mismatches;
  std::uint32_t capacity;  // mismatches listed per slot
};

int compare(Session& session, double outputs);
int convert(Session& session);
/// `rounds` seeds; `time` also measures how long the kernels take.
int check_quantize(Session& session, int rounds, bool time);
int check_gemm(Session& session, bool small);
int record(Session& session, const std::string& folder);
/// Problem files, as `fp8twin random` writes them; their copies with d go to `folder`.
int grouped(Session& session, const std::string& folder, const std::vector<std::string>& files);
int layouts(Session& session, const std::string& path, bool resume);
int traces(Session& session, const std::string& folder);
/// `pairs`: how many drawn ones to compare with the oracle.
int reduce(Session& session, const std::string& path, double pairs);
/// All bugs into the JSON file `path`; or `only` one, to stdout.
int broken(Session& session, const std::string& only, const std::string& path);
int compile_all(Session& session, const std::string& part);

}  // namespace fp8twin::capture
