// layouts: where TMA puts each byte of a box, and where it takes it from: every swizzle mode, boxes on and
// off the pattern's boundary, boxes narrower than the pattern, boxes that reach outside the tensor, three
// dimensions. Last, what it refuses with a fault; a fault ends the context, so another process goes on.
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "gpu/capture/layout_sources.hpp"  // first: DType shares names with integers.hpp

#include "emulator/layout/tensor_map.hpp"
#include "emulator/support/error.hpp"
#include "gpu/capture/device/layout_records.hpp"
#include "gpu/launch/tensor_map.hpp"

namespace fp8twin::capture {
namespace {

constexpr u32 pitch = 256, memory_rows = 48, memory_bytes = pitch * memory_rows;
constexpr u32 first_tile = region_begin + 0x1000;
constexpr u16 untouched = 0xffff, zeros = 0xfffe, mixed = 0xfffd;

struct TmaCase {
  const char* group;
  TensorMapDescription map;  // without base
  TensorCoordinate at;
  u32 address;
  bool store = false;
};

TensorMapDescription tensor(SwizzleMode mode, u32 width, u32 rows) {
  TensorMapDescription map;
  map.size[0] = pitch;
  map.size[1] = memory_rows;
  map.stride[0] = pitch;
  map.box[0] = width;
  map.box[1] = rows;
  map.swizzle = mode;
  return map;
}

constexpr SwizzleMode modes[] = {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};

void add_tiles(std::vector<TmaCase>& cases) {
  for (const SwizzleMode mode : modes) {
    for (u32 width = 16; width <= (mode == SwizzleMode::none ? 128 : swizzle_width(mode)); width *= 2) {
      const bool narrow = mode != SwizzleMode::none && width < swizzle_width(mode);
      for (const u32 offset : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
        if (narrow && offset != 0 && offset != 3) continue;
        cases.push_back(
            {narrow ? "narrow box" : "tile", tensor(mode, width, 16), {32, 5, 0}, first_tile + 128 * offset});
      }
    }
  }
}

/// Boxes that reach outside, by the side: a copy out of shared memory is not allowed everything that one into it is.
struct Side {
  const char* group;
  std::vector<TensorCoordinate> at;
};

void add_outside(std::vector<TmaCase>& cases) {
  const Side sides[] = {
      {"outside: past the end", {{96, 10}, {192, 0}, {0, 20}, {80, 18}, {1 << 20, 3}, {0, 1 << 20}}},
      {"outside: y negative", {{0, -16}, {32, -3}, {96, -1}}},
      {"outside: x negative", {{-32, 12}, {-128, 0}, {-16, 3}}},
      {"outside: both negative", {{-32, -3}, {-(1 << 20), -(1 << 20)}}}};
  for (const Side& side : sides) {
    for (const SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b128}) {
      TensorMapDescription map = tensor(mode, 128, 16);
      map.size[0] = 192;
      map.size[1] = 20;
      for (const TensorCoordinate at : side.at) cases.push_back({side.group, map, at, first_tile});
      map.box[1] = 3;
      cases.push_back({side.group, map, side.at[0], first_tile});
    }
  }
}

void add_deep(std::vector<TmaCase>& cases) {
  const Side sides[] = {{"3D", {{16, 1, 1}, {80, 3, 3}}},
                        {"3D: z negative", {{16, 1, -1}, {0, 0, -3}}},
                        {"3D: y negative", {{16, -1, 1}, {0, -4, 0}}},
                        {"3D: all negative", {{-16, -1, -1}}}};
  for (const Side& side : sides) {
    for (const SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b128}) {
      TensorMapDescription map = tensor(mode, mode == SwizzleMode::none ? 64 : 128, 4);
      map.rank = 3;
      map.size[0] = 192;
      map.size[1] = 6;
      map.size[2] = 5;
      map.stride[1] = 8 * pitch;
      map.box[2] = 3;
      for (const TensorCoordinate at : side.at) cases.push_back({side.group, map, at, first_tile + 0x80});
      if (mode == SwizzleMode::none || side.at.size() == 1) continue;
      map.box[0] = 48;
      cases.push_back({side.group, map, side.at[0], first_tile + 0x80});
    }
  }
}

