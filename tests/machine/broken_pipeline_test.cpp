// Every planted bug is named by its checker, whatever the schedule; the correct pipeline is never accused.
#include "gpu/kernels/broken_pipeline.hpp"

#include <algorithm>
#include <fstream>
#include <string>
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

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

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

TEST_CASE("every planted bug: named by its checker, with line and thread, whatever the schedule") {
  using machine::FaultKind;
  struct Expected {
    Bug bug;
    std::vector<FaultKind> kinds;  // by what the schedule happens to show first
    const char* line;  // text of the line that is named; "" for a deadlock, which names every waiter
  };
  // A wait that passes at once meets bytes that nobody has written, or that are on their way; or a consumer that came late waits for a
  // phase that never comes.
  const std::vector<FaultKind> unwaited = {FaultKind::race, FaultKind::uninitialised};
  const Expected table[] = {
      {Bug::late_wait, unwaited, "wgmma_mma_async"},
      {Bug::wrong_parity, {FaultKind::race, FaultKind::uninitialised, FaultKind::deadlock}, ""},
      // Or the phase ends before the second copy is issued, and its bytes are read unwaited for.
      {Bug::small_expect_tx, {FaultKind::transaction_count, FaultKind::race}, ""},
      {Bug::large_expect_tx, {FaultKind::deadlock}, ""},
      {Bug::early_release, {FaultKind::race}, "cp_async_bulk_tensor_2d_shared_global(a_tile"},
      {Bug::forgotten_release, {FaultKind::deadlock}, ""},
      {Bug::early_read, {FaultKind::accumulator_in_flight}, "early = p[0]"},
      {Bug::missing_wgmma_fence, {FaultKind::missing_wgmma_fence}, "wgmma_mma_async"},
      {Bug::missing_proxy_fence, {FaultKind::missing_proxy_fence}, "cp_async_bulk_tensor_2d_global_shared"},
      {Bug::missing_init_fence,
       {FaultKind::missing_proxy_fence},
       "cp_async_bulk_tensor_2d_shared_global(a_tile"},
      {Bug::wrong_base_offset, {FaultKind::descriptor}, "wgmma_mma_async"},
      {Bug::wrong_stride, {FaultKind::descriptor}, "wgmma_mma_async"},
      {Bug::neighbours_rows, {FaultKind::race}, "stmatrix"},
      {Bug::forgotten_store_wait, {FaultKind::unfinished}, "cp_async_bulk_tensor_2d_global_shared"},
  };
  const std::vector<std::string> source = lines_of(FP8TWIN_SOURCE_DIR "/gpu/kernels/broken_pipeline.hpp");
  for (const Expected& expected : table) {
    for (const machine::Schedule schedule : schedules) {
      const u64 seeds = schedule == machine::Schedule::random ? 20 : 2;
      for (u64 seed = 0; seed < seeds; ++seed) {
        INFO("bug " << static_cast<u32>(expected.bug) << ", schedule " << static_cast<int>(schedule)
                    << ", seed " << seed);
        Run run(5);
        bool named = false;
        try {
          run.launch(expected.bug, schedule, seed);
        } catch (const machine::Fault& fault) {
          named = true;
          INFO(fault.what());
          CHECK(std::count(expected.kinds.begin(), expected.kinds.end(), fault.kind) == 1);
          CHECK_THAT(fault.what(), contains_text("gpu/kernels/broken_pipeline.hpp:"));
          REQUIRE(fault.site.line >= 1);
          REQUIRE(static_cast<std::size_t>(fault.site.line) <= source.size());
          CHECK_THAT(source[static_cast<std::size_t>(fault.site.line) - 1], contains_text(expected.line));
          if (fault.kind != FaultKind::transaction_count) CHECK(fault.thread >= 0);
        }
        CHECK(named);
      }
    }
  }
}

TEST_CASE("a deadlock says who waits for which barrier, phase, arrivals and bytes") {
  Run run(5);
  try {
    run.launch(Bug::large_expect_tx, machine::Schedule::latest, 0);
    FAIL("no deadlock");
  } catch (const machine::Fault& fault) {
    CHECK_THAT(fault.what(),
               contains_text("thread 0 of block (0,0) waits at gpu/kernels/broken_pipeline.hpp:"));
    CHECK_THAT(fault.what(), contains_text("thread 128 of block (0,0) (and 127 like it) waits"));
    CHECK_THAT(fault.what(), contains_text("phase 0: 0 of 1 arrivals missing, 16 bytes outstanding"));
  }
}

TEST_CASE(
    "bank conflicts are notes: none with the swizzle, and seven extra wavefronts for each matrix without "
    "it") {
  const auto stmatrix_note = [](Bug bug) {
    Run run(1);
    const machine::LaunchReport report = run.launch(bug, machine::Schedule::earliest, 0);
    CHECK(run.d == run.expected());
    for (const machine::BankNote& note : report.bank_notes) {
      if (std::string(note.instruction) == "stmatrix") return note;
    }
    FAIL("no stmatrix was counted");
    return machine::BankNote{};
  };
  // 4 warps x 4 instructions x 4 matrices
  CHECK(stmatrix_note(Bug::none).accesses == 64);
  CHECK(stmatrix_note(Bug::none).extra_wavefronts == 0);
  CHECK(stmatrix_note(Bug::bank_conflicts).extra_wavefronts == 64 * 7);
}

TEST_CASE("a launch goes on after a fault: the same buffers, the right kernel, the right bits") {
  Run run(3);
  CHECK_THROWS_AS(run.launch(Bug::early_release, machine::Schedule::random, 7), machine::Fault);
  run.launch(Bug::none, machine::Schedule::random, 7);
  CHECK(run.d == run.expected());
}

TEST_CASE("the same seed, the same report") {
  const auto report = [](u64 seed) {
    Run run(5);
    try {
      run.launch(Bug::late_wait, machine::Schedule::random, seed);
    } catch (const machine::Fault& fault) {
      return std::string(fault.what());
    }
    return std::string();
  };
  for (u64 seed = 0; seed < 5; ++seed) CHECK(report(seed) == report(seed));
}
