// The ranks of the job, and how they stay of one mind. Specified in MPI: A Message-Passing Interface Standard, 3.1.
//
//   rank 0   step ok     \                          Error: "rank 2 on node7: p.safetensors: cannot be read: ..."
//   rank 1   step ok      >  allreduce: who failed?    on every rank, and nobody goes on to the next step
//   rank 2   step failed /
//
// A rank that threw while the others wait in a collective call would hang them; so whatever can fail is a step, and
// after each step the ranks agree. No header of this room includes mpi.h, and only team.cpp and watch.cpp do.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace fp8twin::mpi {

class Team {
 public:
  /// MPI_Init. One process without mpirun is a team of one.
  Team(int& argc, char**& argv);
  /// MPI_Finalize.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }

  /// Hardware threads for this rank: those it is bound to, divided by the ranks of this node that may use them too.
  int hardware_threads() const;

  /// Runs the step on every rank. When it throws on any, throws Error with the sentence of the lowest such rank on all.
  void together(const std::function<void()>& step) const;
  /// Rank 0's text, on every rank.
  std::string broadcast(std::string text) const;
  /// Throws Error on every rank, `sentence` with the first of them that differs from rank 0, unless all numbers are equal.
  void need_same(std::uint64_t number, const std::string& sentence) const;

 private:
  int rank_ = 0, size_ = 1;
  bool threads_may_call_ = false;
};

}  // namespace fp8twin::mpi