void add_elements(std::vector<TmaCase>& cases) {
  for (const auto element :
       {TensorElement::uint16, TensorElement::uint32, TensorElement::bf16, TensorElement::f32}) {
    TensorMapDescription map = tensor(SwizzleMode::b128, 128 / element_bytes(element), 12);
    map.element = element;
    map.size[0] = 192 / element_bytes(element);
    map.size[1] = 20;
    const i32 chunk = static_cast<i32>(16 / element_bytes(element));
    for (const TensorCoordinate at : {TensorCoordinate{chunk, 2}, {5 * chunk, 12}})
      cases.push_back({"elements", map, at, first_tile + 0x100});
    cases.push_back({"elements: x negative", map, {-chunk, 12}, first_tile + 0x100});
  }
}

constexpr const char* off_16 = "x no multiple of 16 bytes";
constexpr const char* off_128 = "shared address no multiple of 128";

/// Where a fault is to be expected: the card wants a box to begin on 16 bytes of global and on 128 of shared
/// memory.
void add_misaligned(std::vector<TmaCase>& cases) {
  const TensorMapDescription bytes = tensor(SwizzleMode::none, 128, 3);
  for (const i32 x : {8, -5}) cases.push_back({off_16, bytes, {x, 4}, first_tile});
  TensorMapDescription words = tensor(SwizzleMode::b128, 32, 3);
  words.element = TensorElement::uint32;
  words.size[0] = pitch / 4;
  cases.push_back({off_16, words, {2, 4}, first_tile});
  for (const u32 off : {16u, 64u})
    cases.push_back({off_128, tensor(SwizzleMode::none, 64, 3), {16, 4}, first_tile + off});
  cases.push_back({off_128, tensor(SwizzleMode::b64, 64, 3), {16, 4}, first_tile + 64});
}

/// Those that may fault come last.
std::vector<TmaCase> all_cases() {
  std::vector<TmaCase> cases;
  const auto both = [&cases](auto add) {
    for (const bool store : {false, true}) {
      const std::size_t begin = cases.size();
      add(cases);
      for (std::size_t i = begin; i < cases.size(); ++i) cases[i].store = store;
    }
  };
  both([](std::vector<TmaCase>& list) {
    add_tiles(list);
    add_outside(list);
    add_deep(list);
    add_elements(list);
  });
  both(add_misaligned);
  return cases;
}

/// Bytes in which 16-bit word i is i + 1.
std::vector<std::uint8_t> numbered(std::size_t bytes) {
  std::vector<std::uint8_t> all(bytes);
  for (std::size_t i = 0; i < bytes / 2; ++i) {
    all[2 * i] = static_cast<std::uint8_t>(i + 1);
    all[2 * i + 1] = static_cast<std::uint8_t>((i + 1) >> 8);
  }
  return all;
}

/// Calls visit(x, y, z) for every element of the box.
template <class Visit>
void for_box(const TensorMapDescription& map, const Visit& visit) {
  for (u32 z = 0; z < map.box[2]; ++z)
    for (u32 y = 0; y < map.box[1]; ++y)
      for (u32 x = 0; x < map.box[0]; ++x) visit(x, y, z);
}

/// What the formulas say the region (load) or the tensor's memory (store) holds afterwards.
std::vector<std::uint8_t> expected(const TmaCase& c) {
  const std::vector<std::uint8_t> from = numbered(c.store ? tma_region_bytes : memory_bytes);
  std::vector<std::uint8_t> to(c.store ? memory_bytes : tma_region_bytes, 0xff);
  for_box(c.map, [&](u32 x, u32 y, u32 z) {
    const TensorCoordinate at{c.at.x + static_cast<i32>(x), c.at.y + static_cast<i32>(y),
                              c.at.z + static_cast<i32>(z)};
    const bool inside = inside_tensor(c.map, at);
    const std::size_t shared = box_element_address(c.map, c.address, x, y, z) - region_begin;
    for (u32 b = 0; b < element_bytes(c.map.element); ++b) {
      if (c.store) {
        if (inside) to.at(element_address(c.map, at) + b) = from.at(shared + b);
      } else {
        to.at(shared + b) = inside ? from.at(element_address(c.map, at) + b) : std::uint8_t{0};
      }
    }
  });
  return to;
}

