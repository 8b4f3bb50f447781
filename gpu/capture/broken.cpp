// broken: what the card makes of each planted bug of gpu/kernels/broken_pipeline.hpp.
//
//   for each bug: compile (ptxas may refuse, or repair what is wrong), then 100 launches on fresh operands, each compared with
//   the bits of the emulated tensor core:  right / wrong / never ended
//
// A bug may hang the card for ever, or fault; so each runs in a process of its own, ended after twelve seconds.
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>

#include "emulator/number/bf16.hpp"
#include "emulator/number/tensor_core.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/random.hpp"
#include "gpu/capture/capture.hpp"
#include "gpu/jit/kernels.hpp"
#include "gpu/launch/broken.hpp"
#include "gpu/launch/tensor_map.hpp"

namespace fp8twin::capture {
namespace {

constexpr u32 k_blocks = 5;
constexpr int launches = 100;

std::vector<std::uint8_t> finite_codes(std::uint64_t seed, std::uint64_t stream) {
  const Random random(seed, stream);
  std::vector<std::uint8_t> codes(64 * 128 * k_blocks);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto code = static_cast<std::uint8_t>(random.bits(i));
    codes[i] = (code & 0x7f) == 0x7f ? std::uint8_t{0x38} : code;
  }
  return codes;
}

std::vector<std::uint16_t> expected(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  constexpr u32 k = 128 * k_blocks;
  std::vector<std::uint16_t> codes;
  for (u32 m = 0; m < 64; ++m) {
    for (u32 n = 0; n < 64; ++n) {
      float sum = 0;
      for (u32 i = 0; i < k; i += 32) sum = dot(sm90, a.data() + m * k + i, b.data() + n * k + i, sum);
      codes.push_back(BF16::rn(sum).code);
    }
  }
  return codes;
}

std::string first_remark(const std::string& log) {
  const std::size_t at = log.find("C75");
  return at == std::string::npos ? "" : log.substr(at, log.find('\n', at) - at);
}

/// One bug, in this process.
Json run_bug(Session& session, const NamedBug& bug) {
  const Device& device = session.device();
  const std::string name = fmt::format("broken_{}", bug.name);
  const jit::Source source = jit::source_of(
      name, "gpu/kernels/broken_pipeline.hpp", {64},
      {{name, "broken_pipeline", "BrokenPipelineArguments",
        fmt::format("static constexpr Bug bug = Bug::{};", bug.name), broken_pipeline_threads}});
  std::optional<Kernel> kernel;
  try {
    kernel = session.kernels.get(source, name);
  } catch (const Error& error) {
    const std::string remark = first_remark(error.what());
    return {{"launches", 0}, {"ptxas", remark.empty() ? error.what() : remark}};
  }
  int right = 0;
  std::uint64_t wrong_elements = 0;
  for (int i = 0; i < launches; ++i) {
    const std::uint64_t seed = session.seed * 1000 + static_cast<std::uint64_t>(i);
    const std::vector<std::uint8_t> a = finite_codes(seed, 1), b = finite_codes(seed, 2);
    const Buffer<std::uint8_t> device_a(a), device_b(b);
    Buffer<std::uint16_t> d(64 * 64);
    d.fill(0xff);
    const BrokenMaps maps =
        broken_maps(bug.bug, k_blocks, reinterpret_cast<u64>(device_a.device()),
                    reinterpret_cast<u64>(device_b.device()), reinterpret_cast<u64>(d.device()));
    const BrokenPipelineArguments arguments{encode_tensor_map(maps.a), encode_tensor_map(maps.b),
                                            encode_tensor_map(maps.d), k_blocks};
    kernel->launch({1, 1}, broken_pipeline_threads, broken_pipeline_shared_bytes, arguments);
    device.synchronize();
    const std::vector<std::uint16_t> found = d.download(), needed = expected(a, b);
    std::uint64_t differing = 0;
    for (std::size_t e = 0; e < found.size(); ++e) differing += found[e] != needed[e];
    right += differing == 0;
    wrong_elements += differing;
  }
  return {{"launches", launches}, {"right", right}, {"wrong_elements", wrong_elements}};
}

/// One bug, in a process of its own that is killed after twelve seconds (100 launches take two).
Json run_apart(const Session& session, const NamedBug& bug) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      fmt::format("timeout -s KILL 12 '{}' broken --bug {} --seed {} 2>&1", program, bug.name, session.seed);
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw Error(fmt::format("cannot start a process for the bug {}", bug.name));
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  const int status = pclose(pipe);
  const Json answer = Json::parse(text, nullptr, false);
  if (status == 0 && answer.is_object()) return answer;
  // The shell around `timeout` reports a killed process in words of its own, or with 128 + 9.
  const bool killed = WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 137);
  if (killed) return {{"launches", 1}, {"right", 0}, {"hangs", true}};
  return {{"launches", 1}, {"right", 0}, {"fault", text.substr(0, text.find('\n'))}};
}

}  // namespace

int broken(Session& session, const std::string& only, const std::string& path) {
  if (!only.empty()) {
    for (const NamedBug& bug : named_bugs()) {
      if (bug.name == only) {
        fmt::print("{}\n", run_bug(session, bug).dump());
        return 0;
      }
    }
    throw Error(
        fmt::format("--bug: found '{}'; one of those in gpu/kernels/broken_pipeline.hpp is needed", only));
  }
  session.command = "fp8twin-capture broken --out " + std::filesystem::path(path).filename().string();
  Json answer;
  {
    Session first = {};
    first.command = session.command;
    first.seed = session.seed;
    answer = provenance(first, first.device());
  }
  for (const bool hanging :
       {false, true}) {  // those that hang come last: the card may need a moment after them
    for (const NamedBug& bug : named_bugs()) {
      if (bug.hangs != hanging) continue;
      answer["bugs"][std::string(bug.name)] = run_apart(session, bug);
      fmt::print("{:<22} {}\n", bug.name, answer["bugs"][std::string(bug.name)].dump());
      std::fflush(stdout);
    }
  }
  write_json(path, answer);
  return 0;
}

}  // namespace fp8twin::capture
