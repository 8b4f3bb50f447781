// mbarrier: PTX ISA, "mbarrier.init", "mbarrier.arrive", "mbarrier.try_wait". What it is: emulator/machine/mbarrier.hpp.
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline void mbarrier_init_b64(u32 bar, u32 count, machine::Site site = machine::Site::here()) {
  machine::mbarrier_init(machine::self(), bar, count, site);
}

inline void mbarrier_inval_b64(u32 bar, machine::Site site = machine::Site::here()) {
  machine::mbarrier_inval(machine::self(), bar, site);
}

inline void mbarrier_arrive_b64(u32 bar, machine::Site site = machine::Site::here()) {
  machine::mbarrier_arrive(machine::self(), bar, 0, false, "mbarrier.arrive", site);
}

inline void mbarrier_arrive_expect_tx_b64(u32 bar, u32 bytes, machine::Site site = machine::Site::here()) {
  machine::mbarrier_arrive(machine::self(), bar, bytes, false, "mbarrier.arrive.expect_tx", site);
}

/// The barrier of another block of the cluster, or of this one: an address from mapa.
inline void mbarrier_arrive_shared_cluster_b64(u32 remote_bar, machine::Site site = machine::Site::here()) {
  machine::mbarrier_arrive(machine::self(), remote_bar, 0, true, "mbarrier.arrive.shared::cluster", site);
}

/// True once the phase of this parity is over; until then the thread stands still here.
inline bool mbarrier_try_wait_parity_b64(u32 bar, u32 parity, machine::Site site = machine::Site::here()) {
  return machine::mbarrier_try_wait_parity(machine::self(), bar, parity, site);
}

/// Is it over now? The thread goes on either way.
inline bool mbarrier_test_wait_parity_b64(u32 bar, u32 parity, machine::Site site = machine::Site::here()) {
  return machine::mbarrier_test_wait_parity(machine::self(), bar, parity, site);
}

}  // namespace fp8twin
