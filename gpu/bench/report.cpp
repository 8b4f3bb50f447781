#include "gpu/bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/support/error.hpp"

namespace fp8twin::bench {
namespace {

double tera(double operations, double us) { return us > 0 ? operations / us * 1e-6 : 0; }
double giga(double bytes, double us) { return us > 0 ? bytes / us * 1e-3 : 0; }

std::string row_line(const Row& row, const Floors& floors) {
  const std::optional<Figure> figure = figure_of(row.shape);
  const std::optional<double> share = of_published(row), ascending_share = ascending_of_published(row);
  const double us = row.ours.median, floor = floors.us(row.shape);
  std::string line = fmt::format(
      "| {} | {} | {} | `{}` | {:.2f} | {:.0f} | {:.0f} | {:.2f}{} | {:.3f} | {} | {} | {} | {} | {} | "
      "{:.2f} {} | "
      "{:.2f} |",
      row.shape.m, row.shape.n, row.shape.k, row.config, us, tera(row.shape.operations(), us),
      giga(row.shape.bytes(), us), row.cublaslt.median,
      row.padded_m > row.shape.m ? fmt::format(" (M {})", row.padded_m) : "", ratio_of(row),
      row.ascending ? fmt::format("{:.2f}", row.ascending->median) : "",
      row.ascending ? fmt::format("{:.3f}", ascending_ratio_of(row)) : "",
      figure ? fmt::format("{:.2f}", figure->ratio) : "", share ? fmt::format("{:.3f}", *share) : "",
      row.ascending && ascending_share ? fmt::format("{:.3f}", *ascending_share) : "", floor,
      floors.bytes_us(row.shape) >= floors.operations_us(row.shape) ? "bytes" : "operations",
      us > 0 ? floor / us : 0);
  if (row.differences) {
    line += fmt::format(" {}, {}, {}{} |", row.differences->ours_model, row.differences->cublaslt_model,
                        row.differences->ours_cublaslt,
                        row.ascending ? fmt::format("; split {}", row.differences->split_model) : "");
  }
  return line;
}

/// One group of shapes: its means, and what the second should be where `aim` is not 0.
std::string group_line(const std::string& name, std::span<const Row> rows, bool (*member)(const Row&),
                       double aim = 0) {
  std::vector<double> ratios, shares, ascending, ascending_shares;
  for (const Row& row : rows) {
    if (!member(row) || !(ratio_of(row) > 0)) continue;
    ratios.push_back(ratio_of(row));
    ascending.push_back(ascending_ratio_of(row));
    if (const std::optional<double> share = of_published(row)) shares.push_back(*share);
    if (const std::optional<double> share = ascending_of_published(row)) ascending_shares.push_back(*share);
  }
  if (ratios.empty()) return "";
  const auto means = [](const std::vector<double>& ratio, const std::vector<double>& share) {
    std::string text = fmt::format("{:.3f}", geometric_mean(ratio));
    if (share.size() == ratio.size())
      text += fmt::format(", {:.3f} times the published ratio", geometric_mean(share));
    return text;
  };
  std::string line =
      fmt::format("{} ({} shapes): cuBLASLt's time over ours {}", name, ratios.size(), means(ratios, shares));
  if (ascending != ratios)
    line += fmt::format("; where it may not split K {}", means(ascending, ascending_shares));
  if (aim > 0) line += fmt::format(" (aim: {:.2f})", aim);
  return line + ".";
}

bool has_figure(const Row& row) { return figure_of(row.shape).has_value(); }

}  // namespace

double Floors::bytes_us(const Shape& shape) const {
  return read_bytes_per_second > 0 ? 1e6 * shape.bytes() / read_bytes_per_second : 0;
}
double Floors::operations_us(const Shape& shape) const {
  return operations_per_second > 0 ? 1e6 * shape.operations() / operations_per_second : 0;
}
double Floors::us(const Shape& shape) const { return std::max(bytes_us(shape), operations_us(shape)); }

double ratio_of(const Row& row) { return row.ours.median > 0 ? row.cublaslt.median / row.ours.median : 0; }

double ascending_ratio_of(const Row& row) {
  if (!row.ascending) return ratio_of(row);
  return row.ours.median > 0 ? row.ascending->median / row.ours.median : 0;
}

namespace {
std::optional<double> share_of(const Row& row, double ratio) {
  const std::optional<Figure> figure = figure_of(row.shape);
  if (!figure || !(ratio > 0)) return std::nullopt;
  return ratio / figure->ratio;
}
}  // namespace

std::optional<double> of_published(const Row& row) { return share_of(row, ratio_of(row)); }
std::optional<double> ascending_of_published(const Row& row) {
  return share_of(row, ascending_ratio_of(row));
}

double needed_of(const Figure& figure) {
  return figure.shape.m >= 4096 && figure.best_tflops < 1400 ? 1.03 : 1.00;
}

std::vector<std::string> conclusions(const Floors& floors, std::span<const Row> rows) {
  std::vector<std::string> lines = {
      group_line(
          "Geometric mean, M <= 128", rows,
          [](const Row& row) { return has_figure(row) && row.shape.m <= 128; }, needed_small_mean),
      group_line("Geometric mean, M >= 4096", rows,
                 [](const Row& row) { return has_figure(row) && row.shape.m >= 4096; }),
      group_line("Geometric mean, all with a published figure", rows, has_figure),
      group_line("Geometric mean, decode", rows, [](const Row& row) { return !has_figure(row); })};
  for (const Row& row : rows) {
    const std::optional<Figure> figure = figure_of(row.shape);
    const std::optional<double> share = of_published(row);
    if (figure && share && row.shape.m >= 4096 && *share < needed_of(*figure)) {
      lines.push_back(fmt::format("{} is at {:.3f} times the published ratio, where {:.2f} is the aim.",
                                  row.shape.name(), *share, needed_of(*figure)));
    }
  }
  for (const Row& row : rows) {
    if (row.shape != memory_bound || !(row.ours.median > 0) || !(floors.read_bytes_per_second > 0)) continue;
    lines.push_back(
        fmt::format("{} moves its bytes at {:.2f} of the read-only stream's bandwidth (aim: {:.2f}).",
                    row.shape.name(), floors.bytes_us(row.shape) / row.ours.median, needed_of_bandwidth));
  }
  i64 differing = 0, checked = 0, split = 0, split_differing = 0;
  for (const Row& row : rows) {
    split += row.ascending.has_value();
    if (!row.differences) continue;
    ++checked;
    split_differing += row.differences->split_model;
    differing +=
        row.differences->ours_model + row.differences->cublaslt_model + row.differences->ours_cublaslt;
  }
  if (split) {
    lines.push_back(fmt::format(
        "cuBLASLt's first heuristic result splits K on {} shapes: sums in another order, and other bits{}.",
        split, checked ? fmt::format(" ({} elements)", split_differing) : ""));
  }
  if (checked) {
    lines.push_back(
        fmt::format("Ours, cuBLASLt{} and the model compared element by element on {} shapes: {} differ.",
                    split ? " without a split of K" : "", checked, differing));
  }
  std::erase(lines, "");
  return lines;
}

std::string markdown(const Provenance& p, const Floors& floors, std::span<const Row> rows) {
  std::string text = fmt::format("{}, driver {}, CUDA {}, {}; {}.\nDurations: {}. {}\n\n", p.device, p.driver,
                                 p.cuda, p.cublaslt, p.date, p.method, p.procedure);
  text += fmt::format("`{}`\n\n", p.command);
  text += fmt::format(
      "Read-only stream: {:.2f} TB/s over several gigabytes, {:.2f} TB/s over 118 MB. Unscaled FP8 GEMM of "
      "8192^3, fast "
      "accumulation: {:.0f} TFLOP/s.\n\n",
      floors.read_bytes_per_second * 1e-12, floors.cold_bytes_per_second * 1e-12,
      floors.operations_per_second * 1e-12);
  const bool checked =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.differences.has_value(); });
  text +=
      "| M | N | K | configuration | us | TFLOP/s | GB/s | cuBLASLt us | cuBLASLt / ours | cuBLASLt without "
      "split K "
      "us | that / ours | published | of published | of it without split K | floor us | floor / us |";
  text += checked ? " differ: ours and model, cuBLASLt and model, ours and cuBLASLt |\n" : "\n";
  text += "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";
  text += checked ? "---|\n" : "\n";
  for (const Row& row : rows) text += row_line(row, floors) + "\n";
  text += "\n";
  for (const std::string& line : conclusions(floors, rows)) text += "- " + line + "\n";
  return text;
}

std::string with_generated(const std::string& page, const std::string& name, const std::string& text) {
  const std::string begin = fmt::format("<!-- BEGIN generated: {} -->\n", name),
                    end = fmt::format("<!-- END generated: {} -->", name);
  const std::size_t from = page.find(begin);
  const std::size_t to = from == std::string::npos ? from : page.find(end, from);
  if (to == std::string::npos) {
    throw Error(
        fmt::format("the page has no part '{}': needed are the lines <!-- BEGIN generated: {} --> and "
                    "<!-- END generated: {} -->",
                    name, name, name));
  }
  return page.substr(0, from + begin.size()) + text + page.substr(to);
}

}  // namespace fp8twin::bench
