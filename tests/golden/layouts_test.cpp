// What the card does with addresses and registers, as recorded, against the formulas of emulator/layout: 0 differences.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "emulator/layout/fragment.hpp"
#include "emulator/layout/operand.hpp"
#include "emulator/layout/shared_window.hpp"
#include "emulator/layout/tensor_map.hpp"
#include "tests/catch.hpp"
#include "tests/golden/golden.hpp"

using namespace fp8twin;
using namespace fp8twin::test;
using nlohmann::json;

namespace {

json recording(const char* section) { return golden_json("layouts.json").at(section); }

u64 hex_of(const std::string& text) { return std::stoull(text, nullptr, 16); }

/// Four hex digits each.
std::vector<u32> list_of(const std::string& digits) {
  std::vector<u32> values;
  for (std::size_t i = 0; i < digits.size(); i += 4)
    values.push_back(static_cast<u32>(hex_of(digits.substr(i, 4))));
  return values;
}

constexpr u32 outside = 0xffff;  // as a recorded value: nothing of the region

/// The addresses [64 rows][2 chunks of 16 bytes] that a recorded table stands for.
std::vector<u32> addresses_of(const std::string& table) {
  const std::string kind = table.substr(0, 8);
  std::vector<u32> values = list_of(table.substr(8));
  if (kind == "16 rows ") {  // the other groups of eight rows follow at the distance of the first two
    REQUIRE(values.size() == 32);
    const u32 distance = values[16] - values[0];
    for (u32 i = 32; i < 128; ++i) values.push_back(values[i % 16] + i / 16 * distance);
  } else {
    REQUIRE(kind == "64 rows ");
    REQUIRE(values.size() == 128);
  }
  return values;
}

}  // namespace

TEST_CASE("recorded layouts: where they come from") {
  const json file = golden_json("layouts.json");
  for (const char* key : {"program", "command", "device", "driver", "cuda", "nvrtc", "date", "kernels"})
    CHECK_FALSE(file.at(key).get<std::string>().empty());
}

TEST_CASE("recorded windows: where shared memory begins, alone and in a cluster") {
  const json section = recording("window");
  std::set<u32> ranks;
  for (const json& block : section.at("blocks")) {
    INFO(block);
    const u32 rank = block.at("rank");
    const u64 begin = hex_of(block.at("dynamic_begin"));
    CHECK(begin == dynamic_shared_address(rank, block.at("static_bytes")));
    CHECK(rank_of_shared_address(static_cast<u32>(begin)) == rank);
    CHECK(hex_of(block.at("mapa_rank_0")) == shared_address_of_rank(static_cast<u32>(begin), 0));
    if (block.contains("mapa_rank_1"))
      CHECK(hex_of(block.at("mapa_rank_1")) == shared_address_of_rank(static_cast<u32>(begin), 1));
    if (block.contains("static_begin"))
      CHECK(hex_of(block.at("static_begin")) == shared_address_of_rank(reserved_shared_bytes, rank));
    ranks.insert(rank);
  }
  CHECK(ranks == std::set<u32>{0, 1});
}

TEST_CASE("recorded fragments: every register of D and of A") {
  const json section = recording("fragments");
  std::set<int> widths;
  for (const json& entry : section.at("accumulator")) {
    REQUIRE(entry.at("separable") == true);
    const std::vector<u32> first = list_of(entry.at("register_0_of_thread")),
                           distance = list_of(entry.at("register_minus_register_0"));
    REQUIRE(first.size() == 128);
    std::size_t elsewhere = 0;
    for (u32 thread = 0; thread < 128; ++thread) {
      for (u32 reg = 0; reg < distance.size(); ++reg) {
        const Coordinate at = accumulator_coordinate(thread, reg);
        elsewhere += ((first[thread] + distance[reg]) & 0xffff) != at.row * 256 + at.column;
      }
    }
    CHECK(elsewhere == 0);
    CHECK(distance.size() == entry.at("n").get<std::size_t>() / 2);
    widths.insert(entry.at("n").get<int>());
  }
  CHECK(widths == std::set<int>{8, 64, 256});

  const std::vector<u32> a = list_of(section.at("a"));
  REQUIRE(a.size() == 64 * 32);
  std::size_t elsewhere = 0;
  for (u32 i = 0; i < a.size(); ++i) {
    const AFragmentSlot slot = a_fragment_slot(i / 32, i % 32);
    elsewhere += a[i] != 16 * slot.thread + 4 * slot.reg + slot.byte;
  }
  CHECK(elsewhere == 0);
}

