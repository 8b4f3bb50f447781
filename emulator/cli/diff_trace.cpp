#include "emulator/cli/diff_trace.hpp"

#include <fmt/core.h>

#include "emulator/report/diff_text.hpp"
#include "emulator/report/trace.hpp"

namespace fp8twin::cli {
namespace {

std::string said(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? "not said" : found->second;
}

/// "a: engine machine, schedule latest, kernels 0x..."
std::string origin(const char* name, const TensorFile& file) {
  std::string text =
      fmt::format("  {}: engine {}, device {}", name, said(file, "engine"), said(file, "device"));
  if (file.metadata.contains("schedule")) {
    text += fmt::format(", schedule {}, seed {}", said(file, "schedule"), said(file, "schedule_seed"));
  }
  return text + fmt::format(", kernels {}\n", said(file, "kernels"));
}

Json first_json(const TraceDifference& d) {
  return {{"tensor", d.tensor},
          {"index", d.index},
          {"a", word_hex(d.dtype, d.a)},
          {"b", word_hex(d.dtype, d.b)},
          {"step", d.step},
          {"thread", d.thread ? Json(*d.thread) : Json(nullptr)},
          {"register", d.reg ? Json(*d.reg) : Json(nullptr)},
          {"row", d.row},
          {"column", d.column}};
}

}  // namespace

void add_trace_difference(Context& context, const TensorFile& a, const TensorFile& b) {
  const std::optional<TraceDifference> found = first_trace_difference(a, b);
  const std::string verdict =
      found ? "the traces part at " + found->sentence() : "the traces are equal at every step";
  context.text = verdict + "\n" + origin("a", a) + origin("b", b) + context.text;
  Json& answer = context.answer;
  answer["first"] = found ? first_json(*found) : Json(nullptr);
  for (const char* key : {"step", "thread", "register"}) {
    answer[key] = found ? answer["first"][key] : Json(nullptr);
  }
}

}  // namespace fp8twin::cli
