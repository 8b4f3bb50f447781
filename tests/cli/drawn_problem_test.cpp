// One problem that `verify` draws: the edges come often, the budget holds, and its command writes the very tensors.
#include "emulator/cli/drawn_problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "emulator/cli/random_problem.hpp"
#include "emulator/model/slices.hpp"
#include "emulator/number/e4m3.hpp"
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"

using namespace fp8twin;
using cli::DrawnProblem;
using cli::Form;
using cli::Numbers;

namespace {

constexpr std::int64_t any = std::int64_t{1} << 50;

DrawnProblem drawn(const Form& form, std::uint64_t index, std::int64_t most_macs) {
  Numbers numbers(11, index);
  return draw_problem(numbers, form, most_macs);
}

bool at_an_edge(std::int64_t rows) {
  return std::set<std::int64_t>{63, 65, 127, 129, 255, 257}.count(rows) > 0;
}

/// How many of `count` draws have each trait.
using Traits = std::map<std::string, int>;

void note_groups(const DrawnProblem& p, Traits& traits) {
  const auto& groups = p.groups;
  const auto empty = std::count(groups.begin(), groups.end(), 0);
  traits["a group empty, another not"] += empty > 0 && empty < static_cast<std::ptrdiff_t>(groups.size());
  traits["all groups empty"] += empty == static_cast<std::ptrdiff_t>(groups.size());
  traits["one group"] += groups.size() == 1;
  traits["a group of one"] += std::count(groups.begin(), groups.end(), 1) > 0;
  traits["a group at an edge"] += std::any_of(groups.begin(), groups.end(), at_an_edge);
}

Traits traits_of(const Form& form, int count) {
  Traits traits;
  for (int i = 0; i < count; ++i) {
    const DrawnProblem p = drawn(form, static_cast<std::uint64_t>(i), any);
    const cli::ProblemExtents extents = p.extents();
    const bool rows_in_groups = form.kind == Kind::contiguous || form.kind == Kind::masked;
    if (form.kind != Kind::batched && !p.groups.empty()) note_groups(p, traits);
    if (form.kind == Kind::batched) traits["a batch of one"] += p.groups == std::vector<std::int64_t>{1};
    traits["N not a multiple of 8"] += p.sizes.n % 8 != 0;
    traits["N is one"] += p.sizes.n == 1;
    if (!rows_in_groups) {
      traits["one row"] += p.sizes.m == 1;
      traits["M at an edge"] += at_an_edge(p.sizes.m);
    }
    const auto has_k = [&](std::int64_t k) {
      return form.kind == Kind::k_grouped ? std::count(p.groups.begin(), p.groups.end(), k) > 0
                                          : p.sizes.k == k;
    };
    for (const std::int64_t k : {0, 1, 127, 128, 129}) traits["K of " + std::to_string(k)] += has_k(k);
    if (rows_in_groups) {
      const auto padding = extents.padding_rows();
      traits["NaN in padding"] += extents.padding == cli::Padding::nan && !padding.empty();
      traits["zeros in padding"] += extents.padding == cli::Padding::zero && !padding.empty();
    }
    if (form.kind == Kind::contiguous) {
      traits["group_ends"] += !extents.group_ends.empty();
      traits["m_indices"] += extents.group_ends.empty();
      traits["blocks of padding"] += std::any_of(p.gaps.begin(), p.gaps.end(), [](auto gap) { return gap; });
      traits["M cut"] += extents.m % 128 != 0;
    }
    if (form.kind == Kind::masked) {
      traits["Mmax is the count"] +=
          extents.m > 0 && extents.m == *std::max_element(p.groups.begin(), p.groups.end());
    }
  }
  return traits;
}

}  // namespace

TEST_CASE("the edge cases of every form come often") {
  const int count = 3000;
  CHECK(cli::all_forms().size() == 14);
  for (const Form& form : cli::all_forms()) {
    for (const auto& [trait, found] : traits_of(form, count)) {
      INFO(kind_name(form.kind) << ": " << trait << ": " << found << " of " << count);
      CHECK(found > count / 60);
    }
  }
}

TEST_CASE("a third of the padding is NaN") {
  int nan = 0;
  for (std::uint64_t i = 0; i < 3000; ++i)
    nan += drawn({Kind::masked, false, 128}, i, any).sizes.padding == "nan";
  CHECK(std::abs(nan - 1000) < 100);
}

