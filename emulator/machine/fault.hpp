// What the machine's checkers throw: one mistake of a kernel, with the line, the thread and the address.
//
//   gpu/kernels/tile.hpp:71: thread 5 of block (0,0): wgmma reads shared 0x2400..0x240f, which ... : what to do about it
//
// The kernel is at fault and not the program's user, but a Fault is an Error like any other to whoever runs the kernel.
#pragma once

#include <string>
#include <string_view>

#include "emulator/layout/integers.hpp"
#include "emulator/machine/site.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::machine {

enum class FaultKind {
  out_of_bounds,          // an address outside shared memory, or outside what the launch was given
  misaligned,             // an address that the instruction does not take
  uninitialised,          // bytes or registers that nobody wrote
  race,                   // two accesses that no barrier orders, one of them a write
  missing_proxy_fence,    // written through the generic proxy, read through the async one, no fence between
  accumulator_in_flight,  // registers of a wgmma that nobody has waited for
  missing_wgmma_fence,    // registers touched since the last wgmma.fence
  transaction_count,      // an mbarrier's phase and the bytes of its copies do not agree
  barrier_use,            // a barrier never initialised, initialised twice, counts that differ, ...
  disagreement,           // threads of one collective instruction that disagree
  descriptor,             // a matrix descriptor or tensor map that the hardware reads otherwise than meant
  unfinished,             // a block that ends with copies, stores or wgmma in flight
  deadlock,               // nobody can go on
};

std::string_view fault_name(FaultKind kind);

class Fault : public Error {
 public:
  Fault(FaultKind what, Site where, int tid, u32 at, const std::string& sentence)
      : Error(sentence), kind(what), site(where), thread(tid), address(at) {}

  FaultKind kind;
  Site site;    // of the instruction that was caught
  int thread;   // tid.x; -1 where no single thread is to blame
  u32 address;  // shared address; 0 where there is none
};

}  // namespace fp8twin::machine
