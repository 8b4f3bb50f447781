#include "emulator/mpi/team.hpp"

#include <fmt/core.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <vector>

#include "emulator/cli/process.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin::mpi {
namespace {

std::string host() {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  return {name, static_cast<std::size_t>(length)};
}

std::string broadcast_from(int root, std::string text) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, root, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, root, MPI_COMM_WORLD);
  return text;
}

/// The lowest rank that says so, or the number of ranks.
int lowest(bool here, int rank, int size) {
  int mine = here ? rank : size, least = size;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least;
}

}  // namespace

Team::Team(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  // Progress is told by whichever thread finished a tile, one at a time.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  threads_may_call_ = provided >= MPI_THREAD_SERIALIZED;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Team::~Team() {
  MPI_Barrier(
      MPI_COMM_WORLD);  // a launcher may end the job at the first status that is not 0: rank 0 speaks before
  MPI_Finalize();
}

int Team::hardware_threads() const {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return 1;  // more CPUs than cpu_set_t knows
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node);
  MPI_Comm_free(&node);
  const auto shares_with_us = [&mine](const cpu_set_t& other) {
    cpu_set_t both;
    CPU_AND(&both, &mine, &other);
    return CPU_COUNT(&both) > 0;
  };
  const auto sharers = std::count_if(all.begin(), all.end(), shares_with_us);
  return std::max(1, CPU_COUNT(&mine) / static_cast<int>(sharers));
}

void Team::together(const std::function<void()>& step) const {
  std::string failure;
  bool failed = false;
  try {
    if (!threads_may_call_)
      throw Error("this MPI library serves one thread only; needed is MPI_THREAD_SERIALIZED");
    step();
  } catch (...) {
    failed = true;
    failure = cli::failure_text();
    if (!first()) failure = fmt::format("rank {} on {}: {}", rank_, host(), failure);
  }
  const int who = lowest(failed, rank_, size_);
  if (who < size_) throw Error(broadcast_from(who, failure));
}

std::string Team::broadcast(std::string text) const { return broadcast_from(0, std::move(text)); }

void Team::need_same(std::uint64_t number, const std::string& sentence) const {
  std::uint64_t first_has = number;
  MPI_Bcast(&first_has, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  together([&] {
    if (number != first_has) throw Error(sentence);
  });
}

}  // namespace fp8twin::mpi
