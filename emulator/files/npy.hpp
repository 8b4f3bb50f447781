// .npy, NumPy's file of one array. Specified in numpy.lib.format; versions 1.0, 2.0 and 3.0 are read, 1.0 is
// written.
//
//     0         6        8              10 (version 1) or 12         start, a multiple of 64
//     [ \x93NUMPY | 1 0 | length u16/u32 | {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } | array ]
//
//     descr   '|u1'  '<u2'  '<f2'  '<f4'  '<i4'
//     dtype    U8    BF16   F16    F32    I32
//
// NumPy has no FP8 and no BF16 of its own and stores foreign types as nameless bytes ('V1', 'V2'), so the
// files carry bit patterns: FP8 codes are written as uint8 and read back as U8, BF16 as uint16 and read back
// as BF16. Any other descr is refused by name, and so is Fortran order. The one tensor is called "data";
// there is no place for metadata.
#pragma once

#include <string>

#include "emulator/files/tensor.hpp"

namespace fp8twin {

TensorFile read_npy(const std::string& path);

/// All that stands before the array's bytes; the tensor's own are not looked at.
std::string npy_header(const Tensor& tensor);

void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace fp8twin
