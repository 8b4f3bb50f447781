#include "emulator/machine/banks.hpp"

#include <algorithm>

namespace fp8twin::machine {

u32 extra_wavefronts(const u32* addresses, u32 lanes, u32 bytes) {
  const u32 together = std::min(32u, 128 / bytes);  // lanes whose accesses fill one wavefront of 128 bytes
  u32 extra = 0;
  for (u32 first = 0; first < lanes; first += together) {
    std::array<std::vector<u32>, 32> words;  // of each bank, without repeats: equal words are one broadcast
    for (u32 lane = first; lane < std::min(first + together, lanes); ++lane) {
      for (u32 word = addresses[lane] / 4; word < (addresses[lane] + bytes) / 4; ++word) {
        std::vector<u32>& bank = words[word % 32];
        if (std::find(bank.begin(), bank.end(), word) == bank.end()) bank.push_back(word);
      }
    }
    std::size_t deepest = 1;
    for (const std::vector<u32>& bank : words) deepest = std::max(deepest, bank.size());
    extra += static_cast<u32>(deepest - 1);
  }
  return extra;
}

void BankMeter::reset(u32 warps) {
  lines_.assign(warps, {});
  notes_.clear();
}

u32 BankMeter::note_of(const char* instruction, Site site) {
  for (u32 i = 0; i < notes_.size(); ++i) {
    if (notes_[i].site == site) return i;
  }
  notes_.push_back({site, instruction, 0, 0});
  return static_cast<u32>(notes_.size() - 1);
}

void BankMeter::count(u32 warp, u32 lane, const char* instruction, Site site, u32 address, u32 bytes) {
  if (bytes < 4) return;  // several lanes share a word: nothing to learn
  std::vector<Line>& lines = lines_[warp];
  auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.site == site; });
  if (line == lines.end()) {
    lines.push_back({site, note_of(instruction, site), {}, {}});
    line = lines.end() - 1;
  }
  const u32 occurrence = line->occurrence[lane]++;
  if (occurrence >= watched) return;
  auto& [seen, addresses] = line->open[occurrence];
  addresses[lane] = address;
  if (++seen < 32) return;
  BankNote& note = notes_[line->note];
  ++note.accesses;
  note.extra_wavefronts += extra_wavefronts(addresses.data(), 32, bytes);
  line->open.erase(occurrence);
}

void BankMeter::count_whole(const char* instruction, Site site, const u32* addresses, u32 lanes, u32 bytes) {
  BankNote& note = notes_[note_of(instruction, site)];
  ++note.accesses;
  note.extra_wavefronts += extra_wavefronts(addresses, lanes, bytes);
}

}  // namespace fp8twin::machine
