#include "emulator/model/problem.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "emulator/number/scale_block.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 7> kind_names{{{Kind::dense_1d2d, "1d2d"},
                                                                       {Kind::dense_1d1d, "1d1d"},
                                                                       {Kind::batched, "batched"},
                                                                       {Kind::contiguous, "contiguous"},
                                                                       {Kind::masked, "masked"},
                                                                       {Kind::k_grouped, "k-grouped"},
                                                                       {Kind::wgmma, "wgmma"}}};

constexpr std::int64_t largest_extent = 0x7fffffff;  // coordinates are signed 32-bit on the card, too

/// Reads the tensors of one file into a Problem; every check that fails is a sentence about one tensor.
class Reader {
 public:
  explicit Reader(const TensorFile& file) : file_(file) { problem_.file = file; }

  Problem read() {
    problem_.kind = recognise();
    read_operands();
    read_groups();
    check_d();
    if (problem_.kind == Kind::wgmma) {
      check_wgmma();
    } else {
      read_scales();
    }
    read_c();
    return std::move(problem_);
  }

 private:
  [[noreturn]] void refuse(std::string_view tensor, const std::string& found_and_needed) const {
    throw Error(fmt::format("{}: tensor '{}' {}", file_.path, tensor, found_and_needed));
  }

  const Tensor& need(std::string_view name, DType dtype, std::size_t rank) const {
    const Tensor& tensor = file_.at(name);
    if (tensor.dtype != dtype) {
      refuse(name, fmt::format("has dtype {}; needed is {}", dtype_name(tensor.dtype), dtype_name(dtype)));
    }
    if (tensor.shape.size() != rank) {
      refuse(name, fmt::format("has shape {}; needed are {} dimensions", shape_text(tensor.shape), rank));
    }
    return tensor;
  }

  void need_shape(const Tensor& tensor, const Shape& needed) const {
    if (tensor.shape != needed) {
      refuse(tensor.name,
             fmt::format("has shape {}; needed is {}", shape_text(tensor.shape), shape_text(needed)));
    }
  }

  Kind recognise() {
    const bool indices = file_.find("m_indices"), ends = file_.find("group_ends");
    const bool masked = file_.find("masked_m"), sizes = file_.find("k_sizes");
    if (indices + ends + masked + sizes > 1) {
      throw Error(fmt::format(
          "{}: more than one of m_indices, group_ends, masked_m and k_sizes is present; a grouped "
          "problem has exactly one",
          file_.path));
    }
    if (indices || ends) return Kind::contiguous;
    if (masked) return Kind::masked;
    if (sizes) return Kind::k_grouped;
    if (!file_.find("a_scale") && !file_.find("b_scale")) return Kind::wgmma;
    return file_.at("a").shape.size() == 3 ? Kind::batched : Kind::dense_1d2d;  // 1d1d once b_scale is seen
  }

  void read_operands() {
    Problem& p = problem_;
    const bool grouped_a = p.kind == Kind::batched || p.kind == Kind::masked;
    const bool grouped_b = grouped_a || p.kind == Kind::contiguous;
    const Tensor& a = need("a", DType::f8_e4m3, grouped_a ? 3 : 2);
    const Tensor& b = need("b", DType::f8_e4m3, grouped_b ? 3 : 2);
    p.m = a.shape[a.shape.size() - 2];
    p.k = a.shape.back();
    p.n = b.shape[b.shape.size() - 2];
    if (b.shape.back() != p.k) {
      refuse("b", fmt::format("has K = {} (its last dimension) and 'a' has {}; needed is the same K",
                              b.shape.back(), p.k));
    }
    if (grouped_b) p.groups = b.shape[0];
    if (grouped_a && a.shape[0] != p.groups) {
      refuse("a",
             fmt::format("has {} groups and 'b' has {}; needed is the same number", a.shape[0], p.groups));
    }
    p.a = a.as<std::uint8_t>();
    p.b = b.as<std::uint8_t>();
    for (const Tensor* tensor : {&a, &b}) {
      for (const std::int64_t extent : tensor->shape) {
        if (extent > largest_extent) {
          refuse(tensor->name, fmt::format("has shape {}; needed are extents of at most 2^31 - 1",
                                           shape_text(tensor->shape)));
        }
      }
    }
  }

