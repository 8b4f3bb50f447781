// What the benchmark says in the end: a table in Markdown for docs/kernel_speed.md, and the means that the goals are about.
//
//   ratio       cuBLASLt's time over ours, both in this run, medians: of its first heuristic result; and where that splits K,
//               which changes the bits, of its first result that does not
//   published   the same of the best open kernel (shapes.hpp), whose cuBLASLt had the kernel's bits, so did not split K
//   floor       the larger of  bytes / (read-only stream's bandwidth)  and  operations / (unscaled FP8 GEMM's rate), both in
//               this run; floor / time is how near a kernel is to what the card allows
//
//   geometric means of ratio, and of ratio / published:   M <= 128 (12 shapes)   M >= 4096 (8)   all 20   decode (ratio only)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/bench/shapes.hpp"
#include "gpu/bench/statistics.hpp"

namespace fp8twin::bench {

/// Elements of D that differ in a bit. cuBLASLt's are those of its kernel that adds K blocks in ascending order.
struct Differences {
  i64 ours_model = 0, cublaslt_model = 0, ours_cublaslt = 0;
  i64 split_model = 0;  // of the kernel that splits K
};

struct Row {
  Shape shape;
  std::string config;
  Summary ours, cublaslt;            // us
  i64 padded_m = 0;                  // rows that cuBLASLt computes
  std::optional<Summary> ascending;  // us: cuBLASLt without a split of K, where its first result splits
  std::optional<Differences> differences;
};

struct Floors {
  double read_bytes_per_second = 0;  // of several gigabytes
  double cold_bytes_per_second = 0;  // of 118 MB, like the weights of 7168 x 16384
  double operations_per_second = 0;

  double bytes_us(const Shape& shape) const;
  double operations_us(const Shape& shape) const;
  double us(const Shape& shape) const;  // the larger
};

/// Where the figures come from.
struct Provenance {
  std::string date, device, driver, cuda, cublaslt, method, procedure, command;
};

/// Against cuBLASLt's first result, and against its first that does not split K.
double ratio_of(const Row& row);
double ascending_ratio_of(const Row& row);
/// ratio / published ratio; nothing where there is no figure.
std::optional<double> of_published(const Row& row);
std::optional<double> ascending_of_published(const Row& row);

// What is aimed at.
/// of_published: 1.03 where the published kernel is below 1400 TFLOP/s and M >= 4096, 1.00 elsewhere.
double needed_of(const Figure& figure);
inline constexpr double needed_small_mean = 1.10;  // geometric mean of of_published, M <= 128
/// The shape that is weights and little else, and the part of the read-only stream's bandwidth that it should reach.
inline constexpr Shape memory_bound{64, 7168, 16384};
inline constexpr double needed_of_bandwidth = 0.80;

/// Several lines, each a sentence: geometric means, shapes below their aim, the memory-bound shape, differing elements.
std::vector<std::string> conclusions(const Floors& floors, std::span<const Row> rows);

/// Provenance, floors, table and conclusions.
std::string markdown(const Provenance& provenance, const Floors& floors, std::span<const Row> rows);

/// Replaces what stands between the lines "<!-- BEGIN generated: NAME -->" and "<!-- END generated: NAME -->". Throws Error
/// when the page has no such lines.
std::string with_generated(const std::string& page, const std::string& name, const std::string& text);

}  // namespace fp8twin::bench
