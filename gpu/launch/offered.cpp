// The finite lists of configs.hpp: what choose_config() chooses from, and what else is compiled for every commit.
#include <span>

#include "gpu/launch/configs.hpp"

namespace fp8twin {
namespace {

struct Kind {
  u32 tile_m, tile_n, in_flight = 1, cluster_m = 1, cluster_n = 1;
};

// Candidates. Tall tiles come alone and in pairs that share A; a tile of 64 rows is for few rows, where blocks have
// little to share, and products are short: several K blocks of a stage.
constexpr Kind overlapped_candidates[] = {
    {256, 128, 1, 1, 2}, {256, 128},          {256, 112, 1, 1, 2}, {256, 112},          {256, 96, 1, 1, 2},
    {256, 96},           {192, 128, 1, 1, 2}, {192, 128},          {192, 96, 1, 1, 2},  {192, 96},
    {128, 192},          {128, 160, 1, 1, 2}, {128, 160},          {128, 128, 1, 1, 2}, {128, 128},
    {128, 112, 1, 1, 2}, {128, 112},          {128, 96, 1, 1, 2},  {128, 96},           {128, 64, 1, 1, 2},
    {128, 64},           {64, 128, 2},        {64, 112, 2},        {64, 96, 2},         {64, 80, 4},
    {64, 80, 2},         {64, 64, 4},         {64, 64, 2},         {64, 48, 4},         {64, 48, 2},
    {64, 32, 4},         {64, 32, 2},         {64, 16, 4}};
constexpr Kind overlapped_f32_candidates[] = {{128, 128, 1, 1, 2}, {128, 128},  {128, 96},   {128, 64},
                                              {256, 64, 1, 1, 2},  {256, 64},   {64, 128},   {64, 96, 2},
                                              {64, 64, 4},         {64, 64, 2}, {64, 32, 4}, {64, 16, 4}};
constexpr Kind swapped_candidates[] = {{64, 8, 4}, {64, 16, 4}, {64, 24, 4}, {64, 32, 4}, {64, 48, 4}};

// Products of another form. Rows in groups, 1D2D: tall tiles for training, of 192 rows for as many tokens an expert, narrow ones
// for few.
constexpr Kind rows_candidates[] = {{256, 128, 1, 1, 2}, {256, 128},   {192, 128, 1, 1, 2}, {128, 192},
                                    {128, 128, 1, 1, 2}, {64, 128, 2}, {64, 64, 4},         {64, 32, 4}};
constexpr Kind rows_swapped_candidates[] = {{64, 16, 4}, {64, 24, 4}, {64, 32, 4}, {128, 64}};
// The others: one of each loop.
constexpr Kind other_candidates[] = {{128, 128}, {256, 64}, {64, 64, 2}};

// Breadth: each height with each cluster, each number in flight, and widths that straddle scale blocks in every way.
constexpr Kind overlapped_breadth[] = {{64, 8, 8},
                                       {64, 24, 8},
                                       {64, 32, 8, 4, 1},
                                       {64, 24, 4, 1, 2},
                                       {64, 40, 4, 1, 4},
                                       {64, 88, 2, 1, 4},
                                       {64, 112, 1, 2, 2},
                                       {64, 128},
                                       {64, 136},
                                       {64, 152, 1, 1, 2},
                                       {64, 176, 1, 2, 1},
                                       {64, 192},
                                       {128, 8},
                                       {128, 24, 4},
                                       {128, 64, 2, 2, 1},
                                       {128, 88, 2},
                                       {128, 136, 1, 1, 4},
                                       {128, 152},
                                       {128, 176, 1, 2, 1},
                                       {128, 192, 1, 1, 2},
                                       {128, 192, 1, 4, 1},
                                       {128, 128, 1, 2, 2},
                                       {192, 24, 1, 1, 4},
                                       {192, 64, 2, 2, 2},
                                       {192, 112, 1, 2, 1},
                                       {192, 128, 1, 4, 1},
                                       {256, 8},
                                       {256, 88, 1, 1, 4},
                                       {256, 128, 1, 2, 1},
                                       {256, 128, 1, 2, 2},
                                       {256, 64, 1, 4, 1}};
constexpr Kind overlapped_f32_breadth[] = {{64, 24, 8},        {64, 112, 1, 2, 2},  {64, 152, 1, 1, 2},
                                           {128, 8},           {128, 120, 1, 1, 4}, {128, 112, 1, 2, 1},
                                           {192, 88, 1, 1, 2}, {192, 32, 2, 4, 1},  {256, 80}};
constexpr Kind swapped_breadth[] = {{64, 8},
                                    {64, 8, 2},
                                    {64, 8, 8},
                                    {64, 16, 8, 1, 2},
                                    {64, 24, 8},
                                    {64, 32},
                                    {64, 32, 2},
                                    {64, 32, 8, 4, 1},
                                    {64, 40, 4, 1, 4},
                                    {64, 64, 2, 2, 2},
                                    {64, 64, 4},
                                    {64, 88, 2},
                                    {64, 112},
                                    {64, 128, 2, 2, 1},
                                    {64, 136},
                                    {64, 152},
                                    {64, 176},
                                    {64, 192},
                                    {128, 8, 4},
                                    {128, 16, 4, 2, 1},
                                    {128, 24, 2, 1, 4},
                                    {128, 32, 2, 4, 1},
                                    {128, 64},
                                    {128, 112, 1, 1, 2},
                                    {128, 128, 1, 2, 2},
                                    {128, 176}};
constexpr Kind swapped_f32_breadth[] = {{64, 32, 8, 4, 1},  {64, 64, 2, 2, 2},  {64, 112},
                                        {64, 136, 1, 1, 2}, {128, 24, 2, 1, 4}, {128, 128, 1, 2, 1}};

GemmConfig config_of(int step, const Kind& kind, bool output_f32, const ProductForm& form = {}) {
  GemmConfig config = {.step = step,
                       .tile_m = kind.tile_m,
                       .tile_n = kind.tile_n,
                       .cluster_m = kind.cluster_m,
                       .cluster_n = kind.cluster_n,
                       .output_f32 = output_f32,
                       .in_flight = kind.in_flight,
                       .form = form};
  config.stages = usual_stages(config);
  return config;
}

std::span<const Kind> candidates_of(int step, bool output_f32, const ProductForm& form) {
  if (form != ProductForm{}) {
    const bool rows = form == ProductForm{Grouping::contiguous} || form == ProductForm{Grouping::masked};
    if (step == 9) return std::span<const Kind>(rows_swapped_candidates).first(rows && !output_f32 ? 4 : 1);
    if (rows && !output_f32) return rows_candidates;
    return other_candidates;
  }
  if (step == 9) return swapped_candidates;
  if (step < 8) return {};
  if (output_f32) return overlapped_f32_candidates;
  return overlapped_candidates;
}

std::span<const Kind> breadth_of(int step, bool output_f32) {
  if (step == 8 && output_f32) return overlapped_f32_breadth;
  if (step == 8) return overlapped_breadth;
  if (output_f32) return swapped_f32_breadth;
  return swapped_breadth;
}

/// Of step 7: step 8 is the full kernel in every width.
bool is_of_a_few(u32 tile_n) {
  for (const u32 few : {8, 16, 24, 64, 112, 128, 152, 192}) {
    if (tile_n == few) return true;
  }
  return false;
}

}  // namespace

std::vector<GemmConfig> candidate_configs(int step, bool output_f32, const ProductForm& form) {
  std::vector<GemmConfig> all;
  for (const Kind& kind : candidates_of(step, output_f32, form)) {
    const GemmConfig config = config_of(step, kind, output_f32, form);
    if (is_accepted(config)) all.push_back(config);
  }
  return all;
}

std::vector<ProductForm> product_forms() {
  std::vector<ProductForm> all;
  for (const Grouping grouping :
       {Grouping::none, Grouping::batched, Grouping::contiguous, Grouping::masked, Grouping::along_k}) {
    for (const bool b_scale_per_row : {false, true}) {
      all.push_back({grouping, b_scale_per_row, false});
      if (grouping == Grouping::none || grouping == Grouping::along_k)
        all.push_back({grouping, b_scale_per_row, true});
    }
  }
  return all;
}

std::vector<GemmConfig> offered_configs(int step, const ProductForm& form) {
  std::vector<GemmConfig> all;
  if (form != ProductForm{}) {
    if (step < 8) return all;
    for (const bool output_f32 : {false, true}) {
      const std::vector<GemmConfig> some = candidate_configs(step, output_f32, form);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  if (step < 8) {
    all = accepted_configs(step);
    if (step == 7) std::erase_if(all, [](const GemmConfig& config) { return !is_of_a_few(config.tile_n); });
    return all;
  }
  for (const bool output_f32 : {false, true}) {
    const std::vector<GemmConfig> some = candidate_configs(step, output_f32);
    all.insert(all.end(), some.begin(), some.end());
    for (const Kind& kind : breadth_of(step, output_f32)) all.push_back(config_of(step, kind, output_f32));
  }
  return all;
}

std::vector<GemmConfig> offered_configs() {
  std::vector<GemmConfig> all;
  for (int step = first_step; step <= last_step; ++step) {
    for (const ProductForm& form : product_forms()) {
      const std::vector<GemmConfig> some = offered_configs(step, form);
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}

}  // namespace fp8twin
