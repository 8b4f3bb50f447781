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

/// Stacks of this OS thread that wait to be used again: mapping one costs two system calls.
class StackPool {
 public:
  stack_context take() {
    if (free_.empty()) return source_.allocate();
    const stack_context stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void give(stack_context stack) { free_.push_back(stack); }
  ~StackPool() {
    for (stack_context& stack : free_) source_.deallocate(stack);
  }

 private:
  protected_fixedsize_stack source_{64 * 1024};
  std::vector<stack_context> free_;
};

StackPool& pool() {
  static thread_local StackPool instance;
  return instance;
}

/// Boost's allocator interface over the pool.
struct PooledStack {
  using traits_type = boost::context::stack_traits;
  stack_context stack;
  stack_context allocate() { return stack; }
  void deallocate(stack_context& used) noexcept { pool().give(used); }
};

}  // namespace

Fiber::Fiber() : adopted_(true) {
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
  const stack_context stack = pool().take();
  stack_size_ = stack.size;
  stack_bottom_ = static_cast<const char*>(stack.sp) - stack.size;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack_bottom_,
                                stack_size_);  // the last user may have died in the middle of a frame
#endif
#if defined(__SANITIZE_THREAD__)
  sanitizer_ = __tsan_create_fiber(0);
#endif
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

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  if (!adopted_) __tsan_destroy_fiber(sanitizer_);
#endif
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
