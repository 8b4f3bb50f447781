// The one exception this library throws: a sentence for the person at the keyboard.
//
// The sentence says where (file, tensor), what was found and what is needed. The program prints it on
// stderr and leaves with status 2; a library user catches fp8twin::Error.
#pragma once

#include <stdexcept>

namespace fp8twin {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace fp8twin
