// Registers of one emulated thread that the checkers watch: an array of FP32 that knows which of its members were written, and
// whether a wgmma owns them.
//
//   Accumulator<64> d;
//   float x = d[3];      a Fault if a wgmma was issued on d and not waited for, or if nobody has written d[3]
//
// d[i] is not a float& but a RegisterReference, which carries the line that asked.
#pragma once

#include <deque>

#include "emulator/machine/operations.hpp"
#include "emulator/machine/wgmma_unit.hpp"

namespace fp8twin {

/// The width of an array that is told at run time.
inline constexpr u32 run_time = 0;

namespace machine {

class RegisterReference {
 public:
  RegisterReference(AccumulatorState& state, u32 index, Site site)
      : state_(state), index_(index), site_(site) {}
  operator float() const {
    if (state_.operation || !state_.written[index_]) refuse_read();
    return state_.reg[index_];
  }
  const RegisterReference& operator=(float value) const {
    if (state_.operation) refuse_write();
    state_.reg[index_] = value;
    state_.written.set(index_);
    return *this;
  }
  const RegisterReference& operator=(const RegisterReference& other) const {
    return *this = static_cast<float>(other);
  }

 private:
  void refuse_read() const;
  void refuse_write() const;
  AccumulatorState& state_;
  u32 index_;
  Site site_;
};

class RegisterArray {
 public:
  RegisterArray(u32 n, u32 constant_n);
  RegisterArray(const RegisterArray&) = delete;
  RegisterArray& operator=(const RegisterArray&) = delete;

  /// An index as an argument would take it: with the line it was written on.
  struct Index {
    u32 value;
    Site site;
    Index(u32 i, Site at = Site::here()) : value(i), site(at) {}
  };
  RegisterReference operator[](Index i) {
    if (i.value >= state.n / 2) refuse_index(i);
    state.touched = true;
    return {state, i.value, i.site};
  }

  AccumulatorState state;

 private:
  void refuse_index(Index i) const;
  float registers_[128];
};

/// `count` arrays of n / 2 registers. They never move: a wgmma in flight knows where they are.
template <class Array>
class Several {
 public:
  Several(u32 n, u32 count) {
    for (u32 i = 0; i < count; ++i) arrays_.emplace_back(n);
  }
  Array& operator[](u32 i) { return arrays_.at(i); }

 private:
  std::deque<Array> arrays_;
};

/// The tensor core of the thread's warpgroup.
WgmmaUnit& wgmma_unit(Thread& thread, Site site);

}  // namespace machine
}  // namespace fp8twin
