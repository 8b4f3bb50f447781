// A resumable thread: its own stack, entered and left by an ordinary function call that costs some 20 ns.
//
//   Fiber home;                        the stack this OS thread runs on already (adopt)
//   Fiber guest(entry, argument);      a stack of its own; entry has not begun (make)
//   Fiber::jump(home, guest);          home stands still here until somebody jumps to it
//
// This class is all that knows how stacks are switched: Boost.Context's fibers, with the annotations that the sanitizers want at
// every switch. A fiber never moves to another OS thread (compilers cache thread-local addresses across a call). Stacks are
// 256 KiB over a guard page (untouched pages cost nothing), and are used again.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>

namespace fp8twin::machine {

class Fiber {
 public:
  /// Of each emulated thread. A kernel whose frames need more runs into the guard page, or, with one frame of this size, past it.
  static constexpr std::size_t stack_bytes = 256 * 1024;

  using Entry = void (*)(void* argument);

  Fiber();  // adopt
  /// `entry` must return; the fiber that `after` then points to goes on.
  Fiber(Entry entry, void* argument, Fiber& after);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Called on the stack of `from`.
  static void jump(Fiber& from, Fiber& to);

  /// "Boost.Context fiber"
  static const char* kind();

 private:
  void entered();  // what the sanitizers want to hear first on a stack

  boost::context::fiber context_;
  const void* stack_bottom_ = nullptr;  // for the sanitizers only
  std::size_t stack_size_ = 0;
  void* sanitizer_ = nullptr;
  void* fake_stack_ = nullptr;
};

}  // namespace fp8twin::machine
