// What `verify` draws: problems of every form that its engines take, and how each engine runs them. A pure function of the
// seed and the problem's number.
//
//   form             a kind, each alike, then with or without c, a scale for 128 rows of B or for each    drawn_problem.hpp
//   problem          extents, groups, padding, distribution                                               drawn_problem.hpp
//   output           bf16 and f32 in turn
//   configuration    machine, gpu: all that are offered, in an order of each engine's own, and again from the start; where the
//                    problem is not 1d2d without c, those of steps 8 and 9
//   machine          a number of stages, a schedule and its seed, how many multiprocessors the persistent kernels fill
//   model            once: the fastest path; where it is named more than once: a path of instructions for each
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/cli/drawn_problem.hpp"
#include "emulator/engine/engine.hpp"

namespace fp8twin::cli {

/// The steps from here on take every form, those before 1d2d without c.
inline constexpr int first_step_of_forms = 8;

struct Draw {
  DrawnProblem problem;
  DType output = DType::bf16;
  std::vector<RunOptions> runs;  // one for each engine
};

/// The forms that `verify` may draw: of the kinds in `kinds` (empty: all), as far as `step` takes them, where kernels run in
/// one only. Throws Error when a kind asked for is left without a form.
std::vector<Form> drawable_forms(const std::vector<Kind>& kinds, std::optional<int> step);

class Drawer {
 public:
  /// `step`: of one kernel only. `forms`: at least one.
  Drawer(std::uint64_t seed, std::vector<std::string> engines, std::optional<int> step,
         std::vector<Form> forms);

  /// Problem number `index`, of at most `most_macs`, which is least_macs or more.
  Draw draw(std::int64_t index, std::int64_t most_macs) const;
  /// The form of problem number `index`.
  Form form(std::int64_t index) const;
  /// The configuration in which engine number `engine` runs problem number `index`.
  GemmConfig config(std::int64_t index, std::size_t engine) const;

 private:
  /// The configurations for one form and output, in an engine's order.
  struct Order {
    Form form;
    bool f32;
    std::vector<GemmConfig> configs;
  };

  std::uint64_t seed_;
  std::vector<std::string> engines_;
  std::vector<Form> forms_;
  std::vector<Kind> kinds_;
  std::vector<std::vector<Order>> orders_;  // of each engine
};

/// What to call each engine where one is named more than once: "model", "machine", "model-2".
std::vector<std::string> labels_of(const std::vector<std::string>& engines);

/// The commands that show what the engines make of this problem: random, one gemm for each engine, diff of the first
/// and engine number `other`.
std::vector<std::string> reproducer(const Draw& draw, const std::vector<std::string>& engines,
                                    std::size_t other);

}  // namespace fp8twin::cli
