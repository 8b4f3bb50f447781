#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <span>

#include "emulator/files/atomic_file.hpp"
#include "gpu/capture/capture.hpp"
#include "gpu/jit/nvrtc.hpp"
#include "gpu/jit/sources.hpp"

namespace fp8twin::capture {

std::vector<int> shapes_of(const Session& session) {
  if (!session.shapes.empty()) return session.shapes;
  std::vector<int> all;
  for (int n = 8; n <= 256; n += 8) all.push_back(n);
  return all;
}

Json provenance(const Session& session, const Device& device) {
  return {{"program", "fp8twin-capture " FP8TWIN_VERSION},
          {"engine", "gpu"},
          {"command", session.command},
          {"device", device.name()},
          {"driver", device.driver_version()},
          {"cuda", device.cuda_version()},
          {"nvrtc", jit::nvrtc_version()},
          {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
          {"seed", std::to_string(session.seed)},
          {"kernels", hex(jit::sources_digest(), 16)}};
}

Metadata metadata_of(const Json& provenance) {
  Metadata metadata;
  for (const auto& [key, value] : provenance.items()) metadata[key] = value.get<std::string>();
  return metadata;
}

void write_json(const std::string& path, const Json& json) {
  const std::string text = json.dump(1, ' ') + "\n";
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string hex(std::uint64_t bits, int digits) { return fmt::format("{:#0{}x}", bits, digits + 2); }

Counters::Counters(std::size_t slots, std::uint32_t listed)
    : compared(slots), mismatch_count(slots), mismatches(slots * listed), capacity(listed) {
  compared.fill(0);
  mismatch_count.fill(0);
  mismatches.fill(0);
}

std::vector<Counters::Slot> Counters::read() const {
  const std::vector<u64> outputs = compared.download(), differing = mismatch_count.download();
  const std::vector<Mismatch> listed = mismatches.download();
  std::vector<Slot> slots(outputs.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].compared = outputs[i];
    slots[i].mismatches = differing[i];
    const auto begin = listed.begin() + static_cast<std::ptrdiff_t>(i * capacity);
    slots[i].first.assign(begin, begin + static_cast<std::ptrdiff_t>(std::min<u64>(differing[i], capacity)));
  }
  return slots;
}

}  // namespace fp8twin::capture
