// Reads every word of a buffer once: how fast memory can be read when nothing else is done.
//
//   thread t of T:   t, t + T, t + 2T, ... t + 7T     eight 16-byte loads at once, their sum kept, then the next eight
//
// A warp's 32 loads of one instruction are 512 contiguous bytes. 512 threads on a multiprocessor keep 64 KB under way there,
// and latency times bandwidth (800 ns, 4.3 TB/s over 132) asks for 26 KB. The exclusive or of all words is stored, so that the
// compiler keeps every load.
#pragma once

#include "gpu/bench/device/arguments.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/special_registers.hpp"

namespace fp8twin::bench {

FP8TWIN_DEVICE u32 folded(const U32x4& word) { return word.x ^ word.y ^ word.z ^ word.w; }

template <class Config>
FP8TWIN_DEVICE void stream_read(Config, const StreamArguments& stream) {
  constexpr u32 in_flight = 8;
  const u64 threads = u64{nctaid_x()} * Config::threads;
  const u8* words = static_cast<const u8*>(stream.words);
  u64 index = u64{ctaid_x()} * Config::threads + tid_x();
  u32 sum = 0;
  for (; index + (in_flight - 1) * threads < stream.count; index += in_flight * threads) {
    U32x4 word[in_flight];
    FP8TWIN_UNROLL
    for (u32 i = 0; i < in_flight; ++i) {
      word[i] = ld_global_nc_v4_u32<CacheHint::no_allocate>(words + 16 * (index + i * threads));
    }
    FP8TWIN_UNROLL
    for (u32 i = 0; i < in_flight; ++i) sum ^= folded(word[i]);
  }
  for (; index < stream.count; index += threads)
    sum ^= folded(ld_global_nc_v4_u32<CacheHint::no_allocate>(words + 16 * index));
  if (sum) atomicXor(stream.sum, sum);
}

}  // namespace fp8twin::bench
