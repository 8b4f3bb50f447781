// The mbarrier: a barrier in shared memory that counts arrivals of threads and bytes of copies.
//
//   phase 0: pending arrivals 2, bytes 0
//     arrive.expect_tx 16384      pending 1, bytes +16384
//     copy lands, 16384           pending 1, bytes 0
//     arrive                      pending 0, bytes 0   -> phase 1: pending 2, bytes 0; whoever waits for phase 0 goes on
//
// try_wait.parity(p) is true when the phase of parity p is over: when the current phase has the other parity. So a wait for parity 1
// on a fresh barrier passes at once (a producer's first round), and a wrong parity passes where it should not.
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
//
// Modelled: phases, pending and expected counts, transaction bytes, happens-before. Checked beyond the hardware: a phase that ends
// while copies issued under it are still on their way (expect_tx was too small). Not modelled: arrive.noComplete, drop.
#pragma once

#include <vector>

#include "emulator/machine/access.hpp"
#include "emulator/machine/order.hpp"

namespace fp8twin::machine {

struct Thread;

struct MBarrier {
  u32 address = 0;
  bool live = false;
  u32 component = 0;  // of its phases, as events
  Event initialised;  // the event "it is there", of its own component
  u32 count = 0;      // arrivals a phase needs
  u32 pending = 0;    // arrivals still missing
  i64 bytes = 0;      // expected and not landed; negative while copies run ahead of expect_tx
  u32 phase = 0;      // phases completed since init
  u32 past = 0;  // events before the first phase: its init, and barriers that were here until mbarrier.inval
  u32 in_flight = 0;  // bytes of copies issued under this phase, not landed
  Event last_copy;    // the completion that the last copy issued belongs to
  Site copy_site;     // of that copy
  Site expect_site;   // of the last expect_tx
  struct RemoteArrival {
    Event event;  // of the arriving thread
    Site site;
  };
  std::vector<RemoteArrival> remote;  // the last of each thread of another block
  Knowledge gathered;                 // of everybody who arrived so far
  Knowledge released;                 // the same when the last phase ended: what a wait passes on
  std::vector<Thread*> waiting;

  /// The event "the current phase is over".
  Event completion() const { return {component, past + phase + 1}; }
  bool is_over(u32 parity) const { return (phase & 1) != parity; }
};

}  // namespace fp8twin::machine