TEST_CASE("recorded stmatrix: every half of every register, plain and transposed") {
  const json section = recording("stmatrix");
  struct Form {
    const char* name;
    u32 matrices;
    bool trans;
  };
  for (const Form& form : {Form{"x1", 1, false}, Form{"x2", 2, false}, Form{"x4", 4, false},
                           Form{"x1_trans", 1, true}, Form{"x2_trans", 2, true}, Form{"x4_trans", 4, true}}) {
    const std::vector<u32> seen = list_of(section.at(form.name));
    REQUIRE(seen.size() == 4 * 64);
    std::size_t elsewhere = 0;
    for (u32 i = 0; i < seen.size(); ++i) {
      const u32 matrix = i / 64;
      const MatrixSlot slot = stmatrix_slot(i / 8 % 8, i % 8, form.trans);
      elsewhere += seen[i] != (matrix < form.matrices ? 8 * slot.lane + 2 * matrix + slot.half + 1 : outside);
    }
    CHECK(elsewhere == 0);
  }
}

TEST_CASE("recorded operands: the address that wgmma reads, for every descriptor tried") {
  const json section = recording("operands");
  const u32 region = static_cast<u32>(hex_of(section.at("region_begin")));
  std::vector<std::vector<u32>> tables;
  for (const json& table : section.at("table")) tables.push_back(addresses_of(table));

  for (const char* operand : {"a", "b"}) {
    std::map<SwizzleMode, std::set<u32>> base_offsets, starts;
    std::size_t elsewhere = 0, compared = 0;
    for (const json& entry : section.at(operand)) {
      std::istringstream words(entry.get<std::string>());
      std::string descriptor;
      std::size_t table = 0;
      words >> descriptor >> table;
      const MatrixDescriptor d = decode_descriptor(hex_of(descriptor));
      for (u32 i = 0; i < 128; ++i) {
        elsewhere += tables.at(table)[i] + region != wgmma_operand_address(d, i / 2, i % 2 * 16);
        ++compared;
      }
      base_offsets[d.swizzle].insert(d.base_offset);
      starts[d.swizzle].insert(d.start_address % 1024);
    }
    CHECK(elsewhere == 0);
    CHECK(compared >= 128 * 500);
    for (const auto& [mode, offsets] : base_offsets) CHECK(offsets.size() == 8);
    CHECK(starts[SwizzleMode::b128].size() >= 32);  // 8 tiles, 4 steps along K, and within a row
  }
}

namespace {

constexpr u32 pitch = 256, memory_bytes = pitch * 48, region_bytes = 0x4000;
constexpr u32 untouched = 0xffff, zeros = 0xfffe;

/// "ffff*3 0052+8": three untouched chunks, then chunks 0052 to 0059.
std::vector<u32> runs_of(const std::string& text) {
  std::vector<u32> values;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const u32 first = static_cast<u32>(hex_of(word.substr(0, 4)));
    const u32 count = word.size() > 4 ? static_cast<u32>(std::stoul(word.substr(5))) : 1;
    const u32 step = word.size() > 4 && word[4] == '+' ? 1 : 0;
    for (u32 i = 0; i < count; ++i) values.push_back(first + i * step);
  }
  return values;
}

/// "-32,-3" or "16,1,1"
std::array<i64, 3> three(const json& text, i64 missing) {
  std::array<i64, 3> values = {missing, missing, missing};
  std::istringstream numbers(text.get<std::string>());
  std::string number;
  for (std::size_t i = 0; i < 3 && std::getline(numbers, number, ','); ++i) values[i] = std::stoll(number);
  return values;
}

struct Copy {
  TensorMapDescription map;
  TensorCoordinate at;
  u32 address = 0;
  bool store = false;
};

