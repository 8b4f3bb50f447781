// Resumable threads: locals survive, switches are exact, exceptions stay on their own stack.
#include "emulator/machine/fiber.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

using fp8twin::machine::Fiber;

namespace {

struct PingPong {
  Fiber* home = nullptr;
  Fiber* guest = nullptr;
  int rounds = 0, seen = 0;
  double sum = 0;
};

void count(void* argument) {
  auto& p = *static_cast<PingPong*>(argument);
  double sum = 0;  // a local, in whatever register: it must survive every switch
  for (int i = 0; i < p.rounds; ++i) {
    ++p.seen;
    sum += 0.5 * i;
    Fiber::jump(*p.guest, *p.home);
  }
  p.sum = sum;
}

/// Goes down `depth` calls with a buffer in each, jumps home at the bottom, and checks the buffers on the way up.
bool deep(PingPong& p, int depth) {
  char buffer[200];
  std::memset(buffer, depth, sizeof buffer);
  if (depth == 0) {
    Fiber::jump(*p.guest, *p.home);
    return true;
  }
  if (!deep(p, depth - 1)) return false;
  for (const char c : buffer) {
    if (c != static_cast<char>(depth)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a hundred thousand switches there and back") {
  Fiber home;
  PingPong p;
  p.rounds = 100000;
  Fiber guest(count, &p, home);
  p.home = &home;
  p.guest = &guest;
  double expected = 0;
  for (int i = 0; i < p.rounds; ++i) {
    Fiber::jump(home, guest);
    REQUIRE(p.seen == i + 1);
    expected += 0.5 * i;
  }
  Fiber::jump(home, guest);  // out of the loop, and to its end
  CHECK(p.sum == expected);
}

TEST_CASE("fibers hand over among themselves; the last one comes home") {
  struct Ring {
    Fiber* home = nullptr;
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::string order;
    std::size_t next = 0;
  } ring;
  Fiber home;
  ring.home = &home;
  const auto body = [](void* argument) {
    auto& r = *static_cast<Ring*>(argument);
    const std::size_t me = r.next++;
    for (int round = 0; round < 3; ++round) {
      r.order += static_cast<char>('a' + me);
      const std::size_t to = me + 1;
      if (to < r.fibers.size()) {
        Fiber::jump(*r.fibers[me], *r.fibers[to]);
      } else {
        Fiber::jump(*r.fibers[me], *r.home);
      }
    }
  };
  for (int i = 0; i < 4; ++i) ring.fibers.push_back(std::make_unique<Fiber>(body, &ring, home));
  for (int round = 0; round < 3; ++round) Fiber::jump(home, *ring.fibers[0]);
  CHECK(ring.order == "abcdabcdabcd");
  for (auto& fiber : ring.fibers) Fiber::jump(home, *fiber);  // to their ends
  CHECK(ring.order == "abcdabcdabcd");
}

TEST_CASE("a suspended stack keeps its frames, and stacks are used again") {
  for (int again = 0; again < 200; ++again) {
    struct Deep {
      PingPong p;
      bool right = false;
    } d;
    Fiber home;
    Fiber guest(
        [](void* argument) {
          auto& inside = *static_cast<Deep*>(argument);
          inside.right = deep(inside.p, 60);
        },
        &d, home);
    d.p.home = &home;
    d.p.guest = &guest;
    Fiber::jump(home, guest);
    REQUIRE_FALSE(d.right);
    Fiber::jump(home, guest);
    REQUIRE(d.right);
  }
}

TEST_CASE("an exception caught inside its fiber disturbs nobody") {
  struct Catcher {
    std::string what;
  } catcher;
  Fiber home;
  Fiber guest(
      [](void* argument) {
        try {
          throw std::runtime_error("inside");
        } catch (const std::exception& e) {
          static_cast<Catcher*>(argument)->what = e.what();
        }
      },
      &catcher, home);
  try {
    Fiber::jump(home, guest);
    throw std::logic_error("outside");
  } catch (const std::logic_error& e) {
    CHECK(std::string(e.what()) == "outside");
  }
  CHECK(catcher.what == "inside");
}

TEST_CASE("each OS thread has fibers of its own") {
  std::vector<int> seen(4, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < seen.size(); ++t) {
      threads.emplace_back([&seen, t] {
        Fiber home;
        PingPong p;
        p.rounds = 500;
        Fiber guest(count, &p, home);
        p.home = &home;
        p.guest = &guest;
        for (int i = 0; i <= p.rounds; ++i) Fiber::jump(home, guest);
        seen[t] = p.seen;
      });
    }
  }
  CHECK(seen == std::vector<int>(4, 500));
}
