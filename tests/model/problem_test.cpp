// read_problem: every kind is recognised, and every way to be wrong is one sentence that names the tensor.
#include "emulator/model/problem.hpp"

#include <map>
#include <string>
#include <vector>

#include "emulator/model/slices.hpp"
#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// A file in memory: tensors of zero bytes, or of the given 32-bit integers.
class Builder {
 public:
  Builder& add(const std::string& name, DType dtype, const Shape& shape,
               const std::vector<std::int32_t>& values = {}) {
    auto bytes = std::make_shared<std::vector<std::int32_t>>(values);
    bytes->resize((static_cast<std::size_t>(element_count(shape)) * dtype_size(dtype) + 3) / 4 + 1);
    kept_.push_back(bytes);
    Tensor tensor{name, dtype, shape,
                  std::as_bytes(std::span(*bytes))
                      .first(static_cast<std::size_t>(element_count(shape)) * dtype_size(dtype))};
    tensors_[name] = tensor;
    return *this;
  }
  Builder& drop(const std::string& name) {
    tensors_.erase(name);
    return *this;
  }
  Problem read() const {
    TensorFile file{.path = "x.safetensors",
                    .tensors = {},
                    .metadata = {},
                    .storage = std::make_shared<decltype(kept_)>(kept_)};
    for (const auto& [name, tensor] : tensors_) file.tensors.push_back(tensor);
    return read_problem(file);
  }
  std::string refusal() const {
    try {
      read();
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

 private:
  std::map<std::string, Tensor> tensors_;
  std::vector<std::shared_ptr<std::vector<std::int32_t>>> kept_;
};

constexpr DType f8 = DType::f8_e4m3, f32 = DType::f32, i32 = DType::i32;

Builder dense(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t b_rows = 128) {
  const std::int64_t kb = (k + 127) / 128;
  return Builder()
      .add("a", f8, {m, k})
      .add("a_scale", f32, {m, kb})
      .add("b", f8, {n, k})
      .add("b_scale", f32, {(n + b_rows - 1) / b_rows, kb});
}

Builder contiguous(const std::vector<std::int32_t>& m_indices, std::int64_t groups) {
  const auto m = static_cast<std::int64_t>(m_indices.size());
  return Builder()
      .add("a", f8, {m, 128})
      .add("a_scale", f32, {m, 1})
      .add("b", f8, {groups, 8, 128})
      .add("b_scale", f32, {groups, 1, 1})
      .add("m_indices", i32, {m}, m_indices);
}

bool says(const std::string& sentence, const std::vector<std::string>& parts) {
  UNSCOPED_INFO(sentence);
  for (const std::string& part : parts) {
    if (sentence.find(part) == std::string::npos) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("dense problems, by the shape of b_scale") {
  CHECK(dense(7, 200, 192).read().kind == Kind::dense_1d2d);
  CHECK(dense(7, 200, 192, 1).read().kind == Kind::dense_1d1d);
  CHECK(dense(7, 1, 192, 1).read().kind == Kind::dense_1d2d);  // the same shape, the same bits
  const Problem p = dense(7, 200, 192).read();
  CHECK(
      (p.m == 7 && p.n == 200 && p.k == 192 && p.groups == 1 && p.k_blocks() == 2 && p.b_scale_rows == 128));
  CHECK(p.default_output() == DType::bf16);
  CHECK(dense(7, 200, 192, 1).read().default_output() == DType::f32);
}

TEST_CASE("every extent may be zero") {
  for (const auto& [m, n, k] : {std::tuple{0, 8, 128}, {8, 0, 128}, {8, 8, 0}, {0, 0, 0}}) {
    const Problem p = dense(m, n, k).read();
    CHECK(p.d_shape() == Shape{m, n});
    CHECK(slices(p).size() == (m && n ? 1 : 0));
  }
}

TEST_CASE("a wrong dtype, rank, shape or K is named") {
  CHECK(says(dense(4, 4, 128).add("a", DType::bf16, {4, 128}).refusal(),
             {"x.safetensors", "'a'", "BF16", "F8_E4M3"}));
  CHECK(says(dense(4, 4, 128).add("b", f8, {512}).refusal(), {"'b'", "[512]", "2 dimensions"}));
  CHECK(says(dense(4, 4, 128).add("b", f8, {4, 129}).refusal(), {"'b'", "129", "128"}));
  CHECK(says(dense(4, 4, 128).add("a_scale", f32, {4, 2}).refusal(), {"'a_scale'", "[4, 2]", "[4, 1]"}));
  CHECK(says(dense(4, 300, 128).add("b_scale", f32, {2, 1}).refusal(),
             {"'b_scale'", "[2, 1]", "[3, 1]", "[300, 1]"}));
  CHECK(says(dense(4, 4, 128).drop("a").refusal(), {"x.safetensors", "a"}));
  CHECK(says(dense(4, 4, 128).drop("b_scale").refusal(), {"x.safetensors", "b_scale"}));
  CHECK(says(dense(4, 4, 128).add("c", f32, {4, 5}).refusal(), {"'c'", "[4, 5]", "[4, 4]"}));
  CHECK(says(Builder()
                 .add("a", f8, {std::int64_t{1} << 30, 0})
                 .add("b", f8, {std::int64_t{1} << 30, 0})
                 .add("a_scale", f32, {std::int64_t{1} << 30, 0})
                 .add("b_scale", f32, {std::int64_t{1} << 23, 0})
                 .refusal(),
             {"2^40"}));
}

TEST_CASE("contiguous groups: m_indices") {
  std::vector<std::int32_t> rows(256, -1);
  std::fill(rows.begin(), rows.begin() + 100, 0);
  std::fill(rows.begin() + 128, rows.begin() + 130, 2);
  const Problem p = contiguous(rows, 3).read();
  REQUIRE(p.kind == Kind::contiguous);
  const auto parts = slices(p);
  REQUIRE(parts.size() == 2);
  CHECK((parts[0].m == 100 && parts[0].b == p.b.data() && parts[0].d_offset == 0));
  CHECK((parts[1].m == 2 && parts[1].b == p.b.data() + 2 * 8 * 128 && parts[1].d_offset == 128 * 8));

  CHECK(says(contiguous({0, 1}, 2).refusal(), {"'m_indices'", "group 1", "row 1", "multiple of 128"}));
  CHECK(says(contiguous({3}, 3).refusal(), {"'m_indices'", "3", "0 to 2"}));
  CHECK(says(contiguous({-2}, 3).refusal(), {"'m_indices'", "-2"}));
  rows[0] = 2;
  CHECK(says(contiguous(rows, 3).refusal(), {"'m_indices'", "ascending"}));
  CHECK(says(contiguous({0}, 1).add("c", f32, {1, 8}).refusal(), {"'c'", "contiguous"}));
}

TEST_CASE("contiguous groups: group_ends") {
  const auto with_ends = [](const std::vector<std::int32_t>& ends) {
    return contiguous(std::vector<std::int32_t>(512, 0), 3)
        .drop("m_indices")
        .add("group_ends", i32, {3}, ends);
  };
  const Problem p = with_ends({100, 100, 300}).read();
  const auto parts = slices(p);
  REQUIRE(parts.size() == 2);  // group 1 is empty
  CHECK((parts[0].m == 100 && parts[1].m == 300 - 128 && parts[1].d_offset == 128 * 8));
  CHECK(says(with_ends({100, 110, 300}).refusal(), {"'group_ends'", "110", "[1]", "128"}));
  CHECK(says(with_ends({100, 128, 513}).refusal(), {"'group_ends'", "513", "512"}));
  CHECK(says(with_ends({100, 100, 99}).refusal(), {"'group_ends'", "99"}));
}

TEST_CASE("masked, batched and K-grouped problems") {
  Builder masked;
  masked.add("a", f8, {2, 16, 128})
      .add("a_scale", f32, {2, 16, 1})
      .add("b", f8, {2, 8, 128})
      .add("b_scale", f32, {2, 1, 1});
  CHECK(masked.read().kind == Kind::batched);
  masked.add("masked_m", i32, {2}, {3, 16});
  const Problem p = masked.read();
  REQUIRE(p.kind == Kind::masked);
  CHECK(p.d_shape() == Shape{2, 16, 8});
  CHECK((slices(p)[0].m == 3 && slices(p)[1].d_offset == 16 * 8));
  CHECK(says(masked.add("masked_m", i32, {2}, {3, 17}).refusal(), {"'masked_m'", "17", "[1]", "Mmax = 16"}));

  Builder grouped;
  grouped.add("a", f8, {4, 300})
      .add("a_scale", f32, {4, 4})
      .add("b", f8, {8, 300})
      .add("b_scale", f32, {8, 4})
      .add("k_sizes", i32, {3}, {130, 0, 170})
      .add("c", f32, {3, 4, 8});
  const Problem q = grouped.read();
  REQUIRE(q.kind == Kind::k_grouped);
  CHECK(q.k_blocks() == 4);
  const auto parts = slices(q);
  REQUIRE(parts.size() == 3);
  CHECK((parts[2].k == 170 && parts[2].a == q.a.data() + 130 && parts[2].a_scale == q.a_scale.data() + 2 &&
         parts[2].c == q.c.data() + 64));
  CHECK(says(grouped.add("k_sizes", i32, {3}, {130, 0, 171}).refusal(), {"'k_sizes'", "301", "300"}));
  CHECK(says(grouped.add("k_sizes", i32, {3}, {-1, 0, 301}).refusal(), {"'k_sizes'", "-1"}));
  CHECK(says(grouped.add("masked_m", i32, {3}).refusal(), {"more than one"}));
}

TEST_CASE("without scales it is a wgmma") {
  const auto instruction = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Builder().add("a", f8, {m, k}).add("b", f8, {n, k});
  };
  CHECK(instruction(64, 24, 96).read().kind == Kind::wgmma);
  CHECK(instruction(64, 24, 96).add("c", f32, {64, 24}).read().has_c);
  CHECK(says(instruction(63, 24, 96).refusal(), {"'a'", "63", "64"}));
  CHECK(says(instruction(64, 20, 96).refusal(), {"'b'", "20", "8"}));
  CHECK(says(instruction(64, 264, 96).refusal(), {"'b'", "264"}));
  CHECK(says(instruction(64, 8, 33).refusal(), {"'a'", "33", "32"}));
}