Copy copy_of(const json& entry) {
  const std::map<std::string, TensorElement> elements = {{"uint8", TensorElement::uint8},
                                                         {"uint16", TensorElement::uint16},
                                                         {"uint32", TensorElement::uint32},
                                                         {"bf16", TensorElement::bf16},
                                                         {"f32", TensorElement::f32}};
  const std::map<std::string, SwizzleMode> modes = {{"none", SwizzleMode::none},
                                                    {"32B", SwizzleMode::b32},
                                                    {"64B", SwizzleMode::b64},
                                                    {"128B", SwizzleMode::b128}};
  Copy copy;
  copy.store = entry.at("copy") == "store";
  copy.map.element = elements.at(entry.at("element"));
  copy.map.swizzle = modes.at(entry.at("swizzle"));
  const auto size = three(entry.at("size"), 1), stride = three(entry.at("stride"), 0),
             box = three(entry.at("box"), 1), at = three(entry.at("at"), 0);
  copy.map.rank = std::count(std::begin(entry.at("box").get_ref<const std::string&>()),
                             std::end(entry.at("box").get_ref<const std::string&>()), ',') == 2
                      ? 3
                      : 2;
  for (std::size_t i = 0; i < 3; ++i) {
    copy.map.size[i] = static_cast<u64>(size[i]);
    copy.map.box[i] = static_cast<u32>(box[i]);
    if (i < 2) copy.map.stride[i] = static_cast<u64>(stride[i]);
  }
  copy.at = {static_cast<i32>(at[0]), static_cast<i32>(at[1]), static_cast<i32>(at[2])};
  copy.address = static_cast<u32>(hex_of(entry.at("shared")));
  return copy;
}

/// The source chunk that each 16 bytes of the destination hold, by the formulas.
std::vector<u32> expected(const Copy& c, u32 region) {
  std::vector<u32> chunks((c.store ? memory_bytes : region_bytes) / 16, untouched);
  const u32 in_chunk = 16 / element_bytes(c.map.element);
  for (u32 z = 0; z < c.map.box[2]; ++z) {
    for (u32 y = 0; y < c.map.box[1]; ++y) {
      for (u32 x = 0; x < c.map.box[0]; x += in_chunk) {
        const TensorCoordinate at{c.at.x + static_cast<i32>(x), c.at.y + static_cast<i32>(y),
                                  c.at.z + static_cast<i32>(z)};
        const bool inside = inside_tensor(c.map, at);
        const u32 shared = (box_element_address(c.map, c.address, x, y, z) - region) / 16;
        const u32 global = inside ? static_cast<u32>(element_address(c.map, at) / 16) : zeros;
        if (!c.store) chunks.at(shared) = global;
        if (c.store && inside) chunks.at(global) = shared;
      }
    }
  }
  return chunks;
}

}  // namespace

TEST_CASE("recorded TMA copies: where every chunk of a box goes, and which copies fault") {
  const json section = recording("tma");
  const u32 region = static_cast<u32>(hex_of(section.at("region_begin")));
  std::map<std::string, std::size_t> made, faulted;
  for (const json& entry : section.at("cases")) {
    INFO(entry);
    if (entry.contains("left_out")) continue;
    CHECK_FALSE(entry.contains("refused"));
    const Copy copy = copy_of(entry);
    const std::string kind =
        entry.at("copy").get<std::string>() + " " + entry.at("swizzle").get<std::string>();
    const CopyFault fault = copy_fault(copy.map, copy.at, copy.address, copy.store);
    CHECK(entry.contains("fault") == (fault != CopyFault::none));
    if (entry.contains("fault")) {
      const char* words = fault == CopyFault::shared_address ? "misaligned address"
                                                             : "an illegal instruction was encountered";
      CHECK_THAT(entry.at("fault").get<std::string>(), contains_text(words));
      ++faulted[kind];
      continue;
    }
    CHECK(entry.at("completed") == 3);  // and a load reported exactly the bytes of its box
    if (!copy.store) CHECK(entry.at("bytes") == box_bytes(copy.map));
    std::vector<u32> chunks(entry.at("first_chunk").get<std::size_t>(), untouched);
    const std::vector<u32> listed = runs_of(entry.at("chunks"));
    chunks.insert(chunks.end(), listed.begin(), listed.end());
    const std::vector<u32> ours = expected(copy, region);
    chunks.resize(ours.size(), untouched);
    CHECK_FALSE(entry.contains("touched_elsewhere"));
    CHECK(chunks == ours);
    ++made[kind];
  }
  for (const char* copy : {"load ", "store "}) {
    for (const char* mode : {"none", "32B", "64B", "128B"}) CHECK(made[std::string(copy) + mode] >= 8);
    CHECK(faulted[std::string(copy) + "none"] >= 2);
  }
}