  /// With K = 0 a file of a few bytes can ask for any d.
  void check_d() const {
    double elements = 1;
    for (const std::int64_t extent : problem_.d_shape()) elements *= static_cast<double>(extent);
    if (elements > 0x1p40) {
      throw Error(fmt::format("{}: the result d would have shape {}; needed are at most 2^40 elements",
                              file_.path, shape_text(problem_.d_shape())));
    }
  }

  std::span<const std::int32_t> indices(std::string_view name, std::int64_t count) const {
    const Tensor& tensor = need(name, DType::i32, 1);
    need_shape(tensor, {count});
    return tensor.as<std::int32_t>();
  }

  void read_groups() {
    Problem& p = problem_;
    if (p.kind == Kind::masked) {
      p.masked_m = indices("masked_m", p.groups);
      for (std::size_t g = 0; g < p.masked_m.size(); ++g) {
        if (p.masked_m[g] < 0 || p.masked_m[g] > p.m) {
          refuse("masked_m", fmt::format("holds {} at [{}]; needed are counts from 0 to Mmax = {}",
                                         p.masked_m[g], g, p.m));
        }
      }
    } else if (p.kind == Kind::k_grouped) {
      p.groups = need("k_sizes", DType::i32, 1).elements();
      p.k_sizes = indices("k_sizes", p.groups);
      std::int64_t total = 0;
      for (std::size_t g = 0; g < p.k_sizes.size(); ++g) {
        if (p.k_sizes[g] < 0)
          refuse("k_sizes", fmt::format("holds {} at [{}]; needed are sizes >= 0", p.k_sizes[g], g));
        total += p.k_sizes[g];
      }
      if (total != p.k) refuse("k_sizes", fmt::format("sums to {}; needed is Ktotal = {}", total, p.k));
    } else if (p.kind == Kind::contiguous) {
      file_.find("m_indices") ? check_m_indices() : check_group_ends();
    }
  }

  void check_m_indices() {
    Problem& p = problem_;
    p.m_indices = indices("m_indices", p.m);
    std::int32_t last_group = -1;
    for (std::int64_t row = 0; row < p.m; ++row) {
      const std::int32_t group = p.m_indices[static_cast<std::size_t>(row)];
      if (group < -1 || group >= p.groups) {
        refuse("m_indices",
               fmt::format("holds {} at [{}]; needed are group numbers from 0 to {}, or -1 for padding",
                           group, row, p.groups - 1));
      }
      const std::int32_t before = row ? p.m_indices[static_cast<std::size_t>(row - 1)] : -1;
      if (group < 0 || group == before) continue;
      if (group <= last_group) {
        refuse("m_indices",
               fmt::format(
                   "goes to group {} at row {} after group {}; needed are ascending groups, each in one run",
                   group, row, last_group));
      }
      if (row % 128 != 0) {
        refuse(
            "m_indices",
            fmt::format("starts group {} at row {}; needed is a multiple of 128 (pad with -1)", group, row));
      }
      last_group = group;
    }
  }

  void check_group_ends() {
    Problem& p = problem_;
    p.group_ends = indices("group_ends", p.groups);
    std::int64_t end = 0;
    for (std::size_t g = 0; g < p.group_ends.size(); ++g) {
      const std::int64_t start = scale_block * scale_blocks(end), next = p.group_ends[g];
      if (next != end && (next < start || next > p.m)) {
        refuse(
            "group_ends",
            fmt::format("holds {} at [{}]; needed is an end from {} (where the group starts: the end before, "
                        "rounded up to 128) to M = {}",
                        next, g, start, p.m));
      }
      end = next;
    }
  }

