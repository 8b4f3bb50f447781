// The one header that selects: the instructions of the card, or the same names as C++ on an emulated machine.
#pragma once

#include "emulator/layout/integers.hpp"

#ifdef __CUDACC_RTC__
#include "gpu/ptx/bar.hpp"
#include "gpu/ptx/cvt.hpp"
#include "gpu/ptx/fence_proxy_async.hpp"
#include "gpu/ptx/fma.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/shared_memory.hpp"
#include "gpu/ptx/special_registers.hpp"
#include "gpu/ptx/wgmma.hpp"
#include "gpu/ptx/words.hpp"
#else
#include "emulator/ptx/vocabulary.hpp"
#endif
