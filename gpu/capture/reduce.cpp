// reduce: what an FP32 element of global memory is after something was added to it by TMA, by red, by atom; beside them the plain
// additions. All pairs of special values go into the file whole, drawn ones as a checksum; an integer oracle on the card says how
// many differ from it under each rule of flushing subnormals. Last, a box over the tensor's edge, and one that begins before it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "gpu/capture/capture.hpp"
#include "gpu/capture/sources.hpp"

#include "emulator/support/error.hpp"
#include "gpu/capture/device/reduce_oracle.hpp"
#include "gpu/capture/device/reduce_pairs.hpp"
#include "gpu/capture/device/reduce_records.hpp"
#include "gpu/launch/tensor_map.hpp"

namespace fp8twin::capture {
namespace {

constexpr const char* way_names[reduce_ways] = {"cp.reduce.async.bulk.tensor.add", "add.rn.f32",
                                                "add.rn.ftz.f32", "red.global.add.f32",
                                                "atom.global.add.f32"};
constexpr const char* rule_names[reduce_rules] = {
    "nothing flushed", "memory flushed",         "added flushed",         "both operands flushed",
    "result flushed",  "memory, result flushed", "added, result flushed", "operands, result flushed"};
constexpr u32 table_pairs = reduce_special_count * reduce_special_count, chunk = 1u << 22;

class Runner {
 public:
  Runner(Session& session, u32 pairs)
      : session_(session), pairs_(pairs), results_(std::size_t{reduce_ways} * pairs), counts_(1) {
    const jit::Source source = reduce_source();
    const auto kernel = [&](const char* name) { return session.kernels.get(source, name); };
    prepare_ = std::make_unique<Kernel>(kernel("reduce_prepare"));
    add_ = std::make_unique<Kernel>(kernel("reduce_add"));
    check_ = std::make_unique<Kernel>(kernel("reduce_check"));
    counts_.fill(0);
  }

  /// The map: the tensor of all pairs, unless `width` and `height` say less.
  ReduceArguments arguments(SwizzleMode mode, u64 width = reduce_columns, u64 height = 0) const {
    ReduceArguments g = {};
    g.box.base = reinterpret_cast<u64>(results_.device());
    g.box.element = TensorElement::f32;
    g.box.size[0] = width;
    g.box.size[1] = height ? height : pairs_ / reduce_columns;
    g.box.stride[0] = 4 * reduce_columns;
    g.box.box[0] = reduce_columns;
    g.box.box[1] = reduce_rows;
    g.box.swizzle = mode;
    g.map = encode_tensor_map(g.box);
    g.results = results_.device();
    g.counts = counts_.device();
    g.seed = session_.seed;
    g.pairs = pairs_;
    return g;
  }

  void add(const ReduceArguments& g, u32 blocks) const {
    prepare_->launch({pairs_ / reduce_threads, 1}, reduce_threads, 0, g);
    add_->launch({blocks, 1}, reduce_threads, 4 * reduce_box, g);
  }
  void check(const ReduceArguments& g) const {
    check_->launch({std::min(pairs_ / reduce_threads, 2048u), 1}, reduce_threads, 0, g);
  }
  void run(const ReduceArguments& g) const {
    add(g, pairs_ / reduce_box);
    check(g);
  }

  std::vector<u32> results() const { return results_.download(); }
  ReduceCounts counts() const {
    session_.device().synchronize();
    return counts_.download()[0];
  }

