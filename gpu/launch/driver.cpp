#include "gpu/launch/driver.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

#include "emulator/support/error.hpp"
#include "gpu/launch/configs.hpp"
#include "gpu/launch/library.hpp"

namespace fp8twin {
namespace {

// cuda.h renames functions to their current versions (cuMemAlloc is cuMemAlloc_v2); a symbol's name is that
// of after the renaming, hence the two steps.
#define FP8TWIN_NAME_OF(symbol)      #symbol
#define FP8TWIN_LOAD(member, symbol) library.load(member, FP8TWIN_NAME_OF(symbol))

struct Driver {
  decltype(::cuInit)* init;
  decltype(::cuDriverGetVersion)* version;
  decltype(::cuGetErrorString)* error_string;
  decltype(::cuDeviceGetCount)* device_count;
  decltype(::cuDeviceGet)* device_get;
  decltype(::cuDeviceGetName)* device_name;
  decltype(::cuDeviceGetAttribute)* device_attribute;
  decltype(::cuDevicePrimaryCtxRetain)* context_retain;
  decltype(::cuDevicePrimaryCtxRelease)* context_release;
  decltype(::cuCtxSetCurrent)* context_set;
  decltype(::cuCtxSynchronize)* synchronize;
  decltype(::cuStreamQuery)* query;
  decltype(::cuModuleLoadData)* module_load;
  decltype(::cuModuleUnload)* module_unload;
  decltype(::cuModuleGetFunction)* module_function;
  decltype(::cuFuncGetAttribute)* function_attribute;
  decltype(::cuFuncSetAttribute)* set_function_attribute;
  decltype(::cuLaunchKernelEx)* launch;
  decltype(::cuOccupancyMaxActiveClusters)* active_clusters;
  decltype(::cuEventCreate)* event_create;
  decltype(::cuEventDestroy)* event_destroy;
  decltype(::cuEventRecord)* event_record;
  decltype(::cuEventElapsedTime)* event_elapsed;
  decltype(::cuDeviceTotalMem)* total_memory;
  decltype(::cuMemGetInfo)* memory_info;
  decltype(::cuMemAlloc)* allocate;
  decltype(::cuMemFree)* release;
  decltype(::cuMemsetD8)* fill;
  decltype(::cuMemcpyHtoD)* upload;
  decltype(::cuMemcpyDtoH)* download;

  Driver() {
    const std::array<std::string, 1> candidates = {"libcuda.so.1"};
    const Library library(candidates, "NVIDIA's driver", "this needs a machine with an NVIDIA GPU");
    FP8TWIN_LOAD(init, cuInit);
    FP8TWIN_LOAD(version, cuDriverGetVersion);
    FP8TWIN_LOAD(error_string, cuGetErrorString);
    FP8TWIN_LOAD(device_count, cuDeviceGetCount);
    FP8TWIN_LOAD(device_get, cuDeviceGet);
    FP8TWIN_LOAD(device_name, cuDeviceGetName);
    FP8TWIN_LOAD(device_attribute, cuDeviceGetAttribute);
    FP8TWIN_LOAD(context_retain, cuDevicePrimaryCtxRetain);
    FP8TWIN_LOAD(context_release, cuDevicePrimaryCtxRelease);
    FP8TWIN_LOAD(context_set, cuCtxSetCurrent);
    FP8TWIN_LOAD(synchronize, cuCtxSynchronize);
    FP8TWIN_LOAD(query, cuStreamQuery);
    FP8TWIN_LOAD(module_load, cuModuleLoadData);
    FP8TWIN_LOAD(module_unload, cuModuleUnload);
    FP8TWIN_LOAD(module_function, cuModuleGetFunction);
    FP8TWIN_LOAD(function_attribute, cuFuncGetAttribute);
    FP8TWIN_LOAD(set_function_attribute, cuFuncSetAttribute);
    FP8TWIN_LOAD(launch, cuLaunchKernelEx);
    FP8TWIN_LOAD(active_clusters, cuOccupancyMaxActiveClusters);
    FP8TWIN_LOAD(event_create, cuEventCreate);
    FP8TWIN_LOAD(event_destroy, cuEventDestroy);
    FP8TWIN_LOAD(event_record, cuEventRecord);
    library.load(event_elapsed, "cuEventElapsedTime");  // by its first name, which every driver has
    FP8TWIN_LOAD(total_memory, cuDeviceTotalMem);
    FP8TWIN_LOAD(memory_info, cuMemGetInfo);
    FP8TWIN_LOAD(allocate, cuMemAlloc);
    FP8TWIN_LOAD(release, cuMemFree);
    FP8TWIN_LOAD(fill, cuMemsetD8);
    FP8TWIN_LOAD(upload, cuMemcpyHtoD);
    FP8TWIN_LOAD(download, cuMemcpyDtoH);
    check(init(0), "cuInit");
  }

