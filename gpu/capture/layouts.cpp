// layouts: what the card does with addresses and registers, recorded section by section.
//
// Each section records what it saw and, apart from that, how many entries the formulas of emulator/layout put
// elsewhere. The file is written after every section, so that a fault in one costs none of the others.
//
// Some TMA copies fault, and after a fault CUDA does nothing more in this process. So the file is written, and
// the process replaces itself: `--resume` reads the file and goes on behind the last case in it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "emulator/support/error.hpp"
#include "gpu/capture/layout_sources.hpp"

namespace fp8twin::capture {

std::string hex_list(std::span<const std::uint16_t> values, int digits) {
  std::string text;
  for (const std::uint16_t value : values) text += fmt::format("{:0{}x}", value, digits);
  return text;
}

std::string swizzle_name(SwizzleMode mode) {
  return mode == SwizzleMode::none ? "none" : fmt::format("{}B", swizzle_width(mode));
}

namespace {

Json read_recording(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw Error(fmt::format("{}: --resume needs a recording to go on with", path));
  return Json::parse(stream);
}

[[noreturn]] void restart(const Session& session, const std::string& path) {
  std::fflush(nullptr);
  const std::string seed = std::to_string(session.seed), threads = std::to_string(session.threads);
  const char* program = "/proc/self/exe";
  execl(program, "fp8twin-capture", "layouts", "--resume", "--out", path.c_str(), "--seed", seed.c_str(),
        "--threads", threads.c_str(), static_cast<char*>(nullptr));
  throw Error("the capture cannot start itself again after a fault");
}

}  // namespace

int layouts(Session& session, const std::string& path, bool resume) {
  const Device& device = session.device();
  Json answer;
  if (resume) {
    answer = read_recording(path);
  } else {
    session.command = "fp8twin-capture layouts --out " + std::filesystem::path(path).filename().string();
    answer = provenance(session, device);
    fmt::print("{}, driver {}\n", device.name(), device.driver_version());
    session.kernels.prepare(layout_sources(), session.threads);
  }

  using Section = bool (*)(Session&, Json&);
  const std::pair<const char*, Section> sections[] = {{"window", capture_window},
                                                      {"fragments", capture_fragments},
                                                      {"stmatrix", capture_stmatrix},
                                                      {"operands", capture_operands},
                                                      {"tma", capture_tma}};
  bool clean = true;
  for (const auto& [name, section] : sections) {
    Json& here = answer[name];
    if (!here.contains("done")) {
      try {
        if (!section(session, here)) {
          write_json(path, answer);
          restart(session, path);
        }
        fmt::print("{:<10} {:>8} entries differ from the formula\n", name, here["differing"].dump());
      } catch (const std::exception& error) {
        here["error"] = error.what();
        fmt::print("{:<10} failed: {}\n", name, error.what());
      }
      here["done"] = !here.contains("error");
      std::fflush(stdout);
      write_json(path, answer);
    }
    clean &= here["done"] == true && here["differing"] == 0;
  }
  return clean ? 0 : 1;
}

}  // namespace fp8twin::capture