/// Which source chunk the 16 bytes at `at` are; untouched, zeros, or mixed.
u16 chunk_of(std::span<const std::uint8_t> bytes, std::size_t at) {
  u16 words[8];
  std::memcpy(words, bytes.data() + at, 16);
  bool same = true, successive = true;
  for (u16 i = 1; i < 8; ++i) {
    same &= words[i] == words[0];
    successive &= words[i] == words[0] + i;
  }
  if (same && words[0] == 0xffff) return untouched;
  if (same && words[0] == 0) return zeros;
  return successive && words[0] % 8 == 1 ? static_cast<u16>(words[0] / 8) : mixed;
}

/// "ffff*3" for three times the same, "0052+8" for 0052 to 0059, else one by one.
std::string runs_of(std::span<const u16> chunks) {
  std::string text;
  for (std::size_t i = 0, next; i < chunks.size(); i = next) {
    const auto run = [&](u16 step) {
      std::size_t end = i + 1;
      while (end < chunks.size() && chunks[end] == static_cast<u16>(chunks[end - 1] + step)) ++end;
      return end - i;
    };
    const std::size_t same = run(0), successive = chunks[i] >= mixed ? 1 : run(1),
                      length = std::max(same, successive);
    text += fmt::format("{}{:04x}", i ? " " : "", chunks[i]);
    if (length > 1) text += fmt::format("{}{}", same > 1 ? '*' : '+', length);
    next = i + length;
  }
  return text;
}

/// The chunks begin..end of `bytes`, the raw bytes of mixed ones, and how many chunks elsewhere were touched.
void describe(Json& entry, std::span<const std::uint8_t> bytes, std::size_t begin, std::size_t end) {
  std::vector<u16> chunks;
  std::size_t elsewhere = 0;
  for (std::size_t i = 0; i < bytes.size() / 16; ++i) {
    const u16 chunk = chunk_of(bytes, 16 * i);
    if (i < begin || i >= end) {
      elsewhere += chunk != untouched;
      continue;
    }
    chunks.push_back(chunk);
    if (chunk != mixed) continue;
    std::string raw;
    for (std::size_t b = 0; b < 16; ++b) raw += fmt::format("{:02x}", bytes[16 * i + b]);
    entry["mixed"][fmt::format("{}", i)] = raw;
  }
  entry["first_chunk"] = begin;
  entry["chunks"] = runs_of(chunks);
  if (elsewhere) entry["touched_elsewhere"] = elsewhere;
}

Json describe_case(const TmaCase& c) {
  const auto three = [&](auto a, auto b, auto d) {
    return c.map.rank == 3 ? fmt::format("{},{},{}", a, b, d) : fmt::format("{},{}", a, b);
  };
  const char* const elements[] = {"uint8", "uint16", "uint32", "bf16", "f32"};
  return {{"copy", c.store ? "store" : "load"},
          {"group", c.group},
          {"swizzle", swizzle_name(c.map.swizzle)},
          {"element", elements[static_cast<u32>(c.map.element)]},
          {"size", three(c.map.size[0], c.map.size[1], c.map.size[2])},
          {"stride", three(c.map.stride[0], c.map.stride[1], 0)},
          {"box", three(c.map.box[0], c.map.box[1], c.map.box[2])},
          {"at", three(c.at.x, c.at.y, c.at.z)},
          {"shared", hex(c.address, 4)}};
}

/// Runs one case; the bytes of the region (load) or of the tensor's memory (store) afterwards.
std::vector<std::uint8_t> run(Session& session, const TmaCase& c, const TensorMap& map,
                              const Buffer<std::uint8_t>& memory, u32& completed) {
  Buffer<std::uint8_t> region(tma_region_bytes);
  Buffer<u32> done(1);
  done.fill(0);
  const jit::Source source = tma_source(c.store);
  session.kernels.get(source, source.name)
      .launch({1, 1}, 128, shared_end,
              TmaArguments{map, c.map.rank, c.at.x, c.at.y, c.at.z, c.address, box_bytes(c.map),
                           reinterpret_cast<u32*>(region.device()), done.device()});
  session.device().synchronize();
  completed = done.download()[0];
  return c.store ? memory.download() : region.download();
}

