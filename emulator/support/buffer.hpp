// An array whose elements nobody has set yet, for results that are written in full.
//
//     std::vector<T>(n)    one thread zeroes n elements, and takes every page fault, before the work starts
//     Buffer<T>(n)         a page comes in when the thread that computes it first writes to it
//
// Large arrays ask for huge pages (2 MiB on x86-64): one fault instead of 512. Reading an element before writing it is
// undefined, as for any variable without a value.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace fp8twin {

template <class T>
class Buffer {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    // aligned_alloc wants a multiple of the alignment.
    const std::size_t page = size * sizeof(T) >= huge_page ? huge_page : std::size_t{64};
    const std::size_t bytes = (size * sizeof(T) + page - 1) / page * page;
    data_.reset(static_cast<T*>(std::aligned_alloc(page, bytes)));
    if (!data_) throw std::bad_alloc();
#if defined(__linux__)
    if (page == huge_page) ::madvise(data_.get(), bytes, MADV_HUGEPAGE);  // a wish; refused, all still works
#endif
  }

  std::span<T> span() { return {data_.get(), size_}; }
  std::span<const T> span() const { return {data_.get(), size_}; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t huge_page = std::size_t{1} << 21;
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace fp8twin