  void check_wgmma() const {
    const Problem& p = problem_;
    if (p.m != 64)
      refuse("a",
             fmt::format("has {} rows and there are no scales, so this is a wgmma; needed are 64 rows", p.m));
    if (p.n < 8 || p.n > 256 || p.n % 8) {
      refuse("b", fmt::format("has N = {}; needed for a wgmma is a multiple of 8 from 8 to 256", p.n));
    }
    if (p.k % 32) refuse("a", fmt::format("has K = {}; needed for a wgmma is a multiple of 32", p.k));
  }

  void read_scales() {
    Problem& p = problem_;
    const std::int64_t k_blocks = p.k_blocks();
    const bool grouped_a = p.kind == Kind::batched || p.kind == Kind::masked;
    const bool grouped_b = grouped_a || p.kind == Kind::contiguous;

    const Tensor& a_scale = need("a_scale", DType::f32, grouped_a ? 3 : 2);
    need_shape(a_scale, grouped_a ? Shape{p.groups, p.m, k_blocks} : Shape{p.m, k_blocks});
    p.a_scale = a_scale.as<float>();

    const Tensor& b_scale = need("b_scale", DType::f32, grouped_b ? 3 : 2);
    const auto shape_for = [&](std::int64_t rows) {
      return grouped_b ? Shape{p.groups, rows, k_blocks} : Shape{rows, k_blocks};
    };
    const Shape per_block = shape_for(scale_blocks(p.n)), per_row = shape_for(p.n);
    if (b_scale.shape == per_block) {
      p.b_scale_rows = 128;
    } else if (b_scale.shape == per_row) {
      p.b_scale_rows = 1;
      if (p.kind == Kind::dense_1d2d) p.kind = Kind::dense_1d1d;
    } else {
      refuse("b_scale",
             fmt::format("has shape {}; needed is {} (a scale for 128 rows) or {} (a scale for each row)",
                         shape_text(b_scale.shape), shape_text(per_block), shape_text(per_row)));
    }
    p.b_scale = b_scale.as<float>();
  }

  void read_c() {
    Problem& p = problem_;
    if (!file_.find("c")) return;
    if (p.kind == Kind::batched || p.kind == Kind::contiguous || p.kind == Kind::masked) {
      refuse("c", fmt::format("is present in a {} problem, which adds none; needed is a file without it",
                              kind_name(p.kind)));
    }
    const Shape shape = p.d_shape();
    const Tensor& c = need("c", DType::f32, shape.size());
    need_shape(c, shape);
    p.c = c.as<float>();
    p.has_c = true;
  }

  const TensorFile& file_;
  Problem problem_;
};

}  // namespace

std::string_view kind_name(Kind kind) {
  for (const auto& [each, name] : kind_names) {
    if (each == kind) return name;
  }
  return "";
}

std::optional<Kind> kind_from_name(std::string_view name) {
  for (const auto& [kind, each] : kind_names) {
    if (each == name) return kind;
  }
  return std::nullopt;
}

Shape Problem::d_shape() const {
  const bool leading = kind == Kind::batched || kind == Kind::masked || kind == Kind::k_grouped;
  return leading ? Shape{groups, m, n} : Shape{m, n};
}

DType Problem::default_output() const {
  return kind == Kind::dense_1d1d || kind == Kind::k_grouped || kind == Kind::wgmma ? DType::f32
                                                                                    : DType::bf16;
}

std::int64_t Problem::k_blocks() const {
  if (kind != Kind::k_grouped) return scale_blocks(k);
  std::int64_t sum = 0;
  for (const std::int32_t size : k_sizes) sum += scale_blocks(size);
  return sum;
}

Problem read_problem(const TensorFile& file) { return Reader(file).read(); }

}  // namespace fp8twin
