// Who touches memory, for the checkers and for their sentences.
#pragma once

#include <string>

#include "emulator/layout/integers.hpp"
#include "emulator/layout/swizzle.hpp"
#include "emulator/machine/order.hpp"
#include "emulator/machine/site.hpp"

namespace fp8twin::machine {

/// One instruction of one thread (or of one of its asynchronous helpers) at work.
struct Actor {
  const char* instruction;  // "st.shared", "wgmma.mma_async", "cp.async.bulk.tensor"
  Site site;
  int thread;                  // tid.x
  u32 block_x, block_y;        // ctaid
  Event event;                 // what the access is remembered as
  const Knowledge* knowledge;  // what is known to be over when it happens
  bool async_proxy;            // TMA and wgmma; ordinary loads and stores go through the generic proxy
  SwizzleMode swizzle = SwizzleMode::none;  // of what TMA writes

  /// "kernel.hpp:71: thread 5 of block (0,0): st.shared"
  std::string text() const;
};

}  // namespace fp8twin::machine
