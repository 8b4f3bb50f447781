// NVRTC, CUDA's run-time compiler: C++ text in, SM90 machine code out. Loaded at first use.
//
// Every header a kernel includes travels inside the program (gpu/jit/sources.hpp), so what compiles is what
// was built, and no path matters. -default-device: constexpr functions need no annotation; -fmad=false: a*b+c
// is two roundings unless the source says fma. Nothing here needs a GPU: CI compiles every kernel with it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fp8twin::jit {

/// One translation unit: its own text, and the wgmma shapes it uses.
struct Source {
  std::string name;  // for messages and logs
  std::string text;
  std::vector<int> wgmma_shapes;
};

/// What ptxas reported of one kernel.
struct Resources {
  std::string kernel;
  int registers = 0;
  int stack_bytes =
      0;  // a stack frame or a spill means that an array of registers was indexed at run time, or did not fit
  int spill_store_bytes = 0, spill_load_bytes = 0;
  int shared_bytes = 0;
};

struct Compiled {
  std::vector<char> cubin;
  std::string log;
  std::vector<Resources> resources;
};

/// "13.0", or an Error where there is no NVRTC.
std::string nvrtc_version();

/// What every compilation is told, the architecture apart.
std::vector<std::string> compile_options();

/// Compiles for sm_90a. Throws Error with the compiler's log when it fails; also when ptxas remarks that it
/// serialised or repaired a wgmma (C75xx): the kernel would be slow, or right on the card by ptxas's help
/// alone.
Compiled compile(const Source& source);

/// The PTX text of a source, as --dump-ptx prints it.
std::string dump_ptx(const Source& source);

/// Reads ptxas -v lines out of a log.
std::vector<Resources> parse_resources(const std::string& log);

}  // namespace fp8twin::jit
