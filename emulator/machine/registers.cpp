#include "emulator/machine/registers.hpp"

#include <fmt/format.h>

#include "emulator/number/float_bits.hpp"

namespace fp8twin::machine {
namespace {

[[noreturn]] void refuse(FaultKind kind, Site site, const std::string& what) {
  const Thread& thread = self();
  throw Fault(kind, site, static_cast<int>(thread.tid), 0,
              fmt::format("{}: {}: {}", site.text(), thread.name(), what));
}

}  // namespace

RegisterArray::RegisterArray(u32 n, u32 constant_n) {
  if (n < 8 || n > 256 || n % 8 != 0 || (constant_n != run_time && constant_n != n)) {
    refuse(FaultKind::descriptor, {},
           fmt::format("registers for N = {} where the type says {}: a multiple of 8 from 8 to 256", n,
                       constant_n));
  }
  state.reg = registers_;
  state.n = n;
  std::fill_n(registers_, 128, f32_from_bits(0xffffffffu));
}

void RegisterReference::refuse_read() const {
  if (!self().cluster->checks()) return;
  if (state_.operation) {
    refuse(FaultKind::accumulator_in_flight, site_,
           fmt::format("reads accumulator register {} while wgmma instruction {} of its warpgroup may "
                       "still write it: "
                       "wgmma.wait_group first",
                       index_, state_.operation));
  }
  refuse(FaultKind::uninitialised, site_, fmt::format("reads register {}, which nobody has written", index_));
}

void RegisterReference::refuse_write() const {
  if (!self().cluster->checks()) return;
  refuse(FaultKind::accumulator_in_flight, site_,
         fmt::format("writes accumulator register {} while wgmma instruction {} of its warpgroup may "
                     "still write it: "
                     "wgmma.wait_group first",
                     index_, state_.operation));
}

void RegisterArray::refuse_index(Index i) const {
  refuse(FaultKind::out_of_bounds, i.site,
         fmt::format("register {} of an array of {}", i.value, state.n / 2));
}

WgmmaUnit& wgmma_unit(Thread& thread, Site site) {
  auto& units = thread.block->wgmma;
  if (thread.warpgroup() >= units.size()) {
    refuse(FaultKind::disagreement, site,
           fmt::format("wgmma needs a whole warpgroup, and the block has {} threads",
                       thread.cluster->settings().threads));
  }
  return *units[thread.warpgroup()];
}

}  // namespace fp8twin::machine
