// The engine gpu of a build without the card's side: a sentence.
#include "emulator/engine/engines.hpp"
#include "emulator/engine/quantize_engine.hpp"

namespace fp8twin {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(
      std::string(what) +
      ": this fp8twin was built without the card's side; needed are CUDA's headers (cuda.h and nvrtc.h, "
      "from a CUDA toolkit) and -DFP8TWIN_BUILD_GPU=ON when it is built");
}

}  // namespace

std::unique_ptr<Engine> make_gpu_engine() { refuse("--engine gpu"); }

std::unique_ptr<QuantizeEngine> make_gpu_quantize_engine() { refuse("--engine gpu"); }

std::string dump_ptx(const GemmConfig&) { refuse("--dump-ptx"); }

}  // namespace fp8twin
