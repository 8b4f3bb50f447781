// The words that differ between the two compilers and that no function can stand for, as g++ and clang read them. The card's:
// gpu/ptx/words.hpp.
#pragma once

#define FP8TWIN_DEVICE inline
#define FP8TWIN_UNROLL
