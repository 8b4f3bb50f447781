// Random normal problems, quantised as a model's are: on the host, and on the card once for all contenders.
//
//   x ~ N(0,1), BF16  ->  quantize(): A by 1 x 128, B by 128 x 128, recipe deepgemm  ->  codes up to 448, scales
//
// So the codes have the spread of real weights and activations, which matters: a tensor core's power, and with it the clock,
// depends on the bits. Made on the host by all its threads (8192 x 8192 x 8192: 2 s on two cores); a B is kept for the next M.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/bench/shapes.hpp"
#include "gpu/launch/driver.hpp"
#include "gpu/launch/gemm_data.hpp"

namespace fp8twin::bench {

/// Codes [rows, k] and their scales.
struct Quantised {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
};

/// `rows` x `k` normal values of this seed, quantised with blocks of block_rows x 128. The same for any number of threads.
Quantised normal_operand(i64 rows, i64 k, i64 block_rows, u64 seed, int threads = 0);

struct HostProblem {
  Shape shape;
  std::shared_ptr<const Quantised> a, b;
  GemmOperands operands() const { return {a->codes, a->scales, b->codes, b->scales}; }
};

/// Makes problems, and remembers each B.
class Problems {
 public:
  explicit Problems(u64 seed) : seed_(seed) {}
  HostProblem problem(const Shape& shape);

 private:
  u64 seed_;
  std::map<std::pair<i64, i64>, std::shared_ptr<const Quantised>> b_;
};

/// Elements of two arrays of D that differ in a bit.
i64 differing(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b);

}  // namespace fp8twin::bench
