// Which tensors of two files `diff` compares: by --tensor, or by what the files hold.
//
//   default        every tensor, by name; a name in one file only is an error
//   --tensor X=Y   X of A with Y of B; --tensor X is X=X
//   .npy           its one tensor has no name of its own: it goes with the other file's only tensor, or the
//                  one named
//
// Codes in an .npy file are uint8; beside an 8-bit type of a safetensors file they are read as that type.
#pragma once

#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"

namespace fp8twin::cli {

struct TensorPair {
  std::string name;  // "d", or "d and out"
  Tensor a, b;       // of one dtype and shape
};

/// `names` as given to --tensor, or empty. With `prefer_d` a tensor d in both files is the default.
/// Throws Error naming file, tensor, what was found and what is needed.
std::vector<TensorPair> pair_tensors(const TensorFile& a, const TensorFile& b,
                                     const std::vector<std::string>& names, bool prefer_d);

}  // namespace fp8twin::cli
