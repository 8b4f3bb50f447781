// The gate of a live test: `if (!have_gpu()) return;`.
#pragma once

#include <string>

#include "gpu/launch/driver.hpp"
#include "tests/gpu/skip.hpp"

namespace fp8twin::test {

/// Whether a GPU is here. If none is, the test counts as skipped, with the driver's reason.
inline bool have_gpu() {
  std::string why;
  if (device_present(why)) return true;
  skip(why);
  return false;
}

}  // namespace fp8twin::test
