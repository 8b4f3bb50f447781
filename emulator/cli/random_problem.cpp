#include "emulator/cli/random_problem.hpp"

#include <deque>
#include <span>
#include <utility>

#include "emulator/number/float_bits.hpp"
#include "emulator/number/scale_block.hpp"

namespace fp8twin::cli {
namespace {

/// Draws tensors and keeps their bytes.
class Builder {
 public:
  Builder(Distribution distribution, std::uint64_t seed, int threads)
      : distribution_(distribution), seed_(seed), threads_(threads) {}

  void codes(const char* name, Operand operand, Shape shape) {
    auto& values = codes_.emplace_back(static_cast<std::size_t>(element_count(shape)));
    fill_codes(distribution_, seed_, operand, shape.back(), values, threads_);
    add<std::uint8_t>(name, DType::f8_e4m3, std::move(shape), values);
  }

  void scales(const char* name, Operand operand, Shape shape) {
    auto& values = floats_.emplace_back(static_cast<std::size_t>(element_count(shape)));
    fill_scales(distribution_, seed_, operand, values);
    add<float>(name, DType::f32, std::move(shape), values);
  }

  void c(Shape shape) {
    auto& values = floats_.emplace_back(static_cast<std::size_t>(element_count(shape)));
    fill_c(distribution_, seed_, values);
    add<float>("c", DType::f32, std::move(shape), values);
  }

  void indices(const char* name, std::vector<std::int32_t> from) {
    const auto& values = indices_.emplace_back(std::move(from));
    add<std::int32_t>(name, DType::i32, {static_cast<std::int64_t>(values.size())}, values);
  }

  /// Puts padding into rows of A and of its scales, which were drawn first and second: so all other bytes stay as they are.
  void pad(std::span<const std::pair<std::int64_t, std::int64_t>> rows, Padding padding, std::int64_t k,
           std::int64_t k_blocks) {
    for (const auto& [first, end] : rows) {
      for (std::int64_t i = first * k; i < end * k; ++i)
        codes_.front()[static_cast<std::size_t>(i)] = padding == Padding::nan ? nan_code(i) : 0;
      for (std::int64_t i = first * k_blocks; i < end * k_blocks; ++i)
        floats_.front()[static_cast<std::size_t>(i)] = padding == Padding::nan ? nan_scale(i) : 0;
    }
  }

  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  /// E4M3 has two NaNs, binary32 many: here the card's own and its negative.
  static std::uint8_t nan_code(std::int64_t i) { return i % 2 ? 0xff : 0x7f; }
  static float nan_scale(std::int64_t i) { return f32_from_bits(i % 2 ? 0xffffffff : 0x7fffffff); }

  template <class T>
  void add(const char* name, DType dtype, Shape shape, std::span<const T> values) {
    tensors_.push_back(tensor_of(name, dtype, std::move(shape), values));
  }

  Distribution distribution_;
  std::uint64_t seed_;
  int threads_;
  std::deque<std::vector<std::uint8_t>> codes_;
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<std::int32_t>> indices_;
  std::vector<Tensor> tensors_;
};

/// The tensors of emulator/model/problem.hpp's table.
void build(const ProblemExtents& p, Builder& file) {
  const auto grouped = [&](Shape shape) {
    shape.insert(shape.begin(), p.groups);
    return shape;
  };
  const bool grouped_a = p.kind == Kind::batched || p.kind == Kind::masked;
  const bool grouped_b = grouped_a || p.kind == Kind::contiguous;
  const std::int64_t b_scale_rows = p.b_scale_rows == 1 ? p.n : scale_blocks(p.n);

  file.codes("a", Operand::a, grouped_a ? grouped({p.m, p.k}) : Shape{p.m, p.k});
  file.codes("b", Operand::b, grouped_b ? grouped({p.n, p.k}) : Shape{p.n, p.k});
  if (p.kind != Kind::wgmma) {
    file.scales("a_scale", Operand::a_scale,
                grouped_a ? grouped({p.m, p.k_blocks()}) : Shape{p.m, p.k_blocks()});
    file.scales("b_scale", Operand::b_scale,
                grouped_b ? grouped({b_scale_rows, p.k_blocks()}) : Shape{b_scale_rows, p.k_blocks()});
  }
  if (p.with_c) file.c(p.kind == Kind::k_grouped ? grouped({p.m, p.n}) : Shape{p.m, p.n});
  if (p.kind == Kind::contiguous) {
    p.group_ends.empty() ? file.indices("m_indices", p.m_indices) : file.indices("group_ends", p.group_ends);
  }
  if (p.kind == Kind::masked) file.indices("masked_m", p.masked_m);
  if (p.kind == Kind::k_grouped) file.indices("k_sizes", p.k_sizes);
  if (p.padding != Padding::random) file.pad(p.padding_rows(), p.padding, p.k, p.k_blocks());
}

}  // namespace

RandomProblem::RandomProblem(const ProblemExtents& extents, Distribution distribution, std::uint64_t seed,
                             int threads) {
  const auto builder = std::make_shared<Builder>(distribution, seed, threads);
  build(extents, *builder);
  tensors_ = builder->tensors();
  storage_ = builder;
}

TensorFile RandomProblem::file(const std::string& path, const Metadata& metadata) const {
  return {path, tensors_, metadata, storage_};
}

}  // namespace fp8twin::cli
