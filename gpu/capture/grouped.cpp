// grouped: problem files of every kind through the card, checked and recorded with their d for tests/golden/grouped.
//
//   each product of the problem, group by group, against the oracle GEMM of the card (integers; it shares nothing with the model):
//     1D2D     as it is
//     1D1D     column by column: a column of D is a 1D2D product with N = 1
//   D = c + product: the product is checked without c, then c is added on the host, once rounded (tests/golden/reduce.json has
//   what the card's adding store does)
//   BF16 with c                   what rounding the FP32 d to BF16 gives, by integers
//
// Every configuration that is offered for the problem's form must give the same bits.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "emulator/engine/launchable.hpp"
#include "emulator/support/error.hpp"
#include "gpu/capture/capture.hpp"
#include "gpu/capture/sources.hpp"
#include "gpu/launch/card_gemm.hpp"

namespace fp8twin::capture {
namespace {

/// One product of a problem, packed: rows of the problem's arrays, or a range of K.
struct Part {
  i64 m, n, k;
  std::vector<u8> a, b;
  std::vector<float> a_scale, b_scale;
  i64 d_row;  // its first row in d
};

template <class T>
std::vector<T> columns(std::span<const T> from, i64 row, i64 rows, i64 width, i64 first, i64 count) {
  std::vector<T> to;
  for (i64 r = row; r < row + rows; ++r) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(r * width + first);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return to;
}

i64 blocks_of(i64 extent) { return (extent + 127) / 128; }

/// Where each group's rows begin, as the file says it; read here anew, for this is the check.
std::vector<Part> parts_of(const Problem& p) {
  std::vector<Part> parts;
  const i64 k_blocks = p.k_blocks(), b_rows = p.b_scale_rows == 1 ? p.n : blocks_of(p.n);
  const auto add = [&](i64 a_row, i64 rows, i64 group, i64 d_row, i64 k0, i64 k, i64 block0) {
    const i64 b_row = p.kind == Kind::k_grouped ? 0 : group, blocks = blocks_of(k);
    parts.push_back({rows, p.n, k, columns(p.a, a_row, rows, p.k, k0, k),
                     columns(p.b, b_row * p.n, p.n, p.k, k0, k),
                     columns(p.a_scale, a_row, rows, k_blocks, block0, blocks),
                     columns(p.b_scale, b_row * b_rows, b_rows, k_blocks, block0, blocks), d_row});
  };
  i64 k0 = 0, block0 = 0, row = 0;
  for (i64 group = 0; group < p.groups; ++group) {
    const auto g = static_cast<std::size_t>(group);
    if (p.kind == Kind::k_grouped) {
      add(0, p.m, group, group * p.m, k0, p.k_sizes[g], block0);
      k0 += p.k_sizes[g];
      block0 += blocks_of(p.k_sizes[g]);
    } else if (p.kind == Kind::masked) {
      add(group * p.m, p.masked_m[g], group, group * p.m, 0, p.k, 0);
    } else if (p.kind != Kind::contiguous) {
      add(group * p.m, p.m, group, group * p.m, 0, p.k, 0);
    } else if (!p.group_ends.empty()) {
      const i64 first = (row + 127) / 128 * 128;
      if (p.group_ends[g] > row) add(first, p.group_ends[g] - first, group, first, 0, p.k, 0);
      row = p.group_ends[g];
    }
  }
  for (i64 r = 0; r < static_cast<i64>(p.m_indices.size());) {
    const i64 first = r, group = p.m_indices[static_cast<std::size_t>(r)];
    while (r < p.m && p.m_indices[static_cast<std::size_t>(r)] == group) ++r;
    if (group >= 0) add(first, r - first, group, first, 0, p.k, 0);
  }
  return parts;
}

/// Elements of `d`, the product alone, that the oracle puts elsewhere.
u64 differing_from_oracle(Session& session, const Problem& p, const std::vector<u8>& d, bool f32,
                          u64& compared) {
  const Kernel oracle = session.kernels.get(check_gemm_source(), "check_gemm");
  const Buffer<u8> on_card(d);
  const Counters counters(1, 4);
  const i64 element = f32 ? 4 : 2;
  for (const Part& part : parts_of(p)) {
    if (part.m == 0 || part.n == 0) continue;
    const Buffer<u8> a(part.a), b(part.b);
    const Buffer<float> a_scale(part.a_scale), b_scale(part.b_scale);
    const bool by_column = p.b_scale_rows == 1;
    const i64 launches = by_column ? part.n : 1, blocks = blocks_of(part.k);
    for (i64 column = 0; column < launches; ++column) {
      const u8* to = on_card.device() + (part.d_row * p.n + column) * element;
      oracle.launch({static_cast<unsigned>((part.m * part.n + 127) / 128), 1}, 128, 0,
                    GemmCheckArguments{a.device(), a_scale.device(), b.device() + column * part.k,
                                       b_scale.device() + column * blocks, to, static_cast<u32>(part.m),
                                       by_column ? 1 : static_cast<u32>(part.n), static_cast<u32>(part.k),
                                       static_cast<u32>(p.n), f32, counters.compared.device(),
                                       counters.mismatch_count.device(), counters.mismatches.device(), 4});
    }
    session.device().synchronize();
  }
  const Counters::Slot slot = counters.read().front();
  compared += slot.compared;
  return slot.mismatches;
}

struct Ran {
  std::vector<u8> d;
  std::string kernel;
  std::size_t configs = 0;
};

/// The problem in every configuration offered; throws Error where two disagree.
Ran run_everywhere(Session& session, const Problem& p, const std::string& name, bool f32, bool with_c) {
  Product product = product_of(p);
  GemmOperands operands = operands_of(p);
  if (!with_c) {
    product.form.accumulate = false;
    operands.c = {};
  }
  Ran ran;
  for (int step = first_step; step <= last_step; ++step) {
    for (const GemmConfig& config : offered_configs(step, product.form)) {
      if (config.output_f32 != f32 || (step < 8 && config.tile_n != 64)) continue;
      const LaunchPlan plan =
          plan_gemm(product, config, static_cast<u32>(session.device().multiprocessors()));
      std::vector<u8> d = run_on_card(session.kernels, plan, operands).d;
      if (ran.configs++ == 0) {
        ran.d = std::move(d);
        ran.kernel = plan.config.name();
      } else if (d != ran.d) {
        throw Error(fmt::format("{}: {} and {} gave different bits", name, ran.kernel, plan.config.name()));
      }
    }
  }
  return ran;
}

/// c + product, one rounding, every NaN 0x7fffffff.
std::vector<u8> with_c_added(std::span<const float> c, const std::vector<u8>& product) {
  std::vector<u8> sums(product.size());
  for (std::size_t i = 0; i < c.size(); ++i) {
    float value;
    std::memcpy(&value, product.data() + 4 * i, 4);
    const float sum = c[i] + value;
    const u32 bits = std::isnan(sum) ? 0x7fffffffu : std::bit_cast<u32>(sum);
    std::memcpy(sums.data() + 4 * i, &bits, 4);
  }
  return sums;
}

/// FP32 rounded to BF16, to nearest even; every NaN 0x7fff.
std::vector<u8> rounded_to_bf16(const std::vector<u8>& f32) {
  std::vector<u8> codes(f32.size() / 2);
  for (std::size_t i = 0; i < codes.size() / 2; ++i) {
    u32 bits;
    std::memcpy(&bits, f32.data() + 4 * i, 4);
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    const u16 code = nan ? u16{0x7fff} : static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(codes.data() + 2 * i, &code, 2);
  }
  return codes;
}

}  // namespace

int grouped(Session& session, const std::string& folder, const std::vector<std::string>& files) {
  const Device& device = session.device();
  const Json source = provenance(session, device);
  std::filesystem::create_directories(folder);
  u64 outputs = 0, mismatches = 0;
  for (const std::string& path : files) {
    const TensorFile file = read_tensor_file(path);
    const Problem problem = read_problem(file);
    const std::string name = std::filesystem::path(path).filename().string();
    Metadata metadata = file.metadata;
    std::vector<Tensor> tensors = file.tensors;
    const Ran product = run_everywhere(session, problem, name, true, false);
    u64 differ = differing_from_oracle(session, problem, product.d, true, outputs);
    Ran f32 = problem.has_c ? run_everywhere(session, problem, name, true, true) : product;
    const Ran bf16 = run_everywhere(session, problem, name, false, problem.has_c);
    if (problem.has_c) {
      differ += f32.d != with_c_added(problem.c, product.d);
      differ += bf16.d != rounded_to_bf16(f32.d);
    } else {
      differ += differing_from_oracle(session, problem, bf16.d, false, outputs);
    }
    const Shape shape = problem.d_shape();
    tensors.push_back(tensor_of<std::uint8_t>("d_f32", DType::f32, shape, f32.d));
    tensors.push_back(tensor_of<std::uint8_t>("d_bf16", DType::bf16, shape, bf16.d));
    for (const auto& [key, value] : metadata_of(source)) {
      if (key != "seed") metadata[key] = value;
    }
    metadata["kernel"] = f32.kernel;
    metadata["kernel_bf16"] = bf16.kernel;
    metadata["configurations"] = std::to_string(f32.configs + bf16.configs);
    mismatches += differ;
    fmt::print("{:<44} {:>3} configurations, {} differ\n", name, f32.configs + bf16.configs, differ);
    std::fflush(stdout);
    if (differ == 0) write_tensor_file((std::filesystem::path(folder) / name).string(), tensors, metadata);
  }
  fmt::print("total {} outputs against the oracle: {} differ\n", outputs, mismatches);
  return mismatches ? 1 : 0;
}

}  // namespace fp8twin::capture