/// The chunks to list: a load's destination; all of a store's memory.
std::pair<std::size_t, std::size_t> window_of(const TmaCase& c) {
  const std::size_t row = c.map.box[0] * element_bytes(c.map.element);
  if (!c.store) {
    const std::size_t begin = (c.address - region_begin) / 16;
    const std::size_t pattern =
        c.map.swizzle == SwizzleMode::none ? row : std::max<std::size_t>(row, swizzle_width(c.map.swizzle));
    return {begin, begin + c.map.box[2] * c.map.box[1] * pattern / 16};
  }
  return {0, memory_bytes / 16};
}

/// A case as its entry of the recording; `differing` counts bytes.
Json record_case(Session& session, const TmaCase& c, std::uint64_t& differing) {
  const Buffer<std::uint8_t> memory{std::span<const std::uint8_t>(
      c.store ? std::vector<std::uint8_t>(memory_bytes, 0xff) : numbered(memory_bytes))};
  TensorMapDescription description = c.map;
  description.base = reinterpret_cast<u64>(memory.device());
  Json entry = describe_case(c);
  TensorMap map{};
  std::string refusal;
  if (!encode_tensor_map(description, map, refusal)) {
    entry["refused"] = refusal;
    return entry;
  }
  u32 completed = 0;
  std::vector<std::uint8_t> seen;
  try {
    seen = run(session, c, map, memory, completed);
  } catch (const Error& error) {
    entry["fault"] = error.what();
    return entry;
  }
  const std::vector<std::uint8_t> wanted = expected(c);
  std::uint64_t here = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) here += seen[i] != wanted[i];
  entry["completed"] = completed;
  if (!c.store) entry["bytes"] = box_bytes(c.map);
  entry["differing_bytes"] = here;
  const auto [begin, end] = window_of(c);
  describe(entry, seen, begin, end);
  differing += here;
  return entry;
}

std::string group_of(const Json& entry) {
  return fmt::format("{:<5} {:<4} {}", entry["copy"].get<std::string>(), entry["swizzle"].get<std::string>(),
                     entry["group"].get<std::string>());
}

void print_counts(const Json& cases) {
  struct Count {
    int right = 0, faulted = 0, all = 0;
  };
  std::map<std::string, Count> counts;
  for (const Json& entry : cases) {
    Count& count = counts[group_of(entry)];
    ++count.all;
    count.faulted += entry.contains("fault");
    count.right += entry.value("completed", 0u) == 3 && entry["differing_bytes"] == 0;
  }
  for (const auto& [name, count] : counts) {
    fmt::print("  {:<46} {:>3} of {:>3} cases as the formula says{}\n", name, count.right, count.all,
               count.faulted ? fmt::format(", {} faults", count.faulted) : "");
  }
}

}  // namespace

bool capture_tma(Session& session, Json& section) {
  if (!section.contains("cases")) {
    section = {
        {"memory", "256 bytes between rows; 16-bit word i of the source is i + 1"},
        {"chunks",
         "in runs (ffff*3: three times, 0052+8: 0052 to 0059), for each 16 bytes of the destination from "
         "first_chunk on, the source chunk it holds (load: of the "
         "tensor's memory; store: of shared memory from region_begin); ffff: untouched, fffe: zeros, "
         "fffd: see mixed"},
        {"completed",
         "of a load that expected \"bytes\": 0 never, 1 its phase ended, 3 and exactly these bytes were "
         "reported"},
        {"region_begin", hex(region_begin, 4)},
        {"differing", 0},
        {"cases", Json::array()}};
  }
  Json& done = section["cases"];
  std::map<std::string, int> faults;  // after two of a group the rest of it is left out
  for (const Json& entry : done) faults[group_of(entry)] += entry.contains("fault");
  const std::vector<TmaCase> cases = all_cases();
  for (std::size_t i = done.size(); i < cases.size(); ++i) {
    Json entry = describe_case(cases[i]);
    if (faults[group_of(entry)] >= 2) {
      entry["left_out"] = "two of the group faulted";
      done.push_back(entry);
      continue;
    }
    std::uint64_t differing = section["differing"];
    done.push_back(record_case(session, cases[i], differing));
    section["differing"] = differing;
    if (done.back().contains("fault")) return false;
  }
  print_counts(done);
  return true;
}

}  // namespace fp8twin::capture
