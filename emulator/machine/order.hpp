// Who knows of what: happens-before, kept as vector clocks, so that a missing wait is seen whatever the schedule's luck.
//
//   component   a thread, an mbarrier (whose phases tell that copies have landed), a warpgroup's wgmma unit,
//               a thread's bulk stores
//   event       (component, epoch): the epoch-th thing that this component did
//   knowledge   for each component the last epoch known to be over
//
//   store by thread 3 at its epoch 7          event (3, 7)
//   bar.sync joins the knowledge of all who meet, and each begins a new epoch
//   load by thread 9: ordered if thread 9's knowledge of component 3 has reached 7
//
// Knowledge has two halves. What the generic proxy wrote, the async proxy (TMA, wgmma) sees only past a fence.proxy.async that
// lies on the way: `fenced` is what is known through such a fence. A fence copies one half to the other; barriers pass on both.
// Source: PTX ISA, "Memory Consistency Model", "Causality Order" and "Proxy-preserved base causality order".
#pragma once

#include <algorithm>
#include <vector>

#include "emulator/layout/integers.hpp"

namespace fp8twin::machine {

struct Event {
  u32 component = 0, epoch = 0;
};

class Knowledge {
 public:
  Knowledge() = default;
  explicit Knowledge(std::size_t components) : known_(components, 0), fenced_(components, 0) {}

  bool knows(Event event) const { return known_[event.component] >= event.epoch; }
  bool knows_fenced(Event event) const { return fenced_[event.component] >= event.epoch; }
  bool empty() const { return known_.empty(); }
  /// Grows with every change: a cheap way to see that nothing changed.
  u64 version() const { return version_; }

  void learn(Event event) {
    known_[event.component] = std::max(known_[event.component], event.epoch);
    fenced_[event.component] = std::max(fenced_[event.component], event.epoch);
    ++version_;
  }
  /// Only through the generic proxy: a thread's own stores.
  void advance(Event event) {
    known_[event.component] = event.epoch;
    ++version_;
  }
  /// fence.mbarrier_init: one event alone becomes known to the async proxy.
  void fence_event(Event event) {
    fenced_[event.component] = std::max(fenced_[event.component], event.epoch);
    ++version_;
  }
  void proxy_fence() {
    fenced_ = known_;
    ++version_;
  }
  void join(const Knowledge& other) {
    raise(known_, other.known_);
    raise(fenced_, other.fenced_);
    ++version_;
  }
  /// What both know.
  void meet(const Knowledge& other) {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      known_[i] = std::min(known_[i], other.known_[i]);
      fenced_[i] = std::min(fenced_[i], other.fenced_[i]);
    }
    ++version_;
  }

 private:
  static void raise(std::vector<u32>& to, const std::vector<u32>& from) {
    if (to.empty()) to.resize(from.size());
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
  }
  std::vector<u32> known_, fenced_;
  u64 version_ = 0;
};

}  // namespace fp8twin::machine
