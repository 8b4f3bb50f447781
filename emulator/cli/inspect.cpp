// `inspect`: what a file holds: tensors with ranges and counts, metadata, and which problem it is, or why it
// is none.
#include <fmt/core.h>

#include <memory>
#include <utility>
#include <vector>

#include "emulator/cli/command.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/model/problem.hpp"
#include "emulator/report/statistics.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

/// The problem in `file`, or why there is none.
std::pair<Json, std::string> recognise(const TensorFile& file) {
  try {
    const Problem problem = read_problem(file);
    return {{{"kind", kind_name(problem.kind)},
             {"m", problem.m},
             {"n", problem.n},
             {"k", problem.k},
             {"groups", problem.groups}},
            ""};
  } catch (const Error& error) {
    return {nullptr, error.what()};
  }
}

Json tensor_json(const Tensor& tensor, const Statistics& s) {
  const bool ranged = s.finite() > 0;
  return {{"name", tensor.name},
          {"dtype", dtype_name(tensor.dtype)},
          {"shape", tensor.shape},
          {"elements", s.elements},
          {"bytes", tensor.bytes.size()},
          {"min", ranged ? number(s.min) : Json()},
          {"max", ranged ? number(s.max) : Json()},
          {"nan", s.nan},
          {"inf", s.infinite},
          {"zero", s.zero},
          {"subnormal", s.subnormal},
          {"negative", s.negative},
          {"powers_of_two", ranged && s.power_of_two == s.finite()}};
}

/// A name as a table shows it: bare, unless something in it must be escaped.
std::string shown(const std::string& name) {
  const std::string quoted = quote(name);
  return quoted == "\"" + name + "\"" ? name : quoted;
}

TableRow tensor_row(const Tensor& tensor, const Statistics& s) {
  const bool ranged = s.finite() > 0;
  return {shown(tensor.name),
          std::string(dtype_name(tensor.dtype)),
          shape_text(tensor.shape),
          ranged ? fmt::format("{:.9g}", s.min) : "-",
          ranged ? fmt::format("{:.9g}", s.max) : "-",
          std::to_string(s.nan),
          std::to_string(s.infinite),
          std::to_string(s.zero),
          std::to_string(s.subnormal),
          std::to_string(s.negative),
          ranged && s.power_of_two == s.finite() ? "all 2^e" : ""};
}

std::string problem_text(const Json& problem, const std::string& reason, bool trace) {
  if (problem.is_null() && trace) return "a trace of one tile: fp8twin diff compares two\n";
  if (problem.is_null()) return fmt::format("no problem file: {}\n", reason);
  return fmt::format("problem: {}, M {}, N {}, K {}, groups {}\n", problem["kind"].get<std::string>(),
                     problem["m"].get<std::int64_t>(), problem["n"].get<std::int64_t>(),
                     problem["k"].get<std::int64_t>(), problem["groups"].get<std::int64_t>());
}

void run_inspect(Context& context, const std::string& path) {
  const TensorFile file = read_tensor_file(path);
  std::int64_t bytes = 0, done = 0;
  for (const Tensor& tensor : file.tensors) bytes += static_cast<std::int64_t>(tensor.bytes.size());

  std::vector<TableRow> rows{
      {"tensor", "dtype", "shape", "min", "max", "NaN", "inf", "zero", "subnormal", "negative", ""}};
  Json tensors = Json::array();
  Progress progress("inspect", bytes);
  for (const Tensor& tensor : file.tensors) {
    const Statistics s = statistics(tensor, context.threads);
    rows.push_back(tensor_row(tensor, s));
    tensors.push_back(tensor_json(tensor, s));
    progress.update(done += static_cast<std::int64_t>(tensor.bytes.size()));
  }
  const auto [problem, reason] = recognise(file);

  context.answer = {{"file", path},       {"bytes", bytes},
                    {"tensors", tensors}, {"metadata", Json::object()},
                    {"problem", problem}, {"no_problem", problem.is_null() ? Json(reason) : Json()}};
  context.text = fmt::format("{}: {} tensors, {} bytes\n", path, file.tensors.size(), bytes);
  if (!file.tensors.empty()) context.text += table(rows);
  for (const auto& [key, value] : file.metadata) {
    context.answer["metadata"][key] = value;
    context.text += fmt::format("metadata {}: {}\n", shown(key), shown(value));
  }
  const auto kind = file.metadata.find("kind");
  context.text += problem_text(problem, reason, kind != file.metadata.end() && kind->second == "trace");
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command = add_command(app, context, "inspect",
                                  "Shows a file's tensors, with ranges and counts of NaN, infinities, zeros "
                                  "and subnormals, its metadata, and "
                                  "which problem it holds.",
                                  "fp8twin inspect p.safetensors");
  command->add_option("FILE", *path, "a .safetensors or .npy file")->required();
  command->callback([&context, path] { run_inspect(context, *path); });
}

}  // namespace fp8twin::cli
