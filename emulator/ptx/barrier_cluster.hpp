// barrier.cluster.arrive.release and .wait.acquire: all threads of all blocks of a cluster. PTX ISA, "barrier.cluster".
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline void barrier_cluster_arrive(machine::Site site = machine::Site::here()) {
  machine::cluster_barrier_arrive(machine::self(), site);
}

inline void barrier_cluster_wait(machine::Site site = machine::Site::here()) {
  machine::cluster_barrier_wait(machine::self(), site);
}

}  // namespace fp8twin