 private:
  Session& session_;
  u32 pairs_;
  Buffer<u32> results_;
  Buffer<ReduceCounts> counts_;
  std::unique_ptr<Kernel> prepare_, add_, check_;
};

Json describe_counts(const ReduceCounts& counts) {
  Json json = {{"pairs", counts.pairs}, {"nan_pairs", counts.nan_pairs}};
  for (u32 way = 0; way < reduce_ways; ++way) {
    Json& one = json["ways"][way_names[way]];
    for (u32 rule = 0; rule < reduce_rules; ++rule)
      one["differing"][rule_names[rule]] = counts.differing[way][rule];
    one["nan_differing"] = counts.nan_differing[way];
  }
  return json;
}

void print_counts(const char* what, const ReduceCounts& counts) {
  fmt::print("{}: {} pairs, of {} the sum is NaN\n", what, counts.pairs, counts.nan_pairs);
  for (u32 way = 0; way < reduce_ways; ++way) {
    fmt::print("  {:<32} {} NaNs are not 0x7fffffff; results that are not the oracle's:\n", way_names[way],
               counts.nan_differing[way]);
    for (u32 rule = 0; rule < reduce_rules; ++rule)
      fmt::print("    {:<24} {}\n", rule_names[rule], counts.differing[way][rule]);
  }
}

/// Way by way, a line for each element of memory; a table equal to an earlier way's is named instead.
Json special_pairs(Session& session) {
  const Runner runner(session, table_pairs);
  ReduceArguments g = runner.arguments(SwizzleMode::none);
  g.table = 1;
  runner.run(g);
  const ReduceCounts counts = runner.counts();
  print_counts("special values", counts);
  const std::vector<u32> results = runner.results();
  Json json = {{"order", "line i, word j: what special value i of memory is after special value j was added"},
               {"values", Json::array()}};
  for (const u32 value : reduce_specials) json["values"].push_back(hex(value, 8));
  std::map<std::vector<u32>, std::string> seen;
  for (u32 way = 0; way < reduce_ways; ++way) {
    const auto begin = results.begin() + std::ptrdiff_t{way} * table_pairs;
    const auto [same, is_new] = seen.emplace(std::vector(begin, begin + table_pairs), way_names[way]);
    if (!is_new) {
      json["tables"][way_names[way]] = "as " + same->second;
      continue;
    }
    Json& lines = json["tables"][way_names[way]] = Json::array();
    for (u32 i = 0; i < table_pairs; ++i) {
      if (i % reduce_special_count == 0) lines.push_back("");
      lines.back().get_ref<std::string&>() +=
          fmt::format("{}{:08x}", i % reduce_special_count ? " " : "", begin[i]);
    }
  }
  json["counts"] = describe_counts(counts);
  return json;
}

/// The first chunk's checksum can be computed again without a card.
Json drawn_pairs(Session& session, double pairs) {
  const Runner runner(session, chunk);
  const u64 chunks = static_cast<u64>(std::ceil(pairs / chunk));
  const ReduceArguments plain = runner.arguments(SwizzleMode::none),
                        swizzled = runner.arguments(SwizzleMode::b128);
  Json json = {{"checksum",
                "of the first pairs_of_checksum pairs: the sum of reduce_term(pair, result), modulo 2^64 "
                "(gpu/capture/device/reduce_pairs.hpp)"},
               {"pairs_of_checksum", chunk}};
  for (u64 i = 0; i < chunks; ++i) {
    ReduceArguments g = i % 2 ? swizzled : plain;
    g.first = i * chunk;
    runner.run(g);
    if (i > 0) continue;
    const ReduceCounts counts = runner.counts();
    for (u32 way = 0; way < reduce_ways; ++way)
      json["checksums"][way_names[way]] = hex(counts.checksum[way], 16);
  }
  const ReduceCounts counts = runner.counts();
  print_counts("drawn", counts);
  json["counts"] = describe_counts(counts);
  return json;
}

/// A box that begins inside a tensor of 24 x 70 and ends outside of it, in memory that goes on on every side.
Json over_the_edge(Session& session) {
  constexpr u32 pairs = 2 * reduce_box, width = 24, height = 70, x = 16, y = 40;
  const Runner runner(session, pairs);
  ReduceArguments g = runner.arguments(SwizzleMode::b128, width, height);
  g.x = x;
  g.y = y;
  runner.add(g, 1);
  session.device().synchronize();
  const std::vector<u32> results = runner.results();
  u32 inside_differing = 0, inside_changed = 0, outside_changed = 0;
  for (u32 i = 0; i < pairs; ++i) {
    const u32 column = i % reduce_columns, row = i / reduce_columns,
              before = drawn_pair(session.seed, i).memory;
    if (column < x || column >= width || row < y || row >= height) {
      outside_changed += results[i] != before;
      continue;
    }
    const u32 added = drawn_pair(session.seed, (row - y) * reduce_columns + column - x).value;
    inside_changed += results[i] != before;
    u32 fits = 0;
    for (u32 rule = 0; rule < reduce_rules; ++rule) fits += results[i] == oracle_sum(before, added, rule);
    inside_differing += fits == 0;
  }
  fmt::print("over the edge: inside {} changed, {} not a sum; outside {} changed\n", inside_changed,
             inside_differing, outside_changed);
  return {{"tensor", "24,70"},
          {"box", "32,64"},
          {"at", "16,40"},
          {"inside_changed", inside_changed},
          {"inside_no_sum", inside_differing},
          {"outside_changed", outside_changed}};
}

/// A fault ends the context: this comes last.
std::string before_the_tensor(Session& session) {
  const Runner runner(session, reduce_box);
  ReduceArguments g = runner.arguments(SwizzleMode::none);
  g.y = -1;
  try {
    runner.add(g, 1);
    session.device().synchronize();
  } catch (const Error& error) {
    return error.what();
  }
  return "no fault";
}

}  // namespace

int reduce(Session& session, const std::string& path, double pairs) {
  const Device& device = session.device();
  Json answer = provenance(session, device);
  answer["instruction"] = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group, FP32 map";
  answer["special"] = special_pairs(session);
  answer["drawn"] = drawn_pairs(session, pairs);
  answer["over_the_edge"] = over_the_edge(session);
  write_json(path, answer);
  answer["box_before_the_tensor"] = before_the_tensor(session);
  fmt::print("a box that begins before the tensor: {}\n", answer["box_before_the_tensor"].get<std::string>());
  write_json(path, answer);
  const Json& tma = answer["drawn"]["counts"]["ways"][way_names[way_tma]];
  const bool explained = std::ranges::any_of(tma["differing"], [](const Json& count) { return count == 0; });
  fmt::print("{}, driver {}: {}\n", device.name(), device.driver_version(),
             explained ? "one rule explains TMA's sums" : "no rule explains TMA's sums");
  return explained ? 0 : 1;
}

}  // namespace fp8twin::capture
