// The CUDA driver, loaded at run time, behind five small owners: Device, Module, Kernel, Buffer, Event.
//
//   Device device;                                  the first GPU, its primary context current
//   Module module(compile(source).cubin);           machine code on the card
//   Kernel kernel = module.kernel("name");          a handle, ready for any launch: look it up once, launch it often
//   Buffer<float> d(64 * 256);                      memory on the card
//   Event before, after;                            marks in the stream, for timing
//
//   before.record();
//   kernel.launch({x, y}, 128, shared_bytes, arguments);
//   after.record();
//   std::vector<float> host = d.download();         waits for the kernel
//   after.microseconds_since(before);
//
// Every driver error becomes an Error that names the call and the driver's own words. Everything runs on the
// default stream, in order; a launch with `overlap` may begin before the kernel in front of it has ended.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fp8twin {

struct DeviceLimits {
  int sm_clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  int l2_bytes = 0;
  std::size_t memory_bytes = 0;
};

/// Throws Error where there is no driver or no SM90 GPU.
class Device {
 public:
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }  // "NVIDIA H200"
  const std::string& driver_version() const {
    return driver_;
  }  // "580.159.04"; "unknown" where /proc does not say
  const std::string& cuda_version() const { return cuda_; }  // what the driver supports: "13.0"
  int multiprocessors() const { return multiprocessors_; }
  /// What the driver says of clocks and memory: the highest clocks, not those of the moment.
  const DeviceLimits& limits() const { return limits_; }
  /// Waits for everything launched so far; throws what went wrong in it.
  void synchronize() const;
  /// The same, but gives up after `seconds`: false when the card still runs then.
  bool finished_within(double seconds) const;

 private:
  CUdevice device_ = 0;
  std::string name_, driver_, cuda_;
  int multiprocessors_ = 0;
  DeviceLimits limits_;
};

/// True where Device can be made; otherwise `why` says why not.
bool device_present(std::string& why);

/// Blocks; `cluster` neighbours along x share a cluster.
struct Grid {
  unsigned x = 1, y = 1, cluster = 1;
  /// Programmatic dependent launch: blocks may start as soon as those of the kernel in front have all ended or executed
  /// griddepcontrol.launch_dependents. A kernel launched so says griddepcontrol.wait before it reads or writes what
  /// that one may touch.
  bool overlap = false;
};

/// An entry of a loaded Module, allowed all the dynamic shared memory that a block can have. Copies are handles to the same.
class Kernel {
 public:
  explicit Kernel(CUfunction function) : function_(function) {}

  /// One argument: a plain struct, laid out alike by both compilers.
  template <class Arguments>
  void launch(Grid grid, unsigned threads, unsigned shared_bytes, const Arguments& arguments) const {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    launch_raw(grid, threads, shared_bytes, &arguments);
  }

  /// The most clusters of such a launch that the card can hold at a time. The grid's extent does not matter.
  unsigned most_resident_clusters(Grid grid, unsigned threads, unsigned shared_bytes) const;

 private:
  void launch_raw(Grid grid, unsigned threads, unsigned shared_bytes, const void* arguments) const;
  CUfunction function_;
};

class Module {
 public:
  explicit Module(std::span<const char> cubin);
  ~Module();
  Module(Module&& other) noexcept : module_(other.module_) { other.module_ = nullptr; }
  Module& operator=(Module&&) = delete;
  Kernel kernel(const std::string& name) const;

 private:
  CUmodule module_ = nullptr;
};

/// A point in the stream. The card notes the time when it gets there.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Puts it behind everything launched so far.
  void record() const;
  /// Both must have been passed: Error otherwise. The clock's step is about half a microsecond.
  double microseconds_since(const Event& earlier) const;

 private:
  CUevent event_ = nullptr;
};

namespace memory {  // what Buffer<T> does, in bytes
CUdeviceptr allocate(std::size_t bytes);
void release(CUdeviceptr address) noexcept;
void fill(CUdeviceptr address, unsigned char value, std::size_t bytes);  // does not wait
std::size_t available();                                                 // bytes free on the card
void upload(CUdeviceptr to, const void* from, std::size_t bytes);
void download(void* to, CUdeviceptr from, std::size_t bytes);
}  // namespace memory

template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : address_(memory::allocate(count * sizeof(T))), count_(count) {}
  explicit Buffer(std::span<const T> values) : Buffer(values.size()) {
    memory::upload(address_, values.data(), values.size_bytes());
  }
  explicit Buffer(const std::vector<T>& values) : Buffer(std::span<const T>(values)) {}
  ~Buffer() { memory::release(address_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// The address on the card, for a kernel's arguments; never followed on the host.
  T* device() const { return reinterpret_cast<T*>(address_); }
  std::size_t size() const { return count_; }
  /// Sets every byte: 0xff is a NaN in every format here, so an element never written is seen.
  void fill(unsigned char byte) { memory::fill(address_, byte, count_ * sizeof(T)); }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    memory::download(values.data(), address_, count_ * sizeof(T));
    return values;
  }
  /// All of it to `values`, which has as many elements.
  void download(std::span<T> values) const { memory::download(values.data(), address_, values.size_bytes()); }

 private:
  CUdeviceptr address_ = 0;
  std::size_t count_ = 0;
};

}  // namespace fp8twin
