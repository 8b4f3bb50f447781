// safetensors, the file format of most published model weights. Specified at
// github.com/huggingface/safetensors.
//
//     0        8                8+n                                end of file
//     [ n: u64 | n bytes of JSON  | bytes of all tensors, no gaps, row-major, little-endian ]
//                 |
//                 {"__metadata__": {"seed": "1"},
//                  "a": {"dtype": "F8_E4M3", "shape": [64, 128], "data_offsets": [0, 8192]}, ...}
//
// Offsets count from 8+n. Together the tensors must cover the bytes exactly: no overlap, no hole, no tail. A
// header is at most 100 MB; JSON with a key twice in one object is refused, since readers would disagree on
// what it says. Written: metadata first, then tensors by falling element size in the order given, header
// padded with spaces to a multiple of 8, so that every tensor is aligned in the file and thus in memory. A
// file by somebody else may misalign a tensor; that tensor alone is copied to an aligned place when it is
// read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"

namespace fp8twin {

TensorFile read_safetensors(const std::string& path);

/// The length and the JSON, all that stands before the tensors' bytes, which are not looked at. `tensors` in the order
/// of their bytes.
std::string safetensors_header(const std::string& path, const std::vector<const Tensor*>& tensors,
                               const Metadata& metadata);

void write_safetensors(const std::string& path, std::span<const Tensor> tensors, const Metadata& metadata);

}  // namespace fp8twin
