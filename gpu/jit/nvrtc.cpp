#include "gpu/jit/nvrtc.hpp"

#include <fmt/format.h>
#include <nvrtc.h>

#include <sstream>

#include "emulator/support/error.hpp"
#include "gpu/jit/sources.hpp"
#include "gpu/jit/wgmma_shapes.hpp"
#include "gpu/launch/library.hpp"

namespace fp8twin::jit {
namespace {

struct Nvrtc {
  decltype(nvrtcVersion)* version;
  decltype(nvrtcGetErrorString)* error_string;
  decltype(nvrtcCreateProgram)* create;
  decltype(nvrtcDestroyProgram)* destroy;
  decltype(nvrtcCompileProgram)* compile;
  decltype(nvrtcGetProgramLogSize)* log_size;
  decltype(nvrtcGetProgramLog)* log;
  decltype(nvrtcGetCUBINSize)* cubin_size;
  decltype(nvrtcGetCUBIN)* cubin;
  decltype(nvrtcGetPTXSize)* ptx_size;
  decltype(nvrtcGetPTX)* ptx;

  Nvrtc() {
    const Library library(cuda_library_candidates({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}),
                          "NVRTC, CUDA's run-time compiler,",
                          "install the CUDA toolkit (12.3 or newer) or set CUDA_HOME to where it is");
    library.load(version, "nvrtcVersion");
    library.load(error_string, "nvrtcGetErrorString");
    library.load(create, "nvrtcCreateProgram");
    library.load(destroy, "nvrtcDestroyProgram");
    library.load(compile, "nvrtcCompileProgram");
    library.load(log_size, "nvrtcGetProgramLogSize");
    library.load(log, "nvrtcGetProgramLog");
    library.load(cubin_size, "nvrtcGetCUBINSize");
    library.load(cubin, "nvrtcGetCUBIN");
    library.load(ptx_size, "nvrtcGetPTXSize");
    library.load(ptx, "nvrtcGetPTX");
  }

  void check(nvrtcResult result, const char* doing) const {
    if (result != NVRTC_SUCCESS)
      throw Error(fmt::format("NVRTC failed while {}: {}", doing, error_string(result)));
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc instance;
  return instance;
}

/// The program object, destroyed whatever happens.
struct Program {
  nvrtcProgram handle = nullptr;
  ~Program() {
    if (handle) nvrtc().destroy(&handle);
  }
};

std::string read_log(nvrtcProgram program) {
  std::size_t size = 0;
  nvrtc().check(nvrtc().log_size(program, &size), "reading the size of its log");
  std::string log(size, '\0');
  if (size > 0) nvrtc().check(nvrtc().log(program, log.data()), "reading its log");
  while (!log.empty() && log.back() == '\0') log.pop_back();
  return log;
}

/// The decimal number that ends where `words` begin in `line`; 0 where there is none.
int number_before(const std::string& line, const std::string& words) {
  const std::size_t end = line.find(words);
  if (end == std::string::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = 0;
  for (; begin < end; ++begin) number = 10 * number + (line[begin] - '0');
  return number;
}

/// What stands between single quotes right after `words`; empty where `words` are missing.
std::string quoted_after(const std::string& line, const std::string& words) {
  const std::size_t at = line.find(words);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + words.size() + 1;
  return line.substr(begin, line.find('\'', begin) - begin);
}

}  // namespace

std::string nvrtc_version() {
  int major = 0, minor = 0;
  nvrtc().check(nvrtc().version(&major, &minor), "saying its version");
  return fmt::format("{}.{}", major, minor);
}

std::vector<std::string> compile_options() {
  std::vector<std::string> options = {"--std=c++20", "-default-device", "-fmad=false", "--ptxas-options=-v"};
  // From CUDA 13 on, where there is a driver, NVRTC keeps a cache on disk, and what comes out of it comes
  // without a log: without what ptxas had to say about spills and wgmma.
  int major = 0, minor = 0;
  nvrtc().check(nvrtc().version(&major, &minor), "saying its version");
  if (major >= 13) options.push_back("-no-cache");
  return options;
}

namespace {

/// Compiles for `architecture` into `program`; returns the log.
std::string compile_into(Program& program, const Source& source, const std::string& architecture) {
  const std::string shapes = wgmma_shapes(source.wgmma_shapes);
  std::vector<const char*> names = {"generated/wgmma_shapes.hpp"}, texts = {shapes.c_str()};
  for (const Header& header : sources()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  nvrtc().check(nvrtc().create(&program.handle, source.text.c_str(), (source.name + ".cu").c_str(),
                               static_cast<int>(names.size()), texts.data(), names.data()),
                "creating a program");
  std::vector<std::string> options = compile_options();
  options.push_back("--gpu-architecture=" + architecture);
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const nvrtcResult result =
      nvrtc().compile(program.handle, static_cast<int>(pointers.size()), pointers.data());
  std::string log = read_log(program.handle);
  if (result != NVRTC_SUCCESS) {
    throw Error(
        fmt::format("kernel {} does not compile ({}):\n{}", source.name, nvrtc().error_string(result), log));
  }
  return log;
}

}  // namespace

Compiled compile(const Source& source) {
  Program program;
  Compiled compiled;
  compiled.log = compile_into(program, source, "sm_90a");
  if (compiled.log.find("C75") != std::string::npos) {
    throw Error(
        fmt::format("ptxas serialised or repaired a wgmma of kernel {}:\n{}", source.name, compiled.log));
  }
  std::size_t size = 0;
  nvrtc().check(nvrtc().cubin_size(program.handle, &size), "reading the size of its machine code");
  compiled.cubin.resize(size);
  nvrtc().check(nvrtc().cubin(program.handle, compiled.cubin.data()), "reading its machine code");
  compiled.resources = parse_resources(compiled.log);
  return compiled;
}

std::string dump_ptx(const Source& source) {
  Program program;
  compile_into(program, source, "compute_90a");
  std::size_t size = 0;
  nvrtc().check(nvrtc().ptx_size(program.handle, &size), "reading the size of its PTX");
  std::string ptx(size, '\0');
  nvrtc().check(nvrtc().ptx(program.handle, ptx.data()), "reading its PTX");
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  return ptx;
}

std::vector<Resources> parse_resources(const std::string& log) {
  std::vector<Resources> all;
  std::istringstream lines(log);
  bool in_kernel = false;  // a function that is called has properties of its own, which are not the kernel's
  for (std::string line; std::getline(lines, line);) {
    if (const std::string name = quoted_after(line, "Compiling entry function "); !name.empty()) {
      all.push_back({.kernel = name});
      in_kernel = true;
    }
    if (all.empty()) continue;
    Resources& last = all.back();
    if (line.find("Function properties for ") != std::string::npos) {
      in_kernel = line.ends_with("Function properties for " + last.kernel);
    }
    if (in_kernel && line.find(" bytes stack frame") != std::string::npos) {
      last.stack_bytes = number_before(line, " bytes stack frame");
      last.spill_store_bytes = number_before(line, " bytes spill stores");
      last.spill_load_bytes = number_before(line, " bytes spill loads");
    }
    if (line.find(" registers") != std::string::npos) last.registers = number_before(line, " registers");
    if (line.find(" bytes smem") != std::string::npos) last.shared_bytes = number_before(line, " bytes smem");
  }
  return all;
}

}  // namespace fp8twin::jit
