#include "emulator/machine/fiber.hpp"

#include <boost/context/protected_fixedsize_stack.hpp>
#include <memory>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace fp8twin::machine {
namespace {

using boost::context::protected_fixedsize_stack;
using boost::context::stack_context;
constexpr std::size_t stack_bytes = Fiber::stack_bytes;

/// A stack, and what ThreadSanitizer knows the fiber on it by.
struct Stack {
  stack_context memory;
  void* sanitizer = nullptr;
  unsigned uses = 0;
};

/// Stacks of this OS thread that wait to be used again: mapping one costs two system calls, and ThreadSanitizer gives back little of
/// what it keeps for a fiber.
class StackPool {
 public:
  Stack take() {
    if (!free_.empty()) {
      const Stack stack = free_.back();
      free_.pop_back();
      return stack;
    }
    Stack stack{source_.allocate()};
#if defined(__SANITIZE_THREAD__)
    stack.sanitizer = __tsan_create_fiber(0);
#endif
    return stack;
  }
  void give(Stack stack) {
#if defined(__SANITIZE_ADDRESS__)
    // The last frame may have died in the middle; its red zones must not outlive it, here or in what is mapped here next.
    __asan_unpoison_memory_region(static_cast<char*>(stack.memory.sp) - stack.memory.size, stack.memory.size);
#endif
#if defined(__SANITIZE_THREAD__)
    // What is left of a finished fiber's call stack stays in ThreadSanitizer's account of it, which ends at 2^16 frames.
    if (++stack.uses % 4096 == 0) {
      __tsan_destroy_fiber(stack.sanitizer);
      stack.sanitizer = __tsan_create_fiber(0);
    }
#endif
    free_.push_back(stack);
  }
  ~StackPool() {
    for (Stack& stack : free_) {
#if defined(__SANITIZE_THREAD__)
      __tsan_destroy_fiber(stack.sanitizer);
#endif
      source_.deallocate(stack.memory);
    }
  }

 private:
  protected_fixedsize_stack source_{stack_bytes};
  std::vector<Stack> free_;
};

StackPool& pool() {
  static thread_local StackPool instance;
  return instance;
}

/// Boost's allocator interface over the pool.
struct PooledStack {
  using traits_type = boost::context::stack_traits;
  Stack stack;
  stack_context allocate() { return stack.memory; }
  void deallocate(stack_context&) noexcept { pool().give(stack); }
};

}  // namespace

Fiber::Fiber() {
#if defined(__SANITIZE_ADDRESS__)
  // AddressSanitizer must know the bounds of the stack it comes back to: those of this OS thread.
  pthread_attr_t attributes;
  void* bottom = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &stack_size_);
    pthread_attr_destroy(&attributes);
    stack_bottom_ = bottom;
  }
#endif
#if defined(__SANITIZE_THREAD__)
  sanitizer_ = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(Entry entry, void* argument, Fiber& after) {
  const Stack stack = pool().take();
  stack_size_ = stack.memory.size;
  stack_bottom_ = static_cast<const char*>(stack.memory.sp) - stack.memory.size;
  sanitizer_ = stack.sanitizer;
  context_ = boost::context::fiber(
      std::allocator_arg, PooledStack{stack}, [this, entry, argument, &after](boost::context::fiber&&) {
        entered();
        entry(argument);
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(nullptr, after.stack_bottom_, after.stack_size_);
#endif
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(after.sanitizer_, 0);
#endif
        return std::move(after.context_);
      });
}

void Fiber::entered() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
}

void Fiber::jump(Fiber& from, Fiber& to) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_bottom_, to.stack_size_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.sanitizer_, 0);
#endif
  std::move(to.context_).resume_with([&from](boost::context::fiber&& left) {
    from.context_ = std::move(left);
    return boost::context::fiber{};
  });
  from.entered();
}

const char* Fiber::kind() { return "Boost.Context fiber"; }

}  // namespace fp8twin::machine
