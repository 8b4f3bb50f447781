// barrier.cluster.arrive.release and .relaxed, and .wait.acquire: all threads of all blocks of a cluster. PTX ISA,
// "barrier.cluster".
//
// A relaxed arrival passes on nothing but what its thread knew at its last fence.mbarrier_init.release.cluster.
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline void barrier_cluster_arrive(machine::Site site = machine::Site::here()) {
  machine::cluster_barrier_arrive(machine::self(), true, site);
}

inline void barrier_cluster_arrive_relaxed(machine::Site site = machine::Site::here()) {
  machine::cluster_barrier_arrive(machine::self(), false, site);
}

inline void barrier_cluster_wait(machine::Site site = machine::Site::here()) {
  machine::cluster_barrier_wait(machine::self(), site);
}

}  // namespace fp8twin
