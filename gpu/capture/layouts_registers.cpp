// layouts: where shared memory begins, who holds which element, where stmatrix puts each half register.
#include <fmt/format.h>

#include <algorithm>

#include "gpu/capture/layout_sources.hpp"  // first: DType shares names with integers.hpp

#include "emulator/layout/fragment.hpp"
#include "emulator/layout/shared_window.hpp"
#include "emulator/support/error.hpp"
#include "gpu/capture/device/layout_records.hpp"

namespace fp8twin::capture {

bool capture_window(Session& session, Json& answer) {
  std::uint64_t differing = 0;
  Json list = Json::array();
  for (const unsigned cluster : {1u, 2u}) {
    for (const unsigned static_bytes : {0u, 100u}) {
      const unsigned blocks = 2 * cluster, dynamic = 1024;
      Buffer<WindowRecord> records(blocks);
      records.fill(0);
      const jit::Source source = window_source(static_bytes, cluster);
      session.kernels.get(source, source.name)
          .launch({blocks, 1}, 32, dynamic, WindowArguments{records.device()});
      session.device().synchronize();
      const std::vector<WindowRecord> seen = records.download();
      for (unsigned block = 0; block < blocks; ++block) {
        const WindowRecord& r = seen[block];
        Json entry = {{"cluster", cluster},
                      {"static_bytes", static_bytes},
                      {"block", block},
                      {"rank", r.rank},
                      {"dynamic_begin", hex(r.dynamic_begin, 8)}};
        if (static_bytes) entry["static_begin"] = hex(r.static_begin, 8);
        entry["mapa_rank_0"] = hex(r.mapa_rank_0, 8);
        if (cluster > 1) entry["mapa_rank_1"] = hex(r.mapa_rank_1, 8);
        entry["reserved_begin"] = hex(r.reserved_begin, 8);
        entry["reserved_end"] = hex(r.reserved_end, 8);
        entry["total_smem_size"] = r.total_bytes;
        entry["dynamic_smem_size"] = r.dynamic_bytes;
        fmt::print("  {}\n", entry.dump());
        list.push_back(entry);
        differing += r.dynamic_begin != dynamic_shared_address(r.rank, static_bytes);
        differing += r.mapa_rank_0 != shared_address_of_rank(r.dynamic_begin, 0);
        differing += cluster > 1 && r.mapa_rank_1 != shared_address_of_rank(r.dynamic_begin, 1);
        if (shared_address_of_rank(r.dynamic_begin, 0) > selector_address) {
          throw Error(
              fmt::format("dynamic shared memory begins at {}, past {}, where the other captures work",
                          hex(r.dynamic_begin, 8), hex(selector_address, 8)));
        }
      }
    }
  }
  answer = {{"blocks", list}, {"differing", differing}};
  return true;
}

namespace {

/// elements[thread][register]: when each thread's registers stand at the same distances from its register 0,
/// those two lists say everything; otherwise all elements.
Json accumulator_entry(int n, const std::vector<u16>& elements) {
  const std::size_t registers = static_cast<std::size_t>(n) / 2;
  std::vector<u16> first(128), distance(registers);
  for (std::size_t t = 0; t < 128; ++t) first[t] = elements[t * registers];
  for (std::size_t r = 0; r < registers; ++r) distance[r] = static_cast<u16>(elements[r] - elements[0]);
  bool separable = true;
  for (std::size_t i = 0; i < elements.size(); ++i)
    separable &= elements[i] == static_cast<u16>(first[i / registers] + distance[i % registers]);
  Json entry = {{"n", n}, {"separable", separable}};
  if (separable) {
    entry["register_0_of_thread"] = hex_list(first);
    entry["register_minus_register_0"] = hex_list(distance);
  } else {
    entry["thread_register"] = hex_list(elements);
  }
  return entry;
}

}  // namespace

bool capture_fragments(Session& session, Json& answer) {
  std::uint64_t differing = 0;
  answer = {{"element", "accumulator: row * 256 + column; a: 16 thread + 4 register + byte, by [row][k]"}};
  for (const int n : {8, 64, 256}) {
    Buffer<u16> elements(static_cast<std::size_t>(64 * n));
    const jit::Source source = accumulator_source(n);
    session.kernels.get(source, source.name)
        .launch({1, 1}, 128, shared_end, FragmentArguments{elements.device()});
    session.device().synchronize();
    const std::vector<u16> seen = elements.download();
    std::uint64_t here = 0;
    for (u32 i = 0; i < seen.size(); ++i) {
      const u32 registers = static_cast<u32>(n) / 2;
      const Coordinate at = accumulator_coordinate(i / registers, i % registers);
      here += seen[i] != at.row * 256 + at.column;
    }
    fmt::print("  accumulator n{}: {} of {} elements elsewhere\n", n, here, seen.size());
    differing += here;
    answer["accumulator"].push_back(accumulator_entry(n, seen));
  }
  Buffer<u16> places(64 * 32);
  session.kernels.get(a_fragment_source(), "a_fragment")
      .launch({1, 1}, 128, shared_end, FragmentArguments{places.device()});
  session.device().synchronize();
  const std::vector<u16> seen = places.download();
  std::uint64_t here = 0;
  for (u32 i = 0; i < seen.size(); ++i) {
    const AFragmentSlot slot = a_fragment_slot(i / 32, i % 32);
    here += seen[i] != 16 * slot.thread + 4 * slot.reg + slot.byte;
  }
  fmt::print("  A in registers: {} of {} elements elsewhere\n", here, seen.size());
  differing += here;
  answer["a"] = hex_list(seen);
  answer["differing"] = differing;
  return true;
}

bool capture_stmatrix(Session& session, Json& answer) {
  std::uint64_t differing = 0;
  answer = {{"value", "8 lane + 2 register + half + 1; lane l passed address 16 l; ffff: not written"}};
  Buffer<u16> stored(6 * 256);
  session.kernels.get(stmatrix_source(), "stmatrix")
      .launch({1, 1}, 32, 1024, StmatrixArguments{stored.device()});
  session.device().synchronize();
  const std::vector<u16> seen = stored.download();
  for (u32 trans = 0; trans < 2; ++trans) {
    for (u32 matrices = 1, c = 3 * trans; matrices <= 4; matrices *= 2, ++c) {
      std::uint64_t here = 0;
      for (u32 i = 0; i < 256; ++i) {  // word i: matrix i/64, row i/8 % 8, column i % 8
        const u32 matrix = i / 64, row = i / 8 % 8, column = i % 8;
        const MatrixSlot slot = stmatrix_slot(row, column, trans != 0);
        const u32 expected = matrix < matrices ? 8 * slot.lane + 2 * matrix + slot.half + 1 : 0xffffu;
        here += seen[c * 256 + i] != expected;
      }
      const std::string name = fmt::format("x{}{}", matrices, trans ? "_trans" : "");
      fmt::print("  stmatrix {}: {} of 256 halves elsewhere\n", name, here);
      differing += here;
      answer[name] = hex_list(std::span(seen).subspan(c * 256, 256));
    }
  }
  answer["differing"] = differing;
  return true;
}

}  // namespace fp8twin::capture
