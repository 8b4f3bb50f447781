// Hands out the indices 0..count-1 to a few threads: all that a tiled GEMM needs of a thread library.
//
// std::jthread and one atomic counter, and not OpenMP: GCC's OpenMP runtime is opaque to ThreadSanitizer,
// and the project keeps its TSan runs clean. The order of work never shows in a result, since every index
// writes its own output.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace fp8twin {

/// The number of threads to use: `wanted`, or one for each hardware thread when wanted <= 0.
inline int thread_count(int wanted) {
  return wanted > 0 ? wanted : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// Calls body(index, worker) once for every index in [0, count), with worker in [0, threads).
/// The first exception stops the hand-out and is rethrown here once all workers are done.
template <class Body>
void parallel_for(std::int64_t count, int threads, const Body& body) {
  threads = static_cast<int>(std::clamp<std::int64_t>(count, 1, thread_count(threads)));
  if (threads == 1) {
    for (std::int64_t index = 0; index < count; ++index) body(index, 0);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> workers;
    workers.reserve(static_cast<std::size_t>(threads));
    for (int worker = 0; worker < threads; ++worker) {
      workers.emplace_back([&, worker] {
        try {
          for (std::int64_t index; (index = next.fetch_add(1)) < count;) body(index, worker);
        } catch (...) {
          failed[static_cast<std::size_t>(worker)] = std::current_exception();
          next.store(count);
        }
      });
    }
  }
  for (const auto& error : failed) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace fp8twin
