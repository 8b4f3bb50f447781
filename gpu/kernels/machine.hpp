// The one header that selects: the instructions of the card, or the same names as C++ on the emulated machine.
#pragma once

#include "emulator/layout/integers.hpp"

#ifdef __CUDACC_RTC__
#include "gpu/ptx/bar.hpp"
#include "gpu/ptx/barrier_cluster.hpp"
#include "gpu/ptx/cp_async_bulk_tensor.hpp"
#include "gpu/ptx/cp_reduce_async_bulk_tensor.hpp"
#include "gpu/ptx/cvt.hpp"
#include "gpu/ptx/div.hpp"
#include "gpu/ptx/elect_sync.hpp"
#include "gpu/ptx/fence.hpp"
#include "gpu/ptx/fma.hpp"
#include "gpu/ptx/griddepcontrol.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/ld_st_narrow.hpp"
#include "gpu/ptx/mbarrier.hpp"
#include "gpu/ptx/mov.hpp"
#include "gpu/ptx/redux_sync.hpp"
#include "gpu/ptx/setmaxnreg.hpp"
#include "gpu/ptx/shared_memory.hpp"
#include "gpu/ptx/shfl_sync.hpp"
#include "gpu/ptx/special_registers.hpp"
#include "gpu/ptx/stmatrix.hpp"
#include "gpu/ptx/wgmma.hpp"
#include "gpu/ptx/words.hpp"
#else
#include "emulator/ptx/vocabulary.hpp"
#endif