TEST_CASE("sizes reach both ends") {
  std::int64_t small = 0, large = 0, adversarial = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const DrawnProblem p = drawn({}, i, any);
    CHECK((p.sizes.m >= 0 && p.sizes.m <= 4096));
    CHECK((p.sizes.n >= 0 && p.sizes.n <= 4096));
    CHECK((p.sizes.k >= 0 && p.sizes.k <= 4096));
    small += p.sizes.m <= 4;
    large += p.sizes.m > 1024;
    adversarial += p.distribution == Distribution::adversarial;
  }
  // Half are log-uniform, of 13 octaves, of which M <= 4 is three and M > 1024 two; of 13 edges three are <= 4.
  CHECK(std::abs(small - (1000 * 3 / 13 + 1000 * 3 / 13)) < 100);
  CHECK(std::abs(large - 1000 * 2 / 13) < 100);
  CHECK(std::abs(adversarial - (500 + 1500 / 14)) < 100);
}

TEST_CASE("what costs too much is drawn smaller; the sum over the slices counts") {
  for (const Form& form : cli::all_forms()) {
    for (std::uint64_t i = 0; i < 100; ++i) {
      const DrawnProblem whole = drawn(form, i, any);
      for (const std::int64_t most : {cli::least_macs, std::int64_t{1000}, std::int64_t{1'000'000}}) {
        const DrawnProblem p = drawn(form, i, most);
        CHECK(p.macs() <= most);
        if (whole.macs() <= most) CHECK(p.command() == whole.command());
        CHECK(p.seed == whole.seed);
        CHECK(p.groups.size() == whole.groups.size());
        if (most != 1'000'000) continue;
        const cli::RandomProblem made(p.extents(), p.distribution, p.seed, 1);
        const Problem problem = read_problem(made.file("the drawn problem", {}));
        std::int64_t macs = 0;
        for (const GemmSlice& slice : slices(problem)) macs += slice.m * slice.n * slice.k;
        INFO(p.command());
        CHECK(macs == p.macs());
      }
    }
  }
}

TEST_CASE("a drawn problem is of its form, and its command writes the same tensors") {
  const test::Folder folder;
  for (const Form& form : cli::all_forms()) {
    for (std::uint64_t i = 0; i < 12; ++i) {
      const DrawnProblem p = drawn(form, i, 300'000);
      const std::string command = p.command();
      INFO(command);
      const cli::RandomProblem made(p.extents(), p.distribution, p.seed, 1);
      const Problem problem = read_problem(made.file("the drawn problem", {}));
      const bool ambiguous = p.sizes.n <= 1;  // with N = 1 nothing tells 1d2d from 1d1d
      if (!ambiguous) {
        CHECK(problem.kind == form.kind);
        CHECK(problem.b_scale_rows == form.b_scale_rows);
      }
      CHECK(problem.has_c == form.has_c);
      REQUIRE(command.starts_with("fp8twin random p.safetensors "));
      const std::string path = folder / "p.safetensors";
      test::succeeds("random " + path + command.substr(std::string("fp8twin random p.safetensors").size()));
      const TensorFile file = read_tensor_file(path);
      REQUIRE(file.tensors.size() == made.tensors().size());
      for (const Tensor& tensor : made.tensors()) {
        const Tensor& written = file.at(tensor.name);
        INFO(tensor.name);
        CHECK(written.shape == tensor.shape);
        CHECK(
            std::equal(written.bytes.begin(), written.bytes.end(), tensor.bytes.begin(), tensor.bytes.end()));
      }
    }
  }
}

TEST_CASE("rows of padding hold what --padding says, and all other bytes are the same") {
  for (const Kind kind : {Kind::contiguous, Kind::masked}) {
    for (std::uint64_t i = 0; i < 40; ++i) {
      DrawnProblem p = drawn({kind, false, 128}, i, 100'000);
      p.distribution = Distribution::normal;
      const auto make = [&](const char* padding) {
        p.sizes.padding = padding;
        return cli::RandomProblem(p.extents(), p.distribution, p.seed, 1);
      };
      const cli::RandomProblem random = make("random"), nan = make("nan"), zero = make("zero");
      const cli::ProblemExtents extents = p.extents();
      const auto rows = extents.padding_rows();
      const auto padded = [&](std::int64_t row) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](const auto& range) { return range.first <= row && row < range.second; });
      };
      const auto codes = [](const cli::RandomProblem& file) { return file.tensors()[0].as<std::uint8_t>(); };
      const auto scales = [](const cli::RandomProblem& file) { return file.tensors()[2].as<float>(); };
      bool right = true;
      for (std::size_t at = 0; at < codes(nan).size(); ++at) {
        const bool is_nan = (codes(nan)[at] & 0x7f) == 0x7f;
        const bool inside = padded(static_cast<std::int64_t>(at) / extents.k);
        right = right && is_nan == inside && (codes(zero)[at] == codes(random)[at] || inside);
        if (inside) right = right && codes(zero)[at] == 0;
      }
      for (std::size_t at = 0; at < scales(nan).size(); ++at)
        right = right &&
                std::isnan(scales(nan)[at]) == padded(static_cast<std::int64_t>(at) / extents.k_blocks());
      INFO(p.command());
      CHECK(right);
    }
  }
}
