#include "emulator/machine/wgmma_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "emulator/layout/descriptor.hpp"
#include "emulator/layout/fragment.hpp"
#include "emulator/layout/operand.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/number/group_step.hpp"

namespace fp8twin::machine {
namespace {

constexpr u32 warpgroup_threads = 128;

/// d [64][n] = a [64][32] b [n][32]^T + d, in the tensor core's arithmetic.
void multiply(const u8* a, const u8* b, u32 n, float* d) {
  static thread_local Panel<1> row;
  static thread_local Panel<lane_columns> panel;
  for (u32 column = 0; column < n; column += lane_columns) {
    const int columns = static_cast<int>(std::min<u32>(lane_columns, n - column));
    panel.load_group(b + column * 32, 32, columns, 32);
    for (u32 m = 0; m < 64; ++m) {
      row.load_group(a + m * 32, 32, 1, 32);
      Lanes lanes{};
      float* out = d + m * n + column;
      std::copy_n(out, columns, lanes.begin());
      group_step(sm90, row, panel, 0, lanes);
      std::copy_n(lanes.begin(), columns, out);
    }
  }
}

}  // namespace

WgmmaUnit::Operation& WgmmaUnit::join(Thread& thread, const Operation& wanted) {
  const u32 number = thread.wgmma_issued++;
  if (number - first_ == operations_.size()) {
    operations_.push_back(wanted);
    operations_.back().first_thread = thread.tid;
    return operations_.back();
  }
  Operation& operation = operations_[number - first_];
  const bool same = operation.commit == wanted.commit && operation.n == wanted.n &&
                    operation.operands == wanted.operands && operation.site == wanted.site;
  if (!same) {
    throw Fault(FaultKind::disagreement, wanted.site, static_cast<int>(thread.tid), 0,
                fmt::format("{}: {} of {} is wgmma instruction {} of its warpgroup, but thread {} had "
                            "another one there, "
                            "at {}, or other operands: all 128 threads must execute the same",
                            wanted.site.text(), wanted.commit ? "wgmma.commit_group" : "wgmma.mma_async",
                            thread.name(), number + 1, operation.first_thread, operation.site.text()));
  }
  return operation;
}

u32 WgmmaUnit::take_bank(u32 n) {
  u32 bank = 0;
  while (bank < banks_.size() && !banks_[bank].free) ++bank;
  if (bank == banks_.size()) banks_.emplace_back();
  banks_[bank].free = false;
  banks_[bank].returned = 0;
  banks_[bank].d.assign(64 * n, 0.0f);
  return bank;
}

void WgmmaUnit::mma_async(Thread& thread, AccumulatorState& d, const Operands& operands,
                          const u32* a_registers, Site site) {
  const auto fault = [&](FaultKind kind, const std::string& what) {
    throw Fault(kind, site, static_cast<int>(thread.tid), 0,
                fmt::format("{}: {}: wgmma.mma_async {}", site.text(), thread.name(), what));
  };
  if (d.touched && thread.cluster->checks())
    fault(FaultKind::missing_wgmma_fence,
          "uses registers touched since the last wgmma.fence: one is needed between");
  Operation wanted;
  wanted.n = d.n;
  wanted.operands = operands;
  wanted.site = site;
  Operation& operation = join(thread, wanted);
  if (operation.arrived == 0) {
    operation.continues = d.operation != 0;
    operation.bank = operation.continues ? d.bank : take_bank(d.n);
    if (operands.a_in_registers) operation.a_registers.resize(warpgroup_threads);
  } else if (operation.continues != (d.operation != 0) || (d.operation && d.bank != operation.bank)) {
    fault(FaultKind::disagreement,
          "accumulates into other registers than those of the warpgroup's other threads");
  }
  const u32 index = thread.tid % warpgroup_threads;
  if (!d.operation) {
    Bank& bank = banks_[operation.bank];
    for (u32 r = 0; operands.scale_d && r < d.n / 2; ++r) {
      if (!d.written[r] && thread.cluster->checks())
        fault(FaultKind::uninitialised, fmt::format("adds to register {}, which nobody has written", r));
      const Coordinate at = accumulator_coordinate(index, r);
      bank.d[at.row * d.n + at.column] = d.reg[r];
    }
    std::fill_n(d.reg, d.n / 2, f32_from_bits(0xffffffffu));
    d.bank = operation.bank;
  }
  if (a_registers) std::copy_n(a_registers, 4, operation.a_registers[index].begin());
  d.operation = thread.wgmma_issued;
  thread.wgmma_site = site;
  if (thread.wgmma_version != thread.knowledge.version()) {
    operation.learnt[index / 32].join(thread.knowledge);
    thread.wgmma_version = thread.knowledge.version();
  }
  if (++operation.arrived == warpgroup_threads) post(thread, operation);
}

void WgmmaUnit::commit_group(Thread& thread, Site site) {
  Operation wanted;
  wanted.commit = true;
  wanted.site = site;
  Operation& operation = join(thread, wanted);
  thread.wgmma_group_ends.push_back(thread.wgmma_issued);
  if (++operation.arrived == warpgroup_threads) ++posted_;
}

/// What all four warps knew when they came to this operation. A warp's lanes execute it together, so what one knows the others do;
/// what a lane learns afterwards does not count, even if the last lane comes later still.
const Knowledge& WgmmaUnit::known_to_all(const Operation& operation) {
  bool changed = false;
  for (std::size_t warp = 0; warp < 4; ++warp) {
    if (operation.learnt[warp].empty()) continue;
    known_to_warp_[warp].join(operation.learnt[warp]);
    changed = true;
  }
  if (!changed) return known_;
  known_ = known_to_warp_[0];
  for (std::size_t warp = 1; warp < 4; ++warp) known_.meet(known_to_warp_[warp]);
  return known_;
}

void WgmmaUnit::post(Thread& thread, Operation& operation) {
  ++posted_;
  if (!thread.cluster->checks()) return;
  const Actor actor{"wgmma.mma_async", operation.site,        static_cast<int>(thread.tid), block_.x,
                    block_.y,          {component_, posted_}, &known_to_all(operation),     true};
  if (!operation.operands.a_in_registers) check_operand(actor, operation.operands.a_descriptor, 64, "A");
  check_operand(actor, operation.operands.b_descriptor, operation.n, "B");
}

void WgmmaUnit::check_operand(const Actor& actor, u64 descriptor, u32 rows, const char* name) {
  const std::vector<u32>& table = chunks(actor, descriptor, rows, name);
  const SwizzleMode mode = decode_descriptor(descriptor).swizzle;
  for (const u32 address : table) {
    block_.shared.read(actor, address, 16);
    if (!block_.shared.written_by_tma(address) || block_.shared.tma_swizzle(address) == mode) continue;
    throw Fault(FaultKind::descriptor, actor.site, actor.thread, address,
                fmt::format("{}: the descriptor of {} (0x{:016x}) has a swizzle of {} bytes, but TMA wrote "
                            "shared 0x{:x} with "
                            "one of {} (16: none)",
                            actor.text(), name, descriptor, swizzle_width(mode), address,
                            swizzle_width(block_.shared.tma_swizzle(address))));
  }

  // TMA swizzles by absolute address: with a base offset the operand's chunks come back in another order.
  MatrixDescriptor d = decode_descriptor(descriptor);
  const u32 base_offset = std::exchange(d.base_offset, 0u), window = block_.rank << SharedMemory::rank_shift;
  for (u32 i = 0; base_offset != 0 && i < table.size(); ++i) {
    if (table[i] == window + wgmma_operand_address(d, i / 2, 16 * (i % 2)) ||
        !block_.shared.written_by_tma(table[i]))
      continue;
    throw Fault(FaultKind::descriptor, actor.site, actor.thread, table[i],
                fmt::format("{}: the descriptor of {} (0x{:016x}) has base offset {}, but TMA wrote shared "
                            "0x{:x} swizzled by its "
                            "absolute address: base offset 0 reads it",
                            actor.text(), name, descriptor, base_offset, table[i]));
  }
}

const std::vector<u32>& WgmmaUnit::chunks(const Actor& actor, u64 descriptor, u32 rows, const char* name) {
  for (const ChunkTable& table : tables_) {
    if (table.descriptor == descriptor && table.rows == rows) return table.address;
  }
  const MatrixDescriptor d = decode_descriptor(descriptor);
  const auto fault = [&](const std::string& what) {
    throw Fault(FaultKind::descriptor, actor.site, actor.thread, d.start_address,
                fmt::format("{}: the descriptor of {} (0x{:016x}) {}", actor.text(), name, descriptor, what));
  };
  if (descriptor & descriptor_unused_bits) fault("sets bits that no field owns");
  const u32 window = block_.rank << SharedMemory::rank_shift;
  std::vector<u32> address;
  for (u32 row = 0; row < rows; ++row) {
    for (u32 k = 0; k < 32; k += 16) {
      // A descriptor holds 18 bits of address: it means its own block.
      address.push_back(window + wgmma_operand_address(d, row, k));
      block_.shared.need(actor, address.back(), 16, 16);
    }
  }
  std::vector<u32> sorted = address;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (block_.cluster->checks() && twice != sorted.end()) {
    fault(
        fmt::format("makes two rows or columns of its matrix read shared 0x{:x}: stride {} or leading offset "
                    "{} is too small",
                    *twice, d.stride_byte_offset, d.leading_byte_offset));
  }
  if (tables_.size() == 256) tables_.clear();
  tables_.push_back({descriptor, rows, std::move(address)});
  return tables_.back().address;
}

void WgmmaUnit::gather(u64 descriptor, u32 rows, bool negate, u8* codes) {
  const Actor nobody{"wgmma.mma_async", {}, 0, block_.x, block_.y, {}, nullptr, true};
  const std::vector<u32>& table = chunks(nobody, descriptor, rows, "an operand");
  for (std::size_t i = 0; i < table.size(); ++i)
    std::memcpy(codes + 16 * i, block_.shared.data(table[i]), 16);
  for (u32 i = 0; negate && i < rows * 32; ++i) codes[i] ^= 0x80;
}

void WgmmaUnit::execute_next() {
  const Operation& operation = operations_.front();
  if (!operation.commit) {
    u8 a[64 * 32], b[256 * 32];
    if (operation.operands.a_in_registers) {
      for (u32 thread = 0; thread < warpgroup_threads; ++thread) {
        for (u32 r = 0; r < 4; ++r) {
          const Coordinate at = a_fragment_coordinate(thread, r, 0);
          u32 word = operation.a_registers[thread][r];
          if (operation.operands.negate_a) word ^= 0x80808080u;
          std::memcpy(a + at.row * 32 + at.column, &word, 4);
        }
      }
    } else {
      gather(operation.operands.a_descriptor, 64, operation.operands.negate_a, a);
    }
    gather(operation.operands.b_descriptor, operation.n, operation.operands.negate_b, b);
    std::vector<float>& d = banks_[operation.bank].d;
    if (!operation.operands.scale_d) std::fill(d.begin(), d.end(), 0.0f);
    multiply(a, b, operation.n, d.data());
  }
  operations_.pop_front();
  ++first_;
  ++executed_;
}

u32 WgmmaUnit::wait_group(Thread& thread, u32 pending_groups, Site site) {
  const std::size_t groups = thread.wgmma_group_ends.size();
  const u32 target = pending_groups >= groups ? 0 : thread.wgmma_group_ends[groups - 1 - pending_groups];
  while (executed_ < target) {
    thread.wait = {Wait::For::wgmma, 0, target, 0, "wgmma.wait_group", site};
    thread.cluster->suspend(thread);
  }
  thread.wgmma_waited = std::max(thread.wgmma_waited, target);
  if (target > 0) thread.knowledge.learn({component_, target});
  return target;
}

void WgmmaUnit::wait_group(Thread& thread, u32 pending_groups, AccumulatorState& d, Site site) {
  const u32 target = wait_group(thread, pending_groups, site);
  if (d.operation == 0 || d.operation > target) return;
  Bank& bank = banks_[d.bank];
  for (u32 r = 0; r < d.n / 2; ++r) {
    const Coordinate at = accumulator_coordinate(thread.tid % warpgroup_threads, r);
    d.reg[r] = bank.d[at.row * d.n + at.column];
    d.written.set(r);
  }
  d.operation = 0;
  d.touched = false;
  if (++bank.returned == warpgroup_threads) bank.free = true;
}

}  // namespace fp8twin::machine
