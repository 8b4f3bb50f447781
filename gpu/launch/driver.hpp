// The CUDA driver, loaded at run time, behind four small owners: Device, Module, Kernel, Buffer.
//
//   Device device;                                  the first GPU, its primary context current
//   Module module(compile(source).cubin);           machine code on the card
//   Buffer<float> d(64 * 256);                      memory on the card
//   module.kernel("name").launch({x, y}, 128, shared_bytes, arguments);
//   std::vector<float> host = d.download();         waits for the kernel
//
// Every driver error becomes an Error that names the call and the driver's own words. Everything runs on the
// default stream, in order.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fp8twin {

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
  /// Waits for everything launched so far; throws what went wrong in it.
  void synchronize() const;

 private:
  CUdevice device_ = 0;
  std::string name_, driver_, cuda_;
  int multiprocessors_ = 0;
};

/// True where Device can be made; otherwise `why` says why not.
bool device_present(std::string& why);

/// Blocks; `cluster` neighbours along x share a cluster.
struct Grid {
  unsigned x = 1, y = 1, cluster = 1;
};

class Kernel {
 public:
  explicit Kernel(CUfunction function) : function_(function) {}

  /// One argument: a plain struct, laid out alike by both compilers.
  template <class Arguments>
  void launch(Grid grid, unsigned threads, unsigned shared_bytes, const Arguments& arguments) const {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    launch_raw(grid, threads, shared_bytes, &arguments);
  }

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

namespace memory {  // what Buffer<T> does, in bytes
CUdeviceptr allocate(std::size_t bytes);
void release(CUdeviceptr address) noexcept;
void fill(CUdeviceptr address, unsigned char value, std::size_t bytes);
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

 private:
  CUdeviceptr address_ = 0;
  std::size_t count_ = 0;
};

}  // namespace fp8twin