  void check(CUresult result, const char* call) const {
    if (result == CUDA_SUCCESS) return;
    const char* words = nullptr;
    error_string(result, &words);
    throw Error(fmt::format("{} failed: {} (CUresult {})", call, words ? words : "unknown error",
                            static_cast<int>(result)));
  }
};

const Driver& driver() {
  static const Driver instance;
  return instance;
}

/// The driver's release as the kernel module tells it; cuDriverGetVersion knows only the CUDA version.
std::string kernel_module_version() {
  std::ifstream stream("/proc/driver/nvidia/version");
  std::string line;
  std::getline(stream, line);
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ...": the first word of digits with a dot.
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const bool digits = word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits && word.find('.') != std::string::npos) return word;
  }
  return "unknown";
}

}  // namespace

Device::Device() {
  const Driver& cuda = driver();
  int count = 0;
  cuda.check(cuda.device_count(&count), "cuDeviceGetCount");
  if (count == 0) throw Error("the driver finds no GPU: an NVIDIA H100 or H200 is needed");
  cuda.check(cuda.device_get(&device_, 0), "cuDeviceGet");
  std::array<char, 256> name{};
  cuda.check(cuda.device_name(name.data(), static_cast<int>(name.size()), device_), "cuDeviceGetName");
  name_ = name.data();
  int major = 0, minor = 0, version = 0;
  cuda.check(cuda.device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_),
             "cuDeviceGetAttribute");
  cuda.check(cuda.device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_),
             "cuDeviceGetAttribute");
  if (major != 9 || minor != 0) {
    throw Error(fmt::format("the GPU is an {} of compute capability {}.{}: wgmma needs 9.0 (H100, H200)",
                            name_, major, minor));
  }
  const auto attribute = [&](int& value, CUdevice_attribute which) {
    cuda.check(cuda.device_attribute(&value, which, device_), "cuDeviceGetAttribute");
  };
  attribute(multiprocessors_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  attribute(limits_.sm_clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  attribute(limits_.memory_clock_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  attribute(limits_.memory_bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  attribute(limits_.l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  cuda.check(cuda.total_memory(&limits_.memory_bytes, device_), "cuDeviceTotalMem");
  cuda.check(cuda.version(&version), "cuDriverGetVersion");
  cuda_ = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  driver_ = kernel_module_version();
  CUcontext context = nullptr;
  cuda.check(cuda.context_retain(&context, device_), "cuDevicePrimaryCtxRetain");
  cuda.check(cuda.context_set(context), "cuCtxSetCurrent");
}

Device::~Device() { driver().context_release(device_); }

void Device::synchronize() const { driver().check(driver().synchronize(), "cuCtxSynchronize"); }

bool Device::finished_within(double seconds) const {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const CUresult result = driver().query(nullptr);
    if (result != CUDA_ERROR_NOT_READY) {
      driver().check(result, "cuStreamQuery");
      return true;
    }
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds)
      return false;
  }
}

bool device_present(std::string& why) {
  try {
    const Device device;
    return true;
  } catch (const Error& error) {
    why = error.what();
    return false;
  }
}

Module::Module(std::span<const char> cubin) {
  driver().check(driver().module_load(&module_, cubin.data()), "cuModuleLoadData");
}

Module::~Module() {
  if (module_) driver().module_unload(module_);
}

Kernel Module::kernel(const std::string& name) const {
  const Driver& cuda = driver();
  CUfunction function = nullptr;
  cuda.check(cuda.module_function(&function, module_, name.c_str()), "cuModuleGetFunction");
  // Above 48 KiB a kernel gets dynamic shared memory only if it asked beforehand: here, once, for all there is.
  int fixed = 0;
  cuda.check(cuda.function_attribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
             "cuFuncGetAttribute");
  cuda.check(cuda.set_function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(most_shared_bytes) - fixed),
             "cuFuncSetAttribute");
  return Kernel(function);
}

namespace {

/// A launch as the driver wants it described; `config` points into `attributes`. The query for resident clusters wants the
/// cluster's size said even where it is 1.
struct Description {
  CUlaunchConfig config = {};
  std::array<CUlaunchAttribute, 2> attributes = {};

  Description(Grid grid, unsigned threads, unsigned shared_bytes, bool say_cluster) {
    config.gridDimX = grid.x;
    config.gridDimY = grid.y;
    config.blockDimX = threads;
    config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = shared_bytes;
    config.attrs = attributes.data();
    if (say_cluster) {
      CUlaunchAttribute& cluster = attributes[config.numAttrs++];
      cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      cluster.value.clusterDim.x = grid.cluster;
      cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    }
    if (grid.overlap) {
      CUlaunchAttribute& overlap = attributes[config.numAttrs++];
      overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      overlap.value.programmaticStreamSerializationAllowed = 1;
    }
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
};

}  // namespace

void Kernel::launch_raw(Grid grid, unsigned threads, unsigned shared_bytes, const void* arguments) const {
  const Description launch(grid, threads, shared_bytes, grid.cluster > 1);
  void* pointers[] = {const_cast<void*>(arguments)};
  driver().check(driver().launch(&launch.config, function_, pointers, nullptr), "cuLaunchKernelEx");
}

unsigned Kernel::most_resident_clusters(Grid grid, unsigned threads, unsigned shared_bytes) const {
  const Description launch(grid, threads, shared_bytes, true);
  int clusters = 0;
  driver().check(driver().active_clusters(&clusters, function_, &launch.config),
                 "cuOccupancyMaxActiveClusters");
  return static_cast<unsigned>(clusters);
}

Event::Event() { driver().check(driver().event_create(&event_, CU_EVENT_DEFAULT), "cuEventCreate"); }

Event::~Event() { driver().event_destroy(event_); }

void Event::record() const { driver().check(driver().event_record(event_, nullptr), "cuEventRecord"); }

double Event::microseconds_since(const Event& earlier) const {
  float milliseconds = 0;
  driver().check(driver().event_elapsed(&milliseconds, earlier.event_, event_), "cuEventElapsedTime");
  return 1e3 * static_cast<double>(milliseconds);
}

namespace memory {

CUdeviceptr allocate(std::size_t bytes) {
  CUdeviceptr address = 0;
  driver().check(driver().allocate(&address, bytes ? bytes : 1), "cuMemAlloc");
  return address;
}

void release(CUdeviceptr address) noexcept { driver().release(address); }

void fill(CUdeviceptr address, unsigned char value, std::size_t bytes) {
  if (bytes) driver().check(driver().fill(address, value, bytes), "cuMemsetD8");
}

std::size_t available() {
  std::size_t free_bytes = 0, all = 0;
  driver().check(driver().memory_info(&free_bytes, &all), "cuMemGetInfo");
  return free_bytes;
}

void upload(CUdeviceptr to, const void* from, std::size_t bytes) {
  if (bytes) driver().check(driver().upload(to, from, bytes), "cuMemcpyHtoD");
}

void download(void* to, CUdeviceptr from, std::size_t bytes) {
  if (bytes) driver().check(driver().download(to, from, bytes), "cuMemcpyDtoH");
}

}  // namespace memory
}  // namespace fp8twin
