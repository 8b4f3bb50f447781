#include "gpu/bench/grouped_cases.hpp"

#include <fmt/format.h>

namespace fp8twin::bench {
namespace {

Product rows_of(Grouping grouping, i64 m, i64 n, i64 k, std::vector<i64> rows) {
  return {.form = {.grouping = grouping},
          .m = m,
          .n = n,
          .k = k,
          .groups = static_cast<i64>(rows.size()),
          .rows = std::move(rows)};
}

std::vector<i64> equal(std::size_t groups, i64 rows) { return std::vector<i64>(groups, rows); }

/// Rows from seven to thirteen tenths of `rows`, by a fixed rule, as routed tokens fall.
std::vector<i64> uneven(std::size_t groups, i64 rows) {
  std::vector<i64> all;
  for (std::size_t group = 0; group < groups; ++group) {
    all.push_back(rows * (70 + static_cast<i64>(group * 37 % 61)) / 100);
  }
  return all;
}

GroupedCase contiguous(i64 n, i64 k, double aim, double published) {
  return {.name = fmt::format("contiguous 4 x 8192, N {}, K {}", n, k),
          .product = rows_of(Grouping::contiguous, 32768, n, k, equal(4, 8192)),
          .aim = aim,
          .published = published * 1e12};
}

GroupedCase masked(std::size_t groups, i64 rows, i64 n, i64 k, double aim, double published, bool by_bytes,
                   bool is_uneven = false) {
  return {.name = fmt::format("masked {} x {}{}, N {}, K {}", groups, is_uneven ? "about " : "", rows, n, k),
          .product =
              rows_of(Grouping::masked, 4096, n, k, is_uneven ? uneven(groups, rows) : equal(groups, rows)),
          .aim = aim,
          .published = published * 1e12,
          .by_bytes = by_bytes};
}

GroupedCase training(std::vector<i64> k_sizes, i64 m, i64 n, double aim, double published) {
  const bool along = k_sizes.size() > 1;
  i64 k = 0;
  for (const i64 size : k_sizes) k += size;
  Product product{.form = {.grouping = along ? Grouping::along_k : Grouping::none,
                           .b_scale_per_row = true,
                           .accumulate = true},
                  .m = m,
                  .n = n,
                  .k = k};
  if (along) {
    product.groups = static_cast<i64>(k_sizes.size());
    product.k_sizes = std::move(k_sizes);
  }
  return {
      .name = fmt::format("1D1D, D += {}{} x {}, K {}", along ? fmt::format("{} of ", product.groups) : "", m,
                          n, along ? fmt::format("{} in all", k) : fmt::format("{}", k)),
      .product = product,
      .aim = aim,
      .published = published * 1e12};
}

/// K of all groups that have rows of A, or of each along K.
double work(const Product& product) {
  double sum = 0;
  if (product.form.grouping == Grouping::along_k) {
    return static_cast<double>(product.m) * static_cast<double>(product.k);
  }
  for (const i64 rows : product.expected_rows())
    sum += static_cast<double>(rows) * static_cast<double>(product.k);
  return sum;
}

std::string published(const GroupedCase& what) {
  if (!(what.published > 0)) return "-";
  return what.by_bytes ? fmt::format("{:.2f} TB/s", what.published * 1e-12)
                       : fmt::format("{:.0f} TFLOP/s", what.published * 1e-12);
}

}  // namespace

double GroupedCase::operations() const { return 2 * static_cast<double>(product.n) * work(product); }

double GroupedCase::bytes() const {
  const bool along = product.form.grouping == Grouping::along_k;
  double rows = 0, groups = 0;
  for (const i64 each : product.expected_rows()) {
    rows += static_cast<double>(each);
    groups += each > 0;
  }
  const double n = static_cast<double>(product.n), k = static_cast<double>(product.k);
  const double codes = work(product) + (along ? 1 : groups) * n * k;
  const double scales =
      4 * (work(product) / 128 + (along ? 1 : groups) * n * k / (output_f32() ? 128 : 128 * 128));
  return codes + scales + rows * n * (output_f32() ? 4 : 2) * (product.form.accumulate ? 2 : 1);
}

std::vector<GroupedCase> grouped_cases() {
  return {contiguous(6144, 7168, 0.98, 1460),
          contiguous(4096, 2048, 0.92, 1357),
          masked(6, 1024, 6144, 7168, 0.94, 1373, false),
          masked(6, 1024, 4096, 2048, 0, 1233, false),
          masked(32, 192, 6144, 7168, 0.68, 991, false),
          masked(32, 192, 4096, 2048, 0, 848, false),
          masked(32, 192, 6144, 7168, 0, 0, false, true),
          masked(32, 20, 6144, 7168, 0.95, 3.99, true),
          masked(32, 20, 4096, 2048, 0, 3.54, true),
          masked(6, 20, 6144, 7168, 0, 3.53, true),
          masked(6, 20, 4096, 2048, 0, 2.46, true),
          training({7168}, 4096, 4096, 0.68, 972),
          training({4096, 3072, 5120, 4096, 2048, 6144, 4096, 4096}, 7168, 2048, 0, 0)};
}

std::string grouped_markdown(const std::vector<GroupedRow>& rows, double operations_per_second,
                             double read_bytes_per_second) {
  std::string text =
      "| product | configuration | us | TFLOP/s | of 8192^3 | TB/s | of the stream | aim | published | one "
      "by one / "
      "ours | cuBLASLt / ours | differ |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  std::string missed;
  const auto ratio = [](const std::optional<Summary>& other, const Summary& ours) {
    return other ? fmt::format("{:.2f}", other->median / ours.median) : std::string("-");
  };
  for (const GroupedRow& row : rows) {
    const double seconds = 1e-6 * row.ours.median;
    const double of_gemm = row.what.operations() / seconds / operations_per_second,
                 of_stream = row.what.bytes() / seconds / read_bytes_per_second;
    const double reached = row.what.by_bytes ? of_stream : of_gemm;
    text += fmt::format(
        "| {} | `{}` | {:.1f} | {:.0f} | {:.3f} | {:.2f} | {:.2f} | {} | {} | {} | {} | {} |\n",
        row.what.name, row.config, row.ours.median, row.what.operations() / seconds * 1e-12, of_gemm,
        row.what.bytes() / seconds * 1e-12, of_stream,
        row.what.aim > 0 ? fmt::format("{:.2f}{}", row.what.aim, row.what.by_bytes ? " of the stream" : "")
                         : "-",
        published(row.what), ratio(row.one_by_one, row.ours), ratio(row.cublaslt, row.ours),
        row.differing ? fmt::format("{}", *row.differing) : "-");
    if (row.what.aim > 0 && reached < row.what.aim) {
      missed += fmt::format("- {} reaches {:.3f}, where {:.2f} is the aim.\n", row.what.name, reached,
                            row.what.aim);
    }
  }
  return text + "\n" + missed;
}

}  // namespace fp8twin::bench
