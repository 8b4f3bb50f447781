// The arithmetic of IEEE 754 as a program starts with it, whatever the caller has set: nearest even, subnormals kept.
//
// A caller linked with -ffast-math runs with subnormals flushed to zero; another may round upward. Bits must not depend on it.
// Threads started meanwhile inherit what is set here.
#pragma once

#include <cfenv>

namespace fp8twin {

class DefaultFloats {
 public:
  DefaultFloats() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&callers_); }
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
  std::fenv_t callers_;
};

}  // namespace fp8twin
