#include "gpu/bench/cupti.hpp"

#include <cuda.h>
#include <cupti.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "emulator/support/error.hpp"
#include "gpu/launch/library.hpp"

namespace fp8twin::bench {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// The fields that this program reads stand where they stood in every later version of the record: each added to its end.
using Record = CUpti_ActivityKernel9;

struct Functions {
  decltype(::cuptiGetVersion)* version = nullptr;
  decltype(::cuptiGetResultString)* result_string = nullptr;
  decltype(::cuptiActivityRegisterCallbacks)* register_callbacks = nullptr;
  decltype(::cuptiActivityEnable)* enable = nullptr;
  decltype(::cuptiActivityFlushAll)* flush_all = nullptr;
  decltype(::cuptiActivityGetNextRecord)* next_record = nullptr;
  decltype(::cuptiActivityGetNumDroppedRecords)* dropped_records = nullptr;

  void check(CUptiResult result, const char* call) const {
    if (result == CUPTI_SUCCESS) return;
    const char* words = nullptr;
    result_string(result, &words);
    throw Error(fmt::format("{} failed: {} (CUptiResult {})", call, words ? words : "unknown error",
                            static_cast<int>(result)));
  }
};

/// What the callbacks reach: they carry no pointer of ours.
struct Shared {
  Functions cupti;
  std::mutex mutex;
  std::vector<KernelRecord> records;
  std::size_t dropped = 0;
};

Shared& shared() {
  static Shared instance;
  return instance;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, buffer_bytes));
  *size = *buffer ? buffer_bytes : 0;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  Shared& state = shared();
  const std::lock_guard lock(state.mutex);
  CUpti_Activity* activity = nullptr;
  while (state.cupti.next_record(buffer, valid, &activity) == CUPTI_SUCCESS) {
    if (activity->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const Record*>(activity);
    if (kernel->end <= kernel->start) continue;  // handed over before it ended
    state.records.push_back({kernel->name ? kernel->name : "?", kernel->correlationId,
                             1e-3 * static_cast<double>(kernel->end - kernel->start)});
  }
  std::size_t dropped = 0;
  if (state.cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) state.dropped += dropped;
  std::free(buffer);
}

}  // namespace

Cupti::Cupti(const std::string& path) {
  const std::vector<std::string> candidates =
      path.empty() ? cuda_library_candidates({"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
                   : std::vector<std::string>{path};
  const Library library(candidates, "CUPTI, CUDA's profiling library,",
                        "name it with --cupti, or its folder in FP8TWIN_LIBRARY_PATH");
  Functions& cupti = shared().cupti;
  library.load(cupti.version, "cuptiGetVersion");
  library.load(cupti.result_string, "cuptiGetResultString");
  library.load(cupti.register_callbacks, "cuptiActivityRegisterCallbacks");
  library.load(cupti.enable, "cuptiActivityEnable");
  library.load(cupti.flush_all, "cuptiActivityFlushAll");
  library.load(cupti.next_record, "cuptiActivityGetNextRecord");
  library.load(cupti.dropped_records, "cuptiActivityGetNumDroppedRecords");
  std::uint32_t version = 0;
  cupti.check(cupti.version(&version), "cuptiGetVersion");
  cupti.check(cupti.register_callbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks");
  cupti.check(cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  description_ = fmt::format("CUPTI activity records (API {}, {})", version, library.name());
}

std::vector<KernelRecord> Cupti::take() {
  Shared& state = shared();
  const auto start = std::chrono::steady_clock::now();
  std::vector<KernelRecord> records;
  while (records.empty()) {
    state.cupti.check(state.cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
    const std::lock_guard lock(state.mutex);
    if (state.dropped) throw Error(fmt::format("CUPTI dropped {} records", state.dropped));
    records.swap(state.records);
    std::erase_if(records, [this](const KernelRecord& record) { return record.correlation <= last_; });
    if (records.empty() && std::chrono::steady_clock::now() - start > std::chrono::seconds(5)) {
      throw Error("CUPTI recorded no kernel within 5 s of its end");
    }
    std::this_thread::yield();
  }
  std::stable_sort(records.begin(), records.end(), [](const KernelRecord& a, const KernelRecord& b) {
    return a.correlation < b.correlation;
  });
  last_ = records.back().correlation;
  return records;
}

}  // namespace fp8twin::bench
