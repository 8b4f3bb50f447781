// Every planted bug is named by its checker, whatever the schedule; the correct pipeline is never accused.
#include "gpu/kernels/broken_pipeline.hpp"

#include <fmt/format.h>

#include <vector>

#include "emulator/machine/launch.hpp"
#include "emulator/number/bf16.hpp"
#include "emulator/number/tensor_core.hpp"
#include "tests/catch.hpp"

namespace {

using namespace fp8twin;

struct RunConfig {
  Bug bug;
};

struct Run {
  std::vector<u8> a, b;
  std::vector<u16> d = std::vector<u16>(64 * 64);
  u32 k_blocks;

  explicit Run(u32 blocks) : a(64 * 128 * blocks), b(64 * 128 * blocks), k_blocks(blocks) {
    u32 state = 12345 + blocks;
    for (std::vector<u8>* codes : {&a, &b}) {
      for (u8& code : *codes) {
        state = state * 1664525 + 1013904223;
        code = static_cast<u8>(state >> 24);
        if ((code & 0x7f) == 0x7f) code = 0x38;
      }
    }
  }

  machine::LaunchReport launch(Bug bug, machine::Schedule schedule, u64 seed) {
    machine::GlobalMemory memory;
    memory.add("a", a.data(), a.size(), machine::GlobalMemory::Access::read);
    memory.add("b", b.data(), b.size(), machine::GlobalMemory::Access::read);
    memory.add("d", d.data(), 2 * d.size(), machine::GlobalMemory::Access::write);
    const u64 k = 128 * k_blocks;
    const auto operand = [&](const std::vector<u8>& codes) {
      return machine::encode_tensor_map({reinterpret_cast<u64>(codes.data()),
                                         TensorElement::uint8,
                                         2,
                                         {k, 64, 1},
                                         {k, 0},
                                         {128, 64, 1},
                                         SwizzleMode::b128});
    };
    BrokenPipelineArguments arguments{};
    arguments.a = operand(a);
    arguments.b = operand(b);
    arguments.d =
        machine::encode_tensor_map({reinterpret_cast<u64>(d.data()),
                                    TensorElement::bf16,
                                    2,
                                    {64, 64, 1},
                                    {128, 0},
                                    {64, 64, 1},
                                    bug == Bug::bank_conflicts ? SwizzleMode::none : SwizzleMode::b128});
    arguments.k_blocks = k_blocks;
    return machine::launch({1, 1}, {1, 1}, broken_pipeline_threads, broken_pipeline_shared_bytes,
                           [bug](const BrokenPipelineArguments& g) { broken_pipeline(RunConfig{bug}, g); },
                           arguments, {.schedule = schedule, .seed = seed, .threads = 1, .memory = &memory});
  }

  std::vector<u16> expected() const {
    std::vector<u16> codes;
    for (u32 m = 0; m < 64; ++m) {
      for (u32 n = 0; n < 64; ++n) {
        float sum = 0;
        for (u32 k = 0; k < 128 * k_blocks; k += 32)
          sum = dot(sm90, a.data() + 128 * k_blocks * m + k, b.data() + 128 * k_blocks * n + k, sum);
        codes.push_back(BF16::rn(sum).code);
      }
    }
    return codes;
  }
};

constexpr machine::Schedule schedules[] = {machine::Schedule::earliest, machine::Schedule::latest,
                                           machine::Schedule::mixed, machine::Schedule::random};

}  // namespace

TEST_CASE("the correct pipeline: the arithmetic's bits, and no report, over 100 seeds") {
  for (const u32 blocks : {1u, 2u, 5u}) {
    Run run(blocks);
    const std::vector<u16> expected = run.expected();
    for (const machine::Schedule schedule : schedules) {
      const u64 seeds = schedule == machine::Schedule::random ? 100 : 2;
      for (u64 seed = 0; seed < seeds; ++seed) {
        INFO(blocks << " blocks, schedule " << static_cast<int>(schedule) << ", seed " << seed);
        std::fill(run.d.begin(), run.d.end(), u16{0xffff});
        run.launch(Bug::none, schedule, seed);
        REQUIRE(run.d == expected);
      }
    }
  }
}

TEST_CASE("print every bug") {
  for (u32 bug = 1; bug <= static_cast<u32>(Bug::forgotten_store_wait); ++bug) {
    for (const machine::Schedule schedule : schedules) {
      Run run(5);
      try {
        const auto report = run.launch(static_cast<Bug>(bug), schedule, 1);
        fmt::print("{} passes", bug);
        for (const auto& note : report.bank_notes)
          fmt::print("  {} {} {} {}", note.instruction, note.site.text(), note.accesses,
                     note.extra_wavefronts);
        fmt::print("\n");
      } catch (const machine::Fault& fault) {
        fmt::print("{} {}: {}\n", bug, machine::fault_name(fault.kind), fault.what());
      }
    }
  }
}
